"""Numbers that name a person or an account: Chinese ids, bank cards, phones."""

import re
from collections.abc import Iterator
from datetime import date

from pipeline.text.redaction.spans import Kind, Span

# A number inside a longer id, a UUID or a decimal is none of these.
_LEFT = r"(?<![0-9a-z])(?<![0-9a-z]-)(?<!\d\.)"
_RIGHT = r"(?![0-9a-z])(?!-[0-9a-z])(?!\.\d)"

_ID_18 = re.compile(_LEFT + r"\d{6}[ -]?\d{8}[ -]?\d{3}[\dx]" + _RIGHT)
_ID_15 = re.compile(r"身份[证證][^\n]{0,8}?(?<!\d)(\d{15})" + _RIGHT)
_CARD = re.compile(
    _LEFT
    + r"(?:\d{13,19}|\d{4}(?:[ -]\d{4}){2,3}(?:[ -]\d{1,4})?|\d{4}[ -]\d{6}[ -]\d{5}|\d{6}[ -]\d{10,13})"
    + _RIGHT
)
_PHONES = re.compile(
    _LEFT
    + r"(?<!\[)(?:(?:\+|00)?86[ -]?)?1[3-9]\d(?:[ -]?\d{4}){2}"
    + _RIGHT
    + r"|(?<!\w)\+(?!86)\d{1,3}[ -]?(?:\(\d{1,4}\)[ -]?)?\d{2,4}(?:[ -]?\d{2,4}){1,3}"
    + _RIGHT
    + "|"
    + _LEFT
    + r"\(?0\d{2,3}\)?[ -]\d{7,8}"
    + _RIGHT
    + r"|(?<!\w)\(\d{3}\) ?\d{3}-\d{4}"
    + _RIGHT
    + "|"
    + _LEFT
    + r"\d{3}-\d{3}-\d{4}"
    + _RIGHT
)
_OTHER_NUMBER = re.compile(
    r"[订訂][单單]|合同|[单單]号|[单單]號|流水|[编編][号號]|批次|工[单單]|[发發]票|[条條][形码碼]|序列号|[时時]间戳|imei|群"
    r"|order|tracking|invoice|ticket|serial|isbn|\bref\b|\btrace|timestamp|batch|transaction"
)
_CARD_WORD = re.compile(r"卡|card|visa|master|\bpan\b")
_CONTEXT = 16

_ID_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_REGIONS = frozenset(
    (
        *range(11, 16),
        *range(21, 24),
        *range(31, 38),
        *range(41, 47),
        *range(50, 55),
        *range(61, 66),
        71,
        81,
        82,
        83,
        91,
    )
)
_SHORT_CARD = 15
# The first four digits, from and to, and the lengths that such an issuer's cards have.
_ISSUERS: tuple[tuple[int, int, frozenset[int]], ...] = (
    (6200, 6299, frozenset({16, 17, 18, 19})),  # UnionPay
    (8100, 8199, frozenset({16, 17, 18, 19})),
    (4000, 4999, frozenset({13, 16, 19})),  # Visa
    (5100, 5599, frozenset({16})),  # Mastercard
    (2221, 2720, frozenset({16})),
    (3528, 3589, frozenset({16})),  # JCB
    (3400, 3499, frozenset({15})),  # American Express
    (3700, 3799, frozenset({15})),
    (3000, 3059, frozenset({14})),  # Diners
    (3600, 3699, frozenset({14})),
    (3800, 3899, frozenset({14})),
    (6011, 6011, frozenset({16})),  # Discover
    (6440, 6599, frozenset({16})),
)


def number_spans(low: str, *, phones: bool) -> Iterator[Span]:
    """Find id numbers, bank cards and, if `phones`, phone numbers in lower-cased text."""
    yield from _id_numbers(low)
    yield from _bank_cards(low)
    if phones:
        for found in _PHONES.finditer(low):
            if not _OTHER_NUMBER.search(_before(low, found.start())):
                yield Span(found.start(), found.end(), Kind.PHONE)


def is_chinese_id(number: str) -> bool:
    """Whether 18 characters are a Chinese id number: region, birthday and check character.

    Source: GB 11643-1999.
    """
    if int(number[:2]) not in _REGIONS or not _is_birthday(number[6:14]):
        return False
    total = sum(int(digit) * weight for digit, weight in zip(number, _ID_WEIGHTS, strict=False))
    return "10x98765432"[total % 11] == number[17].lower()


def is_bank_card(digits: str) -> bool:
    """Whether digits have an issuer's prefix, its length and the Luhn check digit.

    Source: ISO/IEC 7812.
    """
    return len(digits) in _issuer_lengths(digits) and _passes_luhn(digits)


def names_other_number(name: str) -> bool:
    """Whether a field's name says that its number is an order's, a batch's or the like."""
    low = name.lower()
    return _OTHER_NUMBER.search(low) is not None and _CARD_WORD.search(low) is None


def _id_numbers(low: str) -> Iterator[Span]:
    for found in _ID_18.finditer(low):
        if is_chinese_id(_compact(found[0])):
            yield Span(found.start(), found.end(), Kind.ID_NUMBER)
    for found in _ID_15.finditer(low):
        if int(found[1][:2]) in _REGIONS and _is_birthday("19" + found[1][6:12]):
            yield Span(found.start(1), found.end(1), Kind.ID_NUMBER)


def _bank_cards(low: str) -> Iterator[Span]:
    for found in _CARD.finditer(low):
        digits = _compact(found[0])
        if not is_bank_card(digits):
            continue
        before = _before(low, found.start())
        named_card = _CARD_WORD.search(before) is not None
        # Bar codes, IMEIs and time stamps have these lengths too, and one in ten passes Luhn.
        doubtful = len(digits) < _SHORT_CARD or _OTHER_NUMBER.search(before) is not None
        if named_card or not doubtful:
            yield Span(found.start(), found.end(), Kind.BANK_CARD)


def _before(low: str, position: int) -> str:
    line_start = low.rfind("\n", 0, position) + 1
    return low[max(line_start, position - _CONTEXT) : position]


def _compact(number: str) -> str:
    return number.replace(" ", "").replace("-", "")


def _is_birthday(digits: str) -> bool:
    try:
        born = date(int(digits[:4]), int(digits[4:6]), int(digits[6:]))
    except ValueError:
        return False
    return born >= date(1900, 1, 1)


def _issuer_lengths(digits: str) -> frozenset[int]:
    first_four = int(digits[:4])
    found = (lengths for low, high, lengths in _ISSUERS if low <= first_four <= high)
    return frozenset().union(*found)


def _passes_luhn(digits: str) -> bool:
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value  # noqa: PLR2004 - digit sum of a two-digit value
    return total % 10 == 0
