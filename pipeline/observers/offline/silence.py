"""What a sentence is when it states nothing: a question, a supposition, irony, a memory of long ago.

Patterns work on text that is simplified, in lower case, with straight apostrophes.
"""

import re

_MARKED = re.compile(r"[?？]\s{0,8}[\"”’」)）~～]?\s{0,8}$")
_ASKS_ZH = re.compile(
    r"(?:吗|呢|么|嘛|吧)[~～]{0,40}[?？]\s{0,8}$|(?:吗|(?<![棒好])呢|什么|怎么样|如何|来着)[。~～]{0,40}$"
    r"|^(?:那|请问|话说|对了)?[，,]?(?:为什么|怎么(?!都|也)|什么时候|谁|哪(?!怕|天)|请问|是不是"
    r"|有没有|难道|何必|要不要|凭什么|咋)"
    r"|(?:几号|几点|多少|哪里|哪儿|什么|谁|哪个|哪天|是不是|对不对|几个|多久|多大"
    r"|多远)[了的啊呀]?[。]?$"
    r"|(?:是不是|有没有|会不会|该不该|要不要|能不能)[^。]{0,40}[啊呀呢吧]?[。]?$"
)
_ASKS_EN = re.compile(
    r"^(?:so |and |but |hey,? |ok,? |um,? )?(?:what|why|how (?!about no)|when (?:is|are|was|were"
    r"|do|does|did|will|should|can)\b|where|who(?!ever)"
    r"|which|whose|is|are|was|were|do you|do i|do we|does|did|am i|should|shall|has|have you|may i"
    r"|might"
    r"|can you (?:remember|tell me|recall|see|find|think)|do you|isn't|aren't|don't you|doesn't"
    r"|won't)\b"
)
_REQUEST_ZH = re.compile(
    r"^(?:那|你|您|以后|对了|另外|还有)?[，,]?\s?(?:能不能|可不可以|可以|可否|能否|能|麻烦"
    r"|是否可以)|(?:好吗|好不好|行吗|行不行|可以吗|好嘛|行么|好么|ok吗|成吗)[?？]?\s{0,8}$"
    r"|能不能(?:帮我|以后|都|先|别)"
)
_REQUEST_EN = re.compile(
    r"^(?:so |and |hey,? |also,? |please,? |ok,? )?(?:could|can|would|will) (?:you"
    r"|we)\b(?! (?:remember when|tell me|recall))"
    r"|^would you mind\b|^(?:do you )?mind \w{1,20}ing\b|,? (?:ok|okay|please|alright|will you"
    r"|can you|could you)\s?\?\s{0,8}$"
)

_SUPPOSES = re.compile(
    r"(?:如果|假如|要是|若是|假设|倘若)(?:我|我们|你|有(?:一天|朝一日)|哪天|以后|所有|大家|人人"
    r"|世界|能)(?:是|有|能|会|当|住|搬|变|以后|可以|真|都)?"
    r"[^。]{0,40}?(?:就好了|会不会|可能就|可能得|恐怕|大概|该多好|多好|吧[。！!~]?$|会怎样"
    r"|会怎么样|就.{0,6}了[。！!~]?$)"
    r"|^(?:假如|假设|想[象像]一下|想[象像]|比方说|打个比方|假想)|就好了[。！!~]{0,40}$|该多好|恨不得|(?:要是"
    r"|如果)我是"
    r"|\bif i (?:were|was|ever|had|could|won|moved|lived|ran|owned)\b|\bi(?:'d| would| might"
    r"| could| may)(?: \w{2,10})? (?:probably|maybe|always|never|just|rather not)\b"
    r"|(?:^|[,.] ?)(?:suppose|imagine|say we|let's say|assume|pretend|what if)\b|\bi wish\b"
    r"|\bhypothetically\b|\bin theory\b|\bif only\b"
    r"|\bwouldn't it\b|\bin a perfect world\b|\bfor (?:example|instance),? if\b"
)
_IRONY = re.compile(
    r"呵呵|真是太[棒好](?:了)?呢|可真(?:行|棒|好|会)|真是谢谢(?:你|您)?(?:了|啊)"
    r"|好极了[，,].{0,6}又|太棒了[，,].{0,6}又|🙄|🙃"
    r"|(?:^|\s)/s\s{0,8}$|\boh,? (?:great|wonderful|fantastic|perfect|joy)\b|\byeah,? right\b"
    r"|\bjust what i needed\b"
    r"|\bwhat could (?:possibly )?go wrong\b|\bsaid no one ever\b|\bthanks for nothing\b"
    r"|\bhow lovely,"
    r"|\b(?:i )?just love (?:it when|how|waiting|when)\b|\bbecause (?:who|i) (?:doesn't )?(?:love"
    r"|need)s? \w{1,20}ing\b"
)
_LONG_AGO = re.compile(
    r"小时候|曾经|当年|那时候|那会儿|上学那|读书那|上大学时|年轻时|以前(?!都?(?:先|必须|别|不要"
    r"|要))[^，,。]{0,10}(?:总是|每天|经常|都|老|喜欢|习惯|会)|从前|过去总是"
    r"|\b(?:as a (?:kid|child|boy|girl|teenager)|when i was (?:a |young|little|at|in)"
    r"|(?<!'m )(?<!am )(?<!are )(?<!get )used to\b(?! (?:be|get) used)|back in the day|back then|in my (?:youth|childhood|student)"
    r"|growing up|in those days)\b"
)
_DENIES = re.compile(
    r"我(?:可|又|从来|从|根本|并)?(?:没有?|不曾|未)(?:说过|让你|要求|叫你|要你|讲过|答应)|谁(?:说"
    r"|让你)"
    r"|\b(?:i|we) (?:never|didn't|did not|haven't|don't think i) (?:ever )?(?:said|say|asked?|told"
    r"|tell|want(?:ed)?|agreed?|promised?)\b|\bwho (?:said|told you)\b"
)
_NOW = re.compile(r"现在|如今|目前|不过|但是?|\b(?:now|but|these days|nowadays|today)\b")


def asks(low: str) -> bool:
    """Whether a sentence asks, and doesn't ask the reader to do something.

    >>> asks("以后都要用新模板吗"), asks("能不能以后都用中文回答？"), asks("could you always cc lin?")
    (True, False, False)
    """
    if not (_MARKED.search(low) or _ASKS_ZH.search(low) or _ASKS_EN.search(low)):
        return False
    return not (_REQUEST_ZH.search(low) or _REQUEST_EN.search(low))


def unmeant(low: str) -> bool:
    """Whether a sentence is supposed, denied, meant the other way round, or about long ago.

    >>> unmeant("要是我以后搬去北京，可能就得天天喝豆汁了吧"), unmeant("as a kid i never ate fish")
    (True, True)
    >>> unmeant("如果金额超过500就先问我")
    False
    """
    if _SUPPOSES.search(low) or _IRONY.search(low) or _DENIES.search(low):
        return True
    ago = _LONG_AGO.search(low)
    return ago is not None and _NOW.search(low, ago.end()) is None


def ironic(low: str) -> bool:
    """Whether a whole text is told to be meant the other way round."""
    return _IRONY.search(low) is not None
