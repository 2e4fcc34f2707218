"""How a person works: at which hours, in which rhythm (mission F3, work_style)."""

from pipeline.observers.offline.sentences import Sentence
from pipeline.rules.phrasing import Table

_TIME_ZH = r"(?:上午|下午|早上|晚上|清晨|凌晨|中午|周[一二三四五六日]|每天|工作日)"
_WORK = Table(
    (
        "习惯 如此 这样 雷打不动 固定",
        (
            r"我(?:一般|通常|平时|平常|每天|习惯|都是|固定|基本上?|一直"
            rf"|向来)?[^，,。]{{0,12}}{_TIME_ZH}[^。]{{0,40}}(?:习惯|一向如此|一直这样|都这样|雷打不动"
            r"|固定(?:的)?)"
        ),
    ),
    (
        "我",
        (
            r"我(?:的)?(?:工作习惯|工作方式|作息|工作时间|上班时间|下班时间|午休时间|做事(?:习惯|方式"
            r"|风格))(?:是|为|：|一般|通常|从)"
        ),
    ),
    (
        "一般 通常 平时 习惯 都是 固定 基本",
        (
            rf"我(?:一般|通常|平时|习惯于?|都是|固定|基本上?)(?:在)?(?:每天)?{_TIME_ZH}[^，,。]{{0,8}}(?:写"
            r"|开|回|处理|做|看|整理|复盘|专注|安排|工作|编程|画|读|不[开接见看])"
        ),
    ),
    (
        "每 工作日 周末",
        (
            r"我(?:每天|每周[一二三四五六日]?|每个?[周月]|工作日|周末)(?:都|一般|会|早上|晚上|下午|上午"
            r"|中午)?[^，,。]{0,10}?(?:起床|跑步|远程|办公|上班|下班|开会|健身|锻炼|写代码|读书|吃药|学|练"
            r"|打球|游泳|冥想|居家)"
        ),
    ),
    (
        "every mondays tuesdays wednesdays thursdays fridays weekends",
        (
            r"\bi (?:get up|wake up|work|run|exercise|take|swim|teach|meet|start|finish|go to (?:the gym"
            r"|bed|yoga)|meditate|write|study|have (?:a )?(?:stand-?up|class"
            r"|lesson))\b[^.\n]{0,40} (?:every (?:day|morning|evening|night|week|monday|tuesday|wednesday"
            r"|thursday|friday)|on (?:mon|tues|wednes|thurs|fri)days|on weekends)\b"
        ),
    ),
    (
        "that's way",
        (
            r"\bthat'?s (?:just )?(?:how|the way) i(?:'ve)? (?:always |usually )?(?:work|worked|do it"
            r"|operate|like to work)"
        ),
    ),
    (
        "style habit routine day hours workflow schedule",
        (
            r"\bmy (?:work(?:ing)? (?:style|habit|routine|day|hours)|workflow|routine"
            r"|schedule)\b[^.]{0,20}\b(?:is|are|starts?|runs?)\b"
        ),
    ),
    (
        (
            "mornings morning afternoons afternoon evenings evening night lunch mondays tuesdays "
            "wednesdays thursdays fridays first thing every"
        ),
        (
            r"\bi (?:usually|always|normally|typically|generally|tend to|mostly"
            r"|do)\b[^.]{0,40}\b(?:in the (?:mornings?|afternoons?|evenings?)|at night|after lunch"
            r"|before lunch|on (?:mon|tues|wednes|thurs|fri)days?|first thing|every (?:morning|evening|day"
            r"|monday|friday))\b"
            r"|\bi do my [\w ]{2,30} (?:in the|at|after|before|on)\b"
        ),
    ),
    (
        "work start log finish",
        (
            r"\bi (?:work|start work|log off|finish work) (?:from|at|until|best|between|mon|part[- ]time"
            r"|four days|remotely)\b"
        ),
    ),
)

TABLES = (_WORK,)
"""For a test that no row is hidden by the words that it needs."""


def habit(sentence: Sentence) -> int | None:
    """Where a sentence tells how its speaker works, or None."""
    match = _WORK.find(sentence)
    return match.start() if match else None
