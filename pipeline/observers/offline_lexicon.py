"""The wordings by which a person or a supervisor says something worth keeping.

Explicit signals only: what is merely talked about gives nothing. Each pattern works on text whose
Traditional characters are folded (`pipeline.rules.wording.simplified`).
"""

import re

_FLAGS = re.IGNORECASE | re.MULTILINE

_VERB = (
    r"(?:accept|add|answer|approve|ask|attach|avoid|back up|begin|book|buy|call|cc|change|check|click|close"
    r"|commit|confirm|convert|copy|delete|deploy|do|edit|email|export|file|format|give|ignore|import|include"
    r"|install|keep|leave|let|log|make|mention|merge|move|name|notify|open|order|overwrite|pay|post|prefix"
    r"|print|publish|push|put|quote|read|remind|rename|reply|respond|restart|review|round|run|save|schedule"
    r"|send|set|share|show|sign|start|store|submit|summari[sz]e|tell|test|touch|translate|turn|update"
    r"|upgrade|upload|use|verify|wait|write)"
)
_DIRECT = r"(?:都|要|请|用|不要|别|先|必须|一律|就|把|给|改|按|发|叫|不用|不准|不许|存|放)"

RULE = re.compile(
    r"(?<![然之完业束班了来天年月我他她们])(?:以后|今后|从今往后|从现在起|从现在开始|从今天起)"
    r"(?!再说|见|的事|再聊|(?:，|,)?(?:我(?!的|让|要求)|他|她|咱))"
    rf"[^。\n]{{0,20}}?{_DIRECT}"
    rf"|从[^。，,\n我他她]{{1,8}}(?:起|开始)[，,]?[^。\n我他她]{{0,12}}{_DIRECT}"
    r"|(?:^|[，,。：:\s])(?:请)?(?:一律|务必|绝不要?|绝对不要|永远不要|千万别|千万不要|禁止|不准|不许)"
    r"|一律(?:用|不|要|走|放|发|按|由|先|以|改)|下次(?:都|先|要|别|不要|记得)"
    r"|(?:之前|以前|期间|(?<!目)前|时候?|后)(?:都|就)?(?:别|不要|不准)(?!的|说|人)"
    r"|(?:^|[，,。：:\s])(?:请)?(?:不要|别)再?(?:自动|直接|擅自|私自|给|把|发|用|删|改|推送)"
    r"|(?<![我他她们特])(?:必须|不得|不要|别)(?:先|经|自动|直接|擅自|私自|再给|再发|再用)"
    r"|每次(?!我|他|她|看到|想到|听)[^。\n我他她]{0,16}(?:都|先|要|请|记得)(?:请|给|把|用|先|要|跟|问|发|存|确认|检查|提醒)"
    r"|(?:^|[,;:]\s?|\bplease |\band |\bbut |\byou (?:should|must|need to) |\bcould you |\bcan you )"
    rf"(?:always|never) (?!give up|make (?:us|me|you)\b|keep (?:going|me)|let (?:me|us)|put your|remind (?:me|us))"
    rf"{_VERB}\b"
    rf"|\b(?:must|should) (?:always|never) (?:be )?\w+"
    r"|\bfrom now on\b(?!,? (?:i|we|he|she|they)\b)"
    rf"|\b(?:in (?:the )?future|going forward),? (?:please |always |never |don['’]?t |do not )*{_VERB}\b"
    rf"|\b(?:don['’]t|do not) ever {_VERB}\b|\byou must (?:not )?(?:always|never) {_VERB}\b"
    rf"|\b(?:don['’]t|do not|never) {_VERB}\b[^.\n]{{0,60}}\b(?:without asking|unless i|before i|until i)\b"
    rf"|\b(?:every time|whenever|each time) (?:you|a|an|the|there)\b[^.\n]{{0,80}}?[, ](?:please )?{_VERB}\b",
    _FLAGS,
)

RULE_OF_THING = re.compile(
    r"(?<![我他她们家人])都(?:用|挂|走|放|存|按|发|记|写)|只(?:放|用|发|留|写|存)"
    r"|(?<![特个分区级识])别(?:写|发|录|加|用|放|弹|传|删|改|存)"
    r"|(?:超过|大于|少于|不足|低于|满)[^。，\n]{1,12}(?:要|必须|都|得|先|不)"
    r"|每(?:天|周|月|个?工作日|个?季度)[^。，\n]{0,12}(?:帮我|给我|提醒我)",
    _FLAGS,
)
"""Wordings that make a rule where it is plain what they are about: an object is named."""

