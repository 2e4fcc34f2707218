"""Export and import on the wire: memory as Markdown documents (spec: mission, D9)."""

from typing import Annotated, Final, Literal

from pydantic import Field

from socket_gateway.protocol.base import Count, Id, Model, Owned, Time

MAX_DOCUMENT: Final = 500_000
"""Code points of a document. A request line holds about a megabyte, whatever is in it."""

Path = Annotated[str, Field(min_length=1, max_length=1_000)]


class DocumentPart(Model):
    """A file of an export; an import reads the text alone, and opens no file."""

    path: Annotated[Path, Field(description="Below the export's folder, with `/` between names.")]
    text: Annotated[str, Field(max_length=MAX_DOCUMENT)]


class ExportParams(Owned):
    """Which page of an owner's memory; `after` is the `next` of the page before."""

    after: Annotated[str | None, Field(min_length=1, max_length=1_000)] = None
    limit: Annotated[int, Field(ge=1, le=200)] = 100


class ExportResult(Model):
    """Some documents: first the records, then the objects, then lists that link them."""

    documents: list[DocumentPart]
    next: Annotated[str | None, Field(description="The `after` of the page behind it.")]
    at: Time
    moved: Annotated[
        bool,
        Field(
            description="On the last page: records have changed since the first one. Those of one"
            " object may be of different moments; export again."
        ),
    ]


class ImportParams(Owned):
    """Documents to take in; without `dry_run: false` it is only told what would become of them."""

    documents: Annotated[list[DocumentPart], Field(min_length=1, max_length=200)]
    dry_run: bool = True


class VersionPart(Model):
    """A version of a record, or of an object."""

    revision: Count
    object_revision: Count | None = None


class ImportOutcome(Model):
    """What became of the document at `index`."""

    index: Count
    outcome: Annotated[
        Literal[
            "created", "updated", "unchanged", "older", "conflict", "forgotten", "ignored", "refused"
        ],
        Field(
            description="`older`: memory has moved on since that export, and nobody has edited it."
            " `conflict`: an edit of a version that memory no longer has; export and edit again."
            " `forgotten`: it does not come back. `ignored`: a list of other documents."
        ),
    ]  # fmt: skip
    form: Literal["record", "object", "index"] | None = None
    id: Id | None = None
    code: Annotated[
        Literal[
            "not_a_record",
            "unreadable",
            "foreign_owner",
            "duplicate",
            "edited",
            "not_editable",
            "untrusted_source",
            "too_long",
            "degenerate",
            "sensitive",
        ]
        | None,
        Field(
            description="Why it was refused. `edited`: memory has no such record to hold an edit against."
            " `duplicate`: another document of the call is about the same."
        ),
    ] = None
    reason: Annotated[str | None, Field(description="The same in words.")] = None
    field: Annotated[str | None, Field(description="In which field.")] = None
    line: Annotated[Count | None, Field(description="In which line.")] = None
    expected: Annotated[
        VersionPart | None, Field(description="Of a conflict: what the document was made from.")
    ] = None
    current: Annotated[VersionPart | None, Field(description="Of a conflict: what memory has.")] = (
        None
    )
    missing: Annotated[
        list[Id] | None,
        Field(description="Events that it rests on and this memory lacks; their words are kept."),
    ] = None
    redactions: Annotated[
        dict[str, int] | None, Field(description="What was removed or broken, by kind.")
    ] = None


class ImportResult(Model):
    """What became of each document, in order."""

    outcomes: list[ImportOutcome]
    counts: Annotated[dict[str, int], Field(description="How many of each outcome.")]
    dry_run: bool
