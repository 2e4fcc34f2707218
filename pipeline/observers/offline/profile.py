"""What a person is and how they work, as they tell it themselves (mission F3)."""

import re

from pipeline.observers.offline.habits import habit
from pipeline.observers.offline.people import KIN
from pipeline.observers.offline.sentences import Sentence
from pipeline.rules.phrasing import Table
from storage.records.knowledge import ProfileKind

_OWN_SLOTS = ("identity.", "food.", "work.hours")
_OWN = frozenset({"i", "i'm", "i've", "my", "me", "im"})
_OTHERS = re.compile(
    r"(?:老婆|老公|太太|先生|妈妈?|爸爸?|母亲|父亲|儿子|女儿|孩子|同事|朋友|老板|领导|室友|哥哥?"
    r"|姐姐?|弟弟?|妹妹?|爷爷|奶奶|男友|女友|男朋友|女朋友|上司|下属|他|她)(?:们)?(?:也|都|就|现在"
    r"|一直)?(?:对|叫|是|住|在|吃|不吃|来自|生日|过敏|今年)"
    r"|\b(?:my|our|his|her|their) (?:wife|husband|mom|mum|mother|dad|father|son|daughter|kids?"
    r"|boss|friends?|brother|sister|colleague|partner|boyfriend|girlfriend|roommate"
    r"|neighbou?r)s?(?:'s)?\b"
    r"|\b(?:he|she|they) (?:is|are|lives?|works?|was|has)\b"
)
_JOB_ZH = (
    r"(?:人|生|师|员|家|者|长|工|经理|总监|主管|老板|顾问|博主|律师|会计|销售|售前|售后|运营|产品"
    r"|开发|测试|程序员|爸爸|妈妈|宝妈)"
)
_JOB_EN = (
    r"(?:engineer|teacher|doctor|nurse|lawyer|accountant|designer|manager|student|programmer"
    r"|developer|researcher|editor|writer"
    r"|artist|counsell?or|analyst|consultant|scientist|founder|freelancer|translator|architect"
    r"|director|lead|parent|mother|father"
    r"|journalist|photographer|pharmacist|professor|pilot|chef|salesperson|recruiter|electrician"
    r"|mechanic|librarian|therapist"
    r"|administrator|technician|officer|owner|bookkeeper|auditor|tester|coach|trainer|producer"
    r"|paralegal|secretary|dentist|vet)"
)
_FEELING = (
    r"(?:sure|glad|sorry|back|here|done|fine|good|tired|busy|ready|off|late|home|out|in|ok|okay"
    r"|happy|sad|new|afraid|aware|able|free|up|on|at|not|so|very|really|just|still|also|a|an|the"
    r"|from|about|all)"
)

