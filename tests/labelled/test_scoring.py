"""The scorer itself: observers whose score is known beforehand."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from storage.records.events import Event, Role
from storage.records.knowledge import FactClass, ProfileKind, Proposal, Quote, RecordKind, Scope
from storage.records.runs import Observation, WorkPackage
from tests.labelled.reading import (
    BEIJING,
    DEV,
    HELD_OUT,
    INDEPENDENT,
    UNSEEN,
    Label,
    Log,
    log_of,
    read,
)
from tests.labelled.scoring import Observe, Outcome, faults, score, table

pytestmark = pytest.mark.unit

PATHS = (DEV, HELD_OUT, INDEPENDENT, UNSEEN)
SETS = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
TALK = {"id": "t", "lang": "en", "about": "a test's"}
RULE = "From now on use the new template."


def silent(_: WorkPackage) -> Observation:
    """Keeps nothing."""
    return Observation((), "nothing")


def saying(*proposals: Proposal) -> Observe:
    """An observer that always proposes these."""
    return lambda _: Observation(proposals)


def proposal(content: str, event: int = 0, kind: str = "rule", **more: Any) -> Proposal:
    """A proposal that quotes the event of that number with its own content."""
    quoted = more.pop("quote", content)
    return Proposal(RecordKind(kind), content, (Quote(f"e{event}", quoted),), **more)


def outcome_of(log: Mapping[str, Any], *proposals: Proposal) -> Outcome:
    """What became of a log when these were proposed."""
    (outcome,) = score(saying(*proposals), [log_of({**TALK, **log})]).outcomes
    return outcome


class Oracle:
    """Knows the labels: proposes just what each expects, from the events that say it."""

    def __init__(self, logs: Sequence[Log]) -> None:
        self._logs = {id(log.work): log for log in logs}

    def observe(self, work: WorkPackage) -> Observation:
        """Propose what the package's log expects."""
        log = self._logs[id(work)]
        return Observation(tuple(self._proposal(log, label) for label in log.expect), "nothing")

    def _proposal(self, log: Log, label: Label) -> Proposal:
        sources = self._sources(log, label)
        text = "; ".join(event.text for event in sources)
        days = {name: _noon(label.options.get(name)) for name in ("due", "from", "to")}
        fact_class = FactClass(label.options.get("class", "project").split("|")[0])
        parts = filter(str.strip, re.split(r"[，,、；;.\n]+|\d\)", text))
        steps = tuple(parts) if "steps" in label.options else ()
        return Proposal(
            label.kind,
            f"{text} {' '.join(word.split('|')[0] for word in label.words)}",
            tuple(Quote(event.id, event.text) for event in sources),
            subject=label.options.get("subject"),
            fact_class=fact_class if label.kind is RecordKind.FACT else None,
            profile_kind=ProfileKind(label.options.get("profile", "identity")),
            scope=Scope(once=label.options.get("once") is True),
            review_at=days["due"],
            valid_from=days["from"],
            valid_to=days["to"],
            steps=steps,
            failure=(text,) if "failure" in label.options else (),
            verify=(text,) if "verify" in label.options else (),
        )

    def _sources(self, log: Log, label: Label) -> list[Event]:
        events = [item.event for item in log.work.events]
        if label.kind is RecordKind.EPISODE:
            return events
        first = label.words[0].split("|")
        said = [event for event in events if any(word in event.text for word in first)]
        # Who asks for a promise does not give it.
        asked = ("?", "？") if label.kind is RecordKind.COMMITMENT else ()
        by_user = [e for e in said if e.role is Role.USER and not e.text.rstrip().endswith(asked)]
        return (by_user or said)[-1:]


def _noon(day: str | None) -> int | None:
    if day is None:
        return None
    noon = datetime.fromisoformat(day.split("|")[0]).replace(hour=12, tzinfo=BEIJING)
    return int(noon.timestamp() * 1000)


