"""What a log becomes on its way to the socket: forms of lines, whole files, requests, standings."""

import gzip
import json
from pathlib import Path
from typing import Any, cast

import orjson
import pytest

from socket_gateway.protocol import MAX_TEXT
from socket_gateway.replaying.errors import Fault, ReplayError
from socket_gateway.replaying.forms import ReadEvent, UnfitLineError, read_event
from socket_gateway.replaying.reading import MAX_LINE, lines
from socket_gateway.replaying.sending import MAX_REQUEST, requests
from socket_gateway.replaying.standing import Standing, Standings
from socket_gateway.replaying.survey import Line, Survey, Surveyor, good_lines

pytestmark = pytest.mark.unit

CORPUS = {
    "id": "c1",
    "owner": "mb00",
    "session": "2023-04-27",
    "at": "2023-04-27T20:00:00",
    "speaker": "user",
    "text": "你好",
}
EVENT = {"v": 1, "id": "e1", "kind": "user.message", "at": 5, "source": {"role": "user"}}


def packed(**more: Any) -> bytes:
    """A corpus line with other fields."""
    return orjson.dumps(CORPUS | more)


def written(folder: Path, *rows: object, name: str = "log.jsonl") -> Path:
    """A file with a JSON line for each row; text goes in as it is."""
    file = folder / name
    told = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    file.write_text("".join(f"{line}\n" for line in told), encoding="utf-8")
    return file


def surveyed(file: Path, owner: str | None = None) -> Survey:
    """The survey of one file."""
    return Surveyor(owner, lambda _: None).survey(file)


def line(number: int, owner: str = "local", text: str = "") -> Line:
    """An event on a line."""
    return Line(number, ReadEvent(owner, EVENT | {"id": f"e{number}", "text": text}, b""))


@pytest.mark.parametrize(
    ("speaker", "kind", "role", "kept"),
    [
        ("user", "user.message", "user", None),
        ("User", "user.message", "user", None),
        ("用户", "user.message", "user", None),
        ("assistant", "supervisor.reply", "supervisor", "assistant"),
        ("Assistant", "supervisor.reply", "supervisor", "Assistant"),
        ("AI", "supervisor.reply", "supervisor", "AI"),
        ("ＡＩ 助手", "supervisor.reply", "supervisor", "ＡＩ 助手"),
        ("AI伴侣", "supervisor.reply", "supervisor", "AI伴侣"),
        ("Caroline", "user.message", "user", "Caroline"),
        ("张曼婷", "user.message", "user", "张曼婷"),
        ("wiki", "external.content", "external", "wiki"),
        ("维基百科", "external.content", "external", "维基百科"),
    ],
)
def test_speaker_decides_kind_and_role(
    speaker: str, kind: str, role: str, kept: str | None
) -> None:
    """People say user.message, machines supervisor.reply, and a text of others is external."""
    event = read_event(packed(speaker=speaker), None).event
    assert (event["kind"], event["source"]["role"]) == (kind, role)
    assert event["source"].get("speaker") == kept


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ("2023-04-27T20:00:00", 1_682_596_800_000),
        ("2023-04-27T20:00:00.250", 1_682_596_800_250),
        ("2023-04-27T12:00:00Z", 1_682_596_800_000),
        ("2023-04-27T20:00:00+08:00", 1_682_596_800_000),
        ("2023-12-25", 1_703_433_600_000),
    ],
)
def test_time_without_zone_is_beijing_time(at: str, expected: int) -> None:
    """A naive time is read in Beijing's zone, another in its own."""
    assert read_event(packed(at=at), None).event["at"] == expected


def test_corpus_line_keeps_session_and_owner() -> None:
    """The session becomes the stream, and the line's owner is the owner unless one is given."""
    assert read_event(packed(), None).owner == "mb00"
    assert read_event(packed(), "me").owner == "me"
    assert read_event(packed(), None).event["source"]["stream"] == "2023-04-27"


