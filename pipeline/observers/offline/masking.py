"""What in a text is not its speaker's own words, masked before the tables look.

That is quotations, code, what others say, and texts that are to be worked on or written.
"""

import re

from pipeline.observers.offline.people import SPEAKERS, SURNAMES
from pipeline.rules.phrasing import lowered

MASK = "\ufffc"
"""Stands in the place of each masked code point; no lexicon knows it."""

_TEXT = 32_000
"""Code points that an event's text may have (spec: protocol, Events)."""

_CODE = re.compile(
    rf"```.{{0,{_TEXT}}}?(?:```|\Z)|`[^`\n]{{1,200}}`|^[ \t]{{0,3}}[>|][^\n]{{0,{_TEXT}}}",
    re.DOTALL | re.MULTILINE,
)
_QUOTED = re.compile(
    r"“[^”\n]{1,400}”|‘[^’\n]{1,400}’|「[^」\n]{1,400}」|『[^』\n]{1,400}』|《[^》\n]{1,200}》"
    r"|\"[^\"\n]{1,400}\"|(?<![\w'])'(?=\w)[^\n]{1,200}?(?<=[\w.,!?])'(?!\w)"
)
_OWN_QUOTE = re.compile(
    r"(?:记住|记下|记好|规则是|规定是|要求是|remember|note|the rule is)[：:，,]? ?$"
)

_PASTED = re.compile(
    r"(?:^|\n)[ \t]{0,40}(?:\[?转发\]?|原文|fwd?|forwarded(?: message)?)[ \t]?[:：]"
    r"|-{3,20} ?(?:original|forwarded) message|(?:^|\n)(?:from|发件人)[:：][^\n]{1,200}\n"
    r"|以下(?:是|为)[^\n，。]{0,16}(?:原文|内容|消息|邮件|聊天记录)[:：]?"
)
"""From here on a text is somebody else's."""

_MATERIAL = re.compile(
    r"(?:翻译|润色|总结|改写|校对|校一下|概括|提炼|缩写|扩写|朗读|念一下|改一?下|看看这|看下这"
    r"|评价|仿写|解释)"
    r"[^:：\n“\"]{0,30}[:：\n]|(?:把|将)?(?:这|以下|下面)(?:一)?(?:段|篇|份|封|些|条|句|首|几句"
    r"|几段)[^。！？\n]{0,24}[:：]\s{0,8}\n"
    r"|\b(?:this|these|the following|below)\b[^.!?\n]{0,50}:\s{0,8}\n"
    r"|\b(?:proofread|translate|summari[sz]e|sum (?:this |it )?up|polish|rewrite|rephrase"
    r"|paraphrase|shorten"
    r"|explain|review|fix the grammar|what does|make sense of)\b[^:：\n\"]{0,60}[:：\n]"
)
"""What stands behind this is matter to work on, to the end of the text."""

_LINE = re.compile(
    r"^[ \t]{0,4}(?:\[[^\]\n]{1,24}\] ?)?([^\s:：，,。.!?！？\d#*•-][^:：，,。.!?！？\n]{0,14})[:：] ?\S[^\n]{0,32000}$",
    re.MULTILINE,
)
_SCRIPT_LINES = 2
"""So many lines of "name: words" are a transcript of others."""

_WRITTEN = re.compile(
    r"(?:写|起草|拟|编|造|生成|回复)[^。！？!?\n]{0,24}?"
    r"(?:邮件|信|文案|诗|故事|短信|消息|通知|公告|小说|例句|台词|祝福语|朋友圈|歌词|剧本|[他她]"
    r"|客户|同事|老板)[，,]?\s?"
    r"(?:说|告诉|内容(?:是|为)|大意是|表示|通知|[:：])[^。！？!?\n]{0,200}"
    r"|\b(?:write|draft|compose|reply|send)\b[^.!?\n]{0,50}?"
    r"(?:\b(?:saying|that (?:says|tells|explains)|telling|which says|to say)\b|:)[^.!?\n]{0,200}"
    r"|\b(?:reply|answer|write|text|tell|let) (?:to )?(?:him|her|them|(?-i:[A-Z])\w{1,20})(?: back"
    r"| know)?"
    r"(?: saying)? that\b[^.!?\n]{0,200}",
    re.IGNORECASE,
)
"""A text that is asked for: what it is to say is said by nobody yet."""