PREFERENCE = re.compile(
    r"我(?:还是|就|一直|个人|平时|一般|通常|比较|更|最|特别|很|非常|真的){0,3}"
    r"(?:喜欢|偏好|偏爱|倾向|习惯(?!了|性|不)|讨厌|不喜欢|不爱|受不了|爱(?:吃|喝|看|听|用))(?!你|他|她|这|那|上|吗)"
    r"|我的(?:喜好|偏好|习惯)是|(?:其他|都|一律)(?:用|说|写)(?:中文|英文|英语)"
    r"|\bplease (?:answer|reply|write|respond)\b[^.\n]{0,24}\bin (?:english|chinese)\b"
    r"|(?:回答|回复|答复|说话|解释)[^。，\n]{0,4}(?:简短|简洁|精简|详细)(?:一?些|一?点|就好|即可|为主)"
    r"|\bi(?: really| much| always| usually| generally| still| also)? prefer\b(?! not to (?:say|talk))"
    r"|\bmy (?:favou?rite|preferred) (?:\w+ ){1,3}(?:is|are)\b"
    r"|(?<!things )(?<!what )(?<!as )(?<!something )\bi(?: really| absolutely| always| usually)? (?:like|love|enjoy|hate|dislike|can['’]?t stand|don['’]?t like)"
    r" (?!it\b|that\b|this\b|these\b|those\b|you|how\b|what\b|the way|the idea|to (?:hear|see|think)|hearing|the\b|all\b|both\b|our\b|getting\b"
    r"|seeing|her\b|his\b|him\b|them\b|their\b|when\b|where\b|being|to\b(?= you))"
    r"|\bkeep (?:your |the |all )?(?:answers|replies|responses|messages)\b",
    _FLAGS,
)

REMEMBER = re.compile(
    r"(?<![我还没])(?:记一下|记下来|记好|帮我记|记住(?:一下|[：:]|[，,]?\s?(?:我|以后)))(?!了|没)"
    r"|(?:^|[,;:]\s?|\bplease |\bcan you |\balso )(?:remember|note|keep in mind)"
    r"(?: that\b|:|,? (?:i|my|our|we)\b| the (?!time|day|first|last|good|one)\w)",
    _FLAGS,
)

NOTE_OF_THING = re.compile(
    r"(?<![我还没])记住(?!了|没)|^(?:please )?(?:remember|note)\b(?! when| how)", _FLAGS
)

REMIND = re.compile(
    r"提醒(?:一下)?我(?!们)"
    r"|(?:^|[,;:]\s?|\bplease |\b(?:can|could|will) you |\band |\balso )remind me(?! (?:of|why|how)\b)",
    _FLAGS,
)

SHOULD = re.compile(
    r"(?:^|[，,。]|请|你)(?:记得|别忘了?|不要忘记?)[^。\n]{0,20}(?:给|发|交|付|缴|还|回复|回电|通知|联系|预约|预订|订|续费|报名)"
    r"|\b(?:don['’]?t forget|remember) to (?:send|submit|pay|email|call|book|order|file|renew|reply|return|confirm)\b",
    _FLAGS,
)

PROMISE = re.compile(
    r"我(?:们)?(?:会|一定|将|保证|答应|承诺)[^。\n]{0,24}(?:给|发|交|提供|补|回复|完成|通知|告诉|汇报|提醒|确认|处理|整理|准备|上传|付)"
    r"|我[^。，\n]{0,10}(?:前|之前|内)(?:会)?(?:给你|发你|发给|交|提供|补上|回复|完成)"
    r"|我[^。，\n]{0,16}(?:备好|准备好|整理好|弄好|补上)|我(?:就|再|会)?(?:提醒|通知|告诉|回复)你"
    r"|我[^。\n]{0,16}(?:发你|给你|交给你|发给你|寄给你|传给你)"
    r"|\bi(?:['’]ll| will| am going to|['’]m going to|['’]ll have| promise to)\b[^.\n]{0,40}?"
    r"\b(?:send|give|bring|submit|provide|finish|deliver|upload|share|pay|reply|report|complete|notify|remind"
    r"|tell you|let you know|get back|prepare|check(?!-?in| in)|confirm|handle)\b",
    _FLAGS,
)

VOW = re.compile(
    r"我(?:保证|承诺|答应你)|(?:完成|做完|办完|弄完|处理完|好了|结束|有结果)(?:后|之后|了)?[^。\n]{0,8}(?:通知|告诉|汇报|提醒)(?:你|您)"
    r"|\bi promise\b|\bi(?:['’]ll| will) (?:let you know|notify you|report back|get back to you|remind you|tell you)\b",
    _FLAGS,
)

ASSERTS = re.compile(
    r"是|为|改成|改为|改到|换成|定为|定在|定于|放在|存在|存到|设为|变更为|在"
    r"|\b(?:is|are|will be|set to|(?:has |have |was |were )?(?:moved|changed) to|lives? (?:in|at|under))\b",
    _FLAGS,
)

DIRECTS_ONCE = re.compile(
    r"不用|不要|(?<![特个分区级识])别|先|跳过|免|直接|(?:次|回)[^。，\n]{0,8}(?:用|按|发|存)"
    r"|\b(?:skip|use|don['’]?t|do not|ignore|leave|no need|allow|send|put|save)\b",
    _FLAGS,
)

RETHINKS = re.compile(
    r"(?:^|[，,。：:\s])(?:其实|等等|实际上)[^。\n]{0,24}|\bactually\b[^.\n]{0,40}|^wait\b[^.\n]{0,40}",
    _FLAGS,
)

