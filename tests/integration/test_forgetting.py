"""Integration: forgetting through the socket, in Chinese and English: what goes and what stays."""

from typing import Any

import pytest

from tests.conftest import StartService
from tests.forgetting_support import EXPENSE, Memory, files_with, proposal
from tests.service_support import DAY, MINUTE, NOW, event

pytestmark = pytest.mark.integration

TEXTS = {
    "chinese": ("请记住：我的储物柜密语是雨后枇杷", "我喜欢喝桂花乌龙茶"),
    "english": ("Remember: the locker phrase is violet umbrella", "I like jasmine tea best"),
}
"""What is forgotten, and what stays."""

FILLER = "•"


@pytest.fixture
def memory(start_service: StartService) -> Memory:
    """A memory that holds what a test proposes."""
    return Memory(start_service(observer__kind="external"))


@pytest.fixture(params=TEXTS)
def texts(request: pytest.FixtureRequest) -> tuple[str, str]:
    """A secret and something else, in one language."""
    return TEXTS[request.param]


# ---- events ------------------------------------------------------------------


def test_a_forgotten_event_is_nowhere(memory: Memory, texts: tuple[str, str]) -> None:
    """Its text, its record, its snapshot item, what was recalled of it: no answer and no file has it."""
    secret, other = texts
    record = memory.learn_one("a", secret)
    memory.learn_one("b", other)
    assert memory.recall("before", secret)["hits"]
    service = memory.service
    begun = memory.forget(event_ids=["a"])
    assert (
        begun["counts"] | {"events": 1, "records": 1, "proposals": 1, "recalls": 1}
        == (begun["counts"])
    )
    assert secret not in memory.told()
    assert other in memory.told()
    assert service.refused("memory.record.get", record_id=record)["code"] == "not_found"
    assert service.refused("memory.record.history", record_id=record)["code"] == "not_found"
    assert service.ask("memory.evidence.get", event_ids=["a"])["missing"] == ["a"]
    # A question in other words: what is asked now is new, and kept as such.
    assert secret not in str(memory.recall("before", "雨后 violet"))
    memory.erased(begun)
    service.work()
    positions = service.positions()
    assert (positions["published"], positions["backlog"]) == (positions["received"], 0)
    service.stop()
    assert files_with(service.state, secret, secret[3:9]) == []
    assert files_with(service.state, other) != [], "a search that finds nothing proves nothing"


def test_all_of_an_event_goes(memory: Memory) -> None:
    """Speaker, reference and data go with its text; keys of the data, too."""
    memory.hear(
        event("a", "普通的一句话", objects=EXPENSE, speaker="说话人欧阳紫霞",
              ref="file:///deep/violet-folder/ledger.txt",
              data={"隐藏的键名甲乙丙": {"deep": ["lighthouse keeper notes"]}}),
        event("b", "另一句话", objects=EXPENSE),
    )  # fmt: skip
    memory.forget_wholly(event_ids=["a"])
    memory.service.stop()
    words = ("欧阳紫霞", "violet-folder", "隐藏的键名", "lighthouse keeper")
    assert files_with(memory.service.state, *words) == []


def test_an_event_that_nobody_has_looked_at_yet_goes(memory: Memory) -> None:
    """Unfiltered events are forgotten, too, and nothing waits for them afterwards."""
    memory.service.ingest(event("a", "还没有过滤的秘密甲"), event("b", "the last one, unfiltered"))
    memory.forget_wholly(event_ids=["b"])
    memory.forget_wholly(event_ids=["a"])
    memory.service.work()
    positions = memory.service.positions()
    assert positions == {"received": 2, "organized": 2, "published": 2, "backlog": 0, "dead": 0}
    memory.service.stop()
    assert files_with(memory.service.state, "还没有过滤", "unfiltered") == []


def test_a_forgotten_last_event_holds_nothing_back(memory: Memory) -> None:
    """What was received last and forgotten unfiltered lets the rest be organized and published."""
    memory.service.ingest(event("a", "先说的"), event("b", "后说的秘密"))
    memory.forget_wholly(event_ids=["b"])
    memory.service.ask("ops.flush")
    memory.commit(memory.claim())
    memory.service.work()
    assert memory.service.positions()["published"] == 2


def test_repeats_go_with_the_event_that_they_were_counted_into(memory: Memory) -> None:
    """The same words, told again and counted, are no less forgotten than the first time."""
    said = [
        event(f"e{n}", "连接超时 timeout at gate seven", role="observation", at=NOW + n * MINUTE)
        for n in range(3)
    ]
    memory.hear(*said)
    found = memory.preview(event_ids=["e0"])
    assert [item["id"] for item in found["preview"]["events"]] == ["e0", "e1", "e2"]
    memory.forget_wholly(event_ids=["e0"])
    memory.service.stop()
    assert files_with(memory.service.state, "gate seven") == []


