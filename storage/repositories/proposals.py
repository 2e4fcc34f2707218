"""Proposals: what observers suggested for a package, and what validation said of each."""

from collections.abc import Sequence
from typing import Any

from storage.database import database
from storage.records.knowledge import Proposal, Quote, Record, RecordKind, RejectionCode
from storage.records.runs import Verdict
from storage.repositories import records
from storage.repositories.codec import dump, knowledge_fields, load, sparse
from storage.tables import ProposalRow


def write(package_id: int, judged: Sequence[tuple[Proposal, Record | None, Verdict]]) -> None:
    """Keep what an observer suggested: the record that each would become, or why it does not."""
    database.connection().executemany(
        "INSERT OR REPLACE INTO proposal (package_id, place, proposal, record, record_id, code,"
        " reason) VALUES (?,?,?,?,?,?,?)",
        [
            (
                package_id,
                verdict.index,
                dump(sparse(proposal)),
                dump(records.body(record)) if record else None,
                verdict.record_id,
                verdict.code.value if verdict.code else None,
                verdict.reason,
            )
            for proposal, record, verdict in judged
        ],
    )


def accepted(package_id: int) -> list[Record]:
    """The records that a package's proposals would become, in order."""
    rows = database.execute_sql(
        "SELECT record FROM proposal WHERE package_id = ? AND record IS NOT NULL ORDER BY place",
        (package_id,),
    )
    return [records.from_body(load(row[0])) for row in rows.fetchall()]


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


def from_stored(text: str) -> Proposal:
    """A proposal back from the JSON text that it is stored as."""
    return _proposal(load(text))


def _proposal(found: dict[str, Any]) -> Proposal:
    made = knowledge_fields(found)
    made["kind"] = RecordKind(made["kind"])
    made["evidence"] = tuple(Quote(**quote) for quote in made.get("evidence", ()))
    return Proposal(**made)
