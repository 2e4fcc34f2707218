"""`fate`: what became of an event and why, as a timeline."""

from collections.abc import Iterable
from typing import Annotated, Final

import typer

from socket_gateway.cli.answers import show_quote
from socket_gateway.cli.common import JsonOption, OwnerOption, ask
from socket_gateway.cli.output import STYLES, Output
from socket_gateway.cli.shown import moment
from socket_gateway.client import calls
from socket_gateway.protocol import (
    FateProposal,
    FateQuote,
    FateRecord,
    FateResult,
    PassageResult,
)

EventArgument = Annotated[str, typer.Argument(metavar="EVENT", help="An event's id.")]

_FATES: Final = {
    "received": "the filter has not come to it yet",
    "audit": "kept and not organised",
    "packaged": "went into a package",
    "merged": "a repeat, counted into the first one",
    "waiting": "a call that waits for its result",
    "forgotten": "forgotten at the user's request; nothing of it is left",
}
_STAGES: Final = ("observe", "merge", "index", "publish")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("fate", epilog="Example: deskpaw-memory fate EVENT")(fate)


def fate(
    event_id: EventArgument, owner: OwnerOption = "local", *, as_json: JsonOption = False
) -> None:
    """Tell what became of an event, and why."""
    ask(calls.fate(event_id, owner), _show, as_json=as_json)


def _show(found: FateResult, output: Output) -> None:
    event = found.event
    if event.kind is not None:
        told = f"{event.kind} from {event.role}, sequence {event.seq}, said {moment(event.at)}"
        _line(output, event.received_at, "received", told)
    for kind, number in sorted((event.redactions or {}).items()):
        _line(output, None, "cleaned", f"{kind} ×{number}")
    because = f" ({found.reason})" if found.reason else ""
    _line(output, None, "filter", f"{found.fate}: {_FATES[found.fate]}{because}")
    if found.repeats is not None:
        seen = found.repeats
        span = f"{moment(seen.first_at)} to {moment(seen.last_at)}"
        _line(output, None, "repeats", f"{seen.event} was said {seen.count} times, {span}")
    if found.passage is not None:
        _show_passage(found.passage, output)
    for proposal in found.proposals:
        _show_proposal(proposal, output)
    for code, number in sorted(found.unattributed.items()):
        _line(output, None, "proposals", f"{number} that quote nothing: {code}")
    for request in found.requests:
        done = "confirmed" if request.change == "confirm" else "set right"
        _line(output, request.at, request.change, f"{request.record_id} was {done} in these words")
    for record in found.records:
        _show_record(record, output)
    if found.fate not in {"received", "forgotten"}:
        _line(output, None, "index", _indexed(found.indexed, found.index_lag))


def _line(output: Output, at: int | None, what: str, told: str, style: str = "") -> None:
    output.say((f"{moment(at):<17} ", "dim"), (f"{what:<10} ", "cyan"), (told, style))


def _show_passage(passage: PassageResult, output: Output) -> None:
    package = passage.package
    closed = f"closed by {package.closed_by}" if package.closed_by else "still open"
    _line(output, package.opened_at, "package", f"{package.id} about {package.object}, {closed}")
    for stage in _STAGES:
        if stage in passage.committed:
            _line(output, passage.committed[stage], stage, "done")
    if package.nothing:
        _line(output, None, "nothing", f"was worth keeping: {package.nothing}")
    if package.state != "done":
        style = STYLES.get(package.state, "")
        since = passage.parked_at
        told = f"is {package.state}"
        if package.attempt:
            told += f" after {package.attempt} failures"
        if package.state == "ready" and package.attempt:
            told += f", again at {moment(package.next_attempt_at)}"
        if package.error:
            told += f": {package.error}"
        _line(output, since, package.stage, told, style)


def _show_proposal(proposal: FateProposal, output: Output) -> None:
    if proposal.code is not None:
        told = f"{proposal.kind}, rejected: {proposal.code}, {proposal.reason}"
        _line(output, None, "proposal", told, "yellow")
    else:
        became = proposal.became or "accepted, not settled yet"
        _line(output, None, "proposal", f"{proposal.kind} → {became}")
    _show_quotes(proposal.quotes, output)


def _show_record(record: FateRecord, output: Output) -> None:
    told = f"{record.id}, {record.kind} about {record.subject_id}: {record.status}"
    if record.reason:
        told += f" ({record.reason})"
    if record.superseded_by:
        told += f" by {', '.join(record.superseded_by)}"
    if record.conflicts_with:
        told += f", in conflict with {', '.join(record.conflicts_with)}"
    if record.indexed is False:
        told += ", not in the index yet"
    _line(output, None, "record", told, STYLES.get(record.status, "yellow"))


def _show_quotes(quotes: Iterable[FateQuote], output: Output) -> None:
    for part in quotes:
        show_quote(part.quote, f"code points {part.start} to {part.end}", output)


def _indexed(indexed: bool | None, lag: int) -> str:  # noqa: FBT001 - what the answer holds
    behind = f"; the index is {lag} entries behind" if lag else ""
    if indexed is None:
        return f"can't be read at the moment{behind}"
    return f"{'found by its own words' if indexed else 'not found by its own words'}{behind}"
