"""What a model or a worker may say, on the wire: strict, and named as in protocol, Proposals.

Sizes are loose here, since a proposal that is too long is rejected alone, with its code, by
`pipeline.rules.validating`; only what can't be read at all fails the whole answer.
"""

import unicodedata
from datetime import datetime
from enum import StrEnum
from functools import cache, partial
from typing import Annotated, Any, Final

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
)

from pipeline.rules.workdays import BEIJING
from storage.records.knowledge import (
    FactClass,
    ProfileKind,
    Proposal,
    Quote,
    RecordKind,
    Scope,
)

Identifier = Annotated[
    str,
    StringConstraints(min_length=1, max_length=200),
    # Ids are kept composed, so one that is named otherwise would not be found.
    AfterValidator(partial(unicodedata.normalize, "NFC")),
]
Text = Annotated[str, StringConstraints(max_length=32_000)]
Moment = Annotated[int, Field(ge=0, le=4_102_444_799_999)]
Entries = Annotated[list[Text], Field(max_length=200)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class QuoteModel(_Strict):
    """Evidence as it is proposed: an event, and words of it."""

    event: Identifier
    quote: Text


class ScopeModel(_Strict):
    """Where a proposed record would hold."""

    objects: Annotated[list[Identifier], Field(max_length=200)] = []
    task: Identifier | None = None
    once: bool = False

    def to_scope(self) -> Scope:
        """The scope as the program holds it."""
        return Scope(objects=tuple(self.objects), task=self.task, once=self.once)


class ProposalModel(_Strict):
    """One proposal."""

    kind: Annotated[RecordKind, Field(strict=False)]
    content: Text
    evidence: Annotated[list[QuoteModel], Field(max_length=200)]
    subject: Identifier | None = None
    key: Text | None = None
    value: Text | None = None
    fact_class: Annotated[FactClass | None, Field(alias="class", strict=False)] = None
    profile_kind: Annotated[ProfileKind | None, Field(strict=False)] = None
    scope: ScopeModel = ScopeModel()
    valid_from: Moment | None = None
    valid_to: Moment | None = None
    review_at: Moment | None = None
    supersedes: Annotated[list[Identifier], Field(max_length=200)] = []
    conditions: Entries = []
    steps: Entries = []
    failure: Entries = []
    verify: Entries = []
    cues: Entries = []

    def to_proposal(self) -> Proposal:
        """The proposal as the program holds it, not yet judged."""
        return Proposal(
            kind=self.kind,
            content=self.content,
            evidence=tuple(Quote(item.event, item.quote) for item in self.evidence),
            subject=self.subject,
            key=self.key,
            value=self.value,
            fact_class=self.fact_class,
            profile_kind=self.profile_kind,
            scope=self.scope.to_scope(),
            valid_from=self.valid_from,
            valid_to=self.valid_to,
            review_at=self.review_at,
            supersedes=tuple(self.supersedes),
            conditions=tuple(self.conditions),
            steps=tuple(self.steps),
            failure=tuple(self.failure),
            verify=tuple(self.verify),
            cues=tuple(self.cues),
        )


# ---- what a model that is asked over the Messages API says -----------------


class NothingKept(StrEnum):
    """Why a package holds nothing worth keeping, in words that quote nobody (mission C9)."""

    ONLY_TALK = "only_talk"
    ONLY_QUESTIONS = "only_questions"
    ONLY_EXTERNAL_CONTENT = "only_external_content"
    ONLY_ROUTINE_WORK = "only_routine_work"
    NOTHING_NEW = "nothing_new"


def _epoch_ms(said: object) -> int | None:
    """A time as models write it, ISO 8601, as epoch milliseconds; without an offset it is Beijing's."""
    if said is None:
        return None
    if not isinstance(said, str):
        raise ValueError("a time is a text in ISO 8601")  # noqa: TRY004 - what pydantic expects
    moment = datetime.fromisoformat(said)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=BEIJING)
    return int(moment.timestamp() * 1000)


# Models write dates well and count milliseconds badly.
_Written = Annotated[
    Moment | None,
    BeforeValidator(_epoch_ms),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]


class WrittenProposal(ProposalModel):
    """A proposal with its times written out."""

    valid_from: _Written = None
    valid_to: _Written = None
    review_at: _Written = None


class AnswerModel(_Strict):
    """A model's whole answer: proposals, or the reason why there are none."""

    proposals: Annotated[list[WrittenProposal], Field(max_length=200)] = []
    nothing_worth_keeping: Annotated[NothingKept | None, Field(strict=False)] = None


_LEFT_OUT: Final = frozenset(
    {
        "title", "description", "default", "minLength", "maxLength", "minimum", "maximum",
        "minItems", "maxItems",
    }
)  # fmt: skip


@cache
def answer_schema() -> dict[str, Any]:
    """The JSON schema that binds a model's answer.

    Without lengths and bounds, which servers refuse, without unions with null, of which they
    compile few (what a model leaves out is null), and without our own descriptions. The answer is
    read by `AnswerModel` all the same.
    """
    made: dict[str, Any] = _bare(AnswerModel.model_json_schema())
    made["required"] = ["proposals"]
    return made


def _bare(schema: Any, *, names: bool = False) -> Any:
    """A schema without what is left out; `names` says that the keys are names of properties."""
    if isinstance(schema, list):
        return [_bare(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {
        key: _bare(value, names=key in {"properties", "$defs"} and not names)
        for key, value in schema.items()
        if names or key not in _LEFT_OUT
    }
    if names:
        return kept
    if "enum" in kept:
        del kept["type"]
    # There are no unions but those with null.
    for choice in kept.pop("anyOf", []):
        kept |= {} if choice == {"type": "null"} else choice
    return kept


class _Lenient(BaseModel):
    """What a server says: it may add fields to what it says at any time."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)


_Tokens = Annotated[int, Field(ge=0, le=2**31)]
_Word = Annotated[str, StringConstraints(pattern=r"^[a-z_]{1,40}$")]


class UsageModel(_Lenient):
    """Tokens of a call, as the server counts them."""

    input_tokens: _Tokens
    output_tokens: _Tokens
    cache_creation_input_tokens: _Tokens | None = None
    cache_read_input_tokens: _Tokens | None = None


class BlockModel(_Lenient):
    """A part of an answer: a text, a tool's input, or something that nobody asked for."""

    type: str
    text: str = ""
    input: Any = None


class ReplyModel(_Lenient):
    """A message of the Messages API as it comes back."""

    type: Annotated[str, StringConstraints(pattern="^message$")]
    model: Annotated[str, StringConstraints(max_length=200)]
    content: list[BlockModel]
    stop_reason: _Word
    usage: UsageModel
