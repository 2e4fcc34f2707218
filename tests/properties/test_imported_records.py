"""Whatever an export says of a record, an import keeps it so, and the next export says it again."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.projections.markdown import object_text, record_text
from pipeline.transfer.deciding import Outcome
from pipeline.transfer.documents import record_document
from pipeline.transfer.importing import Importer
from storage.database import database
from storage.records.knowledge import MemoryObject, Record
from storage.repositories import objects, records, tombstones
from tests.record_strategies import NOW, OBJECTS, RECORDS
from tests.service_support import Service

pytestmark = pytest.mark.integration

_store = settings(
    max_examples=80,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture
def importer(service: Service) -> Importer:
    """An import into an empty memory; each example undoes what it wrote."""
    services = service.services
    return Importer(services.intake, services.redactor, tombstones)


@_store
@given(record=RECORDS)
def test_a_record_is_exported_as_it_was_imported(importer: Importer, record: Record) -> None:
    """What is taken in whole stands in the next export byte for byte, and again is unchanged."""
    document = record_text(record)
    with database.atomic() as transaction:
        prepared = importer.prepare(record.owner_scope, [document], NOW)
        (item,) = prepared.items
        importer.apply(prepared)
        if item.decision.outcome is Outcome.CREATED and not item.redactions:
            stored = records.get(record.owner_scope, record.id)
            assert record_document(stored).text == document
            revision = objects.revision(record.owner_scope, record.subject_id)
            assert revision >= record.object_revision
            again = importer.prepare(record.owner_scope, [document], NOW)
            assert [one.decision.outcome for one in again.items] == [Outcome.UNCHANGED]
        else:
            assert item.redactions or item.decision.code in {"untrusted_source", "sensitive"}
        transaction.rollback()


@_store
@given(found=st.lists(RECORDS, max_size=4), item=OBJECTS)
def test_no_documents_bring_an_import_down(
    importer: Importer, found: list[Record], item: MemoryObject
) -> None:
    """Any of them together, of one owner or several: each has its outcome, and all is written."""
    documents = [*map(record_text, found), object_text(item, [])]
    with database.atomic() as transaction:
        prepared = importer.prepare(item.owner, documents, NOW)
        importer.apply(prepared)
        created = {
            one.decision.id
            for one in prepared.items
            if one.decision.outcome is Outcome.CREATED and one.decision.form == "record"
        }
        assert {record.id for record in records.listing(item.owner)} == created
        transaction.rollback()
