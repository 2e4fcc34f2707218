"""What an agent can be told to do, and how an instruction begins, in both languages."""

VERB = (
    r"(?:accept|add|address|adjust|alert|allow|announce|answer|apply|approve|archive|arrange|ask"
    r"|assign|assume|attach|auto-?\w{2,12}|avoid|back up|backup|base|batch|block|book|bring|build"
    r"|buy|call"
    r"|cancel|capture|cc|bcc|change|charge|check|choose|cite|clean|clear|close|collect|combine"
    r"|comment|commit"
    r"|compile|compress|confirm|contact|convert|copy|create|cut|date|decline|default|delete"
    r"|deliver|deploy|describe|disable|discuss|disturb|display|do|document|double[- ]check"
    r"|download|draft|drop"
    r"|edit|e-?mail|enable|encrypt|enter|escalate|exclude|export|extract|file|fill|filter|flag"
    r"|follow|format|forward|generate|get|give|group|handle|hide|highlight|hold|ignore|import"
    r"|include|inform|install|interrupt|invite|keep|label|leave|limit|link|list|log|mail|make|mark"
    r"|mention"
    r"|merge|message|modify|move|mute|name|note|notify|number|open|order|overwrite|pass|paste|pay"
    r"|phone|ping|place"
    r"|plan|post|prefix|present|print|prioriti[sz]e|process|propose|provide|publish|pull|purchase"
    r"|push|put|quote"
    r"|rebase|record|refer|refuse|register|reject|release|remind|remove|rename|renew|replace|reply"
    r"|report"
    r"|reschedule|reserve|reset|resize|respond|restart|review|rotate|round|route|run|save|scan"
    r"|schedule"
    r"|select|send|separate|set|share|ship|show|shut|sign|skip|sort|speak|spell|start|stick|store"
    r"|submit"
    r"|summari[sz]e|switch|sync|tag|talk|tell|test|text|touch|track|transfer|translate|treat|trim"
    r"|turn"
    r"|unsubscribe|update|upgrade|upload|use|validate|verify|wait|wake|warn|wipe|wrap|write)"
)
"""English, in its base form. What people tell themselves (try, enjoy, stay, hope) is not among it."""

_OPENINGS = (
    r"(?:please|pls|btw|by the way|also|ok|okay|hey|and|but|so|anyway|oh|well|just|kindly|then|now"
    r"|yes|no"
    r"|fyi|note|one more thing|look|listen|hi|thanks|simply|again|in general|generally|as a rule)"
)
START = rf"(?:^|[:;—–)] ?|[.!,] )(?:{_OPENINGS}[,:]? ){{0,3}}"
"""Where an English clause begins, up to its first weighty word."""

ASKED = (
    r"\b(?:please|pls|kindly|make sure (?:to|you|that you)|be sure to|you (?:should|must|need to"
    r"|have to|are to|may|shall)"
    r"|(?:want|need|expect) you to|(?:'d|would) like you to|(?:can|could|would"
    r"|will) you(?: please)?|remember to|better)"
    r" (?:just |also |only )?"
)
ORDERED = rf"(?:{START}|{ASKED})"
"""What an English instruction stands behind."""

DOES = (
    r"(?:用|使用|发|放|存|保存|写|走|按|选|抄送|附|加上?|带上?|标|注明|改|给|把|将|跟|和|问|让|叫"
    r"|做|跑|检查|确认|核对|核实|备份"
    r"|留|保留|提交|上传|下载|导出|导入|打印|命名|归档|归到|分类|整理|翻译|回|答|通知|告诉|提醒"
    r"|汇报|报备|打开|关闭|订|买|付款|审批|签|登记"
    r"|记录|记到|同步|合并|发布|部署|上线|重启|安装|更新|删|移|转|填|引用|显示|展示|称呼|以|由|经"
    r"|拉|推|排|安排|约|避开|跳过|忽略"
    r"|拒|婉拒|取消|停|升级|联系|接|算|挂|计入|取|拆|压缩|加密|脱敏|署|落款|盖章|采用|沿用|遵循"
    r"|参照|设|默认|说一声|请示|过一遍|看一眼|过目)"
)
"""Chinese."""

BIE = r"(?<![特区分级个识告差各类性])别(?!的|人|处|名|致|扭|墅|样|家|国|说|提了|管)"
FORBID = (
    rf"(?:不要(?!紧|命|脸)|{BIE}|不准|不许|不能(?!够|不)|不可以|不得(?!不|了|已)|不允许|切勿|请勿)"
)
NOT = (
    rf"(?:不要(?!紧|命|脸)|{BIE}|不准|不许|不能(?!够|不)|不可以|不可(?=[^能])|不得(?!不|了|已)"
    r"|不允许|不用|不必|切勿|请勿|勿)"
)
MUST = (
    r"(?:必须|务必|一律|统一|请(?!了|客|假|教|吃|问)|记得|只能|只准|只许|默认|一定要|才能|才可以"
    rf"|{NOT})"
)
DO = (
    rf"(?:都(?=要|得|给|从|{DOES}|{MUST}|先|不|只|可以直接)|先(?={DOES})|{MUST}"
    rf"|(?<![需主重想只还就快将又首紧简])要(?:先|再|提前|优先|单独|经过)?(?={DOES}|注明|写明|带|有)"
    rf"|就(?={DOES}|{NOT})|只(?={DOES}|要|在)|直接(?={DOES})|不再(?={DOES})|优先|帮我|替我"
    r"|给我(?!们))"
)
"""What is asked of an agent."""

DELIVERS = (
    r"(?:给|发|交|提交|提供|补|回复|回电|完成|做完|弄完|写完|搞定|通知|告诉|汇报|提醒|确认|处理"
    r"|整理|准备|上传|付|还|寄|送|转|检查|复查|跟进"
    r"|联系|核对|核实|查|看|测|修|更新|部署|发布|安排|预约|订|买|催|问|打(?=[^，,。]{0,4}电话)"
    r"|重跑|重试|重新|出(?=方案|报告|结果))"
)
"""What Chinese promises are about."""
