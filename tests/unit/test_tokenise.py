"""Terms of texts and questions in both languages (spec: design, Chinese; mission C6)."""

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unicodedata import category

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.text.segmenter import PythonSegmenter, RustSegmenter
from pipeline.text.tokenise import TOKENIZER_VERSION, BilingualTokenizer, Terms

pytestmark = pytest.mark.unit

THURSDAY = 1714608000000  # 2024-05-02 08:00 in Beijing
TEXTS = [
    "报销单已经提交给财务，请在书房第二个抽屉里找发票。",
    "周末带孩子去动物园看大熊猫，门票要提前一天预订。",
    "北京大学生物系主任办公室在二楼，研究生命起源的教授姓李。",
    "我们昨天讨论了南京市长江大桥的维修方案和预算。",
    "他说的确实在理，和平时一样六点半起床跑步锻炼身体。",
    "数据库备份失败的原因是磁盘空间不足，需要清理日志。",
    "中华人民共和国国务院总理",
    "乒乓球拍卖完了",
]


@pytest.fixture(scope="module")
def tokenizer() -> BilingualTokenizer:
    """One tokenizer for the module: its dictionary takes a moment to load."""
    return BilingualTokenizer()


def shared(tokenizer: BilingualTokenizer, question: str, text: str) -> set[str]:
    """Return the words that a question and a text have in common."""
    found = tokenizer.index(text, at_ms=THURSDAY).words
    return set(tokenizer.query(question, now_ms=THURSDAY).words) & set(found)


@pytest.mark.parametrize(
    ("question", "text", "term"),
    [
        ("三月", "3月的体检", "m03"),
        ("三月的体检", "checkup in March", "m03"),
        ("五月二号", "5月2日", "d0502"),
        ("May 2", "五月二号", "d0502"),
        ("the 2nd of May 2024", "2024/5/2", "d20240502"),
        ("2024年3月5日", "2024-03-05 妈妈生日", "d20240305"),
        ("二〇二四年的目标", "目标 for 2024", "y2024"),
        ("礼拜三的课", "星期三有瑜伽课", "w3"),
        ("周日", "on Sunday", "w7"),
        ("禮拜天", "Sundays", "w7"),
        ("二十三", "23", "23"),
        ("三岁", "3岁", "3岁"),
        ("seven cats", "7 cats", "7"),
        ("1,200元", "一千二百元", "1200"),
        ("七点半", "7:30 pm", "t0730"),
        ("19:30", "七点半", "t0730"),
        ("七点", "at 7pm", "h07"),
        ("deploy失败", "deployed到prod失败", "deploy"),
        ("did she go", "she went", "go"),
        ("發票", "发票", "发票"),
        ("那条🐼", "大熊猫🐼", "u1f43c"),
        ("iphone", "我的iPhone坏了", "iphon"),
        ("猫叫什么", "家里的猫名字是团子", "猫"),
        ("𠀀字", "𠀀字", "𠀀字"),
    ],
)
def test_a_question_meets_its_text_however_each_is_written(
    tokenizer: BilingualTokenizer, question: str, text: str, term: str
) -> None:
    """Dates, numbers, scripts, forms and signs come to the same term on both sides."""
    assert term in shared(tokenizer, question, text)


@pytest.mark.parametrize(
    ("question", "text", "never"),
    [
        ("三月", "三个月没去", "m03"),
        ("周三", "每周三次", "w3"),
        ("May", "I may go", "m05"),
        ("2024-13-45", "2024-13-45", "y2024"),
        ("2月30日", "2月30日", "d0230"),
    ],
)
def test_what_only_looks_like_a_date_is_none(
    tokenizer: BilingualTokenizer, question: str, text: str, never: str
) -> None:
    """Durations, verbs and days that don't exist give no date."""
    assert never not in tokenizer.index(text).words
    assert never not in shared(tokenizer, question, text)


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("昨天去了", "d20240501"),
        ("yesterday", "d20240501"),
        ("大前天", "d20240429"),
        ("明天开会", "d20240503"),
        ("tomorrow", "d20240503"),
        ("上周三", "d20240424"),
        ("下周一", "d20240506"),
        ("last Tuesday", "d20240430"),
        ("last Thursday", "d20240425"),
        ("next Friday", "d20240503"),
        ("三天前", "d20240429"),
        ("two weeks ago", "d20240418"),
        ("一个月前", "m04"),
        ("last month", "m04"),
        ("下个月", "m06"),
        ("去年", "y2023"),
        ("last year", "y2023"),
        ("上周", "k2024_17"),
    ],
)
def test_relative_dates_count_from_the_day_of_speaking(
    tokenizer: BilingualTokenizer, text: str, term: str
) -> None:
    """In texts from when they were said, in questions from now; without a day not at all."""
    assert term in tokenizer.index(text, at_ms=THURSDAY).words
    assert term in tokenizer.query(text, now_ms=THURSDAY).words
    assert term not in tokenizer.query(text).words


