"""Is a generation's folder whole? Answered before anything of it is mapped into memory.

Mapping a truncated file kills the process later (SIGBUS), and Tantivy opens flipped bytes without
complaint (spec: design, Damage). Every segment file ends in a footer with the CRC-32 of what
stands before it, so a segment proves itself: a merge in the background may rewrite the set of
files at any moment, and a list of checksums kept beside them would be out of date after a kill.
`meta.json` has no footer; the manifest's document count stands in for one.
"""

import json
import struct
import zlib
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from storage.search_index.errors import DamagedIndexError

MANIFEST = "manifest.json"
FORMAT = 1
"""Grows with the schema, so that an index of an older build is made anew."""

_PARTS = ("term", "idx", "pos", "fieldnorm", "fast", "store")
_TAIL = struct.Struct("<II")
_MAGIC = 1337
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a generation was when it was last committed; a folder without one is unfinished.

    `documents` counts live documents at `opstamp`, Tantivy's number of the commit. `whole` says
    that the generation has once held every row there was.
    """

    tokenizer_version: int
    opstamp: int
    documents: int
    whole: bool = False
    format: int = FORMAT

    def write(self, folder: Path) -> None:
        """Replace the folder's manifest; a reader sees the old or the new one."""
        fresh = folder / f"{MANIFEST}.new"
        fresh.write_text(json.dumps(asdict(self)), encoding="ascii")
        fresh.replace(folder / MANIFEST)

    @classmethod
    def read(cls, folder: Path) -> "Manifest":
        """The folder's manifest.

        Raises:
            DamagedIndexError: It is missing or isn't one.
        """
        values = _read_json(folder / MANIFEST)
        if values.keys() != {field.name for field in fields(cls)} or not all(
            isinstance(value, int) for value in values.values()
        ):
            raise DamagedIndexError("the manifest has other fields")
        return cls(**values)


def verify(folder: Path, *, tokenizer_version: int) -> Manifest:
    """Check every byte of the folder that a search can reach.

    Returns:
        The manifest, brought up to the commit that `meta.json` names.

    Raises:
        DamagedIndexError: Something is missing, damaged or of another version; the message names
            the part.
    """
    manifest = Manifest.read(folder)
    if manifest.format != FORMAT:
        raise DamagedIndexError("the index has another format")
    if manifest.tokenizer_version != tokenizer_version:
        raise DamagedIndexError("the index was made by another tokenizer version")
    try:
        opstamp, documents = _verify_segments(folder, _read_json(folder / "meta.json"))
    except (KeyError, TypeError, AttributeError) as error:
        raise DamagedIndexError("meta.json is not Tantivy's") from error
    if opstamp < manifest.opstamp:
        raise DamagedIndexError("meta.json is older than the manifest")
    if opstamp == manifest.opstamp and documents != manifest.documents:
        raise DamagedIndexError("meta.json counts other documents than the manifest")
    return replace(manifest, opstamp=opstamp, documents=documents)


def _verify_segments(folder: Path, meta: dict[str, Any]) -> tuple[int, int]:
    documents = 0
    for segment in meta["segments"]:
        stem = segment["segment_id"].replace("-", "")
        names = [f"{stem}.{part}" for part in _PARTS]
        documents += segment["max_doc"]
        if deletes := segment["deletes"]:
            names.append(f"{stem}.{deletes['opstamp']}.del")
            documents -= deletes["num_deleted_docs"]
        for name in names:
            _verify_file(folder / name)
    return meta["opstamp"], documents


def _verify_file(path: Path) -> None:
    # Read, never mapped: a file that shrinks meanwhile is then an error and not a signal.
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            file.seek(max(0, size - _TAIL.size))
            length, magic = _TAIL.unpack(file.read())
            body = size - _TAIL.size - length
            if magic != _MAGIC or body < 0:
                raise DamagedIndexError(f"{path.suffix} file without a footer")
            file.seek(body)
            expected = json.loads(file.read(length))["crc"]
            file.seek(0)
            actual = 0
            while body > 0:
                chunk = file.read(min(_CHUNK, body))
                actual = zlib.crc32(chunk, actual)
                body -= len(chunk) or body
    except (OSError, struct.error, ValueError, KeyError, TypeError) as error:
        raise DamagedIndexError(f"unreadable {path.suffix} file") from error
    if actual != expected:
        raise DamagedIndexError(f"{path.suffix} file with a wrong checksum")


def _read_json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DamagedIndexError(f"unreadable {path.name}") from error
    if not isinstance(value, dict):
        raise DamagedIndexError(f"{path.name} is no object")
    return value
