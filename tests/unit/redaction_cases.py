"""A labelled set of secrets and look-alikes, Chinese and English, made at test time.

Every value comes from a seeded generator, so that no secret-looking string stands in the
repository. The values of the sorts named in `_SECRETS` must go.
"""

import base64
import hashlib
import json
import random
import re
import string
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.unit.redaction_templates import BY_MODELS, LOOK_ALIKES, WITH_SECRETS

_ALNUM = string.ascii_letters + string.digits
_WORDS = [
    "harbor",
    "velvet",
    "copper",
    "lantern",
    "meadow",
    "orbit",
    "pepper",
    "quartz",
    "ribbon",
    "saddle",
    "timber",
    "walnut",
]
_SEED_WORDS = [
    "legal",
    "winner",
    "thank",
    "year",
    "wave",
    "sausage",
    "worth",
    "useful",
    "vivid",
    "yellow",
    "zebra",
    "ocean",
]


@dataclass(frozen=True, slots=True)
class Case:
    """A text and the secrets in it; without secrets it is a look-alike that must stay."""

    text: str
    secrets: tuple[str, ...] = ()
    by_model: bool = False

    @property
    def is_chinese(self) -> bool:
        """Whether the case counts as Chinese."""
        return re.search(r"[\u4e00-\u9fff]", self.text) is not None


class ValueMaker:
    """Makes values of each sort from one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 - repeatable, not secret

    def chars(self, alphabet: str, length: int) -> str:
        """Draw `length` characters."""
        return "".join(self.random.choice(alphabet) for _ in range(length))

    def digits(self, length: int) -> str:
        """Draw digits, the first not zero."""
        return self.chars("123456789", 1) + self.chars(string.digits, length - 1)

    def word(self) -> str:
        """A word that is in no list of plain words."""
        return self.random.choice(_WORDS)

    def password(self) -> str:
        """A password as people choose them."""
        number = self.random.randint(10, 9999)
        shapes = (
            f"{self.word()}{number}",
            f"{self.word().title()}@{number}",
            f"{self.word()}-{self.word()}-{number}",
            f"{self.chars(string.ascii_letters, 5)}{number}!{self.chars(_ALNUM, 3)}",
            f"{self.word()[:3].upper()}_{number}#{self.word()[:2]}",
        )
        return self.random.choice(shapes)

    def otp(self) -> str:
        """A one-time code."""
        return self.digits(self.random.choice((4, 6, 6, 6, 8)))

    def token(self) -> str:
        """A token without a vendor's format."""
        return self.chars(_ALNUM, 15) + self.digits(3) + self.chars(_ALNUM, 16)

    def hex(self) -> str:
        """32 hexadecimal digits."""
        return self.chars("0123456789abcdef", 30) + "a7"

    def github(self) -> str:
        """A GitHub token."""
        return "gh" + "p_" + self.chars(_ALNUM, 36)

    def openai(self) -> str:
        """A model vendor's key."""
        return "s" + "k-" + self.chars("0123456789abcdef", 32)

    def aws(self) -> str:
        """An AWS key id."""
        return "AK" + "IA" + self.chars(string.ascii_uppercase + "234567", 16)

    def tencent(self) -> str:
        """A Tencent Cloud key id."""
        return "AK" + "ID" + self.chars(_ALNUM, 32)

    def google(self) -> str:
        """A Google API key."""
        return "AI" + "za" + self.chars(_ALNUM + "-_", 34) + "9"

    def slack(self) -> str:
        """A Slack bot token."""
        return "xo" + "xb-" + f"{self.digits(12)}-{self.digits(13)}-{self.chars(_ALNUM, 24)}"

    def jwt(self) -> str:
        """A JSON web token."""
        parts = ({"alg": "HS256", "typ": "JWT"}, {"sub": self.word(), "exp": 1_790_000_000})
        encoded = [
            base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
            for part in parts
        ]
        return ".".join((*encoded, self.chars(_ALNUM, 43)))

    def basic(self) -> str:
        """User and password of basic authentication."""
        return base64.b64encode(f"admin:{self.password()}".encode()).decode()

    def pem(self) -> str:
        """A private key block."""
        kind = self.random.choice(("RSA ", "EC ", "OPENSSH ", "")) + "PRIVATE KEY"
        lines = "\n".join(self.chars(_ALNUM + "+/", 64) for _ in range(5))
        return f"-----BEGIN {kind}-----\n{lines}\n-----END {kind}-----"

    def phrase(self) -> str:
        """A recovery phrase of twelve words."""
        return " ".join(self.random.sample(_SEED_WORDS, 12))

    def id_number(self) -> str:
        """A Chinese id number with a right check character."""
        region = self.random.choice(("110105", "310101", "440305", "510107", "330106"))
        born = f"{self.random.randint(1955, 2009)}{self.random.randint(1, 12):02}{self.random.randint(1, 28):02}"
        body = region + born + f"{self.random.randint(1, 999):03}"
        weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
        total = sum(int(digit) * weight for digit, weight in zip(body, weights, strict=True))
        return body + "10X98765432"[total % 11]

    def wrong_id_number(self) -> str:
        """The same with a wrong check character."""
        right = self.id_number()
        return right[:-1] + ("1" if right[-1] != "1" else "2")

    def card(self) -> str:
        """A bank card number that passes Luhn."""
        prefix, length = self.random.choice(
            (("622202", 19), ("621700", 19), ("4539", 16), ("5425", 16))
        )
        return _with_luhn(prefix + self.chars(string.digits, length - len(prefix) - 1))

    def card_groups(self) -> str:
        """A bank card number in groups of four."""
        card = self.card()
        return " ".join(card[start : start + 4] for start in range(0, len(card), 4))

    def wrong_card(self) -> str:
        """A number of a card's form that fails Luhn."""
        right = self.card()
        return right[:-1] + str((int(right[-1]) + 3) % 10)

    def phone(self) -> str:
        """A Chinese mobile number."""
        return "1" + self.random.choice(("38", "59", "86", "77")) + self.digits(8)

    def phone_groups(self) -> str:
        """The same with a country code and hyphens."""
        phone = self.phone()
        return f"+86 {phone[:3]}-{phone[3:7]}-{phone[7:]}"

    def thought(self) -> str:
        """Something that a model thinks."""
        return f"{self.word()} {self.word()} {self.chars(_ALNUM, 8)}"

    def uuid(self) -> str:
        """A UUID."""
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    def sha(self) -> str:
        """A Git commit's hash."""
        return hashlib.sha1(self.password().encode(), usedforsecurity=False).hexdigest()

    def sha256(self) -> str:
        """A file's hash."""
        return hashlib.sha256(self.password().encode()).hexdigest()

    def number(self) -> str:
        """A small number."""
        return str(self.random.randint(2, 99))

    def verse(self) -> str:
        """A pass phrase in Chinese."""
        return "".join(self.random.sample("芝麻开门天王盖地虎宝塔镇河妖", 5)) + self.digits(2)

    def secret(self) -> str:
        """The secret half of a cloud's key pair."""
        return self.chars(_ALNUM + "/", 38) + "k7"

    def mixed(self) -> str:
        """A password of letters, a sign and digits."""
        return f"{self.word()}@{self.random.randint(100, 9999)}"

    def hashed(self) -> str:
        """The same with a sign that no address holds."""
        return f"{self.word()}#{self.random.randint(100, 9999)}"

    def six(self) -> str:
        """A one-time code of six digits."""
        return self.digits(6)

    def combo(self) -> str:
        """What opens a combination lock."""
        return "-".join(self.digits(2) for _ in range(3))

    def mail_code(self) -> str:
        """A mail provider's authorisation code."""
        return self.chars(string.ascii_lowercase, 16)

    def recovery_key(self) -> str:
        """A disk's recovery key: eight groups of six digits."""
        return "-".join(self.digits(6) for _ in range(8))

    def notion(self) -> str:
        """A workspace's integration key."""
        return "nt" + "n_" + self.chars(_ALNUM, 44) + "a7"

    def mailgun(self) -> str:
        """A mail service's key."""
        return "ke" + "y-" + self.hex()

    def mapbox(self) -> str:
        """A map service's secret token."""
        return "s" + "k.ey" + f"J{self.chars(_ALNUM, 58)}9.{self.chars(_ALNUM, 22)}"

    def vault(self) -> str:
        """A secret store's token."""
        return "hv" + "s." + self.chars(_ALNUM, 28) + "7a"

    def wide(self) -> str:
        """A password in full-width characters."""
        return "".join(chr(ord(character) + 0xFEE0) for character in self.password())

    def hidden(self) -> str:
        """A password with invisible characters inside."""
        return "\u200b".join(self.password())


