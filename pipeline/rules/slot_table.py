"""The slots that statements fill, as words: of the owner, and of things and their aspects.

Closed on purpose: what is not listed gives no slot, and without a slot nothing is superseded
automatically (spec: protocol, Who wins).
"""

OWN_SLOTS: tuple[tuple[str, str], ...] = (
    (
        "identity.name",
        (
            r"(?<![他她妈爸人你们])叫我(?!去|来|做|帮|起|把|给|别|不|先|一起|吃|买|早|回|一下|一声|关|开"
            r"|出|下|上班|续)|我叫(?!人|他|她|车|外卖)"
            r"|我的名字(?:是|叫)|我姓(?!名)|\bcall me (?-i:[A-Z])|\bmy name(?: is|[\'’]s)\b"
        ),
    ),
    (
        "identity.residence",
        (
            r"我(?:现在|目前|已经|就|还|一直|最近|刚|都|其实)?(?:住在|住到|搬到|搬去|搬家到|定居)|我的住址"
            r"|(?:我|平时|目前)常驻"
            r"|\bi(?:['’]m| am)? (?:now |currently |just |recently |actually |still )?"
            r"(?:liv(?:e|ing) in (?!an?\b|the\b|fear|this\b|that\b|my\b)|(?:moved|moving) to (?-i:[A-Z])"
            r"|based in\b)"
        ),
    ),
    (
        "identity.birthday",
        (
            r"我的?生日(?:是|在|：|:)?.{0,4}[\d一二三四五六七八九十]|我出生(?:于|在)"
            r"|\bmy birthday(?: is|['’]s)\b|\bi was born (?:on|in)\b"
        ),
    ),
    (
        "identity.hometown",
        r"我的?(?:老家|家乡)|我来自|\bmy home ?town is\b|\bi(?:['’]m| am) from (?-i:[A-Z])",
    ),
    (
        "identity.employer",
        (
            r"我(?:现在|目前|就|一直)?在(?!这|当前|一|家|思|考|想|找|做|忙|努力|不)[^，。]{1,16}(?:上班"
            r"|工作|任职|就职)(?!了|过|中|的|时)"
            r"|我(?:刚|已经)?(?:入职|跳槽到)|\bi(?: now| currently)? work (?:at|for)\b"
        ),
    ),
    (
        "identity.occupation",
        (
            r"我是(?!说|想|觉得|不|跟|和|从|在|被|要)[^，。]{0,10}(?:工程师|老师|教师|医生|护士|律师|会计"
            r"|设计师|经理|学生|程序员|研究员|编辑|记者)"
            r"|我的(?:职业|工作)是|\bi work as\b|\bmy (?:job|occupation|profession) is\b(?!,| (?:to|so|not"
            r"|really|what|very|the)\b)"
            r"|\bi(?:['’]m| am) an? (?:\w+ ){0,2}(?:engineer|teacher|doctor|nurse|lawyer|accountant"
            r"|designer"
            r"|manager|student|programmer|developer|researcher|editor|writer|artist|counselor)\b"
        ),
    ),
    ("food.allergy", r"过敏|\ballergic to\b|\ballergy\b"),
    ("food.diet", r"吃素|素食|忌口|不吃(?:辣|肉|鱼|牛|猪|羊|香菜|葱|蒜)|\bvegetarian\b|\bvegan\b"),
    (
        "communication.language",
        (
            r"(?:用|说|讲|写)(?:中文|英文|英语|普通话|日语|繁体|简体).{0,8}(?:回|答|说|写|沟通|交流|就)?"
            r"|\b(?:reply|answer|respond|write|speak|talk)\b.{0,16}\bin (?:english|chinese|mandarin)\b"
        ),
    ),
    (
        "communication.length",
        (
            r"(?:回答|回复|答复|说话|解释|总结|说明).{0,8}(?:简短|简洁|简单|详细|长|短|精简|啰嗦)"
            r"|(?:简短|简洁|详细|精简).{0,4}(?:回答|回复|答复|解释|总结|说明)"
            r"|\b(?:short|brief|concise|long|detailed|shorter|longer)\b.{0,16}"
            r"\b(?:answers?|repl(?:y|ies)|responses?|explanations?|summar(?:y|ies))\b"
            r"|\b(?:answers?|repl(?:y|ies)|responses?|summar(?:y|ies))\b.{0,16}"
            r"\b(?:short|brief|concise|long|detailed|shorter|longer)\b"
        ),
    ),
    (
        "communication.tone",
        r"语气|口吻|\b(?:formal|informal|casual|polite)\b.{0,12}\b(?:tone|voice)\b",
    ),
    ("expense.cost_center", r"成本中心|\bcost cent(?:er|re)\b"),
    ("work.hours", r"(?:上班|下班|工作)时间|\b(?:work(?:ing)?|office) hours\b"),
)

