"""The tables, as peewee models. Only storage sees them; the rest of the code sees records.

Names follow the glossary. Times are epoch milliseconds, JSON stands in text columns.
"""

from peewee import (
    BigIntegerField,
    BlobField,
    BooleanField,
    CompositeKey,
    IntegerField,
    Model,
    TextField,
)
from playhouse.cysqlite_ext import AutoIncrementField

from storage.database import database


class Table(Model):
    """What every table has in common: the process's one database."""

    class Meta:
        database = database
        legacy_table_names = False


class Migration(Table):
    """The migrations that this database has seen."""

    number = IntegerField(primary_key=True)
    name = TextField()
    applied_at = BigIntegerField()


class EventRow(Table):
    """Accepted events. Never updated; `seq` is never used twice."""

    seq = AutoIncrementField()
    owner = TextField()
    id = TextField()
    kind = TextField()
    at = BigIntegerField()
    role = TextField()
    stream = TextField(null=True)
    priority = IntegerField()
    text = TextField()
    rest = TextField()
    hash = BlobField()
    redactor = TextField()
    received_at = BigIntegerField()

    class Meta:
        table_name = "event"
        indexes = ((("owner", "id"), True), (("owner", "seq"), False))


class EventObjectRow(Table):
    """Which objects an event belongs to; `place` 0 is the primary one (mission B8)."""

    owner = TextField()
    object_id = TextField()
    seq = BigIntegerField()
    place = IntegerField()

    class Meta:
        table_name = "event_object"
        primary_key = CompositeKey("owner", "object_id", "seq")
        without_rowid = True


class EventFateRow(Table):
    """What the filter made of each event: audit, a package, a repeat, or a call that waits."""

    seq = BigIntegerField(primary_key=True)
    owner = TextField()
    fate = TextField()
    reason = TextField()
    package_id = BigIntegerField(null=True, index=True)
    into_seq = BigIntegerField(null=True)

    class Meta:
        table_name = "event_fate"


class WaitingCallRow(Table):
    """Calls whose result has not been received; they join a package with it, or after 15 minutes."""

    seq = BigIntegerField(primary_key=True)
    owner = TextField()
    lane = TextField()
    event_id = TextField()
    request_id = TextField(null=True)
    since = BigIntegerField()

    class Meta:
        table_name = "waiting_call"
        indexes = (
            (("owner", "seq"), False),
            (("owner", "event_id"), False),
            (("owner", "request_id"), False),
            (("since",), False),
        )


class OwnerRow(Table):
    """An owner's cursors: how far the filter came, and the memory version of what is published."""

    owner = TextField(primary_key=True)
    received = BigIntegerField(default=0)
    filtered = BigIntegerField(default=0)
    memory_version = BigIntegerField(default=0)
    settled = BigIntegerField(default=0)
    intent_version = BigIntegerField(null=True)
    forgotten = BigIntegerField(default=0)

    class Meta:
        table_name = "owner"


class ObjectRow(Table):
    """Objects; `revision` grows with each change to the object or its records."""

    owner = TextField()
    id = TextField()
    kind = TextField()
    title = TextField()
    state = TextField()
    revision = BigIntegerField()
    created_at = BigIntegerField()
    updated_at = BigIntegerField()

    class Meta:
        table_name = "object"
        primary_key = CompositeKey("owner", "id")


class PackageRow(Table):
    """The ledger: one row a package, with its stage, lease and failures."""

    id = AutoIncrementField()
    owner = TextField()
    lane = TextField()
    object_id = TextField()
    task_id = TextField(null=True)
    stage = TextField()
    state = TextField()
    priority = IntegerField()
    attempt = IntegerField(default=0)
    fence = BigIntegerField(default=0)
    lease_until = BigIntegerField(null=True)
    lease_end = BigIntegerField(null=True)
    next_attempt_at = BigIntegerField(default=0)
    first_seq = BigIntegerField()
    last_seq = BigIntegerField()
    last_at = BigIntegerField()
    events = IntegerField()
    tokens = IntegerField()
    opened_at = BigIntegerField()
    close_at = BigIntegerField()
    closed_by = TextField(null=True)
    observer = TextField(null=True)
    nothing_kept = TextField(null=True)
    fault = TextField(null=True)
    error = TextField(null=True)
    parked_at = BigIntegerField(null=True)
    work = TextField(default="events")

    class Meta:
        table_name = "package"
        indexes = (
            (("owner", "lane", "state"), False),
            (("state", "stage", "next_attempt_at"), False),
        )


