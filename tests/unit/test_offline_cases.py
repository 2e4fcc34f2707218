"""Own sentences, each read for what it is: kinds found, and silence kept."""

import pytest

from pipeline.observers.offline import OfflineObserver
from storage.records.events import ObjectRef, Role
from storage.records.knowledge import FactClass, Proposal, RecordKind
from tests.observer_support import EXPENSE, Said, package_of
from tests.unit import offline_cases as cases

pytestmark = pytest.mark.unit

ANSWER = Said(
    "已按旧数据填写。Done with the old data.", Role.SUPERVISOR, "supervisor.reply", objects=()
)
WISHES = {RecordKind.PREFERENCE, RecordKind.RULE, RecordKind.FACT}


def stated(
    text: str,
    *before: Said,
    role: Role = Role.USER,
    kind: str = "user.message",
    objects: tuple[ObjectRef, ...] = (),
) -> list[Proposal]:
    """What is proposed of a text, episodes aside."""
    said = package_of([*before, Said(text, role, kind, objects=objects)])
    proposals = OfflineObserver().observe(said).proposals
    return [one for one in proposals if one.kind is not RecordKind.EPISODE]


def kinds(proposals: list[Proposal]) -> set[RecordKind]:
    """Their kinds."""
    return {proposal.kind for proposal in proposals}


@pytest.mark.parametrize("text", cases.WISHES)
def test_wishes_are_kept_for_good(text: str) -> None:
    """Likings and manners are kept, as standing preferences, rules or profile facts (D1)."""
    found = stated(text)
    assert found
    assert kinds(found) <= WISHES
    assert not any(proposal.scope.once for proposal in found)


@pytest.mark.parametrize("text", cases.RULES)
def test_rules_are_kept_for_good(text: str) -> None:
    """What is laid down stands as a rule or a preference, not as an exception (D1, D5)."""
    found = stated(text)
    assert found
    assert kinds(found) <= {RecordKind.RULE, RecordKind.PREFERENCE}
    assert not any(proposal.scope.once for proposal in found)


@pytest.mark.parametrize("text", cases.FACTS)
def test_facts_are_kept_with_their_class(text: str) -> None:
    """What people and things are is a fact with its class, or a preference (F3)."""
    found = stated(text)
    assert found
    assert kinds(found) <= {RecordKind.FACT, RecordKind.PREFERENCE}
    facts = [one for one in found if one.kind is RecordKind.FACT]
    assert all(one.fact_class in {FactClass.PROFILE, FactClass.PROJECT} for one in facts)
    assert all(one.profile_kind for one in facts if one.fact_class is FactClass.PROFILE)


@pytest.mark.parametrize("text", cases.CORRECTIONS)
def test_corrections_are_told_from_facts(text: str) -> None:
    """What sets an answer right is a correction, whatever else it looks like (C5)."""
    assert kinds(stated(text, ANSWER)) == {RecordKind.CORRECTION}


@pytest.mark.parametrize("text", cases.ANSWERS)
def test_answers_correct_nothing(text: str) -> None:
    """Assent, thanks and afterthoughts set nothing right."""
    assert stated(text, ANSWER) == []


@pytest.mark.parametrize("text", cases.PROMISED_BY_USERS)
def test_users_are_held_to_their_promises(text: str) -> None:
    """Reminders, promises and duties with a day are commitments (D7)."""
    assert kinds(stated(text)) == {RecordKind.COMMITMENT}


@pytest.mark.parametrize("text", cases.PROMISED_BY_SUPERVISORS)
def test_supervisors_are_held_to_their_promises(text: str) -> None:
    """So are the supervisor's own, where a day or a report is promised (D7)."""
    said = stated(text, role=Role.SUPERVISOR, kind="supervisor.reply")
    assert kinds(said) == {RecordKind.COMMITMENT}


@pytest.mark.parametrize("text", cases.NOT_PROMISED)
def test_nothing_else_of_a_supervisor_is_kept(text: str) -> None:
    """Offers, refusals, reports and restatements are no promises, and prove nothing (F3)."""
    assert stated(text, role=Role.SUPERVISOR, kind="supervisor.reply") == []


@pytest.mark.parametrize("text", cases.WAYS_OF_DOING)
def test_ways_of_doing_keep_their_steps(text: str) -> None:
    """What is taught step by step is one procedure with its steps (D6)."""
    (procedure,) = stated(text)
    assert procedure.kind is RecordKind.PROCEDURE
    assert len(procedure.steps) >= 2


@pytest.mark.parametrize("text", cases.ONCE)
def test_an_exception_never_becomes_a_rule(text: str) -> None:
    """What is asked for one time holds that one time (D5)."""
    found = stated(text, objects=(EXPENSE,))
    assert found
    assert all((one.kind, one.scope.once) == (RecordKind.RULE, True) for one in found)


@pytest.mark.parametrize("text", cases.SURROUNDINGS)
def test_observed_attributes_are_environment_facts(text: str) -> None:
    """Versions, places and names that are observed are facts to be borne out (F3)."""
    found = stated(text, role=Role.OBSERVATION, kind="executor.observation", objects=(EXPENSE,))
    assert [one.fact_class for one in found] == [FactClass.ENVIRONMENT]


@pytest.mark.parametrize("text", cases.NO_SURROUNDINGS)
def test_passing_sights_are_no_facts(text: str) -> None:
    """Errors, loads and text read aloud from a screen tell nothing lasting (B5)."""
    found = stated(text, role=Role.OBSERVATION, kind="executor.observation", objects=(EXPENSE,))
    assert found == []


@pytest.mark.parametrize(
    "text", [*cases.OTHERS, *cases.UNMEANT, *cases.QUESTIONS, *cases.TALK, *cases.NOT_ONCE]
)
def test_what_is_not_stated_is_not_kept(text: str) -> None:
    """Others' words, suppositions, irony, questions and talk leave nothing behind."""
    assert stated(text) == []
