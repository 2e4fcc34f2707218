"""What a person likes, avoids or usually chooses."""

from pipeline.observers.offline.people import KIN
from pipeline.observers.offline.sentences import Sentence
from pipeline.rules.phrasing import Table

_VERY = (
    r"(?:还是|就|一直|一向|个人|平时|一般|通常|比较|更|最|特别|很|非常|真的|真|都|其实|也|确实"
    r"|向来|从来|蛮|挺|超级?|有点|不太|不是很){0,3}"
)
_ME = rf"(?<![如果的你他她给帮让])我(?!(?:们)?(?:的|家)?[^，,。]{{0,3}}{KIN})"
_DOING = r"[^，,。；;！!我你他她]{0,12}?"
_NOT_PEOPLE = r"(?!你(?!的)|他|她|这(?!种|类|样)|那(?!种|类|样)|上了|吗|的是你)"
_OFTEN = (
    r"(?:really|absolutely|always|usually|generally|still|also|just|personally|strongly|much|far"
    r"|truly|definitely|actually)"
)
_NOT_TALK = (
    r"(?!it\b(?! when)|that\b|this\b|these\b|those\b|you\b|u\b|how\b|what\b|the way|the idea"
    r"|to (?:hear|see|think|know|say|admit|be|ask|do|just)\b|hearing|all\b|both\b|our\b|getting\b"
    r"|seeing"
    r"|her\b|his\b|him\b|them\b|their\b|being|to\b(?= you)|your\b|we\b|some\b|any\b|another\b"
    r"|a (?:new|refund|second|ticket|table)\b)"
)