def test_a_repeat_that_goes_alone_is_counted_no_more(memory: Memory) -> None:
    """The first one stays, with the number and the times of the repeats that are left."""
    said = [
        event(f"e{n}", "连接超时 timeout", role="observation", at=NOW + n * MINUTE)
        for n in range(3)
    ]
    memory.hear(*said)
    memory.forget_wholly(event_ids=["e2"])
    (item,) = memory.claim()["events"]
    assert (item["count"], item["first_at"], item["last_at"]) == (2, NOW, NOW + MINUTE)


# ---- coming back ---------------------------------------------------------------


def test_a_forgotten_event_that_comes_again_is_stored_no_more(
    memory: Memory, texts: tuple[str, str]
) -> None:
    """It answers duplicate and forgotten with its old number; the same words anew are new."""
    secret, _ = texts
    memory.learn_one("a", secret)
    memory.forget_wholly(event_ids=["a"])
    service = memory.service
    for said in (secret, "something else", ""):
        (receipt,) = service.ingest(event("a", said, objects=EXPENSE))
        assert receipt == {"id": "a", "seq": 1, "duplicate": True, "forgotten": True}
    service.restart()
    assert service.ingest(event("a", secret))[0]["forgotten"] is True
    assert service.ingest(event("a", secret), owner="other")[0]["duplicate"] is False
    assert service.ask("memory.evidence.get", event_ids=["a"])["missing"] == ["a"]
    (new,) = service.ingest(event("c", secret, objects=EXPENSE))
    assert new["duplicate"] is False
    assert "forgotten" not in new


def test_an_event_that_lost_words_comes_back_as_little(memory: Memory) -> None:
    """Its id stands for something forgotten, though the rest of it is still there."""
    text = "开头不变。雨后枇杷的密语。结尾不变。"
    (record,) = memory.learn(
        event("a", text, objects=EXPENSE),
        proposals=[proposal("rule", "雨后枇杷的密语", {"a": "雨后枇杷的密语"})],
    )
    memory.forget_wholly(record_ids=[record])
    (receipt,) = memory.service.ingest(event("a", text, objects=EXPENSE))
    assert receipt == {"id": "a", "seq": 1, "duplicate": True, "forgotten": True}
    (kept,) = memory.service.ask("memory.evidence.get", event_ids=["a"])["events"]
    assert kept["text"] == f"开头不变。{FILLER * 7}。结尾不变。"


# ---- records ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "secret", "other"),
    [
        ("先说模板：以后用蓝色模板。再说时间：周五之前交。", "以后用蓝色模板", "周五之前交"),
        (
            "First the form: always use the blue one. Then time: hand in by Friday.",
            "always use the blue one",
            "hand in by Friday",
        ),
    ],
)
def test_a_forgotten_record_takes_its_words_out_of_the_event(
    memory: Memory, text: str, secret: str, other: str
) -> None:
    """The words it quoted are overwritten, code point by code point; other spans stay exact."""
    gone, kept = memory.learn(
        event("a", text, objects=EXPENSE, data={"copy": f"<{secret}>", "other": other}),
        proposals=[
            proposal("rule", secret, {"a": secret}),
            proposal("rule", other, {"a": other}, key="expense.deadline"),
        ],
    )
    memory.forget_wholly(record_ids=[gone])
    found = memory.service.ask("memory.evidence.get", record_id=kept)
    (span,) = found["spans"]
    assert found["events"][0]["text"] == text.replace(secret, FILLER * len(secret))
    assert found["events"][0]["text"][span["start"] : span["end"]] == other == span["quote"]
    assert secret not in memory.told()
    hits = memory.recall("left", other)["hits"]
    assert hits
    assert secret not in str(hits)
    memory.service.stop()
    assert files_with(memory.service.state, secret) == []


def test_words_that_another_record_rests_on_stay(memory: Memory) -> None:
    """Only what no other record quotes is overwritten; the preview says who keeps the rest."""
    text = "甲部分的话，共同的话，乙部分的话"
    gone, kept = memory.learn(
        event("a", text, objects=EXPENSE),
        proposals=[
            proposal("rule", "甲部分的话，共同的话", {"a": "甲部分的话，共同的话"}),
            proposal("fact", "共同的话，乙部分的话", {"a": "共同的话，乙部分的话"},
                     **{"class": "project"}),
        ],
    )  # fmt: skip
    found = memory.preview(record_ids=[gone])
    assert found["preview"]["holders"] == [kept]
    (part,) = found["preview"]["events"]
    assert part["places"] == [{"start": 0, "end": 6}]
    memory.forget_wholly(record_ids=[gone])
    (left,) = memory.service.ask("memory.evidence.get", record_id=kept)["events"]
    assert left["text"] == FILLER * 6 + text[6:]