THINGS: tuple[tuple[str, str], ...] = (
    ("expense", r"报销|\bexpenses?\b|\breimbursements?\b"),
    ("invoice", r"发票|\binvoices?\b"),
    ("weekly_report", r"周报|\bweekly reports?\b"),
    ("daily_report", r"日报|\bdaily reports?\b"),
    ("monthly_report", r"月报|\bmonthly reports?\b"),
    ("report", r"报告|报表|\breports?\b"),
    ("meeting", r"会议|例会|周会|\bmeetings?\b|\bstand-?up\b"),
    ("deploy", r"部署|上线|发布|\bdeploy(?:ment|s|ing)?\b|\brelease\b"),
    ("backup", r"备份|\bbackups?\b"),
    ("repository", r"仓库|代码库|\brepo(?:sitory)?\b"),
    ("server", r"服务器|伺服器|伺服器|\bserver\b"),
    ("database", r"数据库|资料库|\bdatabase\b"),
    ("printer", r"打印机|印表机|\bprinter\b"),
    ("payment", r"付款|付钱|转账|支付|\bpay(?:ing|s)?\b|\bpayments?\b|\btransfers?\b"),
    ("contract", r"合同|\bcontracts?\b"),
    ("email", r"邮件|邮箱|电邮|信箱|\be-?mails?\b"),
    ("project", r"项目|专案|\bproject\b"),
    ("photo", r"照片|图片|\bphotos?\b|\bpictures?\b"),
    ("file", r"文件|文档|档案|\bfiles?\b|\bdocuments?\b"),
    ("reminder", r"提醒|通知|\breminders?\b|\bnotifications?\b"),
)

ASPECTS: tuple[tuple[str, str], ...] = (
    ("template", r"模板|范本|\btemplates?\b"),
    ("deadline", r"截止|期限|最晚|\bdeadline\b|\bdue\b"),
    (
        "location",
        (
            r"文件夹|资料夹|目录|存到|存放|保存到|保存在|放在|放到|位置|\bfolder\b|\bdirectory\b"
            r"|\b(?:save|store|put|keep)\b.{0,30}\b(?:in|to|under)\b|\blocation\b"
        ),
    ),
    ("address", r"地址|网址|\baddress\b|\burl\b"),
    ("title", r"抬头|标题|\btitle\b|\bsubject line\b"),
    ("naming", r"命名|文件名|\bnaming\b|\bfile ?names?\b|\bnamed?\b"),
    ("format", r"格式|\bformat\b|\bpdf\b|\bexcel\b|\bmarkdown\b"),
    ("branch", r"分支|\bbranch\b"),
    ("version", r"版本|\bversion\b"),
    ("owner", r"负责人|对接人|联系人|\bcontact\b|\bin charge\b|\bresponsible\b"),
    ("budget", r"预算|限额|额度|\bbudget\b|\blimit\b"),
    ("recipient", r"发给|抄送|收件人|\brecipients?\b|\bcc\b|\bsend\b.{0,30}\bto\b"),
    (
        "approval",
        (
            r"先问我|要问我|都问我|先确认|审批|批准|经我同意|\bask me\b|\bapproval\b|\bapprove\b"
            r"|\bconfirm\b"
        ),
    ),
    ("language", r"中文|英文|\bin (?:english|chinese)\b"),
    (
        "time",
        (
            r"时间|几点|[点時时]|每天|每周|周[一二三四五六日天]|\btime\b|\b(?:mon|tues|wednes|thurs|fri"
            r"|satur|sun)day\b"
            r"|\d{1,2}:\d{2}"
        ),
    ),
)

NAMES = {
    "expense": ("报销", "expense"), "invoice": ("发票", "invoice"), "weekly_report": ("周报", "weekly report"),
    "daily_report": ("日报", "daily report"), "monthly_report": ("月报", "monthly report"),
    "report": ("报告", "report"), "meeting": ("会议", "meeting"), "deploy": ("部署", "deployment"),
    "backup": ("备份", "backup"), "repository": ("仓库", "repository"), "server": ("服务器", "server"),
    "database": ("数据库", "database"), "printer": ("打印机", "printer"), "payment": ("付款", "payment"),
    "contract": ("合同", "contract"), "email": ("邮件", "email"), "project": ("项目", "project"),
    "photo": ("照片", "photo"), "file": ("文件", "file"), "reminder": ("提醒", "reminder"),
    "template": ("模板", "template"), "deadline": ("截止", "deadline"), "location": ("存放位置", "location"),
    "address": ("地址", "address"), "title": ("抬头", "title"), "naming": ("命名", "naming"),
    "format": ("格式", "format"), "branch": ("分支", "branch"), "version": ("版本", "version"),
    "owner": ("负责人", "contact"), "budget": ("预算", "budget"), "recipient": ("收件人", "recipient"),
    "approval": ("审批", "approval"), "language": ("语言", "language"), "time": ("时间", "time"),
}  # fmt: skip
