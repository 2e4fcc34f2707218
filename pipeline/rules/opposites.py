"""Closed bilingual lexicons of what turns a statement into its opposite, or into another one.

Closed on purpose, like the slots: a word that is missing here lets two statements stand side by
side, one that is wrong here would set them against each other. Simplified characters and small
letters; readers fold first.
"""

import re
from types import MappingProxyType
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(part.replace("_", " ") for part in re.findall(r"\S+", text))


NEGATIONS: Final = _words(
    "不 没 没有 别 勿 莫 无 无需 非 未 未曾 不准 不许 不可 禁止 严禁 禁用 拒绝 杜绝 避免 停止 从不 从来不 绝不 决不 永不"
    " 从未 not no never none without neither nor cannot no_longer forbid forbids forbidden prohibit"
    " prohibits prohibited disallow disallows disallowed ban bans banned avoid refuse refuses stop"
    " stops deny denies denied reject rejects"
)
"""Each turns what it stands with round; two of them leave it as it is."""

NO_NEGATIONS: Final = _words(
    "不过 不仅 不但 不只 不光 不断 不错 不同 不久 不管 不论 差不多 对不起 不好意思 不客气 来不及 了不起 特别 分别"
    " 别人 别名 别的 别处 区别 级别 类别 性别 识别 鉴别 告别 个别 辨别 无论 无线 无锡 无人机 非洲 非常 除非 未来 没关系"
    " 没问题 莫非 not_only no_problem no_matter"
)
"""Words that merely contain one."""

POSITIVES: Final = MappingProxyType(
    {
        **dict.fromkeys(
            _words("讨厌 厌恶 反感 dislike dislikes hate hates detest can't_stand"), "like"
        ),
        **dict.fromkeys(_words("忘记 忘了 forget forgets"), "remember"),
        **dict.fromkeys(_words("反对 oppose opposes disagree disagrees"), "agree"),
    }
)
"""Negative words, with what they are the negation of."""

SYNONYMS: Final = MappingProxyType(
    {
        **dict.fromkeys(
            _words("喜欢 喜爱 热爱 爱吃 爱喝 爱看 爱听 like likes love loves enjoy enjoys"), "like"
        ),
        **dict.fromkeys(_words("记得 记住 remember remembers"), "remember"),
        **dict.fromkeys(_words("赞成 赞同 agree agrees"), "agree"),
    }
)
"""What the negations above negate, in either language."""

LIGHT: Final = _words(
    "的 了 呢 吧 啊 呀 嘛 吗 哦 地 得 很 真 真的 太 最 更 挺 十分 特别 非常 比较 还 也 都 就 再 请 要 需要 必须 务必 一定"
    " 一定要 应该 应当 可以 允许 准许 许可 批准 能 能够 会 总是 一直 始终 永远 每次 以后 今后 从现在起 从今以后 从今往后"
    " 现在 目前 如今 已经 我 我们 咱 咱们 本人 把 将 让 给我 别忘 别忘了 不要忘 不要忘了 勿忘 不得不"
    " a an the to please always must should shall will would can could may might do does did is are"
    " am was were be been being i i'm we it that now currently really very so much any anymore"
    " any_more at_all just also still allow allows allowed permit permits permitted have_to has_to"
    " need_to needs_to make_sure_to from_now_on in_future in_the_future going_forward every_time"
    " don't_forget_to don't_forget"
)
"""Words that change nothing of what is said, or ask for it more or less firmly."""

