"""What a model or a worker may say, on the wire: strict, and named as in protocol, Proposals.

Sizes are loose here, since a proposal that is too long is rejected alone, with its code, by
`pipeline.rules.validating`; only what can't be read at all fails the whole answer.
"""

import unicodedata
from functools import partial
from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
)

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
