"""The redaction room: what goes, what stays, and that it ends (mission B6; spec: quality, Safety)."""

import random
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.text.redaction import REDACTOR_VERSION, JsonValue, Kind, RedactionItem, Redactor
from tests.unit.redaction_cases import Case, ValueMaker, make_cases

pytestmark = pytest.mark.unit

CASES = make_cases()
PIECES = (
    *(case.text for case in CASES[::7]),
    *("密码", "password", "是", " is ", "：", "<think>", "</think>", "`", "```", "\n", "[redacted:password]"),
)  # fmt: skip


@pytest.fixture(scope="module")
def redactor() -> Redactor:
    """A redactor that removes phone numbers too."""
    return Redactor(phones="redact")


def redacted(redactor: Redactor, text: str, *, by_model: bool = False) -> str:
    """The text alone, redacted."""
    return redactor.redact_many([text], by_model=[by_model])[0].text


def tree(
    redactor: Redactor, value: JsonValue, *, by_model: bool = False
) -> tuple[JsonValue, Mapping[str, int]]:
    """A JSON tree alone, redacted, and what it has lost."""
    (item,) = redactor.redact_batch([RedactionItem(value, by_model)])
    return item.value, item.counts


def leaks(redactor: Redactor, cases: list[Case]) -> list[str]:
    """The secrets that are still there after redaction."""
    results = redactor.redact_many(
        [case.text for case in cases], by_model=[case.by_model for case in cases]
    )
    return [
        secret
        for case, result in zip(cases, results, strict=True)
        for secret in case.secrets
        if secret in result.text
    ]


def test_labelled_set_is_large_and_bilingual() -> None:
    """The set has 150 secrets and 150 look-alikes at least, two fifths of each Chinese."""
    secret = [case.is_chinese for case in CASES for _ in case.secrets]
    harmless = [case.is_chinese for case in CASES if not case.secrets]
    assert min(len(secret), len(harmless)) >= 150
    assert min(sum(secret) / len(secret), sum(harmless) / len(harmless)) > 0.4


@pytest.mark.parametrize("seed", [20260101, 1, 2])
def test_finds_nearly_all_secrets(redactor: Redactor, seed: int) -> None:
    """At most 2 % of the labelled secrets stay, whatever their values."""
    cases = make_cases(seed)
    spans = sum(len(case.secrets) for case in cases)
    assert len(leaks(redactor, cases)) / spans <= 0.02


@pytest.mark.parametrize("seed", [20260101, 1, 2])
def test_leaves_look_alikes_alone(redactor: Redactor, seed: int) -> None:
    """At most 1 % of the look-alikes are touched."""
    texts = [case.text for case in make_cases(seed) if not case.secrets]
    results = redactor.redact_many(texts, by_model=[False] * len(texts))
    assert sum(bool(result.counts) for result in results) / len(texts) <= 0.01


def test_redacting_again_changes_nothing(redactor: Redactor) -> None:
    """Redacted text is its own redaction."""
    flags = [case.by_model for case in CASES]
    once = [each.text for each in redactor.redact_many([c.text for c in CASES], by_model=flags)]
    twice = redactor.redact_many(once, by_model=flags)
    assert [each.text for each in twice] == once
    assert not any(each.counts for each in twice)


@given(
    pieces=st.lists(st.sampled_from(PIECES) | st.text(max_size=6), max_size=6),
    by_model=st.booleans(),
)
def test_any_text_is_settled_after_once(
    redactor: Redactor, pieces: list[str], *, by_model: bool
) -> None:
    """Redaction is idempotent on any mixture of secrets, tags and ordinary text."""
    once = redacted(redactor, "".join(pieces), by_model=by_model)
    assert redacted(redactor, once, by_model=by_model) == once


def test_company_does_not_matter(redactor: Redactor) -> None:
    """A text's redaction is the same alone and among two hundred others."""
    together = redactor.redact_many([c.text for c in CASES], by_model=[c.by_model for c in CASES])
    alone = [redactor.redact_many([c.text], by_model=[c.by_model])[0] for c in CASES]
    assert together == alone


def test_counts_tell_kind_and_number(redactor: Redactor) -> None:
    """Counts name each kind removed; untouched text has none."""
    maker = ValueMaker(5)
    text = f"密码是{maker.password()}，password: {maker.password()}，验证码 {maker.otp()}"
    found, clean = redactor.redact_many([text, "三月报销"], by_model=[False, False])
    assert found.counts == {"password": 2, "code": 1}
    assert (clean.text, dict(clean.counts)) == ("三月报销", {})


