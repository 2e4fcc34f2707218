"""What a statement fills its slot with, where that is plain: a name, a place, an id.

A slot's value makes two differently worded statements one, so a vague one ("the new template") is
none.
"""

import re

_WORDS = r"(?-i:[A-Z])[\w'’-]{0,40}(?: (?-i:[A-Z])[\w'’-]{0,40}){0,3}"
_PLACE = rf"([\u3400-\u9fff]{{2,8}}?|{_WORDS})"
_END = r"(?=[，,。；;！!？?、\s]|\.(?:\s|$)|$|就行|就好|吧|了|市?(?:工作|上班|这边|附近))"
_OWN: dict[str, re.Pattern[str]] = {
    key: re.compile(pattern, re.IGNORECASE)
    for key, pattern in {
        "identity.name": rf"(?:叫我|我叫|名字(?:是|叫))\s?([^，,。！!？?\s]{{1,8}}?){_END}|\b(?:call me|my name(?: is"
        rf"|['’]s)) ({_WORDS})",
        "identity.residence": rf"(?:住在|住到|搬到|搬去|定居(?:在|于)?|常驻|常住)\s?{_PLACE}{_END}|\b(?:live in|living in"
        rf"|moved to|moving to|based in) ({_WORDS})",
        "identity.hometown": rf"(?:老家|家乡)(?:是|在)?\s?{_PLACE}{_END}|来自\s?{_PLACE}{_END}|\b(?:home ?town is"
        rf"|from) ({_WORDS})",
        "identity.employer": rf"\bwork (?:at|for) ({_WORDS})",
        "food.allergy": r"对\s?([^，,。\s]{1,10}?)\s?(?:严重)?过敏|\ballergic to ([a-z]{1,40}(?: [a-z]{1,40})?)(?=[.,;!]|$"
        r"| and\b)",
        "communication.language": r"(中文|英文|英语|普通话|日语|繁体|简体)|\bin (english|chinese|mandarin)\b",
    }.items()
}
_EXACT = (
    r"(?=[\w./:@\\-]{0,39}[\d./\\@_-])[A-Za-z][\w./:@\\-]{0,38}[\w/]|\d[\w./:-]{0,30}|“[^”]{1,30}”"
    r"|「[^」]{1,30}」|\"[^\"]{1,30}\""
)
_FILLS = re.compile(
    r"(?:是|为|成|到|用|在|走|叫|按|给|：|(?<!\d):|\b(?:is|are|to|in|at|use|under|called|named|be"
    rf"|as))\s?(?:the |an? )?({_EXACT})",
    re.ASCII,
)
_EXACT_ASPECTS = frozenset(
    {"template", "location", "address", "title", "naming", "branch", "version", "cost_center"}
)
_NEGATED = re.compile(
    r"不(?!对)|别|勿|禁|没|\b(?:not?|never|don['’]?t|isn['’]?t|without|stop|no longer)\b",
    re.IGNORECASE,
)


def slot_value(key: str | None, text: str) -> str | None:
    """What fills the slot, verbatim, or None. `text` is simplified, its case kept.

    >>> slot_value("identity.residence", "我现在住在杭州"), slot_value("expense.template", "都用 BX-2026 模板")
    ('杭州', 'BX-2026')
    >>> slot_value("expense.template", "别再用 BX-2025 模板") is None
    True
    """
    if key is None or _NEGATED.search(text):
        return None
    own = _OWN.get(key)
    exact = key.rpartition(".")[2] in _EXACT_ASPECTS
    match = own.search(text) if own else (_FILLS.search(text) if exact else None)
    if match is None:
        return None
    value = next((group for group in match.groups() if group), None)
    return value.strip("“”「」\"'.,，。") or None if value else None


_POSSESSOR = re.compile(
    r"^(?:我的|我们的|我(?!的|们))?(?!我|的)([^，,。：:\s的]{1,12})的[^，,。]{1,12}?(?:是|为|在|改|有|：)"
    r"|\b([\w-]{2,30})['’]s [\w -]{1,30} (?:is|are|has|was)\b"
)


def possessor(text: str) -> str | None:
    """Whose thing a statement is about where it isn't the speaker's own, or None.

    It keeps the slots of several people's things apart. `text` is simplified.

    >>> possessor("王磊的邮箱地址是 w@x.example"), possessor("我的邮箱地址是 w@x.example")
    ('王磊', None)
    """
    match = _POSSESSOR.search(text)
    return next((name.casefold() for name in match.groups() if name), None) if match else None