_SAYS = (
    r"(?:说(?!明|法|服|实话|真的|不定|好|到底|起)|讲(?!究|话|座)|表示|建议|声称|宣称|写道|喊|嚷"
    r"|问(?=[：:“「\ufffc])"
    r"|告诉我|跟我说|提示|显示|写着|写(?=[：:])|唱|交代|觉得|认为|要求(?!我)|希望|劝|吩咐|叮嘱"
    r"|念叨|抱怨)"
)
_THEY = (
    r"(?:[他她它](?:们)?|人家|别人|大家|有人|网上|听|据|(?:我(?:们)?|咱(?:们)?)?(?:家|这边|公司"
    rf"|部门)?的?[^，,。！？!?；;：:\s我你您]{{0,4}}?{SPEAKERS}(?:里|上|中)?(?:面)?"
    rf"|[小老阿][\u4e00-\u9fff]|[{SURNAMES}][\u4e00-\u9fff]{{1,2}}?|[\u4e00-\u9fff]{{1,2}}(?:总|姐"
    r"|哥|叔|工))"
)
_REPORTED = re.compile(
    rf"(?:^|(?<=[，,。！？!?；;\s]))(?:但|但是|不过|因为|刚才|刚刚|昨天|今天)?{_THEY}"
    r"(?:今天|昨天|刚才|刚刚|上次|之前|早上|开会|会上|总|又|还|就|老|都|也"
    rf"|在[^，,。！？\s]{{1,6}}){{0,2}}"
    rf"(?:跟我|对我|和我|给我|让我)?{_SAYS}"
    r"|(?:^|(?<=[，,。！？!?；;\s]))(?:据|按照?|照)[^，,。！？\s我]{1,8}(?:的说法|说|所说|的意思)"
    r"|\b(?i:according to) [\w' ]{2,30},"
    r"|\b(?:he|she|they|it|someone|somebody|everyone|everybody|people|who"
    r"|(?:my|our|the|his|her|their|this|that|a|an) (?:[\w'-]{1,20} ){0,3}[\w'-]{1,20}"
    r"|(?-i:[A-Z])[\w'-]{1,20})"
    r"(?: (?:just|always|also|once|still|keeps?|has|had|have|recently|in the (?:\w{1,24}))){0,2} "
    r"(?:sa(?:ys?|id|ying)|claim(?:s|ed)|w(?:rites?|rote)|ask(?:s|ed)|t(?:ells?|old)|argues?"
    r"|insists?|insisted|thinks?|thought"
    r"|suggest(?:s|ed)?|recommends?|recommended|mentioned|announced|shouted|whispered|complain(?:s"
    r"|ed)|wants?|wanted|reads)\b",
    re.IGNORECASE | re.MULTILINE,
)
_DEMANDED = re.compile(r"(?:公司|财务|合规|法务|制度|单位|学校|甲方|客户)[^，,。！？\s]{0,6}要求$")
"""What an institution demands is a fact of one's work, not a saying."""

_RESUMES = re.compile(
    r"[，,；;]\s?(?:但|但是|不过|所以|因此|那|我觉得|我想|我们还是|你(?!好)|请|帮我|so\b|still\b"
    r"|please\b|i\b)"
    r"|[，,；;]?\s(?:but|however)\b",
    re.IGNORECASE,
)
_IN_CASE = re.compile(
    r"\b(?:if|when|whenever|once|unless|until|after|before|every time) (?:an? |the )?$"
)
_AT_TIMES = re.compile(r"[^，,。！？\n]{0,16}(?:的时候|时(?=[，,]))")
_SAID_QUOTED = re.compile(rf"[^，,。！？!?；;\n]{{0,12}}[：:，,]? ?{MASK}{{1,400}}")
_COLON = re.compile(r"[^，,。！？!?；;\n:：]{0,10}[：:]")
_SENTENCE_END = re.compile(r"[。！？!?；;\n]|\.(?=\s|$)")


def own_words(text: str, speaker: str | None = None) -> str:
    """The text with what is not the speaker's own masked; newlines and every position kept.

    `text` is simplified, its case kept. In a transcript only the lines of `speaker` are its own.

    >>> own_words("他说“以后都听我的”，我没理").replace(MASK, "_")
    '__________，我没理'
    >>> own_words('Use "Best" always').replace(MASK, "_")
    'Use ______ always'
    """
    if "`" in text or ">" in text or "|" in text:
        text = _CODE.sub(_masked, text)
    text = _from(_PASTED, text, keep_head=False)
    text = _from(_MATERIAL, text, keep_head=True)
    if "\n" in text and len(_LINE.findall(text)) >= _SCRIPT_LINES:
        text = _LINE.sub(lambda line: _script_line(line, speaker), text)
    text = _WRITTEN.sub(_masked, text)
    text = _QUOTED.sub(_quotation, text)
    return _without_reports(text)


def _masked(match: re.Match[str]) -> str:
    return _mask(match.group())


def _mask(text: str) -> str:
    return "\n".join(MASK * len(line) for line in text.split("\n"))


def _script_line(match: re.Match[str], speaker: str | None) -> str:
    own = speaker is not None and match[1].strip().casefold() == speaker.casefold()
    return match.group() if own else _masked(match)


def _from(pattern: re.Pattern[str], text: str, *, keep_head: bool) -> str:
    match = pattern.search(lowered(text))
    if match is None:
        return text
    start = match.end() if keep_head else match.start()
    return text[:start] + _mask(text[start:])


def _quotation(match: re.Match[str]) -> str:
    before = match.string[max(match.start() - 14, 0) : match.start()]
    if _OWN_QUOTE.search(lowered(before)):
        return match.group()
    return MASK * len(match.group())


def _without_reports(text: str) -> str:
    kept: list[str] = []
    at = 0
    for match in _REPORTED.finditer(text):
        if match.start() < at or _DEMANDED.search(match.group()) or _supposed(text, match):
            continue
        end = _report_end(text, match)
        kept.extend((text[at : match.start()], _mask(text[match.start() : end])))
        at = end
    return "".join((*kept, text[at:]))


def _supposed(text: str, match: re.Match[str]) -> bool:
    """Whether it is told for the case that somebody should say it."""
    before = text[max(match.start() - 14, 0) : match.start()].lower()
    return _IN_CASE.search(before) is not None or _AT_TIMES.match(text, match.end()) is not None


def _report_end(text: str, match: re.Match[str]) -> int:
    """Where a report ends: with its quotation, its sentence, or where the speaker goes on.

    With a colon and no quotation marks it lasts to the end of its paragraph.
    """
    quotation = _SAID_QUOTED.match(text, match.end())
    if quotation is not None:
        return quotation.end()
    colon = _COLON.match(text, match.end())
    if colon is not None:
        newline = text.find("\n", match.end())
        return newline if newline >= 0 else len(text)
    ended = _SENTENCE_END.search(text, match.end())
    end = ended.start() if ended else len(text)
    resumed = _RESUMES.search(text, match.end(), end)
    return resumed.start() if resumed else end