OPPOSITES: Final[tuple[tuple[str, str], ...]] = (
    ("日出 sunrise", "日落 sunset"),
    ("新 新版 new newest", "旧 老 旧版 老版 old older"),
    ("上午 早上 早晨 清晨 am morning", "下午 晚上 傍晚 夜里 pm evening night afternoon"),
    ("白天 daytime", "夜间 nighttime"),
    ("上班 工作日 workdays weekdays", "下班 周末 weekends weekend"),
    ("之前 以前 before", "之后 以后再 after"),
    ("打开 启用 on enable enables enabled", "关闭 停用 关掉 off disable disables disabled"),
    ("开 开启 open opens opened", "关 close closes closed"),
    ("开始 start starts begin begins", "结束 end ends finish finishes"),
    ("左 左边 左侧 left", "右 右边 右侧 right"),
    ("上 上面 上方 up above top", "下 下面 下方 down below bottom"),
    ("前 前面 前端 front frontend", "后 后面 后端 back backend"),
    ("内 内部 里面 inside internal", "外 外部 外面 outside external"),
    ("进 进入 enter", "出 离开 leave"),
    ("大 大的 big large larger", "小 小的 small smaller"),
    ("多 more", "少 less fewer"),
    ("高 high higher", "低 low lower"),
    ("长 long longer", "短 short shorter"),
    ("快 fast faster quick", "慢 slow slower"),
    ("早 early earlier", "晚 迟 late later"),
    ("最早 earliest", "最晚 latest"),
    ("最多 至多 maximum most", "最少 至少 minimum least"),
    ("热 hot warm", "冷 cold cool"),
    ("甜 sweet", "咸 salty"),
    ("增加 提高 上调 increase increases raise", "减少 降低 下调 decrease decreases reduce"),
    ("添加 加入 加 add adds", "删除 移除 减 remove removes delete deletes"),
    ("公开 public", "私密 私有 保密 private secret"),
    ("升序 ascending", "降序 descending"),
    ("线上 在线 online", "线下 离线 offline"),
    ("本地 local", "远程 remote"),
    ("国内 domestic", "国外 海外 abroad overseas"),
    ("买 买入 购买 buy buys", "卖 卖出 出售 sell sells"),
    ("收入 income", "支出 expense expenses"),
    ("登录 login", "退出 登出 logout"),
    ("上传 upload uploads", "下载 download downloads"),
    ("导入 import imports", "导出 export exports"),
    ("包括 包含 include includes", "排除 不包括 exclude excludes"),
    ("接受 accept accepts", "谢绝 decline declines"),
    ("显示 show shows", "隐藏 hide hides"),
    ("深色 dark", "浅色 亮色 light"),
    ("成功 succeeds succeeded success", "失败 fails failed failure"),
    ("公历 阳历", "农历 阴历"),
    ("单数 奇数 odd", "双数 偶数 even"),
    ("简体 simplified", "繁体 traditional"),
    ("横 横向 horizontal landscape", "竖 竖向 vertical portrait"),
)  # fmt: skip
"""Pairs that share their words but for one: each side's ways of saying it."""

CHOICES: Final[tuple[tuple[str, ...], ...]] = (
    (
        "周一 星期一 礼拜一 monday mondays mon", "周二 星期二 礼拜二 tuesday tuesdays tue",
        "周三 星期三 礼拜三 wednesday wednesdays wed", "周四 星期四 礼拜四 thursday thursdays thu",
        "周五 星期五 礼拜五 friday fridays fri", "周六 星期六 礼拜六 saturday saturdays sat",
        "周日 周天 星期日 星期天 礼拜天 sunday sundays sun",
    ),
    ("每天 每日 daily every_day", "每周 weekly every_week", "每月 monthly every_month",
     "每年 yearly every_year"),
    ("春天 spring", "夏天 summer", "秋天 autumn fall", "冬天 winter"),
    ("东 东边 east", "南 南边 south", "西 西边 west", "北 北边 north"),
    ("中文 汉语 chinese", "英文 英语 english", "日文 日语 japanese"),
    ("早餐 早饭 breakfast", "午餐 午饭 lunch", "晚餐 晚饭 dinner"),
    ("今天 今日 today", "明天 明日 tomorrow", "后天", "昨天 yesterday"),
    ("红色 red", "绿色 green", "蓝色 blue", "黄色 yellow", "黑色 black", "白色 white"),
)  # fmt: skip
"""Sets of which a statement names one."""

UNITS: Final = (
    "点半 点钟 点 时 个小时 小时 分钟 分 秒 天 日 周 个月 月 年 元 块钱 块 万 楼 层 次 人 台 张 件 页 份 倍 折 岁 公里 米 公斤 斤"
    " 度 个 条 am pm o'clock percent dollars dollar yuan rmb usd hours hour minutes minute mins min"
    " seconds second days day weeks week months month years year people times copies pages kg km gb"
    " mb th st nd rd"
)
"""What makes of a figure a quantity or a time; any other figure is part of a name."""

TITLES: Final = "经理 总监 主任 老师 医生 先生 女士 小姐 律师 教授 总 工 哥 姐"
"""What follows a surname when a person is meant."""


def surfaces(text: str) -> frozenset[str]:
    """The ways of saying that an entry of these tables lists."""
    return _words(text)
