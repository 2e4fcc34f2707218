"""From when and until when a statement says that it holds (mission D2).

Days are Beijing days; the end is exclusive, as everywhere (spec: protocol, Proposals).
"""

import re
from dataclasses import dataclass
from datetime import datetime

from pipeline.rules.due import epoch_ms, local_time
from pipeline.rules.periods import Period, names_time, periods
from pipeline.rules.wording import simplified

_NEAR = 24

_MARKED = re.compile(
    r"[从自起到至前内里都先别]|开始|往后|直到|截[至止]|期间|一律|不[要用]|只|统一|暂时|请"
    r"|\b(?:from|starting|starts|beginning|effective|as of|on|onwards?|after|until|till|through"
    r"|to|before|during|throughout|for|within|this|next|only|just|ends?|ending|expires?|today"
    r"|tomorrow|rest)\b"
)
_SINCE_BEFORE = re.compile(
    r"(?:从|自|打)(?:今年|明年)?\s?$"
    r"|\b(?:from|starting|starts|beginning|effective|as of)(?: (?:from|on|in|with))?(?: the)? ?$"
)
_SINCE_AFTER = re.compile(r"\s?(?:份|这批|这次|这单|那天)?\s?(?:起|开始(?!之?前)|往后)")
_RANGE_AFTER = re.compile(r"\s?(?:到|至|~|—|–)\s?(?=[\d一二三四五六七八九十下这本周明后])")
_AFTER_BEFORE = re.compile(r"\bafter(?: the)? ?$")
_UNTIL_BEFORE = re.compile(
    r"(?:(?<![一每等遇赶])到|至|直到|截止到?|截至|持续到|延续到|有效期至|有效期到)\s?$"
    r"|\b(?:until|till|through|up to|up until|valid to|ends? on|ending|expires?(?: on)?"
    r"|to)(?: the)? ?$"
)
_UNTIL_AFTER = re.compile(
    r"\s?(?:为止|(?:之前|以前|前)(?!台|面|端|后)[，,]?\s?[^，,。；;\n]{0,16}?(?:都|先|一律|暂时|别"
    r"|不|请|就|继续|还是|统一|只))"
)
_BEFORE = re.compile(r"\bbefore(?: the)? ?$|\s?(?:之前|以前|前)")
_FROM_TO = re.compile(r"\s?(?:到|至|~|-|—|–|to|through|until|and)\s?(?:the )?$")
_DURING_BEFORE = re.compile(r"\b(?:during|throughout|for|within|this|only|just)(?: the)? ?$")
_DURING_AFTER = re.compile(
    r"\s?(?:之?内|以内|期间|里)?(?:的?[^，,。；;\n]{0,8}?)(?:都|先|一律|别|不要|不用|不|只|统一"
    r"|暂时|请)"
)
_ALL_DAY = re.compile(r"\b(?:only|just|all|all day|during|throughout)(?: for| on)? ?$")
_ONLY = re.compile(r" only\b| all day\b")
_DAY_LONG = re.compile(r"\s?(?:一整天|全天|整天)?(?:都|别|不要|一律|暂时|先别|先不)")
_DURING = frozenset({"本", "这", "今", "下", "当", "接", "未", "明", "后", "大"})
_DURING_WORDS = ("this ", "next ", "today", "tomorrow", "for the next", "for another", "the rest")


@dataclass(frozen=True, slots=True)
class Validity:
    """Epoch milliseconds, None where nothing is said; `until` is exclusive."""

    since: int | None = None
    until: int | None = None
    bare: bool = False
    """Whether only a stretch of time is named (this week), neither a first day nor a last."""

    one_day: bool = False
    """Whether that stretch is one day."""


def holds_for_a_time(plain: str) -> bool:
    """Whether a text, simplified and in lower case, may say from when or until when it holds."""
    return _MARKED.search(plain) is not None and names_time(plain)


def find_validity(text: str, said_at: int) -> Validity:
    """From when until when a text holds. `said_at` is epoch milliseconds.

    >>> validity = find_validity("从下个月起用新模板，到六月底为止", 1_772_500_000_000)
    >>> local_time(validity.since).date().isoformat(), local_time(validity.until).date().isoformat()
    ('2026-04-01', '2026-07-01')
    """
    plain = simplified(text).lower()
    if not holds_for_a_time(plain):
        return Validity()
    said = local_time(said_at)
    since: datetime | None = None
    until: datetime | None = None
    bare = one_day = False
    named = periods(plain, said)
    for at, period in enumerate(named):
        before = plain[max(period.start - _NEAR, 0) : period.start]
        if since is None and _begins(plain, before, period):
            since = period.after if _AFTER_BEFORE.search(before) else period.first
        elif until is None and _ends(plain, before, period, joined=at > 0 and since is not None):
            until = _end(plain, before, period)
        elif since is None and until is None and _lasts(plain, before, period):
            since = period.first if period.first > said else None
            until, bare, one_day = period.after, True, period.whole_days == 1
    if since is not None and until is not None and until <= since:
        until = None
    return Validity(
        epoch_ms(since) if since else None,
        epoch_ms(until) if until and until > said else None,
        bare,
        one_day,
    )


def _begins(text: str, before: str, period: Period) -> bool:
    if _UNTIL_BEFORE.search(before) and not _SINCE_AFTER.match(text, period.end):
        return False
    marked = _SINCE_BEFORE.search(before) or _SINCE_AFTER.match(text, period.end)
    if marked is None and period.whole_days == 1:
        marked = _RANGE_AFTER.match(text, period.end)
    return bool(marked or _AFTER_BEFORE.search(before))


def _ends(text: str, before: str, period: Period, *, joined: bool) -> bool:
    marked = _UNTIL_BEFORE.search(before) or _UNTIL_AFTER.match(text, period.end)
    return bool(marked or _BEFORE.search(before) or (joined and _FROM_TO.search(before)))


def _end(text: str, before: str, period: Period) -> datetime:
    inclusive = _UNTIL_BEFORE.search(before) and not _BEFORE.match(text, period.end)
    last_part = text[period.end - 1] in "底末"
    if inclusive or last_part:
        return period.after
    strictly = _BEFORE.match(text, period.end) or _BEFORE.search(before)
    return period.first if strictly else period.after


def _lasts(text: str, before: str, period: Period) -> bool:
    words = text[period.start : period.end]
    if words[0] in _DURING:
        after = _DURING_AFTER if period.whole_days > 1 else _DAY_LONG
        return after.match(text, period.end) is not None
    if period.whole_days == 1:
        return _ALL_DAY.search(before) is not None or _ONLY.match(text, period.end) is not None
    return words.startswith(_DURING_WORDS) or _DURING_BEFORE.search(before) is not None
