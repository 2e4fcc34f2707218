"""The tables of the first release.

A migration never changes once it is released, so its statements stand here and not in the models.
"""

from typing import Final

from storage.database import database

# Positions ask for the lowest sequence that is still under way; done work must cost nothing, hence
# the partial indexes over packages.
_STATEMENTS: Final = (
    """CREATE TABLE "event_fate" (
        "seq" INTEGER NOT NULL PRIMARY KEY,
        "owner" TEXT NOT NULL,
        "fate" TEXT NOT NULL,
        "reason" TEXT NOT NULL,
        "package_id" INTEGER,
        "into_seq" INTEGER
    )""",
    """CREATE INDEX "event_fate_package_id" ON "event_fate" ("package_id")""",
    """CREATE TABLE "event_object" (
        "owner" TEXT NOT NULL,
        "object_id" TEXT NOT NULL,
        "seq" INTEGER NOT NULL,
        "place" INTEGER NOT NULL,
        PRIMARY KEY ("owner", "object_id", "seq")
    ) WITHOUT ROWID""",
    """CREATE TABLE "event" (
        "seq" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
        "owner" TEXT NOT NULL,
        "id" TEXT NOT NULL,
        "kind" TEXT NOT NULL,
        "at" INTEGER NOT NULL,
        "role" TEXT NOT NULL,
        "stream" TEXT,
        "priority" INTEGER NOT NULL,
        "text" TEXT NOT NULL,
        "rest" TEXT NOT NULL,
        "hash" BLOB NOT NULL,
        "redactor" TEXT NOT NULL,
        "received_at" INTEGER NOT NULL
    )""",
    """CREATE UNIQUE INDEX "event_owner_id" ON "event" ("owner", "id")""",
    """CREATE INDEX "event_owner_seq" ON "event" ("owner", "seq")""",
    """CREATE TABLE "evidence" (
        "owner_scope" TEXT NOT NULL,
        "record_id" TEXT NOT NULL,
        "seq" INTEGER NOT NULL,
        "start" INTEGER NOT NULL,
        "end" INTEGER NOT NULL,
        "event_id" TEXT NOT NULL,
        "quote" TEXT NOT NULL,
        PRIMARY KEY ("owner_scope", "record_id", "seq", "start", "end")
    ) WITHOUT ROWID""",
    """CREATE INDEX "evidence_seq" ON "evidence" ("seq")""",
    """CREATE TABLE "index_entry" (
        "seq" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
        "owner" TEXT NOT NULL,
        "document" TEXT NOT NULL,
        "at" INTEGER NOT NULL,
        "fields" TEXT NOT NULL,
        "gone" INTEGER NOT NULL,
        "tokenizer" INTEGER NOT NULL
    )""",
    """CREATE TABLE "object" (
        "owner" TEXT NOT NULL,
        "id" TEXT NOT NULL,
        "kind" TEXT NOT NULL,
        "title" TEXT NOT NULL,
        "state" TEXT NOT NULL,
        "revision" INTEGER NOT NULL,
        "created_at" INTEGER NOT NULL,
        "updated_at" INTEGER NOT NULL,
        PRIMARY KEY ("owner", "id")
    )""",
    """CREATE TABLE "owner" (
        "owner" TEXT NOT NULL PRIMARY KEY,
        "received" INTEGER NOT NULL,
        "filtered" INTEGER NOT NULL,
        "memory_version" INTEGER NOT NULL,
        "settled" INTEGER NOT NULL,
        "intent_version" INTEGER
    )""",
    """CREATE TABLE "package_event" (
        "package_id" INTEGER NOT NULL,
        "seq" INTEGER NOT NULL,
        "count" INTEGER NOT NULL,
        "first_at" INTEGER NOT NULL,
        "last_at" INTEGER NOT NULL,
        "signature" TEXT,
        "unanswered" INTEGER NOT NULL,
        PRIMARY KEY ("package_id", "seq")
    ) WITHOUT ROWID""",
    """CREATE TABLE "package" (
        "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
        "owner" TEXT NOT NULL,
        "lane" TEXT NOT NULL,
        "object_id" TEXT NOT NULL,
        "task_id" TEXT,
        "stage" TEXT NOT NULL,
        "state" TEXT NOT NULL,
        "priority" INTEGER NOT NULL,
        "attempt" INTEGER NOT NULL,
        "fence" INTEGER NOT NULL,
        "lease_until" INTEGER,
        "lease_end" INTEGER,
        "next_attempt_at" INTEGER NOT NULL,
        "first_seq" INTEGER NOT NULL,
        "last_seq" INTEGER NOT NULL,
        "last_at" INTEGER NOT NULL,
        "events" INTEGER NOT NULL,
        "tokens" INTEGER NOT NULL,
        "opened_at" INTEGER NOT NULL,
        "close_at" INTEGER NOT NULL,
        "closed_by" TEXT,
        "observer" TEXT,
        "nothing_kept" TEXT,
        "fault" TEXT,
        "error" TEXT,
        "parked_at" INTEGER
    )""",
    """CREATE INDEX "package_owner_lane_state" ON "package" ("owner", "lane", "state")""",
    """CREATE INDEX "package_state_stage_next_attempt_at"
    ON "package" ("state", "stage", "next_attempt_at")""",
    """CREATE TABLE "proposal" (
        "package_id" INTEGER NOT NULL,
        "place" INTEGER NOT NULL,
        "proposal" TEXT NOT NULL,
        "record" TEXT,
        "record_id" TEXT,
        "code" TEXT,
        "reason" TEXT,
        PRIMARY KEY ("package_id", "place")
    ) WITHOUT ROWID""",
    """CREATE TABLE "recall_request" (
        "owner" TEXT NOT NULL,
        "request_id" TEXT NOT NULL,
        "params" TEXT NOT NULL,
        "params_hash" BLOB NOT NULL,
        "state" TEXT NOT NULL,
        "result" TEXT,
        "created_at" INTEGER NOT NULL,
        "finished_at" INTEGER,
        PRIMARY KEY ("owner", "request_id")
    )""",
    """CREATE INDEX "recall_request_state" ON "recall_request" ("state")""",
    """CREATE INDEX "recall_request_created_at" ON "recall_request" ("created_at")""",
    """CREATE TABLE "record" (
        "id" TEXT NOT NULL,
        "owner_scope" TEXT NOT NULL,
        "subject_id" TEXT NOT NULL,
        "kind" TEXT NOT NULL,
        "content" TEXT NOT NULL,
        "normal" TEXT NOT NULL,
        "key" TEXT,
        "fact_class" TEXT,
        "scoped" INTEGER NOT NULL,
        "observed_at" INTEGER NOT NULL,
        "recorded_at" INTEGER NOT NULL,
        "status" TEXT NOT NULL,
        "authority" INTEGER NOT NULL,
        "revision" INTEGER NOT NULL,
        "object_revision" INTEGER NOT NULL,
        "valid_from" INTEGER,
        "valid_to" INTEGER,
        "rest" TEXT NOT NULL,
        "package_id" INTEGER,
        PRIMARY KEY ("owner_scope", "id")
    )""",
    """CREATE INDEX "record_package_id" ON "record" ("package_id")""",
    """CREATE INDEX "record_owner_scope_subject_id_status_observed_at"
    ON "record" ("owner_scope", "subject_id", "status", "observed_at")""",
    """CREATE INDEX "record_owner_scope_subject_id_key"
    ON "record" ("owner_scope", "subject_id", "key")""",
    """CREATE INDEX "record_owner_scope_subject_id_normal"
    ON "record" ("owner_scope", "subject_id", "normal")""",
    """CREATE INDEX "record_owner_scope_kind_status_observed_at"
    ON "record" ("owner_scope", "kind", "status", "observed_at")""",
    """CREATE TABLE "record_version" (
        "owner_scope" TEXT NOT NULL,
        "record_id" TEXT NOT NULL,
        "revision" INTEGER NOT NULL,
        "recorded_at" INTEGER NOT NULL,
        "body" TEXT NOT NULL,
        PRIMARY KEY ("owner_scope", "record_id", "revision")
    ) WITHOUT ROWID""",
    """CREATE TABLE "snapshot" (
        "owner" TEXT NOT NULL,
        "object_id" TEXT NOT NULL,
        "version" INTEGER NOT NULL,
        "based_on" INTEGER NOT NULL,
        "published_at" INTEGER NOT NULL,
        "hash" TEXT NOT NULL,
        "sections" TEXT NOT NULL,
        "tokens" INTEGER NOT NULL,
        PRIMARY KEY ("owner", "object_id")
    )""",
    """CREATE TABLE "stage_control" (
        "stage" TEXT NOT NULL PRIMARY KEY,
        "paused_at" INTEGER NOT NULL
    )""",
    """CREATE TABLE "stage_output" (
        "package_id" INTEGER NOT NULL,
        "stage" TEXT NOT NULL,
        "fence" INTEGER NOT NULL,
        "committed_at" INTEGER NOT NULL,
        "answer" TEXT,
        PRIMARY KEY ("package_id", "stage")
    ) WITHOUT ROWID""",
    """CREATE TABLE "waiting_call" (
        "seq" INTEGER NOT NULL PRIMARY KEY,
        "owner" TEXT NOT NULL,
        "lane" TEXT NOT NULL,
        "event_id" TEXT NOT NULL,
        "request_id" TEXT,
        "since" INTEGER NOT NULL
    )""",
    """CREATE INDEX "waiting_call_owner_seq" ON "waiting_call" ("owner", "seq")""",
    """CREATE INDEX "waiting_call_owner_event_id" ON "waiting_call" ("owner", "event_id")""",
    """CREATE INDEX "waiting_call_owner_request_id" ON "waiting_call" ("owner", "request_id")""",
    """CREATE INDEX "waiting_call_since" ON "waiting_call" ("since")""",
    """CREATE INDEX package_under_way
    ON package (owner, stage, first_seq) WHERE state IN ('open', 'ready', 'leased')""",
    """CREATE INDEX package_to_close ON package (close_at) WHERE state = 'open'""",
    """CREATE INDEX package_leased ON package (lease_until) WHERE state = 'leased'""",
    """CREATE INDEX package_ready ON package (stage, priority, id) WHERE state = 'ready'""",
    """CREATE INDEX record_scoped
    ON record (owner_scope, kind, observed_at) WHERE scoped = 1 AND status = 'active'""",
    """CREATE INDEX package_dead ON package (owner, id) WHERE state = 'dead'""",
)


def apply() -> None:
    """Create tables and indexes."""
    for statement in _STATEMENTS:
        database.execute_sql(statement)
