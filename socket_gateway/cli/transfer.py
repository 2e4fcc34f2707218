"""`export` and `import`: memory as a folder of Markdown, and back."""

import itertools
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final

import orjson
import typer

from pipeline.rules.naming import file_name
from pipeline.rules.sealing import is_ours, is_sealed
from socket_gateway.cli.common import PATIENT, JsonOption, OwnerOption, service, settings
from socket_gateway.cli.export_reading import File, files
from socket_gateway.cli.output import Output
from socket_gateway.cli.progress import bars
from socket_gateway.client import MemoryClient
from socket_gateway.protocol import DocumentPart, ExportParams, ImportOutcome, ImportParams
from socket_gateway.replaying.replay import Told
from storage.errors import BadRequestError
from storage.export_folder import ExportFolder, Marks, Note, Written, note_of, opened_export

PASSES: Final = 3
"""How often an export is read anew while records change under it."""

PAGE: Final = 200
MAX_PATH: Final = 1_000
MAX_REQUEST: Final = 900_000
"""Bytes of documents in a request; the rest of a megabyte is for what is around them."""

FolderOption = Annotated[
    Path | None,
    typer.Argument(
        metavar="[DIR]", file_okay=False, help="Where to; without it exports/ of the state folder."
    ),
]
FromArgument = Annotated[
    Path,
    typer.Argument(
        metavar="DIR", exists=True, file_okay=False, readable=True, help="A folder of documents."
    ),
]
_TOLD: Final = frozenset({"updated", "conflict", "forgotten", "refused"})
_FAILED: Final = frozenset({"conflict", "refused"})
_STYLES: Final = {"conflict": "red", "refused": "red", "forgotten": "yellow", "updated": "green"}


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("export", epilog="Example: deskpaw-memory export ~/memory")(export)
    app.command("import", epilog="Example: deskpaw-memory import ~/memory --dry-run")(take_in)


# ---- export ----------------------------------------------------------------


