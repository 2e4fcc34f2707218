"""Opening the memory database: which library, which file, which pragmas."""

from collections.abc import Iterator
from pathlib import Path

import cysqlite
import pytest

from storage.clock import ManualClock
from storage.database import OldSqliteError, as_service_error, database, open_database
from storage.database_file import APPLICATION_ID, ForeignDatabaseError, check_is_ours
from storage.errors import ConflictError, DiskFullError, ErrorCode, UnavailableError
from storage.migrations.registry import migrate

pytestmark = pytest.mark.integration


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    """Where a database may be."""
    yield tmp_path / "data" / "memory.sqlite3"
    if database.obj is not None:
        database.close()


def test_a_missing_database_is_created_for_its_owner_alone(path: Path) -> None:
    """Folder and file come into being, closed to everybody else."""
    open_database(path)
    migrate(ManualClock())
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in path.parent.iterdir()} == {0o600}


@pytest.mark.parametrize(
    ("pragma", "value"),
    [
        ("journal_mode", "wal"),
        ("synchronous", 2),
        ("foreign_keys", 1),
        ("secure_delete", 1),
        ("mmap_size", 0),
        ("application_id", APPLICATION_ID),
    ],
)
def test_every_connection_is_set_up_safely(path: Path, pragma: str, value: object) -> None:
    """Write-ahead log, full sync, foreign keys, erased deletions and no mapping, always."""
    open_database(path)
    for _ in range(2):
        found = database.execute_sql(f"PRAGMA {pragma}").fetchone()
        assert found is None or found[0] == value
        database.close()


def test_a_database_of_ours_is_opened_again(path: Path) -> None:
    """What was written is there, and the file is known as ours without being opened."""
    open_database(path)
    migrate(ManualClock())
    database.execute_sql("INSERT INTO stage_control VALUES ('merge', 7)")
    database.close()
    check_is_ours(path)
    open_database(path)
    assert database.execute_sql("SELECT * FROM stage_control").fetchall() == [("merge", 7)]


def test_a_new_database_is_ours_from_its_first_moment(path: Path) -> None:
    """Even before anything is written a crash leaves a file that its own service accepts."""
    open_database(path)
    check_is_ours(path)


def test_an_empty_file_may_become_ours(path: Path) -> None:
    """A file of zero bytes is nobody's yet."""
    path.parent.mkdir()
    path.touch()
    check_is_ours(path)
    open_database(path)
    check_is_ours(path)


def _foreign_sqlite(path: Path, *statements: str) -> None:
    connection = cysqlite.connect(str(path))
    for statement in ("CREATE TABLE old (x)", *statements):
        connection.execute(statement)
    connection.close()


@pytest.mark.parametrize("kind", ["text", "sqlite", "short", "another id"])
def test_a_foreign_file_is_refused_untouched(path: Path, kind: str) -> None:
    """A file that is not ours is named, told what to do about, and not changed by one byte."""
    path.parent.mkdir()
    match kind:
        case "text":
            path.write_text("日记 diary", encoding="utf-8")
        case "short":
            path.write_bytes(b"SQLite format 3\x00")
        case "another id":
            _foreign_sqlite(path, "PRAGMA application_id = 12345")
        case _:
            _foreign_sqlite(path)
    before, others = path.read_bytes(), sorted(path.parent.iterdir())
    for look in (check_is_ours, open_database):
        with pytest.raises(ForeignDatabaseError) as caught:
            look(path)
        assert str(path) in caught.value.message
        assert "DESKPAW_MEMORY_DB" in caught.value.message
    assert path.read_bytes() == before
    assert sorted(path.parent.iterdir()) == others


def test_a_folder_in_the_files_place_is_unavailable(path: Path) -> None:
    """What can't be read as a file is told by name, not by a crash."""
    path.mkdir(parents=True)
    with pytest.raises(UnavailableError, match=r"memory\.sqlite3"):
        open_database(path)


def test_a_file_in_the_folders_place_is_unavailable(path: Path) -> None:
    """So is a folder that can't be made."""
    path.parent.write_text("in the way", encoding="utf-8")
    with pytest.raises(UnavailableError, match=r"memory\.sqlite3"):
        open_database(path)


def test_an_old_library_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A SQLite that two processes can corrupt a database with never opens one."""
    monkeypatch.setattr(cysqlite, "sqlite_version_info", (3, 51, 2))
    with pytest.raises(OldSqliteError, match=r"3\.51\.3"):
        open_database(path)
    assert not path.exists()
    monkeypatch.setattr(cysqlite, "sqlite_version_info", (3, 51, 3))
    open_database(path)


def test_deleted_words_leave_the_file(path: Path) -> None:
    """What is deleted is overwritten in the database file."""
    open_database(path)
    migrate(ManualClock())
    word = "zyzzyva" * 3
    database.execute_sql("INSERT INTO stage_control VALUES (?, 7)", (word,))
    database.execute_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    assert word.encode() in path.read_bytes()
    database.execute_sql("DELETE FROM stage_control")
    database.execute_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    assert word.encode() not in path.read_bytes()


# ---- what errors mean ------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("database or disk is full", ErrorCode.DISK_FULL),
        ("[Errno 28] No space left on device", ErrorCode.DISK_FULL),
        ("disk I/O error", ErrorCode.UNAVAILABLE),
        ("attempt to write a readonly database", ErrorCode.UNAVAILABLE),
        ("database is locked", ErrorCode.UNAVAILABLE),
        ("unable to open database file", ErrorCode.UNAVAILABLE),
        ("no such table: event", ErrorCode.INTERNAL),
        ("UNIQUE constraint failed", ErrorCode.INTERNAL),
    ],
)
def test_a_database_error_becomes_a_code(text: str, code: ErrorCode) -> None:
    """Callers learn whether to try again, and nothing of the statement."""
    told = as_service_error(cysqlite.OperationalError(f"error executing query: [INSERT x] {text}"))
    assert told.code is code
    assert "INSERT" not in told.message


def test_the_cause_behind_an_error_counts() -> None:
    """A full disk ends the transaction; the failing rollback doesn't hide why."""

    def commit() -> None:
        try:
            raise cysqlite.OperationalError("database or disk is full")
        finally:
            raise cysqlite.OperationalError("cannot rollback - no transaction is active")

    with pytest.raises(cysqlite.OperationalError) as caught:
        commit()
    assert isinstance(as_service_error(caught.value), DiskFullError)


def test_a_known_error_stays_itself() -> None:
    """What already has a code keeps it."""
    error = ConflictError("locked in words only")
    assert as_service_error(error) is error
