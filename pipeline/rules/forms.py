"""The forms under which records are kept, so that new ones find what they repeat or contradict."""

from pipeline.rules.negation import stance
from pipeline.rules.relating import TOLD
from pipeline.rules.wording import normalised
from storage.records.finding import Forms
from storage.records.knowledge import Authority, Record


def forms_of(record: Record) -> Forms:
    """What a record's words make it the same as, and the opposite of.

    A told story, an exception and a page's words oppose nothing.
    """
    mild = record.kind in TOLD or record.scope.once or record.authority is Authority.EXTERNAL
    return Forms(
        normal=normalised(record.content),
        skeleton="" if mild else stance(record.content).skeleton,
    )