def export(
    folder: FolderOption = None,
    *,
    owner: OwnerOption = "local",
    force: Annotated[
        bool, typer.Option("--force", help="Write over documents that were edited.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Write an owner's memory as Markdown, one file a record.

    A second export into the same folder updates it, and removes the files of records that are gone.
    What was edited meanwhile is left as it is, unless --force is given.
    """
    output = Output(as_json=as_json)
    path = folder or settings().paths.state / "exports" / file_name(owner)
    with _asked() as client, bars(output) as told, opened_export(path, owner) as opened:
        target = ExportFolder(opened, Marks(is_ours, is_sealed), force=force)
        moved = _export(client, owner, target, told)
    _show_export(path, target.done, output, moved=moved)
    if target.done.kept:
        raise typer.Exit(1)


@contextmanager
def _asked() -> Iterator[MemoryClient]:
    """A client with patience for a service that is known to be there."""
    with service() as quick:
        quick.health()
    with service(PATIENT) as client:
        yield client


def _export(client: MemoryClient, owner: str, target: ExportFolder, told: Told) -> bool:
    """Write all documents, again while records change; whether they still do."""
    target.note(Note(owner))
    at, moved = 0, True
    for _ in range(PASSES):
        target.begin()
        after = None
        for count in itertools.count(1):
            page = client.export(ExportParams(owner=owner, after=after, limit=PAGE))
            for document in page.documents:
                target.put(document.path, document.text)
            told("documents", count * PAGE, 0)
            at, after, moved = page.at, page.next, page.moved
            if after is None:
                break
        if not moved:
            break
    target.remove_others()
    target.note(Note(owner, at, complete=True))
    return moved


def _show_export(path: Path, done: Written, output: Output, *, moved: bool) -> None:
    if output.as_json:
        output.json(
            {
                "path": str(path), "written": done.written, "unchanged": done.unchanged,
                "removed": done.removed, "kept": done.kept, "moved": moved,
            }
        )  # fmt: skip
        return
    output.say(str(path))
    output.say(f"written    {done.written}, unchanged {done.unchanged}, removed {done.removed}")
    for kept in done.kept:
        output.say(("edited     ", "yellow"), f"{kept}: import it first, or give --force")
    if moved:
        output.say(("moved      ", "yellow"), "records changed meanwhile; export again")


# ---- import ----------------------------------------------------------------


@dataclass(slots=True)
class Taken:
    """What became of files: how many of each outcome, and those that are worth a line."""

    owner: str
    counts: Counter[str] = field(default_factory=Counter)
    files: list[tuple[str, ImportOutcome]] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        """Whether something of it can't be taken in."""
        return any(self.counts[outcome] for outcome in _FAILED)

    def add(self, path: str, outcome: ImportOutcome) -> None:
        """Count one file."""
        self.counts[outcome.outcome] += 1
        if outcome.outcome in _TOLD or outcome.redactions:
            self.files.append((path, outcome))


def take_in(
    folder: FromArgument,
    *,
    owner: Annotated[
        str | None, typer.Option("--owner", help="Whose memory, where the folder doesn't say.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would become of each file.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Take a folder of Markdown in: what was exported elsewhere, and what was edited in it.

    An edit is taken only while memory still has the very version that was edited; otherwise it is a
    conflict, and nothing of that file is changed.
    """
    output = Output(as_json=as_json)
    note = _note(folder)
    if note is None and owner is None:
        raise BadRequestError("The folder doesn't say whose it is; give --owner.")
    if note is not None and not note.complete:
        output.note("this export was never finished; what it has is taken in")
    taken = Taken(owner or (note.owner if note else ""))
    with _asked() as client, bars(output) as told:
        for batch in _batches(files(folder), taken):
            _take_in(client, batch, taken, dry_run=dry_run)
            told("documents", taken.counts.total(), 0)
    _show_import(taken, output, dry_run=dry_run)
    if taken.failed:
        raise typer.Exit(1)


def _note(folder: Path) -> Note | None:
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        return note_of(opened)
    finally:
        os.close(opened)


def _batches(found: Iterable[File], taken: Taken) -> Iterator[list[DocumentPart]]:
    """Documents in requests that the service takes; files that are none are counted at once."""
    batch: list[DocumentPart] = []
    size = 0
    for file in found:
        more = len(orjson.dumps([file.path, file.text]))
        reason = "no request holds it" if more > MAX_REQUEST else file.reason
        if reason is not None or file.text is None:
            taken.add(
                file.path,
                ImportOutcome(index=0, outcome="refused", code="unreadable", reason=reason),
            )
            continue
        if batch and (len(batch) == PAGE or size + more > MAX_REQUEST):
            yield batch
            batch, size = [], 0
        batch.append(DocumentPart(path=file.path[-MAX_PATH:], text=file.text))
        size += more
    if batch:
        yield batch


def _take_in(
    client: MemoryClient, batch: list[DocumentPart], taken: Taken, *, dry_run: bool
) -> None:
    params = ImportParams(owner=taken.owner, documents=batch, dry_run=dry_run)
    for outcome in client.take_in(params).outcomes:
        taken.add(batch[outcome.index].path, outcome)


def _show_import(taken: Taken, output: Output, *, dry_run: bool) -> None:
    if output.as_json:
        output.json(
            {
                "owner": taken.owner, "dry_run": dry_run, "counts": dict(sorted(taken.counts.items())),
                "files": [{"path": path, **_plain(outcome)} for path, outcome in taken.files],
            }
        )  # fmt: skip
        return
    for path, outcome in taken.files:
        output.say((f"{outcome.outcome:<10} ", _STYLES.get(outcome.outcome, "")), path)
        for line in _explained(outcome):
            output.say((f"           {line}", "dim"))
    counted = ", ".join(f"{name} {count}" for name, count in sorted(taken.counts.items()))
    output.say(f"{'would be' if dry_run else 'taken in'}   {counted or 'nothing'}")


def _plain(outcome: ImportOutcome) -> dict[str, Any]:
    return outcome.model_dump(mode="json", exclude_none=True, exclude={"index"})


def _explained(outcome: ImportOutcome) -> Iterator[str]:
    if outcome.reason is not None:
        field_name = f"{outcome.field}: " if outcome.field else ""
        line = f" (line {outcome.line})" if outcome.line else ""
        yield f"{outcome.code}: {field_name}{outcome.reason}{line}"
    if outcome.expected is not None and outcome.current is not None:
        yield (
            f"edited at revision {outcome.expected.revision}, memory has"
            f" {outcome.current.revision}; export and edit again"
        )
    for kind, count in sorted((outcome.redactions or {}).items()):
        yield f"redacted {kind}: {count}"
