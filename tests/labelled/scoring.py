"""How well an observer reads the labelled logs; README.md beside this file tells the counting."""

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import Any, Final

from pipeline.rules.validating import validate
from pipeline.rules.wording import simplified
from storage.records.knowledge import Record, RecordKind
from storage.records.runs import Observation, WorkPackage
from tests.labelled.reading import BEIJING, Label, Log

Observe = Callable[[WorkPackage], Observation]

_STANDING: Final = frozenset(
    {RecordKind.RULE, RecordKind.PREFERENCE, RecordKind.CORRECTION, RecordKind.PROCEDURE}
)


@dataclass(slots=True)
class Counts:
    """Hits, false alarms and misses."""

    hits: int = 0
    alarms: int = 0
    misses: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.hits + other.hits, self.alarms + other.alarms, self.misses + other.misses
        )

    @property
    def precision(self) -> float:
        """The share of what was kept that should be; 1 where nothing was kept."""
        return _share(self.hits, self.alarms)

    @property
    def recall(self) -> float:
        """The share of what should be kept that was; 1 where nothing should be."""
        return _share(self.hits, self.misses)

    @property
    def f1(self) -> float:
        """The harmonic mean of both."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


@dataclass(slots=True)
class Outcome:
    """What became of one log."""

    log: Log
    hits: list[tuple[Label, Record]] = field(default_factory=list)
    misses: list[Label] = field(default_factory=list)
    alarms: list[Record] = field(default_factory=list)
    violations: list[Record] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Score:
    """What became of a set of logs."""

    outcomes: tuple[Outcome, ...]

    @property
    def overall(self) -> Counts:
        """The counts of all."""
        return self.of_language(None)

    @property
    def violations(self) -> tuple[str, ...]:
        """The ids of the logs in which something was kept that must not be."""
        return tuple(outcome.log.id for outcome in self.outcomes if outcome.violations)

    def of_language(self, lang: str | None) -> Counts:
        """The counts of the logs in a language, or of all."""
        chosen = [item for item in self.outcomes if lang in {None, item.log.lang}]
        return sum((_counts(outcome, None) for outcome in chosen), Counts())

    def of_kind(self, kind: RecordKind) -> Counts:
        """The counts under a kind."""
        return sum((_counts(outcome, kind) for outcome in self.outcomes), Counts())


def score(observe: Observe, logs: Iterable[Log]) -> Score:
    """Let an observer read the logs, and count what validation accepts of its proposals."""
    return Score(tuple(_outcome(observe, log) for log in logs))


def meets(label: Label, record: Record) -> bool:
    """Whether a record is what a label describes."""
    if record.kind not in label.kinds or not _says(label.words, _texts(record)):
        return False
    once = label.options.get("once", False)
    if once != "any" and record.kind in _STANDING and record.scope.once is not once:
        return False
    return all(_CHECKS[name](wanted, record) for name, wanted in label.options.items())


def table(result: Score) -> str:
    """The counts per kind, per language and overall, for people."""
    rows = [(str(kind), result.of_kind(kind)) for kind in RecordKind]
    rows += [(lang, result.of_language(lang)) for lang in ("zh", "en")]
    rows.append(("all", result.overall))
    lines = [f"{'':<12}{'hits':>6}{'alarms':>8}{'misses':>8}{'prec':>7}{'recall':>8}{'F1':>7}"]
    lines += [
        f"{name:<12}{one.hits:>6}{one.alarms:>8}{one.misses:>8}"
        f"{one.precision:>7.2f}{one.recall:>8.2f}{one.f1:>7.2f}"
        for name, one in rows
    ]
    guarded = sum(outcome.log.guards for outcome in result.outcomes)
    lines.append(
        f"{len(result.outcomes)} logs; must-not kept in {len(result.violations)} of {guarded}"
    )
    return "\n".join(lines)


def faults(result: Score) -> Iterator[str]:
    """Each log that went wrong, with its text and what was kept, for people."""
    for outcome in result.outcomes:
        wrong = [f"  MISSED {label}" for label in outcome.misses]
        for record in outcome.alarms:
            word = "MUST-NOT" if record in outcome.violations else "ALARM"
            wrong.append(f"  {word} {shown(record)}")
        wrong += [
            f"  MUST-NOT {shown(record)}"
            for record in outcome.violations
            if record not in outcome.alarms
        ]
        if not wrong:
            continue
        yield f"{outcome.log.id} ({outcome.log.about})"
        yield from (f"    {item.event.kind}: {item.event.text}" for item in outcome.log.work.events)
        yield from wrong
        yield from (f"  kept {shown(record)}" for _, record in outcome.hits)
        yield from (f"  rejected {code}" for code in outcome.rejected)


def shown(record: Record) -> str:
    """A record in a line."""
    days = {
        "from": record.valid_from,
        "to": record.valid_to,
        "review": record.review_at,
    }
    more = [f"{name}={_day(at)}" for name, at in days.items() if at is not None]
    more += ["once"] if record.scope.once else []
    more += [
        str(value) for value in (record.value, record.fact_class, record.profile_kind) if value
    ]
    more += [f"{len(record.steps)} steps"] if record.steps else []
    return f"{record.kind} {record.content!r} {' '.join(more)}".rstrip()


def _outcome(observe: Observe, log: Log) -> Outcome:
    named = chain.from_iterable(item.event.objects for item in log.work.events)
    verdicts = validate(
        observe(log.work).proposals,
        log.work,
        objects=frozenset(ref.id for ref in named),
        has_secret=lambda _: False,
        now_ms=log.work.events[-1].last_at,
    )
    outcome = Outcome(log, rejected=[f"{v.code}: {v.reason}" for v in verdicts if v.code])
    records = [verdict.record for verdict in verdicts if verdict.record is not None]
    for label in log.expect:
        taken = [record for _, record in outcome.hits]
        found = next((r for r in records if r not in taken and meets(label, r)), None)
        found = found or next((r for r in records if _cued(label, r)), None)
        if found is None:
            outcome.misses.append(label)
        else:
            outcome.hits.append((label, found))
    for record in records:
        _judge_rest(outcome, record)
    return outcome


def _judge_rest(outcome: Outcome, record: Record) -> None:
    log = outcome.log
    if any(record is hit and meets(label, hit) for label, hit in outcome.hits):
        return
    if _said_again(outcome, record) or any(meets(label, record) for label in log.may):
        return
    forbidden = any(meets(label, record) for label in log.must_not)
    told = record.kind is RecordKind.EPISODE and log.works
    if not told and not (record.kind is RecordKind.CUE and log.expect):
        outcome.alarms.append(record)
        forbidden = forbidden or log.nothing
    if forbidden:
        outcome.violations.append(record)


def _said_again(outcome: Outcome, record: Record) -> bool:
    sources = {span.event_id for span in record.evidence}
    return any(
        meets(label, record) and sources.isdisjoint(span.event_id for span in hit.evidence)
        for label, hit in outcome.hits
    )


def _counts(outcome: Outcome, kind: RecordKind | None) -> Counts:
    return Counts(
        sum(kind in {None, label.kind} for label, _ in outcome.hits),
        sum(kind in {None, record.kind} for record in outcome.alarms),
        sum(kind in {None, label.kind} for label in outcome.misses),
    )


def _texts(record: Record) -> str:
    lists = (record.conditions, record.steps, record.failure, record.verify)
    return "\n".join([record.content, *chain.from_iterable(lists)])


def _says(words: Sequence[str], text: str) -> bool:
    folded = _fold(text)
    return all(any(_fold(word) in folded for word in either.split("|")) for either in words)


def _fold(text: str) -> str:
    return simplified(unicodedata.normalize("NFKC", text)).casefold()


def _cued(label: Label, record: Record) -> bool:
    return RecordKind.CUE in label.kinds and _says(label.words, "\n".join(record.cues))


def _on(wanted: Any, *times: int | None) -> bool:
    days = {_day(at) for at in times if at is not None}
    return not days.isdisjoint(wanted.split("|"))


def _due(wanted: Any, record: Record) -> bool:
    said = record.value is not None and _says([wanted], record.value)
    return said or _on(wanted, record.review_at, record.valid_to)


def _until(wanted: Any, record: Record) -> bool:
    end = record.valid_to
    return end is not None and _on(wanted, end, end - 1)


def _class(wanted: Any, record: Record) -> bool:
    return record.fact_class is None or record.fact_class in wanted.split("|")


def _profile(wanted: Any, record: Record) -> bool:
    return record.profile_kind is None or record.profile_kind == wanted


_CHECKS: Final[dict[str, Callable[[Any, Record], bool]]] = {
    "due": _due,
    "from": lambda wanted, record: _on(wanted, record.valid_from),
    "to": _until,
    "once": lambda wanted, record: wanted == "any" or record.scope.once is wanted,
    "class": _class,
    "profile": _profile,
    "subject": lambda wanted, record: record.subject_id == wanted,
    "steps": lambda wanted, record: len(record.steps) >= wanted,
    "failure": lambda wanted, record: _says(wanted, "\n".join(record.failure)),
    "verify": lambda wanted, record: _says(wanted, "\n".join(record.verify)),
    "without": lambda wanted, record: not _says(["|".join(wanted)], _texts(record)),
}


def _day(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, BEIJING).date().isoformat()


def _share(part: int, rest: int) -> float:
    return part / (part + rest) if part + rest else 1.0
