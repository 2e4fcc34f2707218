"""Lines out of bytes, requests out of lines, answers into lines."""

import json
import secrets

import pytest

from socket_gateway.framing import (
    LineSplitter,
    RefusedRequestError,
    encode_error,
    encode_ok,
    parse_request,
)
from socket_gateway.strict_json import load_strict
from storage.errors import BadJsonError, BusyError, StaleError, TooLargeError

pytestmark = pytest.mark.unit

_LIMIT = 8


def _lines(*chunks: bytes) -> list[bytes | None]:
    """The lines in these chunks, empty ones left out; None stands for one that is too long."""
    splitter = LineSplitter(_LIMIT)
    found: list[bytes | None] = []
    for chunk in chunks:
        splitter.feed(chunk)
        while True:
            try:
                line = splitter.take()
            except TooLargeError:
                found.append(None)
                continue
            if line is None:
                break
            if line:
                found.append(line)
    return found


@pytest.mark.parametrize(
    ("chunks", "lines"),
    [
        ([b"ab\ncd\n"], [b"ab", b"cd"]),
        ([b"a", b"b\nc", b"d\n"], [b"ab", b"cd"]),
        (["报销\n".encode()[:2], "报销\n".encode()[2:]], ["报销".encode()]),
        ([b"\n\r\n\n"], []),
        ([b"ab\r\n", b"cd\r", b"\n"], [b"ab", b"cd"]),
        ([b"a\rb\n"], [b"a\rb"]),
        ([b"unfinished"[:_LIMIT]], []),
        ([b"12345678\n"], [b"12345678"]),
        ([b"12345678\r\n"], [b"12345678"]),
        ([b"12345678\r", b"\n"], [b"12345678"]),
        ([b"12345678", b"\r", b"\n"], [b"12345678"]),
        ([b"123456789\nok\n"], [None, b"ok"]),
        ([b"1234567", b"89", b"more", b"\nok\n"], [None, b"ok"]),
        ([b"12345678\r\r\nok\n"], [None, b"ok"]),
        ([b"x" * 100 + b"\n" + b"y" * 100 + b"\n"], [None, None]),
    ],
)
def test_bytes_are_cut_into_lines(chunks: list[bytes], lines: list[bytes | None]) -> None:
    """Whole lines come out whatever the chunks, and each line too long is reported once."""
    assert _lines(*chunks) == lines


def test_a_splitter_tells_that_a_line_has_begun() -> None:
    """A begun line shows until its newline, also while it is being skipped."""
    splitter = LineSplitter(_LIMIT)
    seen = [splitter.in_line]
    splitter.feed(b"abc")
    assert splitter.take() is None
    seen.append(splitter.in_line)
    splitter.feed(b"0123456789")
    with pytest.raises(TooLargeError):
        splitter.take()
    seen.append(splitter.skipping)
    splitter.feed(b"rest\n")
    assert splitter.take() == b""
    seen.append(splitter.in_line)
    assert seen == [False, True, True, False]


def test_a_line_cut_off_by_the_end_is_refused() -> None:
    """Bytes without a newline at the end of input are bad JSON at the byte that is missing."""
    splitter = LineSplitter(_LIMIT)
    splitter.feed(b"{}\n{}")
    assert splitter.take() == b"{}"
    assert splitter.take() is None
    with pytest.raises(BadJsonError) as caught:
        splitter.check_end()
    assert caught.value.details == {"byte": 3}


@pytest.mark.parametrize(
    ("line", "byte"),
    [
        (b'{"a":1', 6),
        (b'{"a":1}x', 8),
        (b'{"a":1} {"b":2}', 9),
        (b'{"a":1,"a":2}', 12),
        (b'{"a":1,"\\u0061":2}', 17),
        ('{"报":1,"报":2}'.encode(), 16),
        (b'{"a":NaN}', 6),
        (b'{"a":Infinity}', 6),
        (b'{"a":-Infinity}', 7),
        (b'{"a":"\xff"}', 7),
        (b'{"a":"\xed\xa0\x80"}', 7),
        (b'{"a":"\xc0\x80"}', 7),
        (b'{"a":"\x00"}', 7),
        (b'{"a":"\\udc00x"}', 12),
        (b'{"a":"\\ud800\\ud800"}', 18),
        (b"{'a':1}", 2),
        (b'{"a":01}', 7),
        (b'{"a":[1,]}', 9),
        (b"\xef\xbb\xbf{}", 1),
    ],
)
def test_bad_syntax_names_its_byte(line: bytes, byte: int) -> None:
    """What isn't strict JSON is refused with the byte at which reading stopped."""
    with pytest.raises(BadJsonError) as caught:
        load_strict(line)
    assert caught.value.details == {"byte": byte}
    assert f"byte {byte}" in caught.value.message


@pytest.mark.parametrize(
    ("line", "path"),
    [
        (b"1e999", "$"),
        (b'{"a":1e999}', "$.a"),
        (b'{"a":{"b":[0,-1e999]}}', "$.a.b[1]"),
        (b'{"a":9223372036854775808}', "$.a"),
        (b'{"a":-9223372036854775809}', "$.a"),
        (b'{"a":["ok","x\\u0000y"]}', "$.a[1]"),
        (b'{"a":{"k\\u0000":1}}', "$.a.*"),
        ('{"密码是甲乙丙":1e999}'.encode(), "$.*"),
        (b'{"' + b"k" * 41 + b'":1e999}', "$.*"),
    ],
)
def test_a_bad_value_names_its_path(line: bytes, path: str) -> None:
    """A value that strict JSON excludes is refused with the path to it, in plain fields only."""
    with pytest.raises(BadJsonError) as caught:
        load_strict(line)
    assert caught.value.details == {"path": path}
    assert path in caught.value.message


