"""Settings: environment over file over defaults, and errors that say what to change."""

import json
import secrets
from pathlib import Path

import pytest

from pipeline.errors import SettingsError
from pipeline.settings import keys, load

pytestmark = pytest.mark.unit

STATE = "DESKPAW_STATE_DIR"


def write(state: Path, text: str) -> dict[str, str]:
    """A configuration file in a state folder, and the environment that names the folder."""
    (state / "config.toml").write_text(text, encoding="utf-8")
    return {STATE: str(state)}


# ---- paths -----------------------------------------------------------------


def test_paths_without_any_variable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """State lies in the home folder, the socket beside it in the runtime folder."""
    monkeypatch.setenv("HOME", str(tmp_path))
    settings, sources = load({})
    paths = settings.paths
    assert paths.state == tmp_path / ".deskpaw/memory"
    assert paths.socket == tmp_path / ".deskpaw/runtime/memory.sock"
    assert paths.database == tmp_path / ".deskpaw/memory/data/memory.sqlite3"
    assert paths.bundles == tmp_path / ".deskpaw/memory/bundles"
    assert sources == {}


def test_a_state_folder_of_ones_own_takes_the_socket_along(tmp_path: Path) -> None:
    """With the state folder alone everything lies in it, the socket too."""
    settings, sources = load({STATE: str(tmp_path)})
    paths = settings.paths
    assert (paths.state, paths.socket) == (tmp_path, tmp_path / "memory.sock")
    assert paths.queue == tmp_path / "data/queue.sqlite3"
    assert paths.index == tmp_path / "index"
    assert paths.cache == tmp_path / "cache"
    assert sources == {
        f"paths.{name}": STATE for name in ("state", "socket", "database", "bundles")
    }


@pytest.mark.parametrize(
    "variable",
    [STATE, "DESKPAW_MEMORY_SOCKET", "DESKPAW_MEMORY_DB", "DESKPAW_MEMORY_BUNDLES"],
)
def test_an_empty_variable_names_no_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variable: str
) -> None:
    """A path's variable that is set to nothing is as good as absent, for every path."""
    monkeypatch.setenv("HOME", str(tmp_path))
    assert load({variable: ""}) == load({})


@pytest.mark.parametrize(
    ("variable", "name"),
    [
        ("DESKPAW_MEMORY_SOCKET", "socket"),
        ("DESKPAW_MEMORY_DB", "database"),
        ("DESKPAW_MEMORY_BUNDLES", "bundles"),
    ],
)
def test_the_variables_of_old_stay(tmp_path: Path, variable: str, name: str) -> None:
    """Each of the old variables sets its own path and no other."""
    settings, sources = load({STATE: str(tmp_path), variable: str(tmp_path / "记忆 x")})
    plain, _ = load({STATE: str(tmp_path)})
    assert getattr(settings.paths, name) == tmp_path / "记忆 x"
    assert sources[f"paths.{name}"] == variable
    changed = settings.paths.model_dump().items() - plain.paths.model_dump().items()
    assert {key for key, _ in changed} == {name}


def test_the_queue_lies_beside_the_database(tmp_path: Path) -> None:
    """Moving the database moves its queue, its lock and the consumer's beat."""
    paths = load({STATE: str(tmp_path), "DESKPAW_MEMORY_DB": "/x/other.db"})[0].paths
    assert paths.queue == Path("/x/queue.sqlite3")
    assert paths.write_lock == Path("/x/other.db.lock")
    assert paths.consumer_beat == Path("/x/consumer.beat")