class PackageEventRow(Table):
    """The events of a package, each with how often it was repeated."""

    package_id = BigIntegerField()
    seq = BigIntegerField()
    count = IntegerField(default=1)
    first_at = BigIntegerField()
    last_at = BigIntegerField()
    signature = TextField(null=True)
    unanswered = BooleanField(default=False)

    class Meta:
        table_name = "package_event"
        primary_key = CompositeKey("package_id", "seq")
        without_rowid = True


class StageOutputRow(Table):
    """What a stage committed for a package: unique, so that no effect can happen twice."""

    package_id = BigIntegerField()
    stage = TextField()
    fence = BigIntegerField()
    committed_at = BigIntegerField()
    answer = TextField(null=True)

    class Meta:
        table_name = "stage_output"
        primary_key = CompositeKey("package_id", "stage")
        without_rowid = True


class ProposalRow(Table):
    """What an observer suggested, and what validation said to it. Rejections keep their reason."""

    package_id = BigIntegerField()
    place = IntegerField()
    proposal = TextField()
    record = TextField(null=True)
    record_id = TextField(null=True)
    code = TextField(null=True)
    reason = TextField(null=True)

    class Meta:
        table_name = "proposal"
        primary_key = CompositeKey("package_id", "place")
        without_rowid = True


class RecordRow(Table):
    """Units of memory, in their present version."""

    id = TextField()
    owner_scope = TextField()
    subject_id = TextField()
    kind = TextField()
    content = TextField()
    normal = TextField()
    skeleton = TextField(default="")
    reach = TextField(default="")
    key = TextField(null=True)
    fact_class = TextField(null=True)
    scoped = BooleanField(default=False)
    observed_at = BigIntegerField()
    recorded_at = BigIntegerField()
    status = TextField()
    authority = IntegerField()
    revision = IntegerField()
    object_revision = BigIntegerField()
    valid_from = BigIntegerField(null=True)
    valid_to = BigIntegerField(null=True)
    rest = TextField()
    package_id = BigIntegerField(null=True, index=True)
    rolled_by = TextField(null=True)
    due_at = BigIntegerField(null=True)

    class Meta:
        table_name = "record"
        primary_key = CompositeKey("owner_scope", "id")
        indexes = (
            (("owner_scope", "subject_id", "status", "observed_at"), False),
            (("owner_scope", "kind", "status", "observed_at"), False),
        )


class RecordVersionRow(Table):
    """Every version that a record has had, whole."""

    owner_scope = TextField()
    record_id = TextField()
    revision = IntegerField()
    recorded_at = BigIntegerField()
    body = TextField()

    class Meta:
        table_name = "record_version"
        primary_key = CompositeKey("owner_scope", "record_id", "revision")
        without_rowid = True


class RecordChangeRow(Table):
    """The journal: what has changed records, in order; from it they can be made anew."""

    seq = AutoIncrementField()
    owner = TextField()
    subject_id = TextField()
    object_revision = BigIntegerField()
    change = TextField()
    at = BigIntegerField()
    package_id = BigIntegerField(null=True, index=True)
    record_id = TextField(null=True)
    body = TextField()

    class Meta:
        table_name = "record_change"
        indexes = ((("owner", "subject_id", "seq"), False), (("owner", "record_id"), False))


class EvidenceRow(Table):
    """The verbatim spans that records rest on, in code points of the event's text."""

    owner_scope = TextField()
    record_id = TextField()
    seq = BigIntegerField()
    start = IntegerField()
    end = IntegerField()
    event_id = TextField()
    quote = TextField()

    class Meta:
        table_name = "evidence"
        primary_key = CompositeKey("owner_scope", "record_id", "seq", "start", "end")
        without_rowid = True
        indexes = ((("seq",), False),)


class IndexEntryRow(Table):
    """Terms of events and records, in sequence: what the follower makes the index from."""

    seq = AutoIncrementField()
    owner = TextField()
    document = TextField()
    at = BigIntegerField()
    fields = TextField()
    gone = BooleanField(default=False)
    tokenizer = IntegerField()

    class Meta:
        table_name = "index_entry"
        indexes = ((("owner", "document"), False),)


