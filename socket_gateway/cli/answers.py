"""An answer as people read it: each hit, why it was found, and the verbatim words behind it."""

from socket_gateway.cli.output import STYLES, Output
from socket_gateway.cli.shown import moment, one_line, safe
from socket_gateway.protocol import HitResult, RecallResult, RecordResult


def show(found: RecallResult, output: Output) -> None:
    """Write an answer."""
    state = (found.state, STYLES.get(found.state, "yellow"))
    lag = f", index {found.index_lag} behind" if found.index_lag else ""
    output.say(state, (f"  (memory version {found.memory_version}{lag})", "dim"))
    if found.binding:
        output.say(("Binding here, whatever the question:", "bold"))
    for hit in found.binding:
        show_hit("•", hit, output)
    for rank, hit in enumerate(found.hits, 1):
        show_hit(f"{rank}.", hit, output)
    for gap in found.gaps:
        output.say(("gap  ", "yellow"), gap)
    if found.truncated:
        output.say(("There is more than the budget holds.", "dim"))


def show_hit(mark: str, hit: HitResult, output: Output) -> None:
    """Write one hit."""
    why = ", ".join(hit.reasons)
    if hit.record is not None:
        _show_record(mark, hit.record, f"found by {why}, score {hit.score:.3f}", output)
    elif hit.event is not None:
        event = hit.event
        output.say(
            (f"{mark} ", "bold"),
            (f"event {event.kind}", "cyan"),
            ("  no valid record holds it", "dim"),
        )
        output.say(("   ", ""), one_line(event.text))
        told = (
            f"found by {why}, score {hit.score:.3f}; {event.id}, {moment(event.at)}, {event.role}"
        )
        output.say((f"   {told}", "dim"))
    if hit.overdue:
        output.say(("   overdue", "red"))
    if hit.recheck:
        output.say(
            ("   its review time has come: check it before telling it as what is so", "yellow")
        )
    for rival in hit.conflicts or ():
        output.say((f"   against it, from {rival.authority}: {one_line(rival.content)}", "yellow"))
    for part in hit.evidence:
        show_quote(part.quote, f"{part.event}, {moment(part.at)}, {part.role}", output)


def show_quote(quote: str, source: str, output: Output) -> None:
    """Write verbatim words, each line of them marked, and where they stand."""
    for line in safe(quote).split("\n"):
        output.say(("   │ ", "blue"), line)
    output.say((f"   ╰ {source}", "dim"))


def _show_record(mark: str, record: RecordResult, why: str, output: Output) -> None:
    status = (record.status, STYLES.get(record.status, "yellow"))
    output.say((f"{mark} ", "bold"), (record.kind, "cyan"), ", ", status, (f"  {record.id}", "dim"))
    output.say("   ", (one_line(record.content), "bold"))
    output.say((f"   {why}; about {record.subject_id}, from {record.authority}", "dim"))
    if record.valid_to is not None:
        output.say((f"   valid until {moment(record.valid_to)}", "yellow"))
    if record.conflicts_with:
        output.say((f"   in conflict with {', '.join(record.conflicts_with)}", "yellow"))