def test_relative_and_home_paths_become_absolute(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A path means the same wherever a process of the service runs later."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert load({STATE: "here"})[0].paths.state == tmp_path / "here"
    assert load({STATE: "~/there"})[0].paths.state == tmp_path / "there"


# ---- where values come from ------------------------------------------------


def test_the_file_sets_what_the_environment_does_not(tmp_path: Path) -> None:
    """Environment over file over defaults, and each value's source is known."""
    environ = write(tmp_path, "[worker]\nthreads = 7\ndrain_ms = 9\n")
    settings, sources = load(environ | {"DESKPAW_MEMORY_WORKER__THREADS": "2"})
    assert settings.worker.threads == 2
    assert settings.worker.drain_ms == 9
    assert sources["worker.threads"] == "DESKPAW_MEMORY_WORKER__THREADS"
    assert sources["worker.drain_ms"] == str(tmp_path / "config.toml")
    assert "worker" not in " ".join(load({STATE: str(tmp_path / "none")})[1])


def test_every_setting_is_listed_with_its_source(tmp_path: Path) -> None:
    """What is shown names each key once, its value and where it comes from."""
    settings, sources = load({STATE: str(tmp_path), "DESKPAW_MEMORY_LOG__LEVEL": "debug"})
    rows = {row["key"]: row for row in settings.listed(sources)}
    assert rows.keys() == {key for key, _, _ in keys()}
    assert rows["log.level"] == {
        "key": "log.level", "value": "debug", "source": "DESKPAW_MEMORY_LOG__LEVEL",
    }  # fmt: skip
    assert rows["worker.threads"]["source"] == "default"
    assert rows["paths.state"] == {
        "key": "paths.state", "value": str(tmp_path), "source": STATE,
    }  # fmt: skip


def test_other_variables_are_nobodys_business(tmp_path: Path) -> None:
    """A variable of another program, however alike, sets nothing."""
    environ = {STATE: str(tmp_path), "DESKPAW_OTHER": "x", "deskpaw_memory_log__level": "x"}
    assert load(environ) == load({STATE: str(tmp_path)})


# ---- errors ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("variable", "nearest"),
    [
        ("DESKPAW_MEMORY_WORKER__THREDS", "worker.threads"),
        ("DESKPAW_MEMORY_OBSERVR__KIND", "observer.kind"),
        ("DESKPAW_MEMORY_PIPELINE__LEASE", "pipeline.lease_ms"),
        ("DESKPAW_MEMORY_SOKET", "socket."),
    ],
)
def test_an_unknown_variable_names_the_nearest_key(
    tmp_path: Path, variable: str, nearest: str
) -> None:
    """A typo is an error that says which variable and what was probably meant."""
    with pytest.raises(SettingsError) as caught:
        load({STATE: str(tmp_path), variable: "1"})
    assert variable in caught.value.message
    assert nearest in caught.value.message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[worker]\nthreds = 2\n", "worker.threads"),
        ("[workr]\nthreads = 2\n", "worker.threads"),
        ("threads = 2\n", "outside of a [section]"),
        ("[worker\nthreads = 2\n", "is no TOML"),
        ("[paths]\nstate = '/x'\n", "there is no setting paths.state"),
        ("[worker]\nthreads = 0\n", "worker.threads"),
        ("[worker]\nthreads = 'many'\n", "worker.threads"),
    ],
)
def test_a_wrong_file_is_told_by_name_and_key(tmp_path: Path, text: str, said: str) -> None:
    """What is wrong in the file is told with the file's name and the key."""
    with pytest.raises(SettingsError) as caught:
        load(write(tmp_path, text))
    assert "config.toml" in caught.value.message
    assert said in caught.value.message


