"""Function words, which say nothing about what a text is about, English and Chinese.

A question leaves them out while anything else remains of it; texts keep the Chinese ones in the
index, so that 我是谁 still finds its answer. Source: spec: design, Chinese.
"""

from pipeline.text import english, numerals

_ENGLISH = """
a about after all also am an and any are aren as at be because been before being between both
but by can cannot could couldn d did didn do does doesn doing don during each for from further
had hadn has hasn have haven having he her here hers herself him himself his how i if in into
is isn it its itself just ll m may me might mightn more most must mustn my myself needn no nor
not of off on once only or other our ours ourselves out over own re s same shall shan she
should shouldn so some such t than that the their theirs them themselves then there these they
this those through to too under until up ve very was wasn we were weren what when where which
while who whom why will with won would wouldn you your yours yourself yourselves
"""
_CHINESE = """
的 了 着 过 地 得 吗 呢 吧 啊 呀 哦 嗯 嘛 啦 哈 么 呗 咯 喔 噢 唉 嘿 之 其 此 于 以 为 被 把 将 让 给
对 从 到 向 由 跟 用 等 是 在 有 和 与 及 或 而 且 但 就 都 也 还 又 再 才 只 很 太 更 最 不 没 会 能 要
想 说 去 来 上 下 中 里 们 个 这 那 哪 几 谁 我 你 您 他 她 它 我们 你们 他们 她们 它们 咱们 自己 我的
你的 他的 她的 但是 而且 因为 所以 如果 虽然 非常 没有 已经 曾经 正在 可以 可能 应该 这里 那里 哪里
哪儿 这样 那样 怎样 什么 什么样 怎么 怎么样 这么 那么 如何 为什么 为何 多少 何时 何地 是否 是不是
有没有 一个 一些 一下 一点 一种 时候 的话 请问 告诉 知道 记得 提到
"""
_POINTED_AT = frozenset(
    f"{pointer}{measure}"
    for pointer in "这那哪每几"
    for measure in numerals.MEASURES + "种些样段部辆"
)
ENGLISH = frozenset(english.stem(word) for word in _ENGLISH.split()) | {"a", "i"}
ALL = ENGLISH | frozenset(_CHINESE.split()) | _POINTED_AT
"""Every function word, the English ones as stems."""

PARTICLES = frozenset("的了吗呢吧啊呀嘛")
"""Hanzi that only end or join words: a bigram with one says nothing."""