STEPS = re.compile(
    r"(?:步骤|流程|操作方法|做法)[^。：:\n]{0,8}[：:]|\b(?:steps|procedure)(?: (?:is|are))?\s?:",
    _FLAGS,
)
STEP_BREAK = re.compile(
    r"\n+|→|->|[;；]|[，,。]\s?(?:然后|接着|最后|再)|,? (?:and )?then |(?:^|(?<=\s))\d{1,2}[.)、]\s?",
    _FLAGS,
)

LEFT = re.compile(
    r"剩余|还剩|还需|还差|待办|待(?:确认|处理|补|审)|未完成|下一步|没有?做完"
    r"|\b(?:remaining|left to do|next steps?|to-?do|still (?:need|missing|open|to)|pending|not yet)\b",
    _FLAGS,
)

CONDITION = re.compile(r"^(?:如果|要是|若|一旦|假如|\bif\b|\bwhen\b)", _FLAGS)
CHECK = re.compile(r"核对|确认|检查|验证|\b(?:verify|check|confirm|make sure)\b", _FLAGS)

QUESTION = re.compile(
    r"[?？]\s*[\"”’]?\s*$|(?:吗|呢|么|嘛)[。！!~～]*$|^(?:为什么|怎么|什么|谁|哪|请问)"
    r"|(?:几号|几点|多少|哪里|哪儿|什么|谁|哪个|哪天|怎么样|如何|是不是|对不对|好不好)[了的啊呀]?[。]?$",
    _FLAGS,
)
POLITE = re.compile(
    r"^(?:能不能|可以|可否|能否|麻烦|能)|^(?:could|can|would|will) you\b|^please\b", _FLAGS
)
REPORTED = re.compile(
    r"(?:[他她](?:们)?|网页|网站|页面|邮件|文章|广告|短信|弹窗|屏幕|帖子|视频|文中|说明书)(?:里|上|中)?(?:面)?"
    r"(?:总|又|还|就)?(?:说|写|要求|提示|显示|声称|告诉)(?!的)"
    r"|\b(?:he|she|they|it|(?:the|this|that|a) (?:web ?page|page|site|website|email|mail|article|ad|post|video"
    r"|message|popup|screen|tool|document)|someone|somebody)(?: \w+)? "
    r"(?:says?|said|claims?|wrote|writes|asks?|asked|told|tells?|wants?|shows?|reads?)\b",
    _FLAGS,
)
QUOTED = re.compile(r"[“\"「『《][^”\"」』》\n]{2,300}[”\"」』》]")
SUPPOSED = re.compile(
    r"如果|假如|要是|假设|比如|例如|\bif\b|\bimagine\b|\bsuppose\b|\be\.g\.|\bfor example\b", _FLAGS
)
CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]{1,200}`|^\s{0,3}>[^\n]*", re.DOTALL | re.MULTILINE)

STEMS = tuple(
    re.split(
        r"\|",
        "please answer|please reply|please write|please respond|always|never|from now on|future|forward|ever |must|unless|without asking|before i|"
        "until i|every time|whenever|each time|prefer|favo|i like|really like|i love|"
        "really love|i enjoy|i hate|i dislike|stand |n't like|n’t like|usually like|keep |"
        "remember|note|remind|forget|'ll |’ll |i will|going to|promise|once|this time|"
        "for this one|for today|for now|only now|just now|only today|just today|one-off|"
        "one off|name is|name's|name’s|call me|live in|living in|moved to|moving to|based in|"
        "birthday|i was born|home town|hometown|i'm |i’m |i am |work at|work for|work as|"
        "my job|occupation|profession|allerg|vegetarian|vegan|actually|wait|wrong|incorrect|"
        "not right|meant|correction|ignore|disregard|scratch|strike|misspoke|mistaken|"
        "answers|replies|responses",
    )
)
"""What an English sentence must hold for any pattern above to be worth trying."""

HAN_STEMS = re.compile(
    "以后|今后|从今|从现在|起|开始|一律|务必|绝|永远|千万|禁止|不准|不许|不要|别|必须|不得|每次"
    "|喜欢|偏好|偏爱|倾向|习惯|讨厌|不爱|受不了|我爱|真的爱|最爱|特别爱|很爱|喜好|回答|回复|答复|说话|解释"
    "|记|提醒|叫我|我叫|名字|我姓|住|搬|定居|生日|出生|老家|家乡|来自|上班|工作|任职|就职|入职|跳槽"
    "|我是|职业|过敏|素|忌口|不吃|不对|不是|更正|纠正|订正|错了|意思|说的|指的|忽略|忘|撤回|作废"
    "|其实|等等|实际上|次|这回|此回|下不为例|先|我会|我们会|一定|将|保证|答应|承诺|前|内|发你|给你"
    "|发给|寄给|传给|通知|告诉|汇报|备好|常驻|都用|都说|都写|时|后"
)
"""The same for a Chinese one, its Traditional characters folded."""

PROMISE_STEMS = ("promise", "'ll ", "’ll ", "i will ", "going to ")
"""What a supervisor's English text must hold to promise anything."""

REDACTED = "[redacted:"
