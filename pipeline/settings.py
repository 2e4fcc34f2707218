"""Settings: the only reader of the environment and of the configuration file.

A value comes from `DESKPAW_MEMORY_<SECTION>__<KEY>`, else from `config.toml` in the state folder,
else from the defaults here (spec: protocol, The commands). The four variables of the seed stay,
and name nothing while they are empty: `DESKPAW_STATE_DIR`, `DESKPAW_MEMORY_SOCKET`,
`DESKPAW_MEMORY_DB`, `DESKPAW_MEMORY_BUNDLES`.
"""

import difflib
import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, model_validator

from pipeline.errors import SettingsError

PREFIX: Final = "DESKPAW_MEMORY_"
STATE_VARIABLE: Final = "DESKPAW_STATE_DIR"
SEED_VARIABLES: Final = {
    "DESKPAW_MEMORY_SOCKET": ("paths", "socket"),
    "DESKPAW_MEMORY_DB": ("paths", "database"),
    "DESKPAW_MEMORY_BUNDLES": ("paths", "bundles"),
}
_SECRET_KEYS: Final = frozenset({"api_key"})
_HIDDEN: Final = "(hidden)"


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Paths(_Section):
    """Where things lie. Everything but the socket is inside the state folder unless named."""

    state: Path = Field(description="The state folder.")
    socket: Path = Field(description="The socket that clients connect to.")
    database: Path = Field(description="The memory database.")
    bundles: Path = Field(description="The folder of Markdown bundles.")

    @property
    def queue(self) -> Path:
        """Huey's own database: only wake-ups, safe to delete at any moment."""
        return self.database.with_name("queue.sqlite3")

    @property
    def index(self) -> Path:
        """The lexical index, rebuilt when it is missing."""
        return self.state / "index"

    @property
    def cache(self) -> Path:
        """Compiled rules and dictionaries, rebuilt when they are missing."""
        return self.state / "cache"

    @property
    def write_lock(self) -> Path:
        """What the processes lock in turn for each write transaction."""
        return self.database.with_name(self.database.name + ".lock")

    @property
    def consumer_beat(self) -> Path:
        """A file that the consumer touches each second: its age says whether one is alive."""
        return self.database.with_name("consumer.beat")


class Socket(_Section):
    """Limits of the socket (spec: protocol, Transport)."""

    line_bytes: int = Field(1_048_576, ge=1_024, description="A request line without newline.")
    request_ms: int = Field(5_000, ge=50, description="From a request's first byte to its newline.")
    answer_ms: int = Field(5_000, ge=50, description="From a request's newline to its answer.")
    idle_ms: int = Field(60_000, ge=50, description="A connection that asks nothing is closed.")
    connections: int = Field(64, ge=1, le=4_096, description="Connections served at once.")


class Clock(_Section):
    """Where time comes from."""

    file: Path | None = Field(None, description="A file of epoch milliseconds, for tests.")


class ObserverSettings(_Section):
    """Who observes packages, and how kind anthropic asks its model (mission C3)."""

    kind: Literal["offline", "anthropic", "external"] = Field(
        "offline", description="Which observer works."
    )
    concurrency: int = Field(1, ge=1, le=64, description="Observations under way at once.")
    model: str | None = Field(
        None, min_length=1, max_length=200, description="The model's name; anthropic needs it."
    )
    api_key: SecretStr | None = Field(
        None, description="The server's key; anthropic needs one, any word where none is asked for."
    )
    base_url: str = Field(
        "https://api.anthropic.com",
        pattern=r"^https?://[^\s@?#]+$",
        description="A server of the Messages API.",
    )
    output: Literal["schema", "tool"] = Field(
        "schema", description="What binds the answer: output_config's schema, or a strict tool."
    )
    thinking: Literal["off", "default"] = Field(
        "off", description="Off, or left to the model, as some models demand."
    )
    timeout_ms: int = Field(
        60_000, ge=100, le=600_000, description="How long one request may stay without a byte."
    )
    deadline_ms: int = Field(
        180_000, ge=100, description="The end of an observation, its retries and waits included."
    )
    retries: int = Field(
        2, ge=0, le=10, description="Requests sent again at once after a passing fault."
    )
    max_tokens: int = Field(4_096, ge=256, le=64_000, description="The longest answer.")
    daily_tokens: int = Field(
        0, ge=0, description="Tokens a workday, from 03:30 Beijing time; 0: no limit."
    )
    batches: bool = Field(
        default=False, description="Send a backlog as message batches, cheaper and slower."
    )
    batch_backlog: int = Field(
        20, ge=2, le=200, description="Waiting packages that make a backlog."
    )
    batch_poll_ms: int = Field(
        60_000, ge=1_000, description="How often a batch is asked whether it has ended."
    )

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.kind == "anthropic" and not (self.model and self.has_key):
            raise ValueError(
                "kind anthropic needs observer.model and observer.api_key, a single word"
            )
        if self.deadline_ms < self.timeout_ms:
            raise ValueError("observer.deadline_ms is shorter than observer.timeout_ms")
        return self

    @property
    def has_key(self) -> bool:
        """Whether there is a key that can stand in a header."""
        key = self.key
        return bool(key) and key.isascii() and key.isprintable() and " " not in key

    @property
    def key(self) -> str:
        """The key itself: for the request's header, and for nothing else."""
        return self.api_key.get_secret_value() if self.api_key else ""


