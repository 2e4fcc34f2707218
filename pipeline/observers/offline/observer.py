"""The observer that needs no network: closed lexicons, and nothing that was not said."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from pipeline.observers.offline.episode import episode
from pipeline.observers.offline.proposals import surrounding
from pipeline.observers.offline.sentences import asks_only
from pipeline.observers.offline.statements import supervisor_promises, user_statements
from pipeline.observers.offline.surroundings import surroundings
from pipeline.rules.wording import degenerate, normalised
from storage.records.events import Event, Role
from storage.records.knowledge import Proposal, RecordKind
from storage.records.runs import Observation, WorkPackage

_MOST = {
    RecordKind.FACT: 4,
    RecordKind.PREFERENCE: 3,
}
_MOST_IN_ALL = 11
_SEES = frozenset({Role.OBSERVATION, Role.EXECUTOR, Role.VERIFICATION})
_ANSWERS = frozenset({Role.SUPERVISOR, Role.EXECUTOR, Role.OBSERVATION, Role.VERIFICATION})
_WORK = frozenset({Role.EXECUTOR, Role.OBSERVATION, Role.VERIFICATION, Role.RUNTIME, Role.SCHEDULE})


class OfflineObserver:
    """Deterministic rules in Chinese and English (mission C3).

    Sparse: a record is proposed on an explicit signal only, and few likes and facts come from one package,
    so that ordinary talk does not flood the memory.
    """

    name = "offline"
    batch = 32

    def ready(self) -> bool:
        """Always: nothing has to be there for it."""
        return True

    def observe(self, work: WorkPackage) -> Observation:
        """Propose what the package's speakers say explicitly, and one episode of its work."""
        proposals = _sparse(_statements(item.event for item in work.events))
        told = episode(work)
        if told is not None and not degenerate(told.content):
            proposals.append(told)
        if proposals:
            return Observation(tuple(proposals))
        return Observation((), nothing_worth_keeping=_why_nothing(work))


def _statements(events: Iterable[Event]) -> Iterator[Proposal]:
    answered = False
    asked: list[Proposal] = []
    for event in events:
        if not event.text.strip():
            continue
        if event.role is Role.USER:
            stated = user_statements(event, answered=answered)
            asked = [one for one in stated if one.kind is RecordKind.COMMITMENT]
            yield from stated
        elif event.role is Role.SUPERVISOR:
            yield from supervisor_promises(event, asked)
        elif event.role in _SEES and (event.objects or event.task_id):
            yield from map(surrounding, surroundings(event))
        answered = answered or event.role in _ANSWERS


def _sparse(statements: Iterable[Proposal]) -> list[Proposal]:
    """Each statement once, with all its evidence; few of what talk is full of."""
    found: dict[tuple[RecordKind, str | None, str], Proposal] = {}
    for proposal in statements:
        if degenerate(proposal.content):
            continue
        said = (proposal.kind, proposal.subject, normalised(proposal.content))
        before = found.get(said)
        if before is not None:
            evidence = tuple(dict.fromkeys(before.evidence + proposal.evidence))
            found[said] = replace(before, evidence=evidence)
        elif _room(found.values(), proposal.kind):
            found[said] = proposal
    return list(found.values())


def _room(found: Iterable[Proposal], kind: RecordKind) -> bool:
    kinds = [proposal.kind for proposal in found]
    return len(kinds) < _MOST_IN_ALL and kinds.count(kind) < _MOST.get(kind, _MOST_IN_ALL)


def _why_nothing(work: WorkPackage) -> str:
    """A stable word for why a package holds nothing worth keeping (mission C9)."""
    events = [item.event for item in work.events]
    roles = {event.role for event in events}
    if not any(event.text.strip() for event in events):
        return "no_text"
    if roles == {Role.EXTERNAL}:
        return "only_external_content"
    if roles & _WORK:
        return "only_routine_work"
    spoken = [event for event in events if event.role is Role.USER]
    if spoken and all(map(asks_only, spoken)):
        return "only_questions"
    return "only_talk"
