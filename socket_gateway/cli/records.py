"""`record` and `evidence`: what memory holds, and the words that it rests on."""

from collections.abc import Iterable
from typing import Annotated

import typer

from socket_gateway.cli.answers import show_quote
from socket_gateway.cli.common import JsonOption, LimitOption, OwnerOption, ask, service
from socket_gateway.cli.output import STYLES, Output
from socket_gateway.cli.shown import moment, one_line
from socket_gateway.client import calls
from socket_gateway.protocol import (
    ConfirmParams,
    ConfirmResult,
    CorrectParams,
    CorrectResult,
    EvidenceResult,
    RecordKind,
    RecordListParams,
    RecordListResult,
    RecordResult,
    RecordStatus,
    UserRequest,
)

RecordArgument = Annotated[str, typer.Argument(metavar="RECORD", help="A record's id.")]
KindOption = Annotated[RecordKind | None, typer.Option("--kind", help="Only this kind.")]
EventOption = Annotated[str, typer.Option("--event", help="The event in which the user says so.")]
QuoteOption = Annotated[str, typer.Option("--quote", help="The user's own words, verbatim.")]
RevisionOption = Annotated[
    int | None,
    typer.Option(
        "--expected-revision", min=0, help="The record's object_revision; without it, today's."
    ),
]
StatusOption = Annotated[RecordStatus | None, typer.Option("--status", help="Only this status.")]

record_app = typer.Typer(
    help="Records: list, get, history, confirm, correct.",
    epilog="Example: deskpaw-memory record list --status active",
    no_args_is_help=True,
)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(record_app, name="record")
    app.command("evidence", epilog="Example: deskpaw-memory evidence RECORD --json")(evidence)


@record_app.command(
    "list", epilog="Example: deskpaw-memory record list --object expense --status active"
)
def list_records(  # noqa: PLR0913  (one for each option of the command)
    *,
    owner: OwnerOption = "local",
    object_id: Annotated[str | None, typer.Option("--object", help="Only about this.")] = None,
    kind: KindOption = None,
    status: StatusOption = None,
    after: Annotated[
        str | None, typer.Option("--after", help="The record that ended the last page.")
    ] = None,
    limit: LimitOption = 50,
    as_json: JsonOption = False,
) -> None:
    """List records."""
    params = RecordListParams(
        owner=owner, object=object_id, kind=kind, status=status, after=after, limit=limit
    )
    ask(calls.records(params), _show_page, as_json=as_json)


@record_app.command("get", epilog="Example: deskpaw-memory record get RECORD")
def get(
    record_id: RecordArgument, owner: OwnerOption = "local", *, as_json: JsonOption = False
) -> None:
    """Show one record."""
    ask(calls.record(record_id, owner), _show_record, as_json=as_json)


@record_app.command("history", epilog="Example: deskpaw-memory record history RECORD --json")
def history(
    record_id: RecordArgument, owner: OwnerOption = "local", *, as_json: JsonOption = False
) -> None:
    """Show every version of a record, oldest first."""
    ask(calls.record_history(record_id, owner), _show_page, as_json=as_json)


@record_app.command(
    "confirm",
    epilog="Example: deskpaw-memory record confirm RECORD --event EVENT --quote '对，以后报销都用新模板'",
)
def confirm(
    record_id: RecordArgument,
    *,
    event_id: EventOption,
    quote: QuoteOption,
    expected: RevisionOption = None,
    owner: OwnerOption = "local",
    as_json: JsonOption = False,
) -> None:
    """Let a record hold, on the user's own words."""
    params = ConfirmParams(
        owner=owner,
        record_id=record_id,
        expected_revision=_revision(record_id, owner) if expected is None else expected,
        user_request=UserRequest(event_id=event_id, quote=quote),
    )
    ask(calls.confirm(params), _show_confirmed, as_json=as_json)