@SETS
def test_every_expectation_can_be_met_by_what_validation_accepts(path: Path) -> None:
    """An observer that knows the labels scores 1: no label asks for what can't be kept."""
    logs = read(path)
    result = score(Oracle(logs).observe, logs)
    # The text of the sets that nobody tunes to stays unseen; a code and its reason hold none.
    codes = [code for outcome in result.outcomes for code in outcome.rejected]
    told = "\n".join(faults(result) if path == DEV else codes)
    assert told == ""
    overall, violations = result.overall, result.violations
    assert (overall.precision, overall.recall, overall.f1) == (1, 1, 1)
    assert violations == ()


@SETS
def test_every_label_speaks_of_its_log(path: Path) -> None:
    """Each word of a label, of what may and what must not be kept too, stands in the log."""
    for log in read(path):
        text = "\n".join(item.event.text for item in log.work.events).casefold()
        for label in (*log.expect, *log.may, *log.must_not):
            for word in label.words:
                assert any(either.casefold() in text for either in word.split("|")), log.id


def test_silence_finds_nothing_and_does_no_harm() -> None:
    """An observer that keeps nothing has recall 0, precision 1, and violates nothing."""
    result = score(silent, read(DEV))
    assert (result.overall.precision, result.overall.recall, result.overall.f1) == (1, 0, 0)
    assert result.violations == ()


@pytest.mark.parametrize(
    ("text", "word"), [("He said 'always use Teams'", "Teams"), ("他说“以后都用飞书”", "飞书")]
)
def test_what_must_not_be_kept_is_caught(text: str, word: str) -> None:
    """A record that a must-not describes is a false alarm and a violation."""
    log = {"log": [f"user: {text}"], "must_not": [{"rule|preference": [word]}]}
    kept = outcome_of(log, proposal(text))
    assert (len(kept.alarms), len(kept.violations)) == (1, 1)
    other = outcome_of(log, proposal(text, kind="correction"))
    assert (len(other.alarms), len(other.violations)) == (1, 0)


@pytest.mark.parametrize("text", ["good morning!", "早上好！"])
def test_anything_kept_of_chatter_is_a_violation(text: str) -> None:
    """Where nothing is to be kept, an episode is as wrong as a rule."""
    for kind in ("rule", "episode", "cue"):
        kept = outcome_of({"log": [f"user: {text}"], "nothing": True}, proposal(text, kind=kind))
        assert (len(kept.alarms), len(kept.violations)) == (1, 1)


def test_only_what_validation_accepts_counts() -> None:
    """A rule that quotes a page is rejected before it is counted."""
    log = {"log": ["external: " + RULE], "must_not": [{"any": ["template"]}]}
    outcome = outcome_of(log, proposal(RULE))
    assert (outcome.alarms, outcome.violations) == ([], [])
    assert [code.split(":")[0] for code in outcome.rejected] == ["untrusted_source"]


def test_an_episode_may_tell_of_work_but_not_of_talk() -> None:
    """In a log with a task an episode that nobody expected counts neither way."""
    log = {"log": ["user: " + RULE], "expect": [{"rule": ["template"]}]}
    told = proposal(RULE, kind="episode")
    assert len(outcome_of(log, proposal(RULE), told).alarms) == 1
    assert outcome_of({**log, "task": "t1"}, proposal(RULE), told).alarms == []
    forbidden = {**log, "task": "t1", "must_not": [{"episode": ["template"]}]}
    assert len(outcome_of(forbidden, proposal(RULE), told).violations) == 1


def test_the_same_thing_twice_is_an_alarm_unless_another_event_says_it() -> None:
    """Joining what two events say is for merge; saying one thing twice is the observer's fault."""
    log = {"log": ["user: " + RULE, "user: " + RULE], "expect": [{"rule": ["template"]}]}
    first = proposal(RULE)
    assert outcome_of(log, first, proposal(RULE[:-1] + " now.", 1, quote=RULE)).alarms == []
    assert len(outcome_of(log, first, proposal("use the new template")).alarms) == 1


