"""What to look for once something is forgotten: kept beside the database until nothing is found.

The byte check has to know the words that must be nowhere, and has to know them after a crash, too.
So pieces of them stand in a file of their own, written before the rows go and overwritten when the
check has passed. They are written in hexadecimal, so that the file holds none of the words itself.
"""

import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pipeline.text.needles import pieces

MOST_PIECES: Final = 50_000
"""Pieces that are looked for at most: what of a great forgetting is checked is then a sample."""

MOST_TERMS: Final = 5_000
"""Terms of the lexical index that are looked up at most."""

_PIECE: Final = "p"
_TERM: Final = "t"
_SAMPLED: Final = "s"
_SUSPECT: Final = "k"
_BLOCK: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is looked for: pieces of text, and terms by the field that they stood in.

    `sampled` says that there would have been more pieces. `suspects` are packages that have lost
    events or words.
    """

    pieces: frozenset[bytes]
    terms: frozenset[tuple[str, str]]
    sampled: bool
    suspects: frozenset[int] = frozenset()


_NOTHING: Final = Wanted(frozenset(), frozenset(), sampled=False)


class Traces:
    """The lists of what to look for, one file a forgetting.

    Args:
        folder: Where they lie; nothing else does.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: dict[str, Wanted] = {}

    def path(self, forgetting_id: str) -> Path:
        """The list of one forgetting."""
        return self.folder / forgetting_id

    def add(
        self,
        forgetting_id: str,
        texts: Iterable[str] = (),
        terms: Iterable[tuple[str, str]] = (),
        suspects: Collection[int] = (),
    ) -> None:
        """Add what goes now; it is on disk when this returns.

        Args:
            forgetting_id: Whose list.
            texts: Texts that go.
            terms: Field and term of index entries that go.
            suspects: Packages that lose events or words.

        Raises:
            OSError: It can't be written.
        """
        known = self._known.get(forgetting_id) or self.read(forgetting_id) or _NOTHING
        found = dict.fromkeys(piece for text in sorted(texts) for piece in pieces(text))
        fresh = [piece for piece in found if piece not in known.pieces]
        room = MOST_PIECES - len(known.pieces)
        taken = _spread(fresh, room)
        sampled = known.sampled or len(taken) < len(fresh)
        new = sorted(set(terms) - known.terms)[: MOST_TERMS - len(known.terms)]
        lines = [f"{_PIECE} {piece.hex()}\n" for piece in taken]
        lines += [f"{_TERM} {f'{field} {term}'.encode().hex()}\n" for field, term in new]
        lines += [f"{_SUSPECT} {str(number).encode().hex()}\n" for number in suspects]
        lines += [f"{_SAMPLED} \n"] if sampled else []
        self._append(self.path(forgetting_id), "".join(lines).encode("ascii"))
        # Read back for each of many parts, a long list would take longer than its forgetting.
        self._known[forgetting_id] = Wanted(
            known.pieces.union(taken),
            known.terms.union(new),
            sampled=sampled,
            suspects=known.suspects.union(suspects),
        )

    def _append(self, path: Path, content: bytes) -> None:
        self.folder.mkdir(mode=0o700, exist_ok=True)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        with os.fdopen(os.open(path, flags, 0o600), "ab") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        _sync(self.folder)

    def read(self, forgetting_id: str) -> Wanted | None:
        """What is to be looked for; None where there is no list.

        A line that a crash has cut is left out: what it was for has not gone yet.
        """
        try:
            lines = self.path(forgetting_id).read_text(encoding="ascii").splitlines()
        except FileNotFoundError:
            return None
        found: dict[str, list[bytes]] = {_PIECE: [], _TERM: [], _SAMPLED: [], _SUSPECT: []}
        for line in lines:
            kind, _, content = line.partition(" ")
            if kind in found and len(content) % 2 == 0:
                found[kind].append(bytes.fromhex(content))
        terms = (term.decode("utf-8", "replace").partition(" ") for term in found[_TERM])
        return Wanted(
            frozenset(piece for piece in found[_PIECE] if piece),
            frozenset((field, term) for field, _, term in terms),
            sampled=bool(found[_SAMPLED]),
            suspects=frozenset(int(number) for number in found[_SUSPECT] if number.isdigit()),
        )

    def destroy(self, forgetting_id: str) -> None:
        """Overwrite a list and remove it; none is as good as gone.

        Raises:
            OSError: It can't be removed.
        """
        self._known.pop(forgetting_id, None)
        path = self.path(forgetting_id)
        try:
            size = path.stat().st_size
        except FileNotFoundError:
            return
        descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            for start in range(0, size, _BLOCK):
                os.pwrite(descriptor, bytes(min(_BLOCK, size - start)), start)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        path.unlink()
        _sync(self.folder)

    def remove_orphans(self, known: Collection[str]) -> int:
        """Remove lists of forgettings that were never begun; how many there were."""
        if not self.folder.is_dir():
            return 0
        orphans = [path.name for path in self.folder.iterdir() if path.name not in known]
        for name in orphans:
            self.destroy(name)
        return len(orphans)


def _spread(found: list[bytes], room: int) -> list[bytes]:
    """At most so many of them, from all over."""
    if len(found) <= room:
        return found
    return found[:: -(-len(found) // room)] if room > 0 else []


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
