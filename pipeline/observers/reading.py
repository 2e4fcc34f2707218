"""What an observer gets to see of a package."""

from typing import Final

from storage.records.events import OWNER_OBJECT
from storage.records.knowledge import RecordStatus
from storage.records.runs import Package, WorkPackage
from storage.repositories import packages, records

KNOWN_RECORDS: Final = 50
"""How many of an object's records an observer gets to see, newest first."""


def work_package(package: Package, budget: int) -> WorkPackage:
    """A package with its events and the records that are known of their object.

    Args:
        package: Of work `events`.
        budget: Tokens of input that an observer may be given.
    """
    # A statement made within a package may be about the owner, whatever object it is filed under.
    subjects = list(dict.fromkeys([package.object_id, OWNER_OBJECT]))
    live = (RecordStatus.ACTIVE, RecordStatus.CANDIDATE)
    known = records.of_subjects(package.owner, subjects, live, limit=KNOWN_RECORDS)
    return WorkPackage(package, tuple(packages.events_of(package)), tuple(known), budget)
