"""What executors, observations and checks tell of the machine and its things (mission F3).

Candidates, nothing more: two workdays must bear them out. Text of a screen or a page that is read
aloud is not what is observed of the machine (mission B5).
"""

import re
from collections.abc import Iterator

from pipeline.observers.offline.masking import own_words
from pipeline.observers.offline.sentences import Sentence, spoken
from pipeline.rules.wording import simplified
from storage.records.events import Event

_ATTRIBUTE = (
    r"(?:版本|系统|操作系统|内核|分辨率|显示器|屏幕尺寸|内存|处理器|显卡|硬盘型号|型号|主机名|地址"
    r"|路径|目录|端口|分支|时区|语言|编码|默认(?:浏览器|打印机|程序)|网关|域名|仓库|存放位置"
    r"|安装(?:位置|目录|路径)|位置|架构|驱动"
    r"|(?:os|system|kernel|driver|software|app|node|python|java|database|firmware)? ?version"
    r"|operating system|\bos\b|kernel|resolution|display|monitor|memory|\bram\b|\bcpu\b|\bgpu\b"
    r"|processor|model|host ?name|(?:ip )?address|path|directory|folder|port|branch|time ?zone"
    r"|locale|encoding|default (?:browser|printer|shell|editor|app)|gateway|domain|repo(?:sitory)?"
    r"|location|architecture|keyboard layout)"
)
_STATES = re.compile(
    rf"(?:^|[\s，,。；;（(]|[^，,。\n]{{0,20}}){_ATTRIBUTE}[^，,。：:=\n]{{0,12}}?(?:[：:=]|为|是"
    r"|在|\b(?:is|are|at)\b|(?<= )(?=[\w.-]{0,40}\d)|(?<= )(?=[a-z]{1,40} \d))\s?(?=\S)"
    rf"|\b(?:is|are) (?:located|installed|stored) (?:at|in|under) [/~\w]"
)
_DEEDS = frozenset({"executor.artifact", "executor.call"})
_STATED = re.compile(r"[:：=为是在装到\d]|\b(?:is|are|at|installed|running|found|detected)\b")
_INSTALLED = re.compile(
    r"(?:已安装|安装了|装的是|运行着|检测到)[^，,。\n]{1,30}\d|\b(?:installed|running|found"
    r"|detected):? [\w .-]{1,30}\d\.\d|\d[\w.]{0,40} is (?:installed|running)\b"
)
_READ_ALOUD = re.compile(
    r"屏幕文字|屏幕内容|网页|页面|弹窗|对话框|广告|横幅|邮件|消息|提示(?:框|语)?[：:]|通知"
    r"|窗口(?:标题|内容)|剪贴板"
    r"|\b(?:screen text|page|popup|pop-up|dialog|banner|ad\b|web|email|message|notification"
    r"|tooltip|clipboard|text (?:on|in))"
)
_PASSING = re.compile(
    r"%|％|使用率|占用|剩余|空闲|已用|负载|温度|延迟|失败|错误|异常|报错|超时|正在|当前(?:页|窗口"
    r"|任务|进度)|较昨日|增加|减少|没有|未找到"
    r"|\b(?:usage|used|free|load|latency|error|fail\w{0,24}|timed? ?out|not found|missing|currently"
    r"|waiting|loading|denied|refused|exceeds?|up \d|down \d)\b"
)
_ORDERS = re.compile(
    r"记住|以后|总是|永远|必须|不要|请|助手|\b(?:always|never|remember|please|must|assistant|ai"
    r"|from now on|ignore)\b"
)


def surroundings(event: Event) -> Iterator[Sentence]:
    """The sentences of an observation that tell a lasting attribute of an object's surroundings."""
    plain = simplified(event.text)
    if event.kind in _DEEDS or not _STATED.search(plain) or _READ_ALOUD.search(plain.lower()):
        return
    for sentence in spoken(event, own_words(plain)):
        low = sentence.low
        if _PASSING.search(low) or _ORDERS.search(low):
            continue
        if _STATES.search(low) or _INSTALLED.search(low):
            yield sentence