class PipelineSettings(_Section):
    """Bounds of packages, leases and attempts (spec: design, Ledger and packages)."""

    package_age_ms: int = Field(30_000, ge=0, description="A package closes at this age,")
    package_events: int = Field(20, ge=1, le=200, description="or with this many events,")
    package_tokens: int = Field(6_000, ge=100, description="or with this many tokens of input.")
    call_wait_ms: int = Field(900_000, ge=0, description="How long a call waits for its result.")
    lease_ms: int = Field(60_000, ge=200, description="A lease's length; renewed while at work.")
    lease_hard_ms: int = Field(600_000, ge=200, description="A lease's end, renewed or not.")
    attempts: int = Field(8, ge=1, description="Failures until a package is parked.")
    backoff_ms: int = Field(2_000, ge=1, description="First wait after a failure; doubles.")
    backoff_cap_ms: int = Field(600_000, ge=1, description="The longest wait after a failure.")
    filter_batch: int = Field(500, ge=1, le=5_000, description="Events the filter takes at once.")


class ReviewSettings(_Section):
    """Days after which a record of each kind is shown as one to be checked again; 0: never.

    A story is about what was; a commitment has its due day (mission D5, D7).
    """

    environment_days: int = Field(14, ge=0, description="Facts about the surroundings.")
    project_days: int = Field(90, ge=0, description="Facts about current work.")
    profile_days: int = Field(365, ge=0, description="Facts about the person.")
    preference_days: int = Field(365, ge=0, description="Preferences.")
    rule_days: int = Field(365, ge=0, description="Rules.")
    correction_days: int = Field(365, ge=0, description="Corrections.")
    procedure_days: int = Field(180, ge=0, description="Procedures.")


class RetentionSettings(_Section):
    """Days for which a record of each kind stands without being told again; 0: for ever.

    Then it is archived: kept, found with include_past, erased by nothing. Counted from when it was
    last told or recorded, whichever is later. No setting touches a commitment (mission D7).
    """

    environment_days: int = Field(365, ge=0, description="Facts about the surroundings.")
    project_days: int = Field(0, ge=0, description="Facts about current work.")
    profile_days: int = Field(0, ge=0, description="Facts about the person.")
    preference_days: int = Field(0, ge=0, description="Preferences.")
    rule_days: int = Field(0, ge=0, description="Rules.")
    correction_days: int = Field(0, ge=0, description="Corrections.")
    procedure_days: int = Field(0, ge=0, description="Procedures.")
    episode_days: int = Field(0, ge=0, description="Episodes.")
    cue_days: int = Field(0, ge=0, description="Recall cues.")
    sweep_ms: int = Field(60_000, ge=100, description="How often records are looked at for it.")


class SnapshotSettings(_Section):
    """Bounds of what is published."""

    object_tokens: int = Field(2_000, ge=50, description="A snapshot of one object.")
    core_tokens: int = Field(1_000, ge=50, description="The owner's core.")


class RecallSettings(_Section):
    """Bounds of a recall."""

    wait_ms: int = Field(75, ge=1, le=75, description="How long a recall may hold its caller.")
    keep_ms: int = Field(7 * 86_400_000, ge=0, description="How long a result is kept.")


class RedactionSettings(_Section):
    """What is removed before anything touches the disk."""

    phones: Literal["keep", "redact"] = Field("keep", description="What happens to phone numbers.")


class Worker(_Section):
    """The consumer that `serve` starts."""

    threads: int = Field(4, ge=1, le=64, description="Worker threads of the consumer.")
    drain_ms: int = Field(8_000, ge=0, description="Time to finish work after SIGTERM.")


class Faults(_Section):
    """For tests: kills the process at named points of its commit paths."""

    kill_at: str | None = Field(
        None, description="Points of storage.faults, as point or point:nth pass, with commas."
    )
    once_folder: Path | None = Field(
        None, description="Where a point that has killed leaves a file of its name, to do so once."
    )


class Log(_Section):
    """What is written to standard error."""

    level: Literal["debug", "info", "warning", "error"] = Field("info", description="From where.")