def _with_luhn(body: str) -> str:
    for check in string.digits:
        total = 0
        for place, digit in enumerate(reversed(body + check)):
            value = int(digit) * (1 + place % 2)
            total += value - 9 if value > 9 else value
        if total % 10 == 0:
            return body + check
    raise AssertionError


_SECRETS = frozenset(
    [
        "password",
        "otp",
        "token",
        "hex",
        "github",
        "openai",
        "aws",
        "tencent",
        "google",
        "slack",
        "jwt",
        "basic",
        "pem",
        "phrase",
        "id_number",
        "card",
        "card_groups",
        "phone",
        "phone_groups",
        "thought",
        "wide",
        "hidden",
        "word!",
        "verse",
        "secret",
        "mixed",
        "hashed",
        "six",
        "combo",
        "mail_code",
        "recovery_key",
        "notion",
        "mailgun",
        "mapbox",
        "vault",
    ]
)


def make_cases(seed: int = 20260101) -> list[Case]:
    """Make the whole set, the same for the same seed."""
    maker = ValueMaker(seed)
    cases = [_filled(line, maker) for line in _lines(WITH_SECRETS)]
    cases += [_filled(line, maker, by_model=True) for line in _lines(BY_MODELS)]
    return cases + [Case(_filled(line, maker, {"hex"}).text) for line in _lines(LOOK_ALIKES)]


def _lines(templates: str) -> Iterator[str]:
    return (
        line.replace("\\n", "\n").replace("\\u200b", "\u200b")
        for line in templates.strip().split("\n")
    )


def _filled(
    template: str,
    maker: ValueMaker,
    harmless: frozenset[str] | set[str] = frozenset(),
    *,
    by_model: bool = False,
) -> Case:
    secrets: list[str] = []

    def value(found: re.Match[str]) -> str:
        name = found[1]
        make: Callable[[], str] = getattr(maker, name.rstrip("!"))
        made = make()
        if name in _SECRETS - set(harmless):
            secrets.append(made)
        return made

    text = re.sub(r"\{([a-z_0-9]+!?)\}(?!\})", value, template)
    return Case(text, tuple(secrets), by_model)