@pytest.mark.parametrize(
    ("template", "kind"),
    [
        ("密码是{}，记一下", Kind.PASSWORD),
        ("my password is {}, thanks", Kind.PASSWORD),
        ("https://app:{}@db.internal/x", Kind.PASSWORD),
    ],
)
def test_text_around_a_secret_stays(redactor: Redactor, template: str, kind: Kind) -> None:
    """Only the secret itself gives way to its marker."""
    text = template.format(ValueMaker(9).password())
    assert redacted(redactor, text) == template.format(kind.marker)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("<think>甲</think>乙", "[redacted:reasoning]乙"),
        ("a<thinking>b</thinking>c", "a[redacted:reasoning]c"),
        ("a<think>b<think>c</think>d</think>e", "a[redacted:reasoning]e"),
        ("<think>the `<think>` tag</think>a", "[redacted:reasoning]a"),
        ("<think>a stray ` tick</think> and ` one", "[redacted:reasoning] and ` one"),
        ("<|channel|>analysis<|message|>a<|end|>b", "[redacted:reasoning]b"),
    ],
)
@pytest.mark.parametrize("by_model", [True, False])
def test_paired_reasoning_goes_from_any_text(
    redactor: Redactor, text: str, kept: str, *, by_model: bool
) -> None:
    """Hidden reasoning between paired tags is removed whoever wrote the text."""
    assert redacted(redactor, text, by_model=by_model) == kept


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("好的<think>其实", "好的[redacted:reasoning]"),
        ("其实</think>好的", "[redacted:reasoning]好的"),
        ("a <|channel|>analysis b", "a [redacted:reasoning]"),
        ("analysis: hm assistantfinal yes", "[redacted:reasoning] yes"),
    ],
)
def test_unpaired_tags_count_in_what_models_write(redactor: Redactor, text: str, kept: str) -> None:
    """A model's unclosed tag removes to the end, its lone closing tag from the start; a user's neither."""
    assert redacted(redactor, text, by_model=True) == kept
    assert redacted(redactor, text, by_model=False) == text


@pytest.mark.parametrize(
    "text",
    [
        "`<think>` 标签怎么过滤",
        "```xml\n<think>例子</think>\n```\n说明",
        "strip everything after `</think>` please",
        "the '<think>' tag",
    ],
)
@pytest.mark.parametrize("by_model", [True, False])
def test_tags_quoted_as_code_stay(redactor: Redactor, text: str, *, by_model: bool) -> None:
    """Tags in backticks, fences or quotes are talk about tags."""
    assert redacted(redactor, text, by_model=by_model) == text


@pytest.mark.parametrize("text", ["<think> 和 </think> 是什么", "the <think> and </think> tags"])
def test_tags_that_a_user_mentions_stay(redactor: Redactor, text: str) -> None:
    """Two tags named side by side hide nothing."""
    assert redacted(redactor, text) == text


@pytest.mark.parametrize(
    "name", ["password", "dbPassword", "密码", "api_key", "X-Api-Key", "token", "验证码"]
)
def test_a_name_condemns_its_value(redactor: Redactor, name: str) -> None:
    """In JSON a value is removed for the name it stands under, also in a list below."""
    value: JsonValue = {"a": {name: ["abcd1234"], "other": "abcd1234"}}
    result, counts = tree(redactor, value)
    assert "abcd1234" not in str(result).replace("'other': 'abcd1234'", "")
    assert sum(counts.values()) == 1


@pytest.mark.parametrize(
    "value",
    [
        {"label": "密码", "value": "abcd1234"},
        {"field": "Password:", "text": "abcd1234"},
        {"type": "thinking", "thinking": "abcd1234"},
        {"message": {"reasoning_content": "abcd1234"}},
        {"parts": [{"text": "abcd1234", "thought": True}]},
        {"cookies": {"sid": "abcd1234"}},
        {"密码是 abcd1234": 1},
    ],
)
def test_shapes_that_hide_secrets_in_json(redactor: Redactor, value: JsonValue) -> None:
    """Label and value, reasoning blocks, cookie jars and keys that hold text are known."""
    result, counts = tree(redactor, value, by_model=True)
    assert "abcd1234" not in str(result)
    assert counts
    assert tree(redactor, result, by_model=True) == (result, {})


