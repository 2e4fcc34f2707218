"""How well the offline observer reads the labelled logs, and whether the sets are what they say."""

from collections import Counter
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import pytest

from pipeline.observers.offline import OfflineObserver
from storage.records.knowledge import RecordKind
from tests.labelled.reading import DEV, HELD_OUT, INDEPENDENT, UNSEEN, read
from tests.labelled.scoring import faults, score, table

pytestmark = pytest.mark.contract

PATHS = (DEV, HELD_OUT, INDEPENDENT, UNSEEN)
SETS = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)


class Goal(NamedTuple):
    """What a set must at least give: precision, recall, and logs in which a must-not is kept."""

    precision: float
    recall: float
    kept: int


GOAL = Goal(0.9, 0.7, 0)
# Nobody tuned to the other authors' sets, and they miss the goal: what they give may not get worse
# (docs/benchmarks.md).
GOALS = {DEV: GOAL, HELD_OUT: GOAL, INDEPENDENT: Goal(0.85, 0.7, 4), UNSEEN: Goal(0.9, 0.6, 2)}


@SETS
def test_the_offline_observer_is_good_enough_to_be_used(path: Path) -> None:
    """Without a model nine of ten records kept are right, and seven of ten that should be are kept."""
    result = score(OfflineObserver().observe, read(path))
    # Shown when it fails; the other sets stay unseen by whoever works on the observer.
    seen = faults(result) if path == DEV else ()
    print(*seen, table(result), sep="\n")  # noqa: T201
    overall = result.overall
    assert overall.precision >= GOALS[path].precision
    assert overall.recall >= GOALS[path].recall


@SETS
def test_the_offline_observer_keeps_nothing_that_it_must_not(path: Path) -> None:
    """Chatter, questions, quotations, hypotheticals and outside orders leave no record behind."""
    violations = score(OfflineObserver().observe, read(path)).violations
    print(*(violations if path == DEV else ()))  # noqa: T201 - the other sets stay unseen
    kept = len(violations)
    assert kept <= GOALS[path].kept


@SETS
def test_a_set_is_half_chinese_and_covers_every_kind(path: Path) -> None:
    """Neither language is under 45 %, and each kind is expected in both."""
    logs = read(path)
    languages = Counter(log.lang for log in logs)
    assert languages.keys() == {"zh", "en"}
    assert min(languages.values()) >= 0.45 * len(logs)
    for lang in languages:
        kinds = {label.kind for log in logs for label in log.expect if log.lang == lang}
        assert kinds == set(RecordKind)


def test_the_sets_are_large_and_disjoint() -> None:
    """220 logs and more to work with, 80 held out, 100 of each other author; 60, 33, 33 guard."""
    sets = dev, held_out, *others = [read(path) for path in PATHS]
    assert (len(dev) >= 220, len(held_out) >= 80) == (True, True)
    assert min(len(logs) for logs in others) >= 100
    assert sum(log.guards for log in dev) >= 60
    assert min(sum(log.guards for log in logs) for logs in others) >= 33
    logs = list(chain.from_iterable(sets))
    ids = Counter(log.id for log in logs)
    assert ids.most_common(1)[0][1] == 1
    said = Counter("\n".join(item.event.text for item in log.work.events) for log in logs)
    assert said.most_common(1)[0][1] == 1
