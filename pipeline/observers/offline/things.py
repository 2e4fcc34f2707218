"""How a person's things and people are."""

import re

from pipeline.observers.offline.sentences import FEW_WORDS, Sentence
from pipeline.rules.phrasing import Table

_FAMILY = Table(
    (
        (
            "老婆 老公 爱人 太太 先生 父 母 妈 爸 儿子 女儿 孩子 哥 姐 弟 妹 领导 上司 主管 经理 助理 "
            "房东 医"
        ),
        (
            r"我的?(?:直属)?(?:领导|上司|主管|经理|助理|房东|牙医|家庭医生)(?:是|叫)(?!不|个|谁|那"
            r"|这)[^，,。]{2,8}(?=[，,。！]|$)|我(?:家|们家)?的?(?:老婆|老公|爱人|太太|先生|妈妈?|爸爸?"
            r"|母亲|父亲|儿子|女儿|孩子|哥哥?|姐姐?|弟弟?|妹妹?)(?:现在|今年|一直)?(?:对[^，,。]{1,10}过敏"
            r"|在[^，,。]{1,14}(?:上班|工作|上学|读书|教书|当)|[^，,。]{0,6}上(?:小学|初中|高中|大学"
            r"|幼儿园)|是[^，,。]{0,8}(?:医生|老师|律师|工程师|护士|会计|警察)|叫[^，,。]{1,6}(?=[，,。！]"
            r"|$)|(?:的)?生日(?:是|在)|吃素|不吃[^，,。]{1,6}|\d{1,2}岁)"
        ),
    ),
    (
        "wife husband mom mum mother dad father son daughter kids brother sister partner",
        (
            r"\bmy (?:wife|husband|mom|mum|mother|dad|father|son|daughter|kids|brother|sister"
            r"|partner)(?:'s)? (?:(?:is|are) (?:allergic|an? [\w ]{0,16}(?:doctor|teacher|nurse|lawyer"
            r"|engineer|accountant|vegetarian|vegan)|called|named|vegetarian|vegan|diabetic|\d)"
            r"|works? (?:at|for|as|in)|lives? in|(?:goes?|starts?) (?:to )?(?:\w{1,24} )?school|name is"
            r"|birthday is)"
        ),
    ),
)
_VALUE = r"(?:[a-z]{0,40}\d[\w.:/-]{0,40}|[a-z][\w-]{0,40}[./\\_:@][\w./\\@-]{1,40}|[a-z]:[\\/][\w\\/.-]{1,40})"
_NAMED_THINGS = Table(
    (
        "人 经理 代号 域名 税号 号 仓库 预算 截止 技术栈 站会 例会 周会 晨会 发薪",
        (
            r"(?:负责人|对接人|联系人|接口人|审批人|项目经理|产品经理|代号|域名|税号|合同(?:编)?号|仓库"
            r"|预算|截止(?:日期?|时间)?|技术栈|站会|例会|周会|晨会|发薪日)[^，,。！？!?：:]{0,8}?(?:是|为"
            r"|叫|：|:|在|定在|每|一共|总共|共|改到|改成|有)(?!不是|谁|什么|哪|否|吗|问题|点|人|事|空"
            r"|多少)\s?\S"
        ),
    ),
    (
        "在",
        (
            r"(?:打印机|印表机|会议室|工位|办公室|服务器|伺服器|仓库|钥匙|备用\S{1,4}|机房|前台|茶水间"
            r"|保险柜|文件柜)[^，,。我你]{0,6}在[^，,。我你]{1,16}(?:楼|层|室|柜|抽屉|尽头|机房|隔壁|旁边"
            r"|门口|架)"
        ),
    ),
    (
        "由 归 是",
        r"(?:由|归|都是|是)[^，,。我你是]{1,6}(?:负责|处理|管|审批|对接|跟进|牵头)(?=[，,。！]|$)",
    ),
    (
        "财年 内测 公测 灰度",
        (
            r"(?:财年|会计年度)[^，,。]{0,6}(?:从|是|到)|(?:应用|系统|产品|项目|版本)[^，,。]{0,4}(?:还在"
            r"|在|处于|正在)(?:内测|公测|灰度|试运行)"
        ),
    ),
    (
        "每周 每天 每月",
        (
            r"^(?:我们)?(?:团队|小组|部门|项目组)?每(?:周[一二三四五六日]|天|月)[^，,。我你]{0,10}(?:开会"
            r"|例会|站会|评审)(?!吗)"
        ),
    ),
    (
        "迁移 结算 发货 记账 打卡 开票",
        (
            r"(?:我们|公司|团队)[^，,。？?]{0,10}(?:迁移到|用[^，,。]{1,10}(?:结算|发货|记账|打卡|开票"
            r"|沟通)|(?:结算|发货|记账|打卡|开票)用)[^，,。]{0,12}"
        ),
    ),
    ("有", r"(?:我们|公司)在[^，,。]{2,14}有[^，,。]{0,4}(?:办公室|分公司|仓库|工厂|门店|机房)"),
    (
        "关门 开门 营业",
        (
            r"(?:公司|办公室|食堂|仓库|门店|前台)[^，,。]{0,8}[点半]?[^，,。]{0,4}(?:关门|开门|营业"
            r"|下班)(?!了|吗)"
        ),
    ),
    (
        "：",
        r"^[^，,。：:？?\s]{2,12}：\s?(?:[a-z0-9][\w-]{0,40}[./@:][\w./@:-]{2,60}|\d[\d -]{4,20})",
    ),
    (
        "发工资 发薪 结账 出账 还款 交房租 例会 放假 体检",
        r"每(?:个?月|周|年)[^，,。我你]{0,10}(?:发工资|发薪|结账|出账|还款|交房租|例会|放假|体检)",
    ),
    ("公司", r"(?:我们|咱们)?公司(?:主要|是|专门)?(?:做|卖|生产|从事|经营)[^，,。]{2,20}"),
    (
        "写 开发 搭",
        r"(?:后端|前端|系统|服务|网站|脚本|接口)(?:是)?用\s?[a-z][\w{1,24}#. ]{0,16}(?:写|开发|搭)",
    ),
    (
        "called named codenamed",
        (
            r"\b(?:project|app|product|team|system|service|release|company|cat|dog|server|branch"
            r"|tool)\b[^.\n]{0,16} (?:is|are) (?:called|named|code-?named) \w"
        ),
    ),
    (
        "written built implemented coded",
        r"\b(?:is|are) (?:written|built|implemented|coded) (?:in|with|on) (?!the|a\b|my|it)\w",
    ),
    (
        "have",
        r"\bwe have (?:offices?|a warehouse|branches|a factory|\d{1,9} \w{1,24}|two|three|four|five) ",
    ),
    (
        "migrating moving switching",
        r"\bwe(?:'re| are) (?:migrating|moving|switching) (?:to|from|over)\b",
    ),
    (
        "bill ship invoice pay charge deploy",
        (
            r"\bwe (?:bill|ship|invoice|pay|charge|deploy|publish|host|bank) (?:in|with|by|on|from|via"
            r"|at) "
        ),
    ),
    (
        "year office shop store warehouse canteen school team deploys releases standup meeting fiscal",
        (
            r"\b(?:our|the) (?:fiscal year|office|shop|store|warehouse|canteen|team|stand-?up|releases?"
            r"|deploys?|weekly|retro) (?:starts?|ends?|closes?|opens?|meets?|happens?|runs?|begins?) (?:in"
            r"|at|on|from|every)\b|^deploys? happen "
        ),
    ),
    (
        "care handles handled",
        r"\b[a-z]{1,40} (?:takes care of|handles|is in charge of) (?:the |our |all )?[a-z]{1,40}",
    ),
    (
        "beta production alpha",
        r"\b(?:is|are) (?:in|still in) (?:beta|alpha|production|staging|pilot)\b",
    ),
    (
        "repo repository site url docs wiki email phone address extension number",
        (
            r"^(?:[\w ]{2,12} )?(?:repo(?:sitory)?|site|url|docs|wiki|e-?mail|phone|address|extension"
            r"|number): ?(?:https?://|[\w-]{1,40}\.[\w.-]{1,40}/|[\w.-]{1,40}@|\+?\d[\d -]{4,20})\S{0,60}"
        ),
    ),
    (
        "company makes builds sells team",
        (
            r"\bour (?:company|firm|startup|team|agency) (?:makes|builds|sells|produces|develops|offers"
            r"|runs|handles|does)\b|\b(?:we're|we are) a (?:team|company|startup|group) of\b"
        ),
    ),
)
"""How things are, where the words say what kind of thing it is."""