@pytest.mark.parametrize(
    "value",
    [
        {"password": None, "has_password": True, "token_count": 1532},
        {"properties": {"password": {"type": "string"}}, "placeholder": "请输入密码"},
        {"order_id": "13800138000123", "next_page_token": "abcd1234", "max_tokens": 128_000},
        {"thinking": {"type": "enabled", "budget_tokens": 1024}},
    ],
)
def test_harmless_json_comes_back_as_the_same_object(redactor: Redactor, value: JsonValue) -> None:
    """Untouched JSON is not copied."""
    result, counts = tree(redactor, value)
    assert result is value
    assert not counts


def test_keys_that_become_equal_lose_nothing(redactor: Redactor) -> None:
    """Two keys that differ only in their secrets stay two entries."""
    maker = ValueMaker(3)
    value: JsonValue = {f"密码是 {maker.password()}": 1, f"密码是 {maker.password()}x": 2}
    result, _ = tree(redactor, value)
    assert isinstance(result, dict)
    assert sorted(map(str, result.values())) == ["1", "2"]


def test_batch_takes_texts_and_trees_together(redactor: Redactor) -> None:
    """A batch answers in order, each item with its own counts."""
    secret = ValueMaker(4).password()
    items = [
        RedactionItem("三月报销"),
        RedactionItem({"note": f"密码是{secret}", "n": 1}),
        RedactionItem(f"<think>{secret}", by_model=True),
    ]
    clean, tree, text = redactor.redact_batch(items)
    assert clean.value == "三月报销"
    assert tree.value == {"note": f"密码是{Kind.PASSWORD.marker}", "n": 1}
    assert text.value == Kind.REASONING.marker
    assert [dict(each.counts) for each in (clean, tree, text)] == [
        {},
        {"password": 1},
        {"reasoning": 1},
    ]


def test_phones_follow_the_policy(redactor: Redactor) -> None:
    """Phone numbers stay unless the policy removes them, and the version tells which."""
    text = f"电话 {ValueMaker(8).phone()}"
    keeping = Redactor()
    assert redacted(keeping, text) == text
    assert redacted(redactor, text) == f"电话 {Kind.PHONE.marker}"
    assert keeping.version != redactor.version
    assert keeping.version.startswith(REDACTOR_VERSION)


def test_ids_are_checked_for_secrets(redactor: Redactor) -> None:
    """An id made of a token is recognised, ordinary ids are not."""
    maker = ValueMaker(6)
    assert redactor.has_secret(maker.github())
    assert not any(map(redactor.has_secret, (maker.uuid(), maker.sha(), "BX-2024-001", "用户-42")))


def test_compiled_rules_are_kept_in_the_given_folder(tmp_path: Path) -> None:
    """The rules' compiled form goes to the folder that was named."""
    folder = tmp_path / "rules"
    folder.mkdir(mode=0o700)
    Redactor(cache_dir=folder)
    assert list(folder.iterdir())


@pytest.mark.parametrize(
    "piece",
    [
        *("a", "密码", "密码是", "password ", "<think>", "</think>", "`", "1 ", "token=", "a:", "http://a:b@"),
        *("验证码 ", "cookie: a=", "curl -u ", "seed phrase ", "＜", "\u200b", "-----BEGIN PRIVATE KEY-----"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("by_model", [True, False])
def test_repetition_does_not_blow_up(redactor: Redactor, piece: str, *, by_model: bool) -> None:
    """30,000 characters of anything are done before the test's time limit, and settled."""
    text = (piece * 30_000)[:30_000]
    once = redacted(redactor, text, by_model=by_model)
    assert redacted(redactor, once, by_model=by_model) == once


def test_long_text_keeps_its_secret_places(redactor: Redactor) -> None:
    """Secrets at random places of a long bilingual text are all found."""
    maker = ValueMaker(11)
    place = random.Random(11)  # noqa: S311 - repeatable, not secret
    words = ["会议纪要 and the notes，"] * 2_000
    secrets = [maker.github() for _ in range(5)]
    for secret in secrets:
        words.insert(place.randrange(len(words)), f"密码是{secret}。")
    text = redacted(redactor, "".join(words))
    assert not any(secret in text for secret in secrets)
    assert text.count("会议纪要") == 2_000