@record_app.command(
    "correct",
    epilog="Example: deskpaw-memory record correct RECORD 'The deadline is the 20th.'"
    " --event EVENT --quote 'No, it is the 20th.'",
)
def correct(  # noqa: PLR0913  (one for each option of the command)
    record_id: RecordArgument,
    content: Annotated[str, typer.Argument(help="What holds instead, in the user's words.")],
    *,
    event_id: EventOption,
    quote: QuoteOption,
    expected: RevisionOption = None,
    owner: OwnerOption = "local",
    as_json: JsonOption = False,
) -> None:
    """Set a record right, in the user's own words."""
    params = CorrectParams(
        owner=owner,
        record_id=record_id,
        content=content,
        expected_revision=_revision(record_id, owner) if expected is None else expected,
        user_request=UserRequest(event_id=event_id, quote=quote),
    )
    ask(calls.correct(params), _show_corrected, as_json=as_json)


def _revision(record_id: str, owner: str) -> int:
    with service() as client:
        return client.record(record_id, owner).object_revision


def _show_confirmed(found: ConfirmResult, output: Output) -> None:
    _show_record(found.record, output)
    for record_id in found.superseded:
        output.say(("superseded  ", "yellow"), record_id)


def _show_corrected(found: CorrectResult, output: Output) -> None:
    _show_record(found.record, output)
    old = found.corrected
    output.say((f"{old.status}  ", STYLES.get(old.status, "yellow")), old.record_id)


def evidence(
    record_id: RecordArgument, owner: OwnerOption = "local", *, as_json: JsonOption = False
) -> None:
    """Show the verbatim words that a record rests on."""
    ask(calls.evidence(record_id, None, owner, None, None), _show_evidence, as_json=as_json)


def _show_evidence(found: EvidenceResult, output: Output) -> None:
    events = {event.id: event for event in found.events}
    for span in found.spans:
        event = events.get(span.event)
        told = f", {moment(event.at)}, {event.role}, {event.kind}" if event else ""
        show_quote(span.quote, f"{span.event}[{span.start}:{span.end}]{told}", output)
    for event_id in found.missing:
        output.say(("missing  ", "red"), event_id)


def _show_page(page: RecordListResult, output: Output) -> None:
    output.table(
        ["id", "rev", "kind", "status", "about", "observed", "content"],
        (
            [r.id, r.revision, r.kind, r.status, r.subject_id, moment(r.observed_at), r.content]
            for r in page.items
        ),
    )
    if page.next is not None:
        output.note(f"More: --after {page.next}")


def _show_record(record: RecordResult, output: Output) -> None:
    status = (record.status, STYLES.get(record.status, "yellow"))
    output.say((record.kind, "cyan"), ", ", status, (f"  revision {record.revision}", "dim"))
    output.say((one_line(record.content), "bold"))
    for name, value in _facts(record):
        output.say((f"{name:<12} ", "dim"), value)
    for span in record.source_refs:
        show_quote(span.quote, f"{span.event}[{span.start}:{span.end}]", output)


def _facts(record: RecordResult) -> Iterable[tuple[str, str]]:
    facts = {
        "id": record.id,
        "about": record.subject_id,
        "owner": record.owner_scope,
        "authority": record.authority,
        "class": record.fact_class,
        "slot": record.key,
        "value": record.value,
        "observed": moment(record.observed_at),
        "recorded": moment(record.recorded_at),
        "valid from": moment(record.valid_from),
        "valid to": moment(record.valid_to),
        "review at": moment(record.review_at),
        "reason": record.reason,
    }
    lists = {
        "supersedes": record.supersedes,
        "conflicts": record.conflicts_with,
        "conditions": record.conditions,
        "steps": record.steps,
        "failure": record.failure,
        "verify": record.verify,
        "cues": record.cues,
    }
    yield from ((name, value) for name, value in facts.items() if value)
    for name, values in lists.items():
        yield from ((name, value) for value in values or ())