_THINGS = Table(
    (
        (
            "人 经理 甲方 供应商 客户 域名 仓库 地址 网址 端口 版本 分支 服务器 伺服器 数据库 资料库 机器 "
            "打印机 印表机 路由器 电脑 显示器 系统 环境 路径 目录 文件夹 资料夹 账 成本中心 预算 截止 "
            "抬头 税号 号 代号 里程碑 日期 时间 会议室 群 频道 wifi 型号 时区 模板 格式 接口 密级 合同"
        ),
        (
            r"(?:负责人|对接人|联系人|接口人|审批人|项目经理|产品经理|甲方|供应商|客户(?=是)|域名|仓库"
            r"|地址|网址|端口|密级|版本(?:号)?|分支|服务器|伺服器|数据库|资料库|机器|打印机|印表机|路由器"
            r"|电脑|显示器|系统|环境|路径|目录|文件夹|资料夹|账号名|账户|成本中心|抬头|编号|工单号|合同号"
            r"|项目代号|代号|里程碑|交付日期?|上线(?:时间|日期)|会议室|群|频道|wifi|型号|时区|模板|格式"
            r"|接口)"
            r"[^，,。！？!?：:]{0,14}?(?:是|为|叫|：|:|在|用的?是|改成|改为|改到|换成|定为|定在|定于|放在"
            r"|存在|存到|设为|变更为|有\s?\d)(?!不是|谁|什么|哪|否|吗|问题|点|人|事|空)"
        ),
    ),
    (
        "部署 运行 跑 托管 存放 架设 安装 保存 备份",
        (
            r"(?:部署|运行|跑|托管|存放|架设|安装|保存|备份)(?:在|到)\s?(?!这|那|了|一起|后面"
            r"|前面)[^，,。]{2,40}"
        ),
    ),
    (
        "卡在 停在 处于 进行到 进展到 推进到",
        r"(?:卡在|停在|处于|进行到|进展到|推进到)[^，,。]{2,30}",
    ),
    ("由 归", r"(?:由|归)[^，,。我你]{2,8}(?:负责|管|审批|对接|跟进|牵头)"),
    (
        "库 端 框架 底层",
        r"(?:老库|新库|后端|前端|数据库|资料库|框架|底层|主库|从库)(?:是|用|跑)[^，,。]{2,30}",
    ),
    (
        "计划 预计 定于 定在",
        r"(?:计划|预计|定于|定在)[^，,。]{0,14}(?:上线|交付|发布|验收|结项|截止|完成|开始|启动)",
    ),
    (
        "团队 项目组 部门 公司",
        (
            r"(?:团队|项目组|部门|公司|小组)(?:一共|总共|共|目前|现在|大概"
            r"|有){1,3}\s?[\d一二三四五六七八九十两]{1,40}"
        ),
    ),
    (
        "是 为 叫 在 用",
        (
            rf"(?:^|[，,])[^，,。我你他她]{{2,20}}(?:是|为|叫|在|用的?是?|跑在"
            rf"|装的是)\s?(?:[\u4e00-\u9fff]{{0,6}}\s?){_VALUE}"
        ),
    ),
    (
        (
            "lead contact owner approver reviewer manager person maintainer supplier vendor repo "
            "repository server database cluster host printer router laptop monitor staging production "
            "deadline budget cost branch version port domain url address path folder directory config "
            "bucket channel template format name milestone date room zone ticket number id title api "
            "endpoint sprint team stand standup payday wifi wi retro office"
        ),
        (
            r"\b(?:(?:project |tech |team |test )?lead|contact|owner|approver|reviewer|account manager"
            r"|project manager|point person|maintainer|supplier|vendor|repo(?:sitory)?|server|database"
            r"|cluster|host|printer|router|laptop|monitor|staging|production|deadline|budget"
            r"|cost cent(?:er|re)|branch|version|port|domain|url|address|path|folder|directory|config"
            r"|bucket|channel|template|format|code ?name|milestone|(?:launch|release|due|delivery) date"
            r"|meeting room|time ?zone|ticket|(?:contract|tax|invoice|order|phone) number|vat (?:id"
            r"|number)|invoice title|api|endpoint|sprint|team|stand-?up|payday|wi-?fi|retro"
            r"|office hours)\b"
            r"[^.,!?\n]{0,40}?\b(?:is|are|lives?|runs?|sits?|was moved|(?:has |have |was |were )?(?:moved"
            r"|changed|switched)|set|has \d{1,9}) ?(?:at|in|on|to|under|by|now)?\b(?! (?:not|it|that|there"
            r"|down|up|broken|slow|full|good|great|bad|ok|fine|done|ready|late|working|gone|dead|on fire"
            r"|a mess|boring|so|too|very|really)\b)"
        ),
    ),
    (
        "deployed hosted stored running installed kept located backed",
        (
            r"\b(?:is|are) (?:deployed|hosted|stored|running|installed|kept|located|backed up) (?:on|in|at"
            r"|under|to)\b"
        ),
    ),
    ("stuck blocked waiting", r"\b(?:is|are) (?:stuck|blocked|waiting) (?:on|at|in|for)\b"),
    (
        "uses use",
        (
            r"\b(?:project|app|service|team|site|backend|frontend|we|repo"
            r"|pipeline)\b[^.\n]{0,20} uses? (?!it|this|that|them|to\b)[a-z]"
        ),
    ),
    (
        "responsible charge owned maintained led handled",
        r"\b(?:is|are) (?:responsible for|in charge of|owned by|maintained by|led by|handled by)\b",
    ),
    (
        "manager boss supervisor assistant doctor dentist landlord",
        (
            r"\bmy (?:manager|boss|supervisor|assistant|team lead|doctor|dentist|landlord"
            r"|accountant)(?: is|'s name is) \w"
        ),
    ),
    (
        "is are",
        (
            rf"^(?:the|our|my) [\w' -]{{2,40}}? (?:is|are|is called|is named) (?:an? |the |at |on "
            rf"|in )?(?:[a-z]{{1,40}} ){{0,3}}?{_VALUE}"
        ),
    ),
    (
        "planned scheduled launches launch ships ends starts goes",
        (
            r"\b(?:is|are) (?:planned|scheduled|due) (?:for|on)\b|\b(?:project|release|sprint|contract"
            r"|trial|license|beta|campaign)\b[^.\n]{0,30} (?:launches|ships|ends|starts|expires"
            r"|goes live) (?:on|in|at)\b"
        ),
    ),
)
_NAMED_VALUE = re.compile(
    r"(?<![\w.])(?:[A-Za-z]{0,40}\d[\w.:/-]{0,40}|[A-Za-z][\w-]{0,40}[./\\_:@][\w./\\@-]{1,40})"
    r"|(?<=[a-z,] )(?!I\b)[A-Z][a-z]{1,40}|[A-Z][a-z]{1,40} [A-Z][a-z]{1,40}"
    r"|[一二三四五六七八九十百千万两]{1,4}(?:个|人|位|名|台|份|万|块|元|天|年|月|点|号|层|楼)"
)
TABLES = (_FAMILY, _NAMED_THINGS, _THINGS)
"""For a test that no row is hidden by the words that it needs."""


def thing(sentence: Sentence) -> int | None:
    """Where a sentence tells how something of its speaker's work is, or None."""
    named = _FAMILY.find(sentence) or _NAMED_THINGS.find(sentence)
    told = named or _THINGS.find(sentence)
    if told is None or sentence.words < FEW_WORDS - 1:
        return None
    concrete = bool(sentence.event.objects) or _NAMED_VALUE.search(sentence.plain) is not None
    return told.start() if named or concrete or sentence.slot is not None else None
