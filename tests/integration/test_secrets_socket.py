"""Secrets and look-alikes through the socket: the figures of spec/quality, Safety, on a set of our own.

Every value is made at test time. A secret counts as found when it stands neither in what evidence gives
back nor in any file of the state folder.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from pipeline.text.redaction import Kind
from tests.conftest import StartService
from tests.service_support import Service, event
from tests.unit.redaction_cases import Case, ValueMaker, make_cases

pytestmark = pytest.mark.integration

SEED = 31_007
TRACE = 6
"""Characters from which on a value can't stand in a file by chance."""

ALL = make_cases(SEED)
SECRETS = [case for case in ALL if case.secrets]
LOOK_ALIKES = [case for case in ALL if not case.secrets]
KINDS = {str(kind) for kind in Kind}


@pytest.fixture
def service(start_service: StartService) -> Service:
    """A service that removes phone numbers too: they are part of the set."""
    return start_service(redaction__phones="redact", observer__kind="external")


def parts(cases: Sequence[Case]) -> Iterator[tuple[int, Sequence[Case]]]:
    """As many as one call takes."""
    for start in range(0, len(cases), 100):
        yield start, cases[start : start + 100]


def speaks(case: Case) -> str:
    """Who wrote a case's text."""
    return "supervisor" if case.by_model else "user"


def ingest(service: Service, cases: Sequence[Case], **more: Any) -> list[dict[str, Any]]:
    """All cases as texts; their receipts."""
    receipts: list[dict[str, Any]] = []
    for start, some in parts(cases):
        receipts += service.ingest(
            *(
                event(f"e{start + n}", case.text, role=speaks(case), **more)
                for n, case in enumerate(some)
            )
        )
    return receipts


def texts(service: Service, count: int) -> list[str]:
    """What evidence gives back of the first events."""
    found: list[str] = []
    for start in range(0, count, 100):
        ids = [f"e{n}" for n in range(start, min(start + 100, count))]
        answer = service.ask("memory.evidence.get", event_ids=ids)
        found += [one["text"] for one in answer["events"]]
    return found


def titled(text: str) -> list[dict[str, str]]:
    """An object under that title; a text that is cut would be another text."""
    return [{"id": "thing", "title": text if len(text) <= 200 else "thing"}]


def on_disk(service: Service, values: Sequence[str]) -> list[str]:
    """Values, by their numbers only, that stand in a file of the state folder."""
    content = [path.read_bytes() for path in service.state.rglob("*") if path.is_file()]
    return [
        f"value {n}"
        for n, value in enumerate(values)
        if len(value) >= TRACE and any(value.encode() in each for each in content)
    ]


def test_the_set_is_large_and_bilingual() -> None:
    """150 spans and 150 look-alikes at least, and forty of each in each language."""
    spans = [case.is_chinese for case in SECRETS for _ in case.secrets]
    harmless = [case.is_chinese for case in LOOK_ALIKES]
    for found in (spans, harmless):
        assert len(found) >= 150
        assert min(sum(found), len(found) - sum(found)) >= 40


def test_secrets_are_found_and_told(service: Service) -> None:
    """At least 98 % of the spans are gone from what is kept, and each answer counts what it lost."""
    receipts = ingest(service, SECRETS)
    kept = texts(service, len(SECRETS))
    spans = [
        (text, value) for text, case in zip(kept, SECRETS, strict=True) for value in case.secrets
    ]
    missed = [n for n, (text, value) in enumerate(spans) if value in text]
    assert len(missed) / len(spans) <= 0.02
    untold = [
        receipt["id"] for receipt in receipts if not KINDS & receipt.get("redactions", {}).keys()
    ]
    assert len(untold) / len(receipts) <= 0.02


def test_look_alikes_are_left_alone(service: Service) -> None:
    """At most 1 % of the look-alikes lose anything; the others come back to the letter."""
    receipts = ingest(service, LOOK_ALIKES)
    kept = texts(service, len(LOOK_ALIKES))
    touched = [
        receipt["id"]
        for receipt, text, case in zip(receipts, kept, LOOK_ALIKES, strict=True)
        if "redactions" in receipt or text != case.text
    ]
    assert len(touched) / len(LOOK_ALIKES) <= 0.01


