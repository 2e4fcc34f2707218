"""A cheap first look at many texts at once: which of them need the rules at all?

Each sign is a literal, all of them are found in one pass over the joined texts, and a pattern checks
the place where a frequent one stands. One large pattern would take twenty times as long.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from ahocorasick_rs import AhoCorasick

_BETWEEN = "\n"

# Signs that ordinary words contain, with what must stand at their place to count.
_CHECKED = {
    "输入": r"输入\s?\d{3}",
    "use ": r"use (?:the )?(?:code )?\d{3}",
    "填": r"填写?\s?\d{3}",
    "type ": r"type (?:the )?(?:code )?\d{3}",
    "input ": r"input (?:the )?(?:code )?\d{3}",
    "enter ": r"enter (?:the )?(?:code )?\d{3}",
    "pass": r"pass(?![ei]ng|ion|ive|age|port|es\b|ed\b)",
    "pw": r"(?<![a-z])pw(?![a-z])",
    "pin": r"(?<![a-z])pin(?![a-z])",
    "psk": r"(?<![a-z])psk(?![a-z])",
    "psw": r"(?<![a-z])psw(?![a-z])",
    "otp": r"(?<![a-z])otp(?![a-z])",
    "sid": r"(?<![a-z])sid\s{0,2}[=:：]",
    "xs": r"(?<![a-z])xs\s{0,2}[=:：]",
    "user": r"user(?:name)?\s?[:：=/、和&+是]|user\s",
    "key": r"keys?(?![a-z])",
    "ak": r"(?<![a-z])ak(?:\s{0,3}[:=：是]|\s{1,3}[a-z0-9/+_-]{20})",
    "sk": r"(?<![a-z])sk(?:\s{0,3}[:=：是]|\s{1,3}[a-z0-9/+_-]{20}|\.eyj)",
    "cred": r"cred(?:ential|s\b|s?[:：])",
    "sess": r"sess(?:ion|data|_?id)",
    "://": r"://[^\s/]{0,200}@",
    "?": r"\?[a-z_-]{2,24}=",
    "&": r"&[a-z_-]{2,24}=|&lt;",
    "#": r"#[a-z_-]{2,24}=",
    ";": r";[a-z_-]{2,24}=",
    "[": r"\[[\s/]{0,8}(?:think|thought|reason|思考|推理)",
    "【": r"【[\s/]{0,8}(?:think|thought|reason|思考|推理)",
    "<": (
        r"<[\s\\/]{0,9}(?:[a-z]{2,12}[_:-]){0,2}(?:think|thought|reason|rationale|scratch|monolog|chain|cot|思考|推理"
        r"|思维|思維|内心|analysis|reflection|deliberat|planning|inner|internal)|<\s{0,4}\||<unused9|<details\s|<channel"
    ),
    "asia": r"(?<![a-z])asia[a-z0-9]{16}",
    "sk-": r"(?<![a-z0-9])sk-",
    "hf_": r"(?<![a-z0-9])hf_",
    "ntn_": r"(?<![a-z0-9])ntn_",
    "unzip": r"unzip\s",
    "zip -p": r"zip -p",
    "7z": r"(?<![a-z0-9])7z",
    "rar": r"(?<![a-z])(?:un)?rar\s",
    "root": r"root\s[a-z0-9._-]{1,32}[#!$^&*+]",
    "admin": r"admin(?:istrator)?\s[a-z0-9._-]{1,32}[#!$^&*+]",
    "/": r"/\s?[a-z0-9][a-z0-9._-]{0,32}[@#!$^&*+]",
    "wifi": r"wifi\s?[:：]",
    "wi-fi": r"wi-fi\s?[:：]",
    "combo": r"combo\s",
    "useradd": r"useradd\s",
    "usermod": r"usermod\s",
    "hvs.": r"hvs\.[\w-]{24}",
    "hvb.": r"hvb\.[\w-]{24}",
    "sg.": r"(?<![a-z0-9])sg\.[\w-]{16}",
    ":aa": r"\d:aa",
    "eyj": r"(?<![a-z0-9])eyj",
    "码": r"(?<![代号编扫数源条形乱解])码",
    "碼": r"(?<![代號編掃數源條形亂解])碼",
}
_PLAIN = (
    *("login", "pwd", "secret", "token", "code", "bearer", "authorization", "cookie", "mnemonic", "phrase"),
    *("seed word", "recovery word", "backup word", "-----begin", "curl ", "/hook/", "hooks.", "webhook"),
    *("sctapi", "api.telegram", "bduss", "stoken", "bili_jct", "z_c0", "li_at", "ct0=", "c_user"),
    *("akia", "akid", "ltai", "aiza", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat", "glpat"),
    *("sk_live", "rk_live", "pk_live", "xox", "npm_", "pypi-", "dop_v", "tskey", "mysql", "mariadb"),
    *("smbclient", "smbmap", "rpcclient", "openssl", "masterauth", ":5432:", "dckr_pat", "短信", "簡訊"),
    *("redis-cli", "sudo", "chpasswd", "docker", "podman", "-pass"),
    *("密钥", "密鑰", "口令", "暗号", "暗號", "私钥", "私鑰", "令牌", "凭证", "凭据", "憑證", "登录信息"),
    *("密 码", "密 碼", "密码锁", "卡密", "パスワード", "p a s s", "p4ss", "p@ss", "identified by"),
    *("combination", "alarm", "身份证", "身份證", "cvv", "cvc", "seed:", "seed :", "seed：", "log in with", "sign in with", "sign in as", "log in as", "log in using", "sign in using"),
    *("短语", "短語", "助记词", "助記詞", "钱包词", "种子词", "恢复词", "账号", "帐号", "賬號", "帳號", "用户名", "账户", "帐户"),
    *("◁", "〈", "‹", "\\u003c", "assistantfinal"),
)  # fmt: skip
_SIGNS: tuple[tuple[str, re.Pattern[str] | None], ...] = (
    *((sign, None) for sign in _PLAIN),
    *((sign, re.compile(check)) for sign, check in _CHECKED.items()),
)
_FINDER = AhoCorasick([sign for sign, _ in _SIGNS])
# No rule finds a number inside of a word: half of all hexadecimal ids would else be looked at.
_NUMBER = re.compile(r"(?<![0-9a-z])\d(?:[ ()-]{0,2}\d){9}")


def suspects(texts: Sequence[str], joined: str) -> set[int]:
    """The indexes of texts in which a rule could find something.

    Args:
        texts: The texts, of which only the lengths count.
        joined: What `join` makes of them, in lower case of the same length.
    """
    starts = list(accumulate((len(text) + len(_BETWEEN) for text in texts), initial=0))
    found: set[int] = set()
    for sign, position, _ in _FINDER.find_matches_as_indexes(joined, overlapping=True):
        check = _SIGNS[sign][1]
        if check is None or check.match(joined, position):
            found.add(bisect_right(starts, position) - 1)
    found.update(_texts_with_number(joined, starts))
    return found


def join(texts: Sequence[str]) -> str:
    """Join texts for `suspects`."""
    return _BETWEEN.join(texts)


def _texts_with_number(joined: str, starts: Sequence[int]) -> Iterator[int]:
    position = 0
    while found := _NUMBER.search(joined, position):
        index = bisect_right(starts, found.start()) - 1
        yield index
        position = starts[index + 1]