def test_exchange_in_one_text_stays_one_event() -> None:
    """A line that holds what both said is one event of the person it is filed under."""
    text = "张曼婷：你好\nAI伴侣：你好，有什么能帮到你的吗？"
    read = read_event(packed(speaker="张曼婷", text=text), None)
    assert (read.event["kind"], read.event["text"]) == ("user.message", text)


def test_field_without_place_is_named() -> None:
    """A corpus field that an event can't hold is named, so that it isn't lost unseen."""
    assert read_event(packed(n=3), None).ignored == ("n",)


def test_event_line_goes_as_it_is() -> None:
    """A line in the wire's own form is sent unchanged, but for its owner."""
    read = read_event(orjson.dumps(EVENT | {"owner": "家"}), None)
    assert (read.owner, read.event) == ("家", EVENT)


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        (b"not json", ""),
        (b'{"id": "a", "id": "b"}', ""),
        (b"[]", ""),
        (b'{"id": "a"}', ""),
        (orjson.dumps(EVENT | {"at": "5"}), "at"),
        (orjson.dumps(EVENT | {"source": {"role": "king"}}), "source.role"),
        (orjson.dumps(EVENT | {"txet": "hello"}), "txet"),
        (orjson.dumps(EVENT | {"data": {"a": "好" * 30_000}}), "data"),
        (orjson.dumps(EVENT | {"owner": ""}), "owner"),
        (packed(at="昨天"), "at"),
        (packed(at=7), "at"),
        (packed(text=None), "text"),
        (packed(text="好" * (MAX_TEXT + 1)), "text"),
        (packed(id=""), "id"),
        (packed(session="s\x07"), "session"),
        (packed(owner="o" * 201), "owner"),
    ],
)
def test_unfit_line_names_its_field(raw: bytes, field: str) -> None:
    """A line that is no event is refused with the field in the words of its own form."""
    with pytest.raises(UnfitLineError) as refusal:
        read_event(raw, None)
    assert refusal.value.field == field
    assert "好" not in refusal.value.reason
    assert "hello" not in refusal.value.reason


def test_text_at_the_limit_fits() -> None:
    """Limits count code points: 32,000 hanzi fit."""
    assert len(read_event(packed(text="好" * MAX_TEXT), None).event["text"]) == MAX_TEXT


def test_survey_names_file_and_line(tmp_path: Path) -> None:
    """Faults carry file, line and field; blank lines count but are no events."""
    file = written(tmp_path, CORPUS, "", CORPUS | {"id": "c2", "at": "?"}, "{", EVENT)
    found = surveyed(file)
    assert (found.events, dict(found.owners)) == (2, {"mb00": 1, "local": 1})
    assert [str(fault).split(": ")[:2] for fault in found.faults] == [
        [f"{file}:3", "at"],
        [f"{file}:4", "Not strict JSON at byte 1"],
    ]


def test_survey_finds_one_id_with_two_contents(tmp_path: Path) -> None:
    """The same id twice is fine for the same content, and a fault for another."""
    same = surveyed(written(tmp_path, CORPUS, CORPUS))
    other = surveyed(written(tmp_path, CORPUS, CORPUS | {"text": "再见"}))
    assert same.faults == []
    assert [(fault.line, fault.field) for fault in other.faults] == [(2, "id")]


def test_packed_file_is_read_like_a_plain_one(tmp_path: Path) -> None:
    """A gzip file is known by its first bytes, whatever it is called."""
    plain = written(tmp_path, CORPUS, CORPUS | {"id": "c2"})
    file = tmp_path / "log"
    file.write_bytes(gzip.compress(plain.read_bytes()))
    assert surveyed(file).events == 2


def test_broken_gzip_names_the_line(tmp_path: Path) -> None:
    """A gzip file that was cut short is refused, not taken for a short one."""
    rows = "".join(f"{json.dumps(CORPUS | {'id': str(n)})}\n" for n in range(2_000))
    file = tmp_path / "log.jsonl.gz"
    file.write_bytes(gzip.compress(rows.encode())[:-400])
    with pytest.raises(ReplayError) as refusal:
        surveyed(file)
    assert refusal.value.faults[0].file == str(file)