def test_no_byte_of_a_secret_is_in_any_file(service: Service) -> None:
    """Neither in the database and its log, nor in index, queue, cache or log: text, data, ref, title."""
    found = [case for case in SECRETS if not case.by_model]
    for start, some in parts(found):
        service.ingest(
            *(
                event(
                    f"e{start + n}",
                    case.text,
                    ref=case.text,
                    data={"note": [case.text], case.text: 1},
                    objects=titled(case.text),
                )
                for n, case in enumerate(some)
            )
        )
    control = "对照词 lighthouse-umbrella-ledger"
    service.ingest(event("control", control))
    service.settle()
    missed = {n for n, case in enumerate(found) for value in case.secrets
              if value in texts(service, len(found))[n]}  # fmt: skip
    values = [v for n, case in enumerate(found) if n not in missed for v in case.secrets]
    assert len(missed) / len(found) <= 0.02
    assert service.holds_bytes(control), "a search that finds nothing proves nothing"
    assert on_disk(service, values) == []


def through_doors(service: Service, new: Any) -> None:
    """A secret through each door that takes free text, events aside."""
    service.ask(
        "memory.continuity.recall",
        request_id="q1",
        query=f"令牌 {new()} 在哪",
        purpose=f"for {new()}",
    )
    service.refused("memory.object.put", id="thing", title=f"token {new()}")
    service.ingest(event("e1", "今天交了报销单", speaker=new(), stream=new()))
    service.ask("ops.flush")
    service.work()
    service.ask("ops.flush")
    (package,) = service.ask("memory.observation.claim", worker="w")["packages"]
    quote = {"event": "e1", "quote": "今天交了报销单"}
    fields: list[dict[str, Any]] = [
        {"content": f"密码是 {new()}"}, {"content": "甲", "value": new()}, {"content": "乙", "key": new()},
        {"content": "丙", "steps": [f"use {new()}"]}, {"content": "丁", "cues": [new()]},
        {"content": "戊", "verify": [f"check {new()}"]}, {"content": "己", "conditions": [new()]},
    ]  # fmt: skip
    made = [{"kind": "episode", "evidence": [quote], **more} for more in fields]
    params = {"package_id": package["id"], "token": package["token"], "proposals": made}
    answer = service.ask("memory.observation.commit", **params)
    assert {item["code"] for item in answer["rejected"]} == {"sensitive"}
    assert answer["accepted"] == []


def test_no_other_door_lets_a_secret_through(service: Service) -> None:
    """Questions, purposes, speakers, titles and every field of a proposal are looked at (C4, B6)."""
    maker = ValueMaker(SEED + 1)
    values: list[str] = []

    def new() -> str:
        values.append(maker.github())
        return values[-1]

    through_doors(service, new)
    service.work()
    assert len(values) >= 12
    assert on_disk(service, values) == []


@pytest.mark.parametrize("role", ["user", "supervisor", "executor", "external"])
def test_disguised_secrets_are_found(service: Service, role: str) -> None:
    """Hidden characters and widths inside a secret, or inside the word that names it, hide nothing."""
    maker = ValueMaker(SEED + 2)
    values = [maker.password() for _ in range(6)]
    a, b, c, d, e, f = values
    disguised = [
        "密\u200b码\u2060是" + "\u200b".join(a),
        "pass\u00adword: " + "\u200d".join(b),
        "".join(chr(0xE0000 + ord(letter)) for letter in f"password is {c}"),
        "ｐａｓｓｗｏｒｄ：" + "".join(chr(ord(letter) + 0xFEE0) for letter in d),
        f"口令：{e}\ufe0f",
        "\u202e密码是\u202c" + f,
    ]
    service.ingest(*(event(f"e{n}", text, role=role) for n, text in enumerate(disguised)))
    kept = "\n".join(texts(service, len(disguised)))
    assert [n for n, value in enumerate(values) if value in kept] == []
    assert on_disk(service, values) == []


HIDDEN = {
    "a vendor's tags": "<think>{}</think>好的",
    "a longer name": "<thinking_process>{}</thinking_process>ok",
    "in Chinese": "【思考过程】{}【/思考过程】好的",
    "a channel": "<|channel|>analysis<|message|>{}<|end|>ok",
    "tokens": "<|begin▁of▁think|>{}<|end▁of▁think|>ok",
    "split tags": "<th\u200bink>{}</th\u200bink>ok",
    "wide tags": "＜ｔｈｉｎｋ＞{}＜/ｔｈｉｎｋ＞ok",
    "unclosed": "好的<think>{}",
    "never opened": "{}</think>好的",
}


@pytest.mark.parametrize("form", HIDDEN.values(), ids=HIDDEN)
def test_hidden_reasoning_is_not_kept(service: Service, form: str) -> None:
    """In text, in data and in fields of a model's answer, whatever spelling hides it (B6)."""
    thought = "maybe-harbor-velvet-quartz"
    service.ingest(
        event("e1", form.format(thought), role="supervisor"),
        event("e2", "", role="executor", kind="executor.receipt",
              data={"reasoning_content": thought, "text": form.format(thought)}),
    )  # fmt: skip
    service.settle()
    assert service.holds_bytes(thought) == []
