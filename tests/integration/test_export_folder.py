"""`export DIR`, `import DIR` and the exports in the state folder: files, and nothing but files."""

import fcntl
import json
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.rules.naming import file_name
from pipeline.transfer.state_exports import refresh_exports
from socket_gateway.cli import main
from storage.database import database
from storage.export_folder import ExportFolder, Marks, UnsafePathError, opened_export
from tests.service_support import Service, event
from tests.transfer_support import another_service, exported, record_documents, with_content

pytestmark = pytest.mark.integration

CHINESE = "以后报销都用新模板"
ENGLISH = "From now on always use the new template for expense claims."
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(
    service: Service, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Runs a command against the service: its exit status, output and errors."""
    monkeypatch.setenv("DESKPAW_STATE_DIR", str(service.state))

    def command(*arguments: object) -> tuple[int, str, str]:
        status = main([str(argument) for argument in arguments])
        told = capsys.readouterr()
        return status, told.out, told.err

    return command


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where an export may go."""
    return tmp_path / "出口" / "memory"


def remember(service: Service, *texts: str, owner: str = "local") -> None:
    """Let the service keep what a user said, each about an object of its own."""
    for number, text in enumerate(texts):
        said = event(f"e{number}", text, objects=[{"id": f"对象{number}"}])
        service.ingest(said, owner=owner)
    service.settle()


def read_all(folder: Path) -> dict[str, str]:
    """Every document below a folder, by its path there."""
    return {
        str(path.relative_to(folder)): path.read_bytes().decode()
        for path in sorted(folder.rglob("*.md"))
    }


def forget(service: Service, record_id: str) -> None:
    """Take a record's rows away, as a forgetting does."""

    def erase() -> None:
        for table, column in (
            ("record", "id"),
            ("record_version", "record_id"),
            ("evidence", "record_id"),
        ):
            database.execute_sql(f"DELETE FROM {table} WHERE {column} = ?", (record_id,))  # noqa: S608 - names of the test

    service.services.core.writer.call("operator", erase)


def record_file(folder: Path, content: str) -> Path:
    """The file of the record that says this."""
    (path,) = [
        path for path in folder.rglob("*.md")
        if "record 1" in path.read_text(encoding="utf-8")
        and f"\n{content}\n" in path.read_text(encoding="utf-8")
    ]  # fmt: skip
    return path


# ---- export ----------------------------------------------------------------


def test_an_export_is_the_documents_and_a_note(service: Service, run: Run, folder: Path) -> None:
    """Every document lies there byte for byte, for its user alone, and a note says whose it is."""
    remember(service, CHINESE, ENGLISH)
    status, out, _ = run("export", folder, "--json")
    told = json.loads(out)
    assert (status, told["written"], told["kept"], told["moved"]) == (
        0,
        len(exported(service)),
        [],
        False,
    )
    assert read_all(folder) == exported(service)
    note = json.loads((folder / "export.json").read_text(encoding="utf-8"))
    assert (note["owner"], note["complete"]) == ("local", True)
    for path in [folder, *folder.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)
    assert [path.name for path in folder.rglob(".*")] == []


def test_without_a_folder_it_goes_to_the_state(service: Service, run: Run) -> None:
    """`export` alone writes to exports/ of the state folder, each owner's to its own."""
    for owner in ("local", "Zhang/三"):
        service.ingest(event("e1", CHINESE), owner=owner)
        service.settle()
        assert run("export", "--owner", owner)[0] == 0
        made = service.state / "exports" / file_name(owner)
        assert read_all(made) == exported(service, owner)
    assert len(list((service.state / "exports").iterdir())) == 2


def test_a_second_export_updates_the_first(service: Service, run: Run, folder: Path) -> None:
    """What is new is written, what is gone is removed with its folder, the rest isn't touched."""
    remember(service, CHINESE, ENGLISH)
    run("export", folder)
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    (folder / "README.md").write_text("# mine\n", encoding="utf-8")
    untouched = record_file(folder, ENGLISH)
    before = untouched.stat().st_ino
    gone = record_file(folder, CHINESE)
    forget(service, gone.stem)
    database.execute_sql("DELETE FROM object WHERE id = '对象0'")
    service.ingest(event("e9", "以后周报都用表格", objects=[{"id": "周报"}]))
    service.settle()

    _, out, _ = run("export", folder, "--json")
    assert json.loads(out)["removed"] == 2
    assert {
        path: text for path, text in read_all(folder).items() if path != "README.md"
    } == exported(service)
    assert not gone.parent.exists()
    assert untouched.stat().st_ino == before
    assert (folder / "notes.txt").read_text(encoding="utf-8") == "mine"
    assert (folder / "README.md").read_text(encoding="utf-8") == "# mine\n"


def test_an_edit_that_was_not_imported_is_kept(service: Service, run: Run, folder: Path) -> None:
    """Somebody's work is not written over unless that is asked for, and it is told."""
    remember(service, CHINESE)
    run("export", folder)
    path = record_file(folder, CHINESE)
    edit = with_content(path.read_text(encoding="utf-8"), "以后报销都用紫色模板")
    path.write_text(edit, encoding="utf-8")

    status, out, _ = run("export", folder)
    assert status == 1
    assert str(path.relative_to(folder)) in out
    assert path.read_text(encoding="utf-8") == edit
    assert run("export", folder, "--force")[0] == 0
    assert read_all(folder) == exported(service)


def test_a_folder_that_holds_something_else_is_left_alone(
    service: Service, run: Run, folder: Path
) -> None:
    """Neither other files nor another owner's export are mixed with this one."""
    remember(service, CHINESE)
    folder.mkdir(parents=True)
    (folder / "x.txt").write_text("x", encoding="utf-8")
    status, _, err = run("export", folder)
    assert (status, "empty" in err) == (1, True)
    assert [path.name for path in folder.iterdir()] == ["x.txt"]
    (folder / "x.txt").unlink()
    assert run("export", folder)[0] == 0
    assert run("export", folder, "--owner", "somebody")[0] == 1
    assert read_all(folder) == exported(service)


@pytest.mark.parametrize("note", ["", "{}", "[]", "null", '{"format": "x"}', "[" * 50_000, "\x00"])
def test_a_note_of_something_else_is_none_of_ours(
    service: Service, run: Run, folder: Path, note: str
) -> None:
    """A file that happens to have the note's name doesn't make a folder an export."""
    remember(service, CHINESE)
    folder.mkdir(parents=True)
    (folder / "export.json").write_text(note, encoding="utf-8")
    assert run("export", folder)[0] == 1
    assert (folder / "export.json").read_text(encoding="utf-8") == note


def test_an_export_that_was_cut_short_can_be_finished(
    service: Service, run: Run, folder: Path
) -> None:
    """What an export that died has left is taken over by the next one."""
    remember(service, CHINESE)
    run("export", folder)
    (folder / ".deskpaw-memory.new").write_text("half", encoding="utf-8")
    record_file(folder, CHINESE).unlink()
    assert run("export", folder)[0] == 0
    assert read_all(folder) == exported(service)
    assert not (folder / ".deskpaw-memory.new").exists()


def test_two_exports_into_one_folder_take_turns(service: Service, run: Run, folder: Path) -> None:
    """A folder that is being written is busy."""
    remember(service, CHINESE)
    run("export", folder)
    with opened_export(folder, "local"):
        status, _, err = run("export", folder, "--json")
    assert (status, json.loads(err)["error"]["code"]) == (1, "busy")


# ---- links and names -------------------------------------------------------


def test_no_link_leads_out_of_an_export(
    service: Service, run: Run, folder: Path, tmp_path: Path
) -> None:
    """A link in a document's place is replaced, one in a folder's place refused; neither is followed."""
    remember(service, CHINESE)
    run("export", folder)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret", encoding="utf-8")
    path = record_file(folder, CHINESE)
    path.unlink()
    path.symlink_to(outside / "secret.md")
    (folder / "INDEX.md").unlink()
    (folder / "INDEX.md").symlink_to(outside / "new.md")
    assert run("export", folder)[0] == 0
    assert read_all(folder) == exported(service)
    assert not path.is_symlink()

    inside = path.parent
    inside.rename(tmp_path / "moved")
    inside.symlink_to(outside, target_is_directory=True)
    status, _, err = run("export", folder)
    assert (status, "link" in err) == (1, True)
    assert sorted(path.name for path in outside.iterdir()) == ["secret.md"]
    assert (outside / "secret.md").read_text(encoding="utf-8") == "secret"


@pytest.mark.parametrize(
    "path",
    ["../x.md", "/x.md", "a/../x.md", "a/b/c.md", "x.txt", ".x.md", "a/.md", "", "a//b.md", "a\0.md", "./x.md",
     "export.json", f"{'x' * 300}.md"],
)  # fmt: skip
def test_a_path_that_no_export_has_is_not_written(tmp_path: Path, path: str) -> None:
    """Whatever a service names, nothing is written beside or above the folder."""
    inside = tmp_path / "inside"
    with opened_export(inside, "local") as opened:
        target = ExportFolder(opened, Marks(lambda _: True, lambda _: True))
        with pytest.raises(UnsafePathError):
            target.put(path, "text")
    assert list(tmp_path.rglob("*")) == [inside]


def test_odd_ids_have_files_of_their_own(
    service: Service, run: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Objects whose ids look alike, or like paths, come out apart and come back as they were."""
    ids = [
        "../../etc",
        "a/b",
        "A",
        "a",
        "ａ",
        "..",
        ".",
        "报销",
        "報銷",
        "con",
        "INDEX",
        "index",
        "%41",
        "x" * 200,
        "报" * 200,
    ]
    for number, name in enumerate(ids):
        service.ask("memory.object.put", id=name, title=f"第{number}个")
    assert run("export", folder)[0] == 0
    names = [path.name for path in folder.iterdir() if path.is_dir()]
    assert len({name.casefold() for name in names}) == len(ids)
    assert sorted(tmp_path.rglob("*.md")) == sorted(folder.rglob("*.md"))
    before = service.ask("memory.object.list")["items"]
    service.stop()
    with another_service(tmp_path / "other") as other:
        monkeypatch.setenv("DESKPAW_STATE_DIR", str(other.state))
        assert run("import", folder)[0] == 0
        assert other.ask("memory.object.list")["items"] == before


# ---- import ----------------------------------------------------------------


def test_a_folder_comes_back_in_another_service(
    service: Service, run: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`export` here and `import` there: the same records, whose owner the folder tells."""
    remember(service, CHINESE, ENGLISH, owner="家")
    run("export", folder, "--owner", "家")
    before = exported(service, "家")
    service.stop()
    with another_service(tmp_path / "other") as other:
        monkeypatch.setenv("DESKPAW_STATE_DIR", str(other.state))
        status, out, _ = run("import", folder, "--json")
        told = json.loads(out)
        assert (status, told["owner"], told["counts"]["created"]) == (0, "家", 4)
        assert record_documents(exported(other, "家")) == record_documents(before)
        assert run("import", folder)[1].splitlines()[-1] == "taken in   ignored 1, unchanged 4"


def test_an_edited_file_is_taken_in(service: Service, run: Run, folder: Path) -> None:
    """Export, edit, import: the edit holds, and what can't be taken is told with its reason."""
    remember(service, CHINESE, ENGLISH)
    run("export", folder)
    first, second = record_file(folder, CHINESE), record_file(folder, ENGLISH)
    first.write_text(
        with_content(first.read_text(encoding="utf-8"), "以后报销都用紫色模板"), encoding="utf-8"
    )
    second.write_text(
        second.read_text(encoding="utf-8").replace("authority: user", "authority: verification"),
        encoding="utf-8",
    )
    status, out, _ = run("import", folder, "--dry-run")
    assert (status, "would be" in out) == (1, True)
    assert {record["revision"] for record in service.records()} == {1}

    status, out, _ = run("import", folder)
    assert status == 1
    assert f"updated    {first.relative_to(folder)}" in out
    assert "not_editable: authority" in out
    contents = {record["content"] for record in service.records()}
    assert contents == {"以后报销都用紫色模板", ENGLISH}
    status, out, _ = run("export", folder, "--force")
    assert run("import", folder)[0] == 0


def test_a_stale_file_is_a_conflict(service: Service, run: Run, folder: Path) -> None:
    """A file edited at a version that is gone says which, and the command fails."""
    remember(service, CHINESE)
    run("export", folder)
    path = record_file(folder, CHINESE)
    whole = path.read_text(encoding="utf-8")
    path.write_text(with_content(whole, "以后报销都用紫色模板"), encoding="utf-8")
    assert run("import", folder)[0] == 0
    path.write_text(with_content(whole, "以后报销都用绿色模板"), encoding="utf-8")
    status, out, _ = run("import", folder)
    assert (status, "edited at revision 1, memory has 2" in out) == (1, True)


def test_files_that_are_no_documents_are_told_and_passed_over(
    service: Service, run: Run, folder: Path, tmp_path: Path
) -> None:
    """Links, pipes, folders and other encodings are not read; what is fine is taken all the same."""
    remember(service, CHINESE)
    run("export", folder)
    path = record_file(folder, CHINESE)
    path.write_text(
        with_content(path.read_text(encoding="utf-8"), "以后报销都用紫色模板"), encoding="utf-8"
    )
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.md").write_text("secret", encoding="utf-8")
    (folder / "link.md").symlink_to(outside / "x.md")
    (folder / "linked").symlink_to(outside, target_is_directory=True)
    os.mkfifo(folder / "pipe.md")
    (folder / "gbk.md").write_bytes("报销".encode("gbk"))
    (folder / "nul.md").write_bytes(b"a\0b")
    (folder / "large.md").write_bytes(b"x" * 1_600_000)
    (folder / "note.md").write_text("# 我的笔记\n", encoding="utf-8")
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "x.md").write_text("hidden", encoding="utf-8")
    (folder / "folder.md").mkdir()
    (folder / os.fsdecode(b"\xff.md")).write_text("odd", encoding="utf-8")

    status, out, _ = run("import", folder, "--json")
    told = json.loads(out)
    refused = {item["path"]: item["code"] for item in told["files"] if item["outcome"] == "refused"}
    assert refused == {
        "link.md": "unreadable", "pipe.md": "unreadable", "gbk.md": "unreadable", "nul.md": "unreadable",
        "large.md": "unreadable", "note.md": "not_a_record", "\ufffd.md": "not_a_record",
    }  # fmt: skip
    assert (status, told["counts"]["updated"]) == (1, 1)
    assert "secret" not in out


def test_a_folder_that_doesn_t_say_whose_it_is_needs_an_owner(
    service: Service, run: Run, folder: Path
) -> None:
    """A few files that were taken out of an export can be imported alone."""
    remember(service, CHINESE)
    run("export", folder)
    loose = folder.parent / "loose"
    loose.mkdir()
    record_file(folder, CHINESE).rename(loose / "x.md")
    status, _, err = run("import", loose)
    assert (status, "--owner" in err) == (1, True)
    assert run("import", loose, "--owner", "local")[0] == 0
    assert run("import", loose, "--owner", "somebody")[0] == 1


def test_nobody_there_is_status_3(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a service nothing is written, and the command says how to start one."""
    monkeypatch.setenv("DESKPAW_STATE_DIR", str(tmp_path / "state"))
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "x.md").write_text("x", encoding="utf-8")
    for command in (
        ["export", str(tmp_path / "out")],
        ["import", str(tmp_path / "in"), "--owner", "x"],
    ):
        assert main(command) == 3
        assert "deskpaw-memory serve" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


# ---- exports in the state folder -------------------------------------------


@pytest.fixture
def exports(service: Service) -> Path:
    """The folder of exports."""
    return service.state / "exports"


def refreshed(service: Service, exports: Path, owner: str = "local") -> list[Path]:
    """Write an owner's exports anew, as a forgetting does."""
    future: Any = service.services.slow.submit(refresh_exports, exports, owner)
    found: list[Path] = future.result(30)
    return found


def test_what_is_gone_goes_from_the_state_s_exports(
    service: Service, run: Run, exports: Path
) -> None:
    """A refresh leaves no byte of a record that is gone, edited or not, and keeps the rest."""
    remember(service, CHINESE, ENGLISH)
    run("export")
    run("export", exports / "deeper" / "copy")
    forgotten = [record_file(made, CHINESE) for made in (exports / "local", exports / "deeper")]
    for path in forgotten:
        path.write_text(f"{path.read_text(encoding='utf-8')}\n{CHINESE}", encoding="utf-8")
    forget(service, forgotten[0].stem)
    assert refreshed(service, exports) == []
    for made in (exports / "local", exports / "deeper" / "copy"):
        assert read_all(made) == exported(service)
        assert json.loads((made / "export.json").read_text(encoding="utf-8"))["complete"] is True
    assert [
        path
        for path in exports.rglob("*")
        if path.is_file() and CHINESE.encode() in path.read_bytes()
    ] == []


def test_a_refresh_leaves_others_alone(service: Service, run: Run, exports: Path) -> None:
    """Another owner's export, and what no export has written, stays as it is."""
    remember(service, CHINESE)
    remember(service, ENGLISH, owner="somebody")
    run("export")
    run("export", "--owner", "somebody")
    (exports / "notes.txt").write_text("mine", encoding="utf-8")
    before = read_all(exports / "somebody")
    stamps = [path.stat().st_mtime_ns for path in sorted((exports / "somebody").rglob("*"))]
    assert refreshed(service, exports) == []
    assert read_all(exports / "somebody") == before
    assert [p.stat().st_mtime_ns for p in sorted((exports / "somebody").rglob("*"))] == stamps
    assert (exports / "notes.txt").read_text(encoding="utf-8") == "mine"


def test_a_refresh_follows_no_link_and_says_so(
    service: Service, run: Run, exports: Path, tmp_path: Path
) -> None:
    """An export that a link leads to is named as not rewritten, and not touched."""
    remember(service, CHINESE)
    run("export", tmp_path / "outside")
    exports.mkdir()
    (exports / "local").symlink_to(tmp_path / "outside", target_is_directory=True)
    record = record_file(tmp_path / "outside", CHINESE)
    forget(service, record.stem)
    assert refreshed(service, exports) == [exports / "local"]
    assert record.exists()


def _damaged_note(made: Path) -> Iterator[None]:
    (made / "export.json").write_text("{", encoding="utf-8")
    yield


def _linked_inside(made: Path) -> Iterator[None]:
    inside = next(path for path in made.iterdir() if path.is_dir())
    inside.rename(made.parent.parent / "moved")
    inside.symlink_to(made.parent.parent / "moved", target_is_directory=True)
    yield


def _held(made: Path) -> Iterator[None]:
    opened = os.open(made, os.O_RDONLY)
    fcntl.flock(opened, fcntl.LOCK_EX)
    yield
    os.close(opened)


@pytest.mark.parametrize("obstacle", [_damaged_note, _linked_inside, _held])
def test_what_can_t_be_rewritten_is_named(
    service: Service, run: Run, exports: Path, obstacle: Callable[[Path], Iterator[None]]
) -> None:
    """A damaged note, a link inside or another export under way: the folder is named."""
    remember(service, CHINESE)
    run("export")
    standing = obstacle(exports / "local")
    next(standing)
    assert refreshed(service, exports) == [exports / "local"]
    assert next(standing, None) is None


def test_no_folder_of_exports_is_nothing_to_do(service: Service, exports: Path) -> None:
    """Who never exported has nothing to rewrite."""
    assert refreshed(service, exports) == []