class Settings(_Section):
    """All settings, by section."""

    paths: Paths
    socket: Socket = Socket()
    clock: Clock = Clock()
    observer: ObserverSettings = ObserverSettings()
    pipeline: PipelineSettings = PipelineSettings()
    review: ReviewSettings = ReviewSettings()
    retention: RetentionSettings = RetentionSettings()
    snapshot: SnapshotSettings = SnapshotSettings()
    recall: RecallSettings = RecallSettings()
    redaction: RedactionSettings = RedactionSettings()
    worker: Worker = Worker()
    faults: Faults = Faults()
    log: Log = Log()

    @model_validator(mode="after")
    def _within_the_lease(self) -> Self:
        limit = self.pipeline.lease_hard_ms
        if self.observer.kind == "anthropic" and self.observer.deadline_ms >= limit:
            raise ValueError("observer.deadline_ms must be below pipeline.lease_hard_ms")
        return self

    def listed(self, sources: Mapping[str, str]) -> list[dict[str, Any]]:
        """Every setting with its value and where it comes from; secrets are hidden.

        Args:
            sources: What `load` said about them; a missing one is a default.
        """
        rows = []
        for key, section, name in keys():
            value = getattr(getattr(self, section), name)
            shown = str(value) if isinstance(value, Path) else value
            if name in _SECRET_KEYS and value is not None:
                shown = _HIDDEN
            rows.append({"key": key, "value": shown, "source": sources.get(key, "default")})
        return rows


def keys() -> Iterator[tuple[str, str, str]]:
    """Every setting as `section.key`, section and key."""
    for section, field in Settings.model_fields.items():
        model = field.annotation
        if isinstance(model, type) and issubclass(model, BaseModel):
            for name in model.model_fields:
                yield f"{section}.{name}", section, name


def load(environ: Mapping[str, str] | None = None) -> tuple[Settings, dict[str, str]]:
    """Read environment and configuration file.

    Returns:
        The settings, and for each key that isn't a default where its value comes from.

    Raises:
        SettingsError: An unknown key (the message names the nearest known one), a value that
            doesn't fit, or a file that is no TOML.
    """
    environment = os.environ if environ is None else environ
    values: dict[str, dict[str, Any]] = {}
    sources: dict[str, str] = {}
    moved = bool(environment.get(STATE_VARIABLE))
    state = Path(environment[STATE_VARIABLE] if moved else "~/.deskpaw/memory").expanduser()
    file = state / "config.toml"
    for section, name, value in _from_file(file):
        _set(values, sources, (section, name), value, str(file))
    for variable, section, name, value in _from_environment(environment):
        _set(values, sources, (section, name), value, variable)
    if moved:
        for name in Paths.model_fields:
            sources.setdefault(f"paths.{name}", STATE_VARIABLE)
    _fill_paths(values.setdefault("paths", {}), state, moved=moved)
    try:
        return Settings.model_validate(values), sources
    except ValidationError as error:
        raise SettingsError(_explain(error, sources)) from None


def _set(
    values: dict[str, dict[str, Any]],
    sources: dict[str, str],
    key: tuple[str, str],
    value: object,
    source: str,
) -> None:
    section, name = key
    known = {(of, called) for _, of, called in keys()} - {("paths", "state")}
    if key not in known:
        near = difflib.get_close_matches(
            f"{section}.{name}", [f"{of}.{called}" for of, called in known], n=1, cutoff=0.0
        )
        raise SettingsError(f"{source}: there is no setting {section}.{name}; nearest: {near[0]}.")
    values.setdefault(section, {})[name] = value
    sources[f"{section}.{name}"] = source


def _from_file(file: Path) -> Iterator[tuple[str, str, Any]]:
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{file} can't be read: {type(error).__name__}.") from error
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{file} is no TOML: {error}.") from error
    for section, content in found.items():
        if not isinstance(content, dict):
            raise SettingsError(f"{file}: {section} stands outside of a [section].")
        for name, value in content.items():
            yield section, name, value


def _from_environment(
    environment: Mapping[str, str],
) -> Iterator[tuple[str, str, str, str]]:
    for variable, value in sorted(environment.items()):
        if variable in SEED_VARIABLES:
            if not value:
                continue
            section, name = SEED_VARIABLES[variable]
        elif variable.startswith(PREFIX):
            section, _, name = variable.removeprefix(PREFIX).lower().partition("__")
        else:
            continue
        yield variable, section, name, value


def _fill_paths(paths: dict[str, Any], state: Path, *, moved: bool) -> None:
    """Put in the paths that are not named; with a state folder of one's own the socket is in it."""
    home_socket = Path("~/.deskpaw/runtime/memory.sock").expanduser()
    paths["state"] = state
    paths.setdefault("socket", state / "memory.sock" if moved else home_socket)
    paths.setdefault("database", state / "data" / "memory.sqlite3")
    paths.setdefault("bundles", state / "bundles")
    for name, value in paths.items():
        paths[name] = Path(value).expanduser().absolute()


def _explain(error: ValidationError, sources: Mapping[str, str]) -> str:
    """What is wrong and where, without the value: it could be a secret."""
    lines = []
    for fault in error.errors(include_input=False, include_url=False):
        key = ".".join(str(part) for part in fault["loc"][:2])
        place = [part for part in (sources.get(key), key) if part]
        lines.append(": ".join([*place, f"{fault['msg'].removeprefix('Value error, ')}."]))
    return " ".join(lines)