def test_line_without_end_is_refused(tmp_path: Path) -> None:
    """A line longer than the wire's is refused before it fills the memory."""
    file = tmp_path / "log.jsonl"
    file.write_bytes(b"x" * (MAX_LINE + 1))
    with pytest.raises(ReplayError):
        list(lines(file))


def test_byte_order_mark_and_carriage_returns_are_no_content(tmp_path: Path) -> None:
    """A file as some editors write it is read like any other."""
    file = tmp_path / "log.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + orjson.dumps(EVENT) + b"\r\n")
    assert list(lines(file)) == [(1, orjson.dumps(EVENT))]


def test_good_lines_leave_out_bad_and_acknowledged_ones(tmp_path: Path) -> None:
    """What is sent begins behind the acknowledged line and skips what doesn't fit."""
    rows = [EVENT | {"id": f"e{n}"} for n in range(1, 5)]
    file = written(tmp_path, rows[0], rows[1], "bad", rows[2], rows[3])
    found = surveyed(file)
    assert [good.number for good in good_lines(found, None, after=2)] == [4, 5]


def test_file_that_changed_under_the_replay_is_refused(tmp_path: Path) -> None:
    """A line that was fit when surveyed and isn't any more stops the replay."""
    file = written(tmp_path, EVENT)
    found = surveyed(file)
    written(tmp_path, "bad")
    with pytest.raises(ReplayError):
        list(good_lines(found, None, after=0))


def test_requests_hold_one_owner_in_order() -> None:
    """Interleaved owners go in requests of their own, each in the order of the lines."""
    window = [line(n, "a" if n % 2 else "乙") for n in range(1, 8)]
    made = list(requests(window, 3))
    assert [[found.number for found in request] for request in made] == [[1, 3, 5], [7], [2, 4, 6]]


def test_requests_stay_below_a_megabyte() -> None:
    """Long texts are cut into more requests, and nothing is left out."""
    window = [line(n, text="好" * MAX_TEXT) for n in range(1, 31)]
    made = list(requests(window, 200))
    assert [found for request in made for found in request] == window
    assert all(
        sum(len(orjson.dumps(found.read.event)) for found in request) <= MAX_REQUEST
        for request in made
    )


def test_standing_is_kept_for_the_file_and_the_target(tmp_path: Path) -> None:
    """A standing comes back for the same bytes and the same target owner only."""
    found = surveyed(written(tmp_path, EVENT))
    other = surveyed(written(tmp_path, EVENT | {"id": "e9"}, name="other.jsonl"))
    standing = Standing(1, 1, {"家": ("e1", 7)})
    Standings(tmp_path / "kept", None).save(found, standing)
    assert Standings(tmp_path / "kept", None).load(found) == standing
    assert Standings(tmp_path / "kept", "me").load(found) == Standing()
    assert Standings(tmp_path / "kept", None).load(other) == Standing()


def test_damaged_standing_is_the_start(tmp_path: Path) -> None:
    """A standing that can't be read costs duplicates, not the replay."""
    found = surveyed(written(tmp_path, EVENT))
    standings = Standings(tmp_path / "kept", None)
    standings.save(found, Standing(1, 1, {}))
    (kept,) = (tmp_path / "kept").iterdir()
    kept.write_bytes(kept.read_bytes()[:9])
    assert standings.load(found) == Standing()


def test_many_faults_are_cut_short_in_words_and_whole_in_details() -> None:
    """The message shows the first twenty lines and says how many more there are."""
    error = ReplayError([Fault("f", n, "at", "wrong") for n in range(1, 31)], "Wrong:")
    assert "f:20: at: wrong\n  and 10 more" in error.message
    assert [fault["line"] for fault in cast("list[Any]", error.details["lines"])] == [*range(1, 31)]