def test_a_text_is_found_by_its_own_day(tokenizer: BilingualTokenizer) -> None:
    """The day in Beijing on which something was said belongs to its terms."""
    just_past_midnight = THURSDAY - 8 * 3_600_000
    words = tokenizer.index("去看了电影", at_ms=just_past_midnight).words
    assert {"d20240502", "d0502", "m05", "y2024", "w4"} <= set(words)


@pytest.mark.parametrize("at_ms", [2**63 - 1, -(2**63), 0, -1])
def test_a_time_beyond_the_calendar_gives_no_dates(
    tokenizer: BilingualTokenizer, at_ms: int
) -> None:
    """Any 64-bit time is taken, in texts and in questions."""
    assert "下雨" in tokenizer.index("昨天下雨，1000年后", at_ms=at_ms).words
    assert "下雨" in tokenizer.query("昨天下雨，500 years ago", now_ms=at_ms).words


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("报销单BX-2024-001已提交", {"bx_2024_001", "2024_001", "bx", "001"}),
        ("升级到v1.2.3了", {"1_2_3"}),
        ("version 1.2.3", {"1_2_3"}),
        ("see /home/li/notes.txt", {"home_li_notes_txt", "notes_txt"}),
        ("打开https://example.org/a1?q=2。", {"https_example_org_a1_q_2", "example_org"}),
        ("写信给li.lei@example.org", {"li_lei_example_org", "example_org"}),
        ("commit 0xDEADbeef", {"0xdeadbeef"}),
        ("工号7788", {"7788"}),
        ("snake_case名", {"snake", "case", "snake_case"}),
        ("🐼", {"u1f43c"}),
    ],
)
def test_identifiers_are_kept_whole_and_in_parts(
    tokenizer: BilingualTokenizer, text: str, ids: set[str]
) -> None:
    """An exact name is found as itself and by its parts, from a text and from a question."""
    assert ids <= set(tokenizer.index(text).ids)
    assert ids <= set(tokenizer.query(text).ids)


def test_ordinary_words_are_no_identifiers(tokenizer: BilingualTokenizer) -> None:
    """Hyphens and slashes between plain words don't make a name."""
    assert tokenizer.index("a well-known and/or 普通的句子, 第5个").ids == ()


@pytest.mark.parametrize("text", ["2024-03-05 妈妈生日", "mother's birthday, March 5, 2024"])
def test_a_date_that_a_text_names_is_exact(tokenizer: BilingualTokenizer, text: str) -> None:
    """It counts as an identifier; the day on which the text was said does not."""
    ids = tokenizer.index(text, at_ms=THURSDAY).ids
    assert set(ids) == {"d20240305", "d0305", "m03", "y2024"}


def test_a_number_shaped_like_a_date_is_a_number(tokenizer: BilingualTokenizer) -> None:
    """What no calendar has stays an identifier."""
    assert "2024_017" in tokenizer.index("2024-017").ids
    assert "2024_13_45" in tokenizer.index("2024-13-45号单").ids


@pytest.mark.parametrize(
    ("question", "left"),
    [("三月的体检在哪里", "哪里"), ("where did you put the invoice", "the")],
)
def test_a_question_drops_its_function_words(
    tokenizer: BilingualTokenizer, question: str, left: str
) -> None:
    """While content words remain, the others are noise."""
    assert left not in tokenizer.query(question).words