_IDENTITY = Table(
    (
        "常住 长住 常驻 定居 住",
        (
            r"我(?:现在|目前|平时|常年|长期|一直|就)?(?:常住|长住|常驻|定居|住在|住(?!院|过|校|一|的|了"
            r"|酒店|宾馆)(?=[\u4e00-\u9fff]{2}))"
        ),
    ),
    (
        "我的",
        (
            r"我的(?:母语|国籍|籍贯|职业|专业|星座|血型|时区|英文名|全名|工号|学历|年龄|民族|信仰|体重"
            r"|身高|职位|岗位|部门|公司|老家|生日|邮箱|手机号|微信号)(?:是|为|叫|在|：)?"
        ),
    ),
    (
        "我是 我本人是",
        (
            rf"我(?:本人)?是(?:一?[个名位])?[^，,。！？!\s]{{1,12}}{_JOB_ZH}(?![的都里间]|民|类|品|种|作"
            r"|意)(?=[，,。！!、\s]|$)"
        ),
    ),
    (
        "我",
        (
            r"我(?:现在|目前)?(?:在|于)(?!送|接|做|看|等|忙|吃|开|写|想|找|弄|改|处理|路上|排|赶|陪"
            r"|带)[^，,。我你]{2,20}(?:当|做|任|担任|上班|工作|任职|就职|读书|读研|读博|上学|实习"
            r"|负责)(?!过|的时候|时|好|完|了|些|什么|饭)"
            r"|我(?:主要|现在|目前)?(?:是)?(?:做|负责|管|干)[^，,。]{1,10}(?:的(?=$|[，,。！])|工作|行业"
            r"|这行|这块|业务)"
        ),
    ),
    (
        "岁 后 年",
        (
            r"我(?:今年|已经)?\s?(?:\d{1,2}|[一二三四五六七八九十]{2,3})\s?(?:岁|周岁)|我是?(?:\d{2}后"
            r"|(?:19|20)\d\d\s?年(?:的|生|出生))"
        ),
    ),
    ("养", r"我(?:家|家里|们家)?(?:还)?养(?:了|着|有)?[^，,。]{0,6}(?:猫|狗|鱼|鸟|兔|仓鼠|龟)"),
    ("不会", r"我不会(?:开车|游泳|做饭|编程|打字|说[^，,。]{1,4}|讲[^，,。]{1,4}|英语|英文)"),
    (
        "是",
        (
            r"我(?:就)?是(?:个)?[^，,。]{0,6}(?:夜猫子|早鸟|急性子|慢性子|路痴|社恐|完美主义者?|工作狂"
            r"|强迫症)"
        ),
    ),
    ("干了 工作了", r"我在[^，,。]{2,12}(?:干|工作|做)了[^，,。]{1,8}"),
    ("管 负责", r"我(?:现在|主要)?(?:管|负责)(?!你|他|不)[^，,。了吗]{2,14}(?=[，,。！]|$)"),
    (
        "上下班 通勤 戴 轮椅",
        (
            r"我(?:每天|平时)?(?:骑车|开车|坐地铁|坐公交|走路|骑[^，,。]{1,4})(?:上下班|通勤|去上班)"
            r"|我戴(?:眼镜|助听器|隐形)|我(?:坐|用)轮椅"
        ),
    ),
    ("在学", r"我(?:最近|现在)?(?:在|正在)学(?!校|习怎么)[^，,。]{2,8}(?=[，,。！]|$)"),
    (
        "休息 下班 上班",
        (
            r"我(?:每)?(?:周[一二三四五六日]|周末|工作日)[^，,。]{0,8}(?:休息|下班|上班|不上班|不在)(?!了"
            r"|吗)"
        ),
    ),
    ("用的", r"我(?:现在|目前|平时)?用的(?:[^，,。]{1,6})?是"),
    (
        "我的",
        (
            rf"我的(?![^，,。]{{0,3}}{KIN}|意思|想法|问题|看法|感觉|建议|观点|理解|目标|计划|天|妈|错|心"
            rf"|要求|原则|规矩|话|理由|印象|记忆|电话没|手机没)[^，,。是在叫的]{{1,8}}(?:是|叫|在)(?!不"
            rf"|什么|谁|哪|你|最|很|这|那|为了|因为)[^，,。]{{1,20}}"
        ),
    ),
    ("我有 我家", r"我(?:家)?有(?:\d|[一两二三四五])?个?(?:孩子|娃|儿子|女儿|小孩|宝宝|猫|狗)"),
    (
        "我",
        (
            r"我(?:从小|一直|是|有点|本来就)?(?:吃素|素食主义|不能吃|从不吃|忌口|乳糖不耐|色盲|色弱|近视"
            r"|左撇子|恐高|听力不好|有(?:哮喘|糖尿病|高血压|鼻炎|胃病|恐高|颈椎病))|我对[^，,。]{1,12}过敏"
        ),
    ),
    ("手机 电脑 车 笔记本", r"我(?:的)?(?:手机|电脑|车|笔记本|平板)(?:是|用的是)[^，,。]{2,24}"),
    (
        "送 接",
        (
            r"我(?:每|周[一二三四五六日](?:到|至)周[一二三四五六日]|工作日)[^，,。]{0,16}(?:要|得)?(?:送"
            r"|接)(?:孩子|娃|小孩|女儿|儿子)"
        ),
    ),
    (
        (
            "native mother first nationality job title role profession hometown birthday name surname "
            "employee zone blood major degree hours age department team email"
        ),
        (
            r"\bmy (?:native (?:language|tongue)|mother tongue|first language|nationality|job|title|role"
            r"|profession|hometown|birthday|(?:full |last |first |middle )?name|surname|employee (?:id"
            r"|number)|time ?zone|blood type|major|degree|(?:working|office) hours|age|department|team"
            r"|(?:work )?email)(?: is|'s| are)\b"
        ),
    ),
    (
        (
            "vegetarian vegan pescatarian intolerant diabetic blind handed coeliac celiac muslim jewish "
            "allergic deaf dyslexic retired employed freelance hearing colorblind"
        ),
        (
            r"\bi(?:'m| am|'ve been) (?:a |an |severely |mildly |very )?(?:vegetarian|vegan|pescatarian"
            r"|lactose intolerant|gluten intolerant|diabetic|colou?r[- ]?blind|left-handed|coeliac|celiac"
            r"|muslim|jewish|allergic|deaf|dyslexic|retired|self-employed|freelance|hard of hearing)"
        ),
    ),
    (
        "based located living employed working from live lived grew born moved",
        (
            r"\bi(?:'m| am)(?: currently| now)? (?:based|located|living|employed|working) (?:in|at|for|as"
            r"|out of)\b(?! (?:on|progress))|\bi(?:'m| am) (?:originally )?from (?!the (?:same|other)|now)"
            r"|\bi(?:'ve)? (?:now |currently |actually )?(?:live|lived|grew up|was born) (?:in"
            r"|on)\b(?! (?:fear|peace))"
        ),
    ),
    (
        "work teach study run drive speak",
        (
            r"\bi(?: currently| now)? (?:work|teach|study) (?:as|at|for)\b|\bi (?:run|own) an? "
            r"|\bi drive an? |\bi speak (?:\w{1,24}(?:,| and)? ?){1,4}"
        ),
    ),
    (
        "studied graduated majored trained raised",
        r"\bi (?:studied|graduated|majored|trained|was raised) (?:\w{1,24} ){0,4}(?:in|at|from)\b",
    ),
    (
        "i'm am",
        (
            r"\bi(?:'m| am) the (?!one|only|same|best|worst|first|last)[\w ]{3,30} (?:of|at|for) (?:our"
            r"|the|my|an?)\b|\bi(?:'m| am) an? (?:introvert|extrovert|perfectionist|night owl|early bird"
            r"|beginner|native)"
        ),
    ),
    (
        "been",
        r"\bi(?:'ve| have) been (?:with|at|working (?:at|for|as|in)) [\w ]{2,30} (?:since|for)\b",
    ),
    (
        "manage lead head oversee responsible look",
        (
            r"\bi (?:manage|lead|head|oversee|look after) (?:the|our|an?) |\bi(?:'m"
            r"| am) (?:responsible for|in charge of) "
        ),
    ),
    (
        "commute wear wheelchair learning off",
        (
            r"\bi commute (?:by|from)\b|\bi wear (?:glasses|contacts|hearing aids)\b|\bi(?:'m"
            r"| am) in a wheelchair\b|\bi(?:'m| am) learning (?:to )?[a-z]{1,40}|\bi(?:'m| am) off (?:on"
            r"|every) (?:mon|tues|wednes|thurs|fri)|\bi don't work on (?:mon|tues|wednes|thurs|fri)"
        ),
    ),
    ("finish start", r"\bi (?:finish|start|stop)(?: work)? at \d"),
    (
        "time",
        r"\b(?:pacific|eastern|central|mountain|european|gmt|utc|cet|est|pst)[\w ]{0,12} time\b",
    ),
    (
        "my",
        (
            r"(?:^|[,;:.] ?|\band )my (?!point|question|idea|problem|guess|thought|bad|fault|opinion"
            r"|concern|pleasure|mood|head|heart|god|plan|goal|suggestion|rule|policy|battery|biggest|best"
            r"|worst|dear|only|dream|hope|wish|advice|love)[\w ']{2,24}? (?:is|are) (?:called |named |on "
            r"|in |at |an? |the )(?!bit|mess|lot|same|best|worst|way|problem|reason|one)[\w' ]{2,40}"
        ),
    ),
    (
        "i'm i am",
        rf"\bi(?:'m| am) (?:an?|the) (?:\w{{1,24}}[ -]){{0,3}}{_JOB_EN}\b(?! (?:too|at heart)\b)",
    ),
    (
        "i'm am",
        (
            rf"(?:^|[,:.] ?|\bintro: )i(?:'m| am) (?!{_FEELING}\b)(?!\w{{1,24}}(?:ing|ed)\b)[a-z]{{2,14}}(?=, "
            r"| and i\b| from\b)"
        ),
    ),
    (
        "years have can't cannot don't cant i'm am",
        (
            r"\bi(?:'m| am) \d{2}(?: years old| yrs old|\b(?=[.,]|$| and\b))|\bi have (?:one|two|three"
            r"|four|\d|a) (?:kids?|child|children|sons?|daughters?|cats?|dogs?)\b|\bi (?:can'?t|cannot"
            r"|don'?t) (?:eat|drink|drive|swim|cook)\b"
        ),
    ),
)
_PASSING = re.compile(
    r"(?:正在|刚刚?|快|马上|今天|昨天|明天|现在(?:在路上|在高铁|很|好|有点))[^，,。]{0,8}$"
    r"|^(?:今天|昨天|明天|下周|这周|周末)"
    r"|\b(?:right now|at the moment|today|just now|yesterday|this morning|tonight|this week"
    r"|tomorrow)\b"
)

TABLES = (_IDENTITY,)
"""For a test that no row is hidden by the words that it needs."""


def profile(sentence: Sentence) -> tuple[int | None, ProfileKind] | None:
    """Where a sentence tells something lasting of its speaker, and of which kind it is.

    The place is None where only the slot that it fills tells.
    """
    low = sentence.low
    if "我" not in low and _OWN.isdisjoint(sentence.vocabulary):
        return None
    at = habit(sentence)
    if at is not None:
        return None if _OTHERS.search(low) else (at, ProfileKind.WORK_STYLE)
    told = _IDENTITY.find(sentence)
    slotted = told is None and (sentence.slot or "").startswith(_OWN_SLOTS)
    if (told is None and not slotted) or _OTHERS.search(low) or _PASSING.search(low):
        return None
    return told.start() if told else None, ProfileKind.IDENTITY
