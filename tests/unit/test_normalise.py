"""One form for texts that read as the same (spec: design, Chinese)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.text import numerals
from pipeline.text.normalise import fold

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        ("報銷發票放在書房", "报销发票放在书房"),
        ("軟體", "软件"),
        ("１２０３號", "1203号"),
        ("ＡＢＣ", "ABC"),
        ("ﬁle", "file"),
        ("e\u0301", "é"),
        ("so\u00adft\u200b", "soft"),
        ("Deploy 失败", "Deploy 失败"),
        ("\ufeff头", "头"),
        ("❤\ufe0f", "❤"),
    ],
)
def test_width_script_and_invisible_marks_are_folded(written: str, folded: str) -> None:
    """Both scripts, both widths and invisible characters come to one form; case stays."""
    assert fold(written) == folded


@pytest.mark.parametrize("unusable", ["\ud800", "\x00", "\x1b", "\x7f"])
def test_what_no_term_may_hold_becomes_a_space(unusable: str) -> None:
    """Halves of surrogate pairs and controls separate words and never raise."""
    assert fold(f"报销{unusable}ok") == "报销 ok"


@given(st.text(st.characters()))
def test_folding_takes_any_text(text: str) -> None:
    """Nothing raises, and what comes out can be encoded."""
    folded = fold(text)
    assert folded.encode().decode() == folded


def test_a_run_of_combining_marks_is_cut_short() -> None:
    """Sorting marks is quadratic, so a hostile run of them keeps only its first few."""
    assert len(fold("a" + "\u0315\u0300" * 15000)) < 20


def test_a_text_grows_only_so_much() -> None:
    """Ligatures that stand for a sentence can't multiply a text's size."""
    assert len(fold("\ufdfa" * 1000)) <= 4000


@pytest.mark.parametrize(
    ("written", "figures"),
    [
        ("二十三", "23"),
        ("一千二百零五", "1205"),
        ("三万零五十", "30050"),
        ("一亿二千万", "120000000"),
        ("二〇二四", "2024"),
        ("二零二四年", "2024年"),
        ("十二月", "12月"),
        ("三岁", "3岁"),
        ("3.5万", "35000"),
        ("两百", "200"),
        ("一样", "一样"),
        ("一个", "一个"),
        ("十分", "十分"),
        ("千万", "千万"),
        ("万一", "万一"),
        ("第二", "第二"),
        ("星期三", "星期三"),
        ("七八", "七八"),
    ],
)
def test_numerals_that_count_become_figures(written: str, figures: str) -> None:
    """Numbers are read in full; words that only look like numbers are left."""
    assert numerals.to_figures(written) == figures


@given(st.text("零〇一二三四五六七八九十百千万亿两年月个0123456789.", max_size=40))
def test_any_heap_of_numerals_is_taken(text: str) -> None:
    """However numerals are strung together, nothing raises."""
    assert isinstance(numerals.to_figures(text), str)
