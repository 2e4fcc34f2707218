"""Proposals: what observers suggested for a package, and what validation said of each."""

from collections.abc import Sequence
from typing import Any

from storage.records.knowledge import Proposal, Quote, Record, RecordKind, RejectionCode
from storage.records.runs import Verdict
from storage.repositories import records
from storage.repositories.codec import dump, knowledge_fields, load, sparse
from storage.tables import ProposalRow


def write(package_id: int, judged: Sequence[tuple[Proposal, Record | None, Verdict]]) -> None:
    """Keep what an observer suggested: the record that each would become, or why it does not."""
    for proposal, record, verdict in judged:
        ProposalRow.insert(
            package_id=package_id,
            place=verdict.index,
            proposal=dump(sparse(proposal)),
            record=dump(records.body(record)) if record else None,
            record_id=verdict.record_id,
            code=verdict.code.value if verdict.code else None,
            reason=verdict.reason,
        ).on_conflict_replace().execute()


def accepted(package_id: int) -> list[Record]:
    """The records that a package's proposals would become, in order."""
    rows = (
        ProposalRow.select()
        .where(ProposalRow.package_id == package_id, ProposalRow.record_id.is_null(is_null=False))
        .order_by(ProposalRow.place)
    )
    return [records.from_body(load(row.record)) for row in rows if row.record]


def verdicts(package_id: int) -> list[tuple[Proposal, Verdict]]:
    """A package's proposals with what validation said of each."""
    rows = ProposalRow.select().where(ProposalRow.package_id == package_id)
    return [
        (
            _proposal(load(row.proposal)),
            Verdict(
                row.place, row.record_id, RejectionCode(row.code) if row.code else None, row.reason
            ),
        )
        for row in rows.order_by(ProposalRow.place)
    ]


def _proposal(found: dict[str, Any]) -> Proposal:
    made = knowledge_fields(found)
    made["kind"] = RecordKind(made["kind"])
    made["evidence"] = tuple(Quote(**quote) for quote in made.get("evidence", ()))
    return Proposal(**made)