_LIKINGS = Table(
    (
        (
            "喜欢 偏好 偏爱 偏向 倾向 讨厌 不爱 反感 受不了 忍不了 接受不了 不惯 钟爱 钟情 爱 中意 怕 "
            "兴趣 感冒 无感"
        ),
        (
            rf"{_ME}{_DOING}{_VERY}(?:喜欢|偏好|偏爱|偏向|倾向(?:于)?|讨厌|不喜欢|不爱|反感|受不了|忍不了"
            r"|接受不了|(?:看|吃|用|喝|住|穿)不惯|不感冒|没兴趣|无感|钟爱|钟情"
            rf"|爱(?=[吃喝看听用读玩穿写住跑])|中意|怕(?=吵|辣|冷)){_NOT_PEOPLE}"
        ),
    ),
    ("偏好 喜欢用 习惯用", rf"(?:都|还是|就|也){_VERY}(?:偏好|习惯用|喜欢用)"),
    (
        "愿意 宁愿 宁可 情愿 只 从不 习惯",
        (
            rf"{_ME}{_DOING}{_VERY}(?:更愿意|宁愿|宁可|情愿|只想要|只要|只[吃喝用看穿坐]|从不[吃喝用]"
            r"|从来不[吃喝用]|习惯(?!了|性|不)(?:用|看|喝|吃|写|在|先|把|按|于|早|晚|上午|下午)?)"
            r"(?!一下|问|知道|想)"
        ),
    ),
    (
        "一向 一般 通常 总是 从来 习惯",
        (
            rf"{_ME}{_DOING}(?:一向|一般都?|通常都?|总是|从来都?|都习惯|习惯)(?:只|都|就)?(?:选|挑|用|买|坐"
            r"|住|点|要|看|喝|吃|走|去|约|放|听|订|不[吃喝用要坐选听看])(?!了|过|完)"
        ),
    ),
    (
        "都 只",
        rf"{_ME}{_DOING}(?:都|只)(?:选|挑|买|坐|住|喝|吃|订|听|穿)(?!了|过|完|好|不|得|到|是)",
    ),
    (
        "不",
        (
            rf"{_ME}{_DOING}(?:不太|不怎么|从不|很少|基本不|一般不|不)(?:能|爱|敢)?(?:吃|喝|听|坐|穿)(?!了"
            r"|完|到|过|起|得|下|吗|饭|上|不|你|他|她)[\u4e00-\u9fffa-z]"
        ),
    ),
    ("我的", rf"{_ME}的[^，,。是在]{{1,6}}(?:不加|少加|要加|只加|都加|不放|少放|多放)"),
    (
        "觉得 认为",
        (
            rf"{_ME}(?:觉得|认为)[^，,。]{{1,16}}比[^，,。]{{1,12}}(?:好|方便|清楚|舒服|顺手|直观|高效"
            r"|靠谱)"
        ),
    ),
    ("不想", rf"{_ME}不想(?:在|再|被)?[^，,。]{{0,10}}(?:收到|看到|被|接到|听到|打扰)"),
    (
        "字体 颜色 格式 单位 风格 主题",
        r"(?:字体|颜色|格式|单位|风格|主题)[^，,。]{0,6}我(?:要|想要|用|选)",
    ),
    (
        "的话",
        (
            r"(?:推荐|选|订|买|安排|挑|约)[^，,。]{0,10}的话[，,][^，,。]{1,16}(?:最好|就好|优先|就行"
            r"|比较好)"
        ),
    ),
    (
        "舒服 顺手 自在 效率",
        r"我(?:看|吃|用|听|做|写)[^，,。]{0,12}(?:最|更|比较)(?:舒服|顺手|自在|有效率)",
    ),
    ("不", r"的[^，,。]{1,6}我(?:一般|都|从来)?不(?:去|坐|住|买|看|吃|喝|用|要)(?=[，,。！!]|$)"),
    ("没法", r"我没法(?:工作|睡|专心|集中|思考|写)"),
    ("我的", r"我的(?:喜好|偏好|习惯|口味|最爱)(?:是|偏)"),
    ("看重 在意 常用", r"我(?:最|更)(?:看重|在意|常用)"),
    ("比起 相比 与其", r"(?:比起|相比|与其)[^，,。]{1,16}[，,]?\s?(?:我|不如)(?:更|还是|宁)?"),
    ("控 党", r"我(?:就)?是(?:个)?[^，,。]{0,6}(?:控|党)(?=[，,。！!]|$)"),
    ("口味 胃口", r"(?:更合|不合|对)我(?:的)?(?:口味|胃口)"),
    (
        "prefer like love adore enjoy hate dislike loathe detest stand bear care drink eat",
        (
            r"(?<!if )(?<!things )(?<!what )(?<!as )(?<!something )(?<!that )(?<!do )\bi(?:'d(?= (?:much )?prefer)"
            rf"| would(?= (?:much )?prefer))?(?: {_OFTEN}){{0,3}}"
            r" (?:prefer(?! not to (?:say|talk))|like|love|adore|enjoy|hate|dislike|loathe|detest"
            r"|can'?t stand|cannot stand|can'?t bear"
            r"|(?:don'?t|do not)(?: really| particularly)? (?:like|care for|enjoy|drink"
            rf"|eat)) (?:{_NOT_TALK}|it (?:when |quiet|warm|cold|hot|simple|short|plain|dark|strong|spicy)"
            r"|to be (?:called|addressed|asked|told|notified)|being \w{1,24}ed)"
        ),
    ),
    (
        "always",
        (
            r"\bi(?:'ve| have) always (?:preferred|liked|loved|hated|disliked|avoided|used|taken"
            r"|chosen) (?!you|him|her|them|it\b)"
        ),
    ),
    (
        "happiest used fine good guy girl kind",
        (
            r"\bi(?:'m| am) (?:happiest|fine|good|ok|okay) with (?!that|this|it|you"
            r"|them)\w[\w ]{1,30}(?:,? (?:but )?not\b|$|[.,])|\bi(?:'m| am) used to (?:the|a|an|my|having"
            r"|working|getting)\b|\bi(?:'m| am) more of an? [\w-]{1,40} (?:guy|girl|person|man|woman|type)\b"
        ),
    ),
    (
        "take choose pick over",
        r"\bi(?:'d| would)? (?:always )?(?:take|choose|pick) [\w ]{2,24} over\b",
    ),
    ("me", r"\b(?:isn't|aren't|is not|are not|not) (?:really )?for me\b(?=[.!,]|$)"),
    (
        "can't cannot",
        (
            r"\bi (?:can't|cannot) (?:work|sleep|focus|think|concentrate|write) (?:with|without|in|when"
            r"|if)\b"
        ),
    ),
    (
        "rather",
        r"\bi(?:'d| would)(?: much)? rather (?!not (?:say|talk)|be\b(?= (?:dead|anywhere)))",
    ),
    (
        "usually always normally generally typically tend mostly only never",
        (
            r"\bi (?:usually|always|normally|generally|typically|tend to|mostly|only|never"
            r"|rarely)(?: just)? (?:pick|choose|go for|take (?:the|a|an)|book|buy|order|use|opt for|drink"
            r"|eat|fly|stay|sit|read|wear|prefer|avoid|want|listen to|watch|shop)\b(?! it\b| to\b)"
        ),
    ),
    (
        "fan into person fond partial keen comfortable productive owl bird",
        (
            rf"\bi(?:'m| am)(?: {_OFTEN}| more| most| not| not really| a lot more){{0,2}} (?:(?:a (?:big "
            rf"|huge )?fan of|into|fond of|partial to|keen on) {_NOT_TALK}|an? (?:morning|night|cat|dog|tea"
            r"|coffee|people|beach|mountain|city|mac|windows|linux|paper|text|visual|detail)[ -]person\b"
            r"|an? (?:night owl|early bird)|(?:more|most|not) comfortable (?:with|in|using) |(?:more"
            r"|most) productive )"
        ),
    ),
    (
        "favourite favorite preferred go usual preference default",
        (
            r"\bmy (?:favou?rite|preferred|go-to|usual|preference)(?: [\w-]{1,20}){0,3} (?:is|are|for)\b"
            r"|\b(?:is|are) my (?:favou?rite|preferred|go-to|default)\b"
        ),
    ),
    (
        "like want need",
        (
            r"\bi(?:'d like| would like| want| like| need) my [\w ]{2,30}? (?:in|as|on|with|without|at"
            r"|to be|short|brief|written|sorted|before|after)\b|\bi (?:want|like) [\w ]{2,30}? (?:written"
            r"|formatted|shown|displayed|sorted|spelled|delivered) (?:as|in|with|by|like)\b"
        ),
    ),
    (
        "find think",
        (
            r"\bi (?:think|find) [\w' ]{2,40}? (?:easier|better|clearer|nicer|more \w{1,24}) [\w ]{0,14}than\b"
            r"|\bi find [\w' ]{2,40} (?:exhausting|annoying|distracting|confusing|hard to (?:read|follow)"
            r"|tiring|stressful|overwhelming)\b"
        ),
    ),
    (
        "better best",
        (
            r"\bi (?:work|do|think|focus|concentrate|sleep|read|write|learn) (?:much |a lot )?(?:better"
            r"|best) (?:with|in|at|when|on|if)\b|\b(?:works?|suits?) (?:me )?(?:best"
            r"|better)(?: for me)?\b(?= than|\.|$|,)"
        ),
    ),
    (
        "want favor favour",
        (
            r"\bi want [\w -]{2,40} (?:in|for|on) (?:everything|all|every|anything)\b"
            r"|\bi (?:strongly )?favou?r\b"
        ),
    ),
    (
        "mode theme themes",
        r"(?:^|[.,;] )(?:dark|light|compact) (?:mode|theme)s? (?:everywhere|please|always)",
    ),
    ("works work suits suit", r"\bworks? (?:best|better) for me\b|\bsuits? me (?:best|better)\b"),
    ("thing fan", r"\bnot (?:a (?:big )?fan of|my thing)\b(?! (?:you|that|this|it))"),
)

TABLES = (_LIKINGS,)
"""For a test that no row is hidden by the words that it needs."""


def liking(sentence: Sentence) -> int | None:
    """Where a sentence tells what its speaker likes, avoids or usually chooses, or None."""
    match = _LIKINGS.find(sentence)
    return match.start() if match else None