def test_a_file_that_is_no_text_is_told(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 are an error of the file, not a crash."""
    (tmp_path / "config.toml").write_bytes(b"\xff\xfe[log]\n")
    with pytest.raises(SettingsError, match=r"config\.toml can't be read"):
        load({STATE: str(tmp_path)})


def test_a_refused_value_is_not_repeated(tmp_path: Path) -> None:
    """A value may be a secret that stands in the wrong variable."""
    with pytest.raises(SettingsError) as caught:
        load({STATE: str(tmp_path), "DESKPAW_MEMORY_WORKER__THREADS": "s3cret-words"})
    assert "DESKPAW_MEMORY_WORKER__THREADS" in caught.value.message
    assert "s3cret" not in caught.value.message
    assert caught.value.__suppress_context__


def test_all_wrong_values_are_told_at_once(tmp_path: Path) -> None:
    """Nobody has to start the service once for each mistake."""
    environ = {
        STATE: str(tmp_path),
        "DESKPAW_MEMORY_WORKER__THREADS": "0",
        "DESKPAW_MEMORY_OBSERVER__KIND": "magic",
    }
    with pytest.raises(SettingsError) as caught:
        load(environ)
    assert "worker.threads" in caught.value.message
    assert "observer.kind" in caught.value.message


def test_settings_do_not_change_under_way(tmp_path: Path) -> None:
    """What was read at start holds for the process."""
    settings, _ = load({STATE: str(tmp_path)})
    for name in type(settings.worker).model_fields:
        with pytest.raises(ValueError, match="frozen"):
            setattr(settings.worker, name, 5)


# ---- the observer that asks a model ----------------------------------------

MODEL = {
    "DESKPAW_MEMORY_OBSERVER__KIND": "anthropic",
    "DESKPAW_MEMORY_OBSERVER__MODEL": "a-model",
}


def key() -> dict[str, str]:
    """A key that was made just now, as its variable."""
    return {"DESKPAW_MEMORY_OBSERVER__API_KEY": secrets.token_urlsafe(24)}


def test_a_model_needs_its_name_and_a_key(tmp_path: Path) -> None:
    """Without either the service does not start, and says which settings are missing."""
    for environ in (MODEL, {"DESKPAW_MEMORY_OBSERVER__KIND": "anthropic"} | key()):
        with pytest.raises(SettingsError) as caught:
            load({STATE: str(tmp_path)} | environ)
        assert "observer.model and observer.api_key" in caught.value.message
    assert load({STATE: str(tmp_path)} | MODEL | key())[0].observer.model == "a-model"


@pytest.mark.parametrize("wrong", ["", "two words", "with\nline", "钥匙", "tab\t"])
def test_a_key_that_fits_into_no_header_is_refused(tmp_path: Path, wrong: str) -> None:
    """A key is one word; a wrong one is not repeated."""
    with pytest.raises(SettingsError) as caught:
        load({STATE: str(tmp_path)} | MODEL | {"DESKPAW_MEMORY_OBSERVER__API_KEY": wrong})
    assert not wrong or wrong not in caught.value.message


def test_a_key_is_shown_nowhere(tmp_path: Path) -> None:
    """Neither the list, nor its JSON, nor a trace of the settings tells a key; its place is told."""
    found = key()
    settings, sources = load({STATE: str(tmp_path)} | MODEL | found)
    (secret,) = found.values()
    row = {row["key"]: row for row in settings.listed(sources)}["observer.api_key"]
    assert row["value"] == "(hidden)"
    assert row["source"] == "DESKPAW_MEMORY_OBSERVER__API_KEY"
    assert secret not in json.dumps(settings.listed(sources))
    assert secret not in repr(settings)
    assert settings.observer.key == secret


def test_a_key_may_stand_in_the_file(tmp_path: Path) -> None:
    """The configuration file in the owner's own folder is a place for it too."""
    (secret,) = key().values()
    text = f"[observer]\nkind = 'anthropic'\nmodel = 'm'\napi_key = '{secret}'\n"
    assert load(write(tmp_path, text))[0].observer.key == secret


@pytest.mark.parametrize(
    ("url", "fits"),
    [
        ("https://api.anthropic.com", True),
        ("http://127.0.0.1:8080/anthropic", True),
        ("https://user:word@example.org", False),
        ("ftp://example.org", False),
        ("example.org", False),
        ("https://example.org/?key=x", False),
        ("https://exam ple.org", False),
    ],
)
def test_a_server_is_named_without_credentials(tmp_path: Path, url: str, *, fits: bool) -> None:
    """An address is shown, so nothing secret may stand in it."""
    environ = {STATE: str(tmp_path), "DESKPAW_MEMORY_OBSERVER__BASE_URL": url}
    if fits:
        assert load(environ)[0].observer.base_url == url
        return
    with pytest.raises(SettingsError, match=r"observer\.base_url"):
        load(environ)


def test_an_observation_ends_before_its_lease(tmp_path: Path) -> None:
    """The deadline lies above the time limit and below the lease's end; the message names both."""
    for name, value, other in (
        ("DEADLINE_MS", "1000", "observer.timeout_ms"),
        ("DEADLINE_MS", "600000", "pipeline.lease_hard_ms"),
    ):
        environ = {STATE: str(tmp_path), f"DESKPAW_MEMORY_OBSERVER__{name}": value}
        with pytest.raises(SettingsError) as caught:
            load(environ | MODEL | key())
        assert "observer.deadline_ms" in caught.value.message
        assert other in caught.value.message
