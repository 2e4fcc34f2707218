"""Whose words a proposal is made of: those that its quotes tell, or those of pages and tools near it.

Evidence says who spoke; this says whether what is proposed was said by them. A page can't have its
sentence kept as the user's by lying beside a "yes" or in the middle of something that the user said.

Pure. Source: mission B5, F3; spec: quality, Safety.
"""

import re
from collections.abc import Iterable, Iterator

from pipeline.rules.wording import chinese, content_words, simplified
from storage.records.events import Role
from storage.records.knowledge import Authority, Proposal, Record
from storage.records.runs import WorkPackage

DATA_ROLES = frozenset({Role.EXTERNAL, Role.OBSERVATION, Role.EXECUTOR, Role.VERIFICATION})
"""Whose texts are data: pages, screens, the output of tools (mission B5)."""

_MOST_FOREIGN = 0.5
"""Foreign words, as a share of those told, up to which a proposal counts as told: a paraphrase shares
common words with any page."""

TALK = content_words(
    "user users wants want would like prefers prefer likes needs need always never please use using used"
    " new also every each when 用户 以后 今后 总是 每次 需要 希望 喜欢 使用 一律 所有 必须 应该 可以 记住"
)
"""Words in which anything may be told, and which tell nothing by themselves."""

_FOR_USER = re.compile(
    r"(?:用户|主人|机主)(?:他|她|自己|已经?|也|都|刚才?|之前|曾经?|明确|口头){0,3}"
    r"(?:说|表示|同意|要求|希望|答应|确认|授权|允许|批准|承诺|想|让|喜欢|偏好)"
    r"|\b(?:the )?(?:user|owner)(?: has| had| also| already| just| explicitly){0,2} (?:said|says|agree[sd]?|confirm(?:s|ed)"
    r"|wants?|wanted|ask(?:s|ed)|approve[sd]?|authori[sz]e[sd]?|allow(?:s|ed)|told|tells|promise[sd]?|prefers?)\b",
    re.IGNORECASE,
)
_FOR_ITSELF = re.compile(
    r"我(?:们)?(?:会|将|要|来|保证|答应|承诺)|\b(?:i|we)(?:['’]ll| will| shall| promise)\b",
    re.IGNORECASE,
)


def speaks_for_user(text: str) -> bool:
    """Whether a supervisor's text tells what the user has said or agreed to, and promises nothing itself.

    >>> speaks_for_user("用户说他愿意自动续费"), speaks_for_user("The user agreed to pay")
    (True, True)
    >>> speaks_for_user("用户要求周五前提交，我会周五前提交")
    False
    """
    plain = simplified(text)
    return _FOR_USER.search(plain) is not None and _FOR_ITSELF.search(plain) is None


_TOLD_AS = {
    Authority.EXTERNAL: Role.EXTERNAL,
    # Nobody's own words either: a model has told them, of whatever it had read.
    Authority.INFERENCE: Role.OBSERVATION,
    Authority.OBSERVATION: Role.OBSERVATION,
    Authority.VERIFICATION: Role.VERIFICATION,
}


def _speaker(record: Record) -> Role | None:
    """As whose text a known record counts; the user's own is nobody else's."""
    return _TOLD_AS.get(record.authority)


class Surroundings:
    """The words of a package's events by who speaks, and of what its speakers may have read before.

    What an observer was shown of memory is among them: a page's story, or a screen's, stays theirs.
    Made once a package: its texts may be long, and its proposals are many.
    """

    def __init__(self, work: WorkPackage) -> None:
        self._work = work
        self._words: dict[Role, frozenset[str]] = {}

    def words(self, roles: Iterable[Role]) -> frozenset[str]:
        """The words of these roles' texts."""
        return frozenset().union(*map(self._of, roles))

    def _of(self, role: Role) -> frozenset[str]:
        if role not in self._words:
            here = (item.event for item in self._work.events)
            texts = [event.text for event in (*here, *self._work.near) if event.role is role]
            texts += (record.content for record in self._work.known if _speaker(record) is role)
            self._words[role] = frozenset().union(*map(content_words, texts))
        return self._words[role]


class Borrowing:
    """The words of a proposal, held against its quotes and against the data around it.

    Args:
        proposal: Any.
        around: What has been said around it.
        said: What the quotes say that may bear it out.
        data: The roles whose texts are foreign to it.
    """

    def __init__(
        self,
        proposal: Proposal,
        around: Surroundings,
        said: str,
        data: frozenset[Role] = DATA_ROLES,
    ) -> None:
        self._proposal = proposal
        self._said = said
        self._told = content_words(said)
        self._users = around.words([Role.USER])
        self._data = around.words(data)

    @property
    def says_something_else(self) -> bool:
        """Whether content and quotes, in one language, share no word."""
        return self.is_unheard and chinese(self._said) == chinese(self._proposal.content)

    @property
    def is_unheard(self) -> bool:
        """Whether content and quotes share no word, be it for their languages."""
        words = content_words(self._proposal.content)
        return bool(words) and not words & self._told

    @property
    def is_foreign(self) -> bool:
        """Whether any of its texts is made of words that only data around it has."""
        return any(map(self._is_foreign, _texts(self._proposal)))

    def _is_foreign(self, text: str) -> bool:
        words = content_words(text) - TALK
        told = words & self._told
        foreign = (words - told - self._users) & self._data
        return len(foreign) > len(told) * _MOST_FOREIGN

    @property
    def is_repeated(self) -> bool:
        """Whether its content is for the most part what data had said, and the user had not."""
        words = content_words(self._proposal.content) - TALK
        repeated = (words & self._data) - self._users
        return len(repeated) > len(words) * _MOST_FOREIGN


def _texts(proposal: Proposal) -> Iterator[str]:
    yield proposal.content
    if proposal.value is not None:
        yield proposal.value
    for entries in (proposal.conditions, proposal.steps, proposal.failure, proposal.verify):
        yield from entries