def test_what_may_be_kept_counts_neither_way() -> None:
    """A record that a `may` describes is no hit and no alarm."""
    log = {
        "log": ["user: " + RULE],
        "expect": [{"rule": ["template"]}],
        "may": [{"preference": ["template"]}],
    }
    outcome = outcome_of(log, proposal(RULE, kind="preference"))
    assert (outcome.hits, outcome.alarms, len(outcome.misses)) == ([], [], 1)


def test_a_hit_needs_what_the_label_says_beside_its_words() -> None:
    """An exception kept as a standing rule, or a wrong day, is a miss and an alarm."""
    said = "Just this time pay by Friday without asking."
    once = {"log": ["user: " + said], "expect": [{"rule": ["pay"], "once": True}]}
    assert len(outcome_of(once, proposal(said, scope=Scope(once=True))).hits) == 1
    standing = {"log": ["user: " + RULE], "expect": [{"rule": ["template"]}]}
    wrong = outcome_of(standing, proposal(RULE, scope=Scope(once=True)))
    assert (len(wrong.misses), len(wrong.alarms)) == (1, 1)
    due = {"log": ["user: " + said], "expect": [{"commitment": ["pay"], "due": "2026-03-06"}]}
    promise = proposal(said, kind="commitment", review_at=_noon("2026-03-06"))
    late = proposal(said, kind="commitment", review_at=_noon("2026-03-13"))
    assert len(outcome_of(due, promise).hits) == 1
    assert len(outcome_of(due, late).misses) == 1
    without = {"log": ["user: " + RULE], "expect": [{"rule": ["new"], "without": ["old", "use"]}]}
    assert len(outcome_of(without, proposal(RULE)).misses) == 1


def test_an_expected_cue_is_met_by_another_record_s_cues() -> None:
    """Cues may stand by themselves or beside what they lead to."""
    log = {"log": ["user: " + RULE], "expect": [{"rule": ["new"]}, {"cue": ["template"]}]}
    assert len(outcome_of(log, proposal(RULE, cues=("template",))).hits) == 2
    assert len(outcome_of(log, proposal(RULE)).misses) == 1


def test_the_table_counts_by_kind_language_and_all() -> None:
    """Each row carries hits, alarms, misses, precision, recall and F1."""
    logs = [
        log_of({**TALK, "log": ["user: " + RULE], "expect": [{"rule": ["template"]}]}),
        log_of({**TALK, "lang": "zh", "log": ["user: " + RULE], "expect": [{"fact": ["x"]}]}),
    ]
    rows = table(score(saying(proposal(RULE)), logs)).splitlines()
    found = {row.split()[0]: row.split()[1:] for row in rows[1:-1]}
    assert found["rule"] == ["1", "1", "0", "0.50", "1.00", "0.67"]
    assert found["zh"] == ["0", "1", "1", "0.00", "0.00", "0.00"]
    assert found["all"] == ["1", "1", "1", "0.50", "0.50", "0.50"]
    assert rows[-1] == "2 logs; must-not kept in 0 of 0"


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"expects": []}, "unknown"),
        ({}, "says nothing"),
        ({"nothing": True, "expect": [{"rule": ["a"]}]}, "yet something"),
        ({"log": ["somebody: hello"], "nothing": True}, "who: text"),
        ({"expect": [{"rule": "a"}]}, "a list"),
        ({"expect": [{"rule": ["a"], "dew": "2026-03-06"}]}, "once"),
    ],
)
def test_a_log_out_of_form_is_refused_by_name(change: Mapping[str, Any], complaint: str) -> None:
    """A typo in a label fails the reading, so that it can't make a set easier."""
    with pytest.raises(ValueError, match=f"t: .*{complaint}"):
        log_of({**TALK, "log": ["user: hello"], **change})