class SnapshotRow(Table):
    """Published snapshots: one an object, replaced as a whole."""

    owner = TextField()
    object_id = TextField()
    version = BigIntegerField()
    based_on = BigIntegerField()
    published_at = BigIntegerField()
    hash = TextField()
    sections = TextField()
    tokens = IntegerField()

    class Meta:
        table_name = "snapshot"
        primary_key = CompositeKey("owner", "object_id")


class RecallRequestRow(Table):
    """Recall requests and their results, so that a request id means the same request for ever."""

    owner = TextField()
    request_id = TextField()
    params = TextField()
    params_hash = BlobField()
    state = TextField()
    result = TextField(null=True)
    created_at = BigIntegerField()
    finished_at = BigIntegerField(null=True)

    class Meta:
        table_name = "recall_request"
        primary_key = CompositeKey("owner", "request_id")
        indexes = ((("state",), False), (("created_at",), False))


class TombstoneRow(Table):
    """Digests of the ids of forgotten events and records, so that these don't come back."""

    owner = TextField()
    kind = TextField()
    digest = BlobField()
    seq = BigIntegerField(null=True)

    class Meta:
        table_name = "tombstone"
        primary_key = CompositeKey("owner", "kind", "digest")
        without_rowid = True


class ForgettingRow(Table):
    """Forgettings, none with a word of what it forgets; `masked_from` is a place among index entries."""

    id = TextField(primary_key=True)
    owner = TextField()
    state = TextField()
    step = TextField()
    object_id = TextField(null=True)
    counts = TextField()
    remaining = TextField()
    masked_from = BigIntegerField()
    attempt = IntegerField()
    next_attempt_at = BigIntegerField()
    requested_at = BigIntegerField()
    finished_at = BigIntegerField(null=True)

    class Meta:
        table_name = "forgetting"


class ForgettingPartRow(Table):
    """What a forgetting has still to take away: records and events, a transaction's worth a row."""

    forgetting_id = TextField()
    place = IntegerField()
    records = TextField()
    seqs = TextField()

    class Meta:
        table_name = "forgetting_part"
        primary_key = CompositeKey("forgetting_id", "place")


class OperationRow(Table):
    """Long operations that operators have asked for, with their reports."""

    id = AutoIncrementField()
    kind = TextField()
    owner = TextField(null=True)
    state = TextField()
    started_at = BigIntegerField()
    finished_at = BigIntegerField(null=True)
    report = TextField()
    error = TextField(null=True)

    class Meta:
        table_name = "operation"


class StageControlRow(Table):
    """Stages that an operator has paused."""

    stage = TextField(primary_key=True)
    paused_at = BigIntegerField()

    class Meta:
        table_name = "stage_control"


class ObserverUsageRow(Table):
    """What each answered call of a model has cost; a claim makes one at most."""

    package_id = BigIntegerField()
    fence = BigIntegerField()
    attempt = IntegerField()
    at = BigIntegerField(index=True)
    model = TextField()
    stop_reason = TextField()
    batch_id = TextField(null=True)
    input_tokens = IntegerField()
    output_tokens = IntegerField()
    cache_read_tokens = IntegerField()
    cache_write_tokens = IntegerField()

    class Meta:
        table_name = "observer_usage"
        primary_key = CompositeKey("package_id", "fence")
        without_rowid = True


class ObserverBatchRow(Table):
    """Packages that a model reads as part of a message batch."""

    package_id = BigIntegerField(primary_key=True)
    fence = BigIntegerField()
    batch_id = TextField(index=True)
    sent_at = BigIntegerField()
    tokens = IntegerField()

    class Meta:
        table_name = "observer_batch"


TABLES: tuple[type[Table], ...] = (
    EventRow,
    EventObjectRow,
    EventFateRow,
    WaitingCallRow,
    OwnerRow,
    ObjectRow,
    PackageRow,
    PackageEventRow,
    StageOutputRow,
    ProposalRow,
    RecordRow,
    RecordVersionRow,
    RecordChangeRow,
    EvidenceRow,
    IndexEntryRow,
    SnapshotRow,
    RecallRequestRow,
    StageControlRow,
    ObserverUsageRow,
    ObserverBatchRow,
    TombstoneRow,
    ForgettingRow,
    ForgettingPartRow,
)