def test_every_version_of_a_record_goes(memory: Memory) -> None:
    """What a record rested on at any time is overwritten, in all events it was said in."""
    first = memory.learn_one("a", "报销用蓝色模板")
    memory.learn_one("b", "报销用蓝色模板", at=NOW + DAY)
    (record,) = memory.service.records()
    assert (record["id"], len(record["source_refs"])) == (first, 2)
    memory.forget_wholly(record_ids=[first])
    found = memory.service.ask("memory.evidence.get", event_ids=["a", "b"])["events"]
    assert {event["text"] for event in found} == {FILLER * 7}
    memory.service.stop()
    assert files_with(memory.service.state, "蓝色模板") == []


# ---- records with several sources --------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "value"),
    [
        ("以后报销都用蓝色模板，邻居教的", "报销模板用蓝色模板", "蓝色模板"),
        ("Use the blue template, my aunt insists", "The template is the blue template", "blue"),
    ],
)
def test_a_statement_with_another_source_stays_on_that_alone(
    memory: Memory, first: str, second: str, value: str
) -> None:
    """It goes on in the words of the source that is left, with no old version of the other."""
    slot: dict[str, Any] = {"key": "expense.template", "value": value}
    (record,) = memory.learn(
        event("a", first, objects=EXPENSE),
        proposals=[proposal("rule", first, {"a": first}, **slot)],
    )
    memory.learn(
        event("b", second, objects=EXPENSE, at=NOW + DAY),
        proposals=[proposal("rule", second, {"b": second}, **slot)],
    )
    (before,) = memory.service.records()
    assert len(before["source_refs"]) == 2
    found = memory.preview(event_ids=["a"])
    assert [item["content"] for item in found["preview"]["changed"]] == [second]
    memory.forget_wholly(event_ids=["a"])
    memory.service.work()
    (after,) = memory.service.records()
    assert (after["id"], after["content"], after["status"]) == (record, second, "active")
    assert [ref["event"] for ref in after["source_refs"]] == ["b"]
    assert after["observed_at"] == NOW + DAY
    assert after["revision"] == before["revision"] + 1
    history = memory.service.ask("memory.record.history", record_id=record)["items"]
    assert [item["revision"] for item in history] == [after["revision"]]
    assert first not in memory.told()
    assert any(hit["record"]["id"] == record for hit in memory.recall("q", second)["hits"])
    memory.service.stop()
    assert files_with(memory.service.state, first) == []


def test_a_statement_made_of_two_sources_goes_with_either(memory: Memory) -> None:
    """Words that only what goes has said can't stay in a record, so the record goes."""
    content = "报销用蓝色模板，周五之前交"
    memory.learn(
        event("a", "报销用蓝色模板", objects=EXPENSE),
        event("b", "周五之前交", objects=EXPENSE),
        proposals=[proposal("rule", content, {"a": "报销用蓝色模板", "b": "周五之前交"})],
    )
    memory.forget(event_ids=["b"])
    assert memory.service.records() == []
    kept = memory.service.ask("memory.evidence.get", event_ids=["a"])["events"]
    assert kept[0]["text"] == "报销用蓝色模板"


def test_a_statement_that_what_is_left_may_not_make_goes(memory: Memory) -> None:
    """A fact about a project needs the user's word: a receipt that says the same does not do."""
    text = "项目用蓝色模板"
    memory.learn(
        event("a", text, objects=EXPENSE),
        event("b", text, role="executor", objects=EXPENSE),
        proposals=[proposal("fact", text, {"a": text, "b": text}, **{"class": "project"})],
    )
    memory.forget(event_ids=["a"])
    assert memory.service.records() == []


@pytest.mark.parametrize("kind", ["episode", "procedure", "cue"])
def test_what_is_composed_of_several_sources_goes_with_any(memory: Memory, kind: str) -> None:
    """Episodes, procedures and cues take their words from all of their sources at once."""
    memory.learn(
        event("a", "打开报销系统", objects=EXPENSE),
        event("b", "选择蓝色模板", objects=EXPENSE),
        proposals=[proposal(kind, "打开报销系统，选择蓝色模板",
                            {"a": "打开报销系统", "b": "选择蓝色模板"})],
    )  # fmt: skip
    (record,) = memory.service.records()
    assert record["kind"] == kind
    found = memory.preview(event_ids=["b"])
    assert [item["why"] for item in found["preview"]["records"]] == ["source"]
    memory.forget_wholly(event_ids=["b"])
    assert memory.service.records() == []


