"""Strict JSON from one line of raw bytes: what is refused, and where in the line it stands.

No library alone is strict enough (spec: design, JSON in): jiter parses and refuses bad UTF-8,
lone surrogates, NaN, Infinity, duplicate keys and trailing bytes; one walk over the values then
refuses what jiter lets pass. No message holds a byte of the line, since it may be private; only
the names of plain fields on the way to a refused value are kept.
"""

import math
import re
from collections.abc import Iterable
from typing import Any, TypeAlias

import jiter

from storage.errors import BadJsonError

MAX_DEPTH = 64
"""Containers inside each other, the outermost counted as one (spec: protocol, Frames and ids)."""

_INT_MIN = -(2**63)
_INT_MAX = 2**63 - 1
_MAX_PATH = 240
_FIELD_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}")
_BYTE = re.compile(r" at line 1 column (\d+)$")

# The parser's own words quote a duplicate key, so each reason is said in words of our own.
_SYNTAX_REASONS = (
    ("duplicate key", "a key stands twice in one object"),
    ("unicode code point", "invalid UTF-8"),
    ("surrogate", "a lone surrogate"),
    ("hex escape", "a lone surrogate or a broken escape"),
    ("invalid escape", "a broken escape"),
    ("control character", "a raw control character in a string"),
    ("trailing characters", "something follows the JSON value"),
    ("number", "a malformed number"),
    ("EOF", "the line ends inside the JSON value"),
)


_Place: TypeAlias = tuple[Any, str | int, "_Place | None"]
"""A value, its key or index, and the place of its container."""


def load_strict(line: bytes) -> object:
    """Parse one line, without its newline, as strict JSON.

    Args:
        line: The raw bytes.

    Returns:
        The value: dict, list, str, int (64 bits), finite float, bool or None.

    Raises:
        BadJsonError: It is not strict JSON. `details` has `byte` (counted from 1) for syntax, or
            `path` for a value or the depth (spec: protocol, Transport).
    """
    try:
        value = _parse(line)
    except ValueError as error:
        raise _syntax_error(line, str(error)) from None
    _check_values(value, may_hold_nul=b"\\u0000" in line)
    return value


def _parse(line: bytes, *, cut_short: bool = False) -> object:
    # Only keys are cached: values are the user's and must not stay in a process-wide cache.
    value: object = jiter.from_json(
        line,
        allow_inf_nan=False,
        catch_duplicate_keys=True,
        cache_mode="keys",
        partial_mode=cut_short,
    )
    return value


def _syntax_error(line: bytes, parser_message: str) -> BadJsonError:
    found = _BYTE.search(parser_message)
    byte = int(found[1]) if found else len(line)
    if parser_message.startswith("recursion limit"):
        # The parser gave up far below our depth; what stands before that byte shows the path.
        _check_values(_parse(line[: byte - 1], cut_short=True), may_hold_nul=True)
    reason = next(
        (ours for theirs, ours in _SYNTAX_REASONS if theirs in parser_message), "a syntax error"
    )
    return BadJsonError(
        f"Not strict JSON at byte {byte}: {reason}. Send one UTF-8 JSON object a line.",
        details={"byte": byte},
    )


def _check_values(root: object, *, may_hold_nul: bool) -> None:
    level: list[_Place] = [({"$": root}, "$", None)]
    for _ in range(MAX_DEPTH + 1):
        if may_hold_nul:
            _refuse_nul(level)
        level = _check_level(level)
        if not level:
            return
    raise _value_error(level[0], f"nested deeper than {MAX_DEPTH}")


def _check_level(level: list[_Place]) -> list[_Place]:
    """Check the numbers in these containers; give back the containers one level below."""
    deeper: list[_Place] = []
    for place in level:
        for key, value in _entries(place[0]):
            # Exact types in order of frequency: this loop runs for every value of every request.
            kind = type(value)
            if kind is str:
                continue
            if kind is int:
                if not _INT_MIN <= value <= _INT_MAX:
                    raise _value_error((value, key, place), "an integer outside 64 bits")
            elif kind is dict or kind is list:
                deeper.append((value, key, place))
            elif kind is float and not math.isfinite(value):
                raise _value_error((value, key, place), "a number too large for a double")
    return deeper


def _refuse_nul(level: list[_Place]) -> None:
    for place in level:
        for key, value in _entries(place[0]):
            if type(key) is str and "\0" in key:
                raise _value_error((value, key, place), "NUL in a key")
            if type(value) is str and "\0" in value:
                raise _value_error((value, key, place), "NUL in a string")


def _entries(container: Any) -> Iterable[tuple[str | int, Any]]:
    return container.items() if type(container) is dict else enumerate(container)


def _value_error(place: _Place, reason: str) -> BadJsonError:
    path = _path(place)
    return BadJsonError(
        f"Not strict JSON at {path}: {reason}. Correct that value and send the request again.",
        details={"path": path},
    )


def _path(place: _Place) -> str:
    parts: list[str] = []
    container: _Place | None = place
    while container is not None:
        parts.append(_path_part(container[1]))
        container = container[2]
    path = "$" + "".join(reversed(parts[:-2]))
    return path if len(path) <= _MAX_PATH else path[: _MAX_PATH - 1] + "…"


def _path_part(key: str | int) -> str:
    if isinstance(key, int):
        return f"[{key}]"
    return f".{key}" if _FIELD_NAME.fullmatch(key) else ".*"
