"""Records that came in from elsewhere, against those that were formed here (mission C5).

Within one memory every two statements that rule each other out have been weighed when the later one
came, and are linked or no longer both in force. Two that are in force and not linked have met only
now, and are weighed by the same rule (spec: protocol, Who wins).
"""

from collections.abc import Iterable, Sequence

from pipeline.rules.board import Board
from pipeline.rules.relating import LIVE, Relation, relate
from pipeline.rules.settling import MOST_CONFLICTS
from storage.records.knowledge import Record


def weigh(arrived: Sequence[Record], standing: Iterable[Record]) -> dict[str, Record]:
    """The records that the meeting has changed, by id; their revisions are as they were.

    Args:
        arrived: Records that came in, whatever their status.
        standing: Others of their subjects that could rule them out.
    """
    board = Board((*standing, *arrived))
    for record in sorted(arrived, key=lambda record: (record.observed_at, record.id)):
        for other in _near(board, record):
            _meet(board, record.id, other.id)
    return {key: record for key, record in board.records.items() if record != board.before[key]}


def _near(board: Board, record: Record) -> list[Record]:
    slot = board.filling(record)
    filled = {other.id for other in slot}
    alike = [other for other in board.worded_like(record) if other.id not in filled]
    return [*slot, *alike[:MOST_CONFLICTS]]


def _meet(board: Board, one: str, other: str) -> None:
    first, second = board.records[one], board.records[other]
    if not {first.status, second.status} <= LIVE or _linked(first, second):
        return
    match relate(first, second):
        case Relation.FIRST_WINS:
            board.supersede(one, other)
        case Relation.SECOND_WINS:
            board.supersede(other, one)
        case Relation.CONFLICT:
            board.conflict(one, other)
        case Relation.APART:
            pass


def _linked(first: Record, second: Record) -> bool:
    told = (*first.supersedes, *first.conflicts_with)
    told_back = (*second.supersedes, *second.conflicts_with)
    return second.id in told or first.id in told_back