@pytest.mark.parametrize(
    "value",
    [
        b"9223372036854775807",
        b"-9223372036854775808",
        b"1e308",
        '"报销 😀 \\ud83d\\ude00"'.encode(),
        b'"\\\\u0000"',
        b"[" * 63 + b"]" * 63,
    ],
)
def test_values_at_the_edge_are_kept(value: bytes) -> None:
    """64-bit integers, large doubles, pairs of surrogates and 64 levels are strict JSON."""
    line = b'{"v":' + value + b"}"
    assert load_strict(line) == json.loads(line)


@pytest.mark.parametrize("depth", [65, 150, 250, 100_000])
@pytest.mark.parametrize(("opening", "step"), [(b"[", "[0]"), (b'{"a":', ".a")])
def test_deep_nesting_names_its_path(depth: int, opening: bytes, step: str) -> None:
    """Nesting over 64 is refused with the path of the first level too deep, however deep it goes."""
    closing = b"]" if opening == b"[" else b"}"
    with pytest.raises(BadJsonError) as caught:
        load_strict(opening * depth + b"1" + closing * depth)
    assert caught.value.details["path"] == "$" + step * 64


def test_a_long_path_is_cut() -> None:
    """A path of long field names doesn't make a long message."""
    name = b"field_" + b"x" * 30
    with pytest.raises(BadJsonError) as caught:
        load_strict((b'{"' + name + b'":') * 60 + b"1e999" + b"}" * 60)
    assert len(str(caught.value.details["path"])) <= 240


@pytest.mark.parametrize("request_id", [0, -(2**63), 2**63 - 1, "r", "报销-七月", "x" * 200])
def test_a_request_is_read(request_id: str | int) -> None:
    """Id, method and params come through as they were sent."""
    line = json.dumps({"id": request_id, "method": "health", "params": {"问": [1, None]}})
    request = parse_request(line.encode())
    assert (request.id, request.method, request.params) == (request_id, "health", {"问": [1, None]})


def test_params_may_be_absent() -> None:
    """A request without params has empty ones."""
    assert parse_request(b'{"id":1,"method":"health"}').params == {}


@pytest.mark.parametrize(
    ("line", "request_id"),
    [
        (b"[]", None),
        (b"null", None),
        (b'"text"', None),
        (b'{"method":"health"}', None),
        (b'{"id":null,"method":"health"}', None),
        (b'{"id":1.0,"method":"health"}', None),
        (b'{"id":true,"method":"health"}', None),
        (b'{"id":"","method":"health"}', None),
        (b'{"id":"a\\nb","method":"health"}', None),
        (b'{"id":"a\\u0085b","method":"health"}', None),
        (b'{"id":"' + b"x" * 201 + b'","method":"health"}', None),
        (b'{"id":7}', 7),
        (b'{"id":"r","method":1}', "r"),
        (b'{"id":7,"method":"health","params":[]}', 7),
        (b'{"id":7,"method":"health","params":null}', 7),
        ('{"id":"报","method":"health","parms":{}}'.encode(), "报"),
    ],
)
def test_json_that_is_no_request_is_refused(line: bytes, request_id: str | int | None) -> None:
    """Another shape than a request is refused, with the id wherever there is one."""
    with pytest.raises(RefusedRequestError) as caught:
        parse_request(line)
    assert caught.value.request_id == request_id


def test_a_refusal_never_repeats_what_was_refused() -> None:
    """No message or detail holds a key or value of the refused line."""
    private = f"{secrets.token_hex(8)}密码"
    lines = [
        f'{{"id":1,"method":"m","params":{{"{private}":1,"{private}":2}}}}',
        f'{{"id":1,"method":"m","params":{{"{private}":1e999}}}}',
        f'{{"id":1,"method":"m","params":{{"a":"{private}\\u0000"}}}}',
        f'{{"id":1,"method":"m","params":{{"a":"{private}"',
        f'{{"id":1,"method":"m","params":"{private}"}}',
        f'{{"id":"{private}\\n","method":"m"}}',
        f'{{"id":1,"method":"m","{private}":1}}',
    ]
    for line in lines:
        with pytest.raises((BadJsonError, RefusedRequestError)) as caught:
            parse_request(line.encode())
        assert private not in encode_error(None, caught.value).decode()


def test_answers_are_one_line_each() -> None:
    """A result and an error are encoded as the wire has them, in UTF-8 and on one line."""
    ok = encode_ok("r", {"text": "第一行\n第二行"})
    assert ok.count(b"\n") == 1
    assert json.loads(ok) == {"id": "r", "ok": True, "result": {"text": "第一行\n第二行"}}
    busy = json.loads(encode_error(None, BusyError("later", retry_after_ms=5)))
    assert busy == {
        "id": None,
        "ok": False,
        "error": {"code": "busy", "message": "later", "retry_after_ms": 5},
    }
    stale = json.loads(encode_error(7, StaleError("moved", details={"which": "lease"})))
    assert stale["error"] == {"code": "stale", "message": "moved", "details": {"which": "lease"}}