@pytest.mark.parametrize(
    ("question", "text"), [("我是谁", "我是谁：李雷"), ("who am I", "I am Li Lei")]
)
def test_a_question_of_function_words_still_asks_something(
    tokenizer: BilingualTokenizer, question: str, text: str
) -> None:
    """Where nothing else remains, they are looked for."""
    assert shared(tokenizer, question, text)


def test_repeats_in_a_text_are_kept(tokenizer: BilingualTokenizer) -> None:
    """A word said twice counts twice: repeats carry the term frequency."""
    assert tokenizer.index("cat cat").words.count("cat") == 2
    once = tokenizer.index("发票").words.count("发票")
    assert tokenizer.index("发票，发票").words.count("发票") == 2 * once


HOSTILE = [
    "",
    "\ud800\x00",
    "שלום עולם",
    "\u202eabc",
    "𠀀" * 50,
    "สวัสดี こんにちは 한국어",
    "a" * 32000,
    "1" * 32000,
    "三" * 32000,
    "a.b-" * 8000,
    "e\u0301\u0315" * 300,
    "👨\u200d👩\u200d👧🇨🇳🇨",
    "may " * 500,
    "٣٤٥ ⅷ ²",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_taken(tokenizer: BilingualTokenizer, text: str) -> None:
    """No text raises, and every term is one a whitespace tokenizer leaves whole."""
    assert_terms(tokenizer.index(text, at_ms=THURSDAY))
    assert_terms(tokenizer.query(text, now_ms=THURSDAY))


@given(st.text(st.characters(), max_size=200))
@settings(deadline=None)
def test_any_text_is_taken(tokenizer: BilingualTokenizer, text: str) -> None:
    """No text raises, and the terms hold no separators."""
    assert_terms(tokenizer.index(text, at_ms=THURSDAY))
    assert_terms(tokenizer.query(text, now_ms=THURSDAY))


def assert_terms(terms: Terms) -> None:
    """Fail unless each term is short and made of letters, marks, digits and `_` alone."""
    for term in (*terms.words, *terms.ids):
        assert 0 < len(term) <= 96
        assert all(
            char == "_" or category(char)[0] in "LMN" or category(char) == "Cn" for char in term
        )


def test_a_text_gives_the_same_terms_from_many_threads_at_once() -> None:
    """The tokenizer may be shared, from its first use on."""
    fresh = BilingualTokenizer()
    texts = [f"{text} Caroline deployed it {n} times" for n, text in enumerate(TEXTS)] * 8
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(fresh.index, texts))
    assert together == [fresh.index(text) for text in texts]


def test_warming_loads_what_first_use_would(tokenizer: BilingualTokenizer) -> None:
    """Warming changes no result and may be repeated."""
    before = tokenizer.index("数据库备份")
    tokenizer.warm()
    assert tokenizer.index("数据库备份") == before
    assert tokenizer.version == TOKENIZER_VERSION


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> tuple[RustSegmenter, PythonSegmenter]:
    """Both segmenters; skipped where rjieba has no wheel."""
    pytest.importorskip("rjieba")
    cache: Path = tmp_path_factory.mktemp("cache") / "jieba"
    return RustSegmenter(), PythonSegmenter(cache)


def test_both_engines_cut_real_texts_alike(
    engines: tuple[RustSegmenter, PythonSegmenter],
) -> None:
    """An index made on one machine serves another."""
    fast, portable = engines
    assert [fast.cut(text) for text in TEXTS] == [portable.cut(text) for text in TEXTS]


@given(st.lists(st.sampled_from([*"".join(TEXTS), "龥", "㐀", "一"]), max_size=60).map("".join))
@settings(deadline=None)
def test_both_engines_cut_any_hanzi_alike(
    engines: tuple[RustSegmenter, PythonSegmenter], text: str
) -> None:
    """Also where the characters make no sense together."""
    run = re.sub("[^\u4e00-\u9fd5]", "", text)
    fast, portable = engines
    assert fast.cut(run) == portable.cut(run)