# ---- links -----------------------------------------------------------------------


def test_what_a_forgotten_record_had_superseded_is_not_revived(memory: Memory) -> None:
    """The old statement stays superseded; forgetting the old one frees the new one of its mention."""
    slot = {"key": "expense.template"}
    (old,) = memory.learn(
        event("a", "报销用红色模板", objects=EXPENSE),
        proposals=[proposal("rule", "报销用红色模板", {"a": "报销用红色模板"}, value="红", **slot)],
    )
    (new,) = memory.learn(
        event("b", "报销用蓝色模板", objects=EXPENSE, at=NOW + DAY),
        proposals=[proposal("rule", "报销用蓝色模板", {"b": "报销用蓝色模板"}, value="蓝", **slot)],
    )
    (third,) = memory.learn(
        event("c", "报销用绿色模板", objects=EXPENSE, at=NOW + 2 * DAY),
        proposals=[proposal("rule", "报销用绿色模板", {"c": "报销用绿色模板"}, value="绿", **slot)],
    )
    status = {record["id"]: record["status"] for record in memory.service.records()}
    assert status == {old: "superseded", new: "superseded", third: "active"}
    memory.forget_wholly(record_ids=[new])
    left = {record["id"]: record for record in memory.service.records()}
    assert {name: record["status"] for name, record in left.items()} == {
        old: "superseded",
        third: "active",
    }
    assert "supersedes" not in left[third]
    assert new not in memory.told()


def test_a_conflict_ends_with_one_of_its_sides(memory: Memory) -> None:
    """The side that stays names the other no more, in none of its versions."""
    slot = {"key": "expense.template"}
    one, other = memory.learn(
        event("a", "报销用红色模板", objects=EXPENSE),
        event("b", "报销用蓝色模板", objects=EXPENSE),
        proposals=[
            proposal("rule", "报销用红色模板", {"a": "报销用红色模板"}, value="红", **slot),
            proposal("rule", "报销用蓝色模板", {"b": "报销用蓝色模板"}, value="蓝", **slot),
        ],
    )
    assert memory.service.ask("memory.record.get", record_id=one)["conflicts_with"] == [other]
    memory.forget_wholly(event_ids=["b"])
    (left,) = memory.service.records()
    assert left["id"] == one
    assert "conflicts_with" not in left
    assert other not in memory.told()


def test_a_proposal_that_would_replace_what_goes_replaces_nothing(memory: Memory) -> None:
    """Proposals that are not settled yet lose their mention of a forgotten record."""
    record = memory.learn_one("a", "报销用红色模板")
    memory.hear(event("b", "报销改用蓝色模板", objects=EXPENSE, at=NOW + DAY))
    memory.service.ask("ops.stage.pause", stage="merge")
    answer = memory.commit(
        memory.claim(),
        proposal("rule", "报销改用蓝色模板", {"b": "报销改用蓝色模板"}, supersedes=[record]),
    )
    memory.forget_wholly(record_ids=[record])
    memory.service.ask("ops.stage.resume", stage="merge")
    memory.service.work()
    (left,) = memory.service.records()
    assert left["id"] == answer["accepted"][0]["record_id"]
    assert "supersedes" not in left


# ---- roll-ups ----------------------------------------------------------------------


def test_a_roll_up_goes_with_what_it_rolls_up_and_is_made_anew(memory: Memory) -> None:
    """Its words come from all of its records; the rest of them are rolled up again without it."""
    task: dict[str, Any] = {"task": {"id": "t1", "version": 1}, "objects": EXPENSE}
    stories = [f"第{n}次整理了抽屉里的发票 drawer {word}" for n, word in enumerate("abcd")]
    made = []
    for n, text in enumerate(stories):
        said = event(f"e{n}", text, at=NOW + n * MINUTE, **task)
        made += memory.learn(said, proposals=[proposal("episode", text, {f"e{n}": text})])
    memory.hear(
        event("end", "全部整理完了", role="runtime", at=NOW + DAY, data={"state": "done"}, **task)
    )
    memory.commit(memory.claim())
    memory.service.work()
    (before,) = [record for record in memory.service.records() if record.get("links")]
    assert set(before["links"]) == set(made)
    found = memory.preview(record_ids=[made[0]])
    whys = {record["id"]: record["why"] for record in found["preview"]["records"]}
    assert whys == {made[0]: "selected", before["id"]: "roll_up"}
    memory.forget_wholly(record_ids=[made[0]])
    memory.service.work()
    (after,) = [record for record in memory.service.records() if record.get("links")]
    assert set(after["links"]) == set(made[1:])
    assert stories[0] not in memory.told()
    memory.service.stop()
    assert files_with(memory.service.state, stories[0], "第0次整理") == []
