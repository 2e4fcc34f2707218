"""Recall over a memory in lists: what is told, in which state, and why."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.recall import tail as tails
from pipeline.recall.follower import Follower
from pipeline.recall.service import Recaller
from pipeline.text.tokenise import BilingualTokenizer
from storage.errors import UnavailableError
from storage.records.events import OWNER_OBJECT, Event, ObjectRef, Role
from storage.records.knowledge import Authority, Record, RecordKind, RecordStatus, Scope, Span
from storage.records.recall import (
    Hit,
    IndexEntry,
    Reason,
    RecallQuery,
    RecallResult,
    RecallState,
)
from storage.search_index import IndexQuery, ScoredDocument, SearchIndex

pytestmark = pytest.mark.unit

NOW = 1_760_000_000_000
TOKENIZER = BilingualTokenizer()


@dataclass
class Memory:
    """Events and records in lists, read as recall reads a store."""

    events_: list[Event] = field(default_factory=list)
    records_: dict[str, Record] = field(default_factory=dict)
    entries: list[IndexEntry] = field(default_factory=list)
    intent: int | None = None

    def hear(self, text: str, *, owner: str = "local", objects: Sequence[str] = ()) -> Event:
        """Add a user's event and its index entry."""
        seq = len(self.events_) + 1
        refs = tuple(ObjectRef(name) for name in objects)
        event = Event(owner, f"ev{seq}", "user.message", NOW - 1000 + seq, Role.USER, seq, text)
        event = replace(event, objects=refs)
        self.events_.append(event)
        self._index(owner, f"e:{seq}", text, at=event.at)
        return event

    def learn(self, name: str, content: str, *quoted: Event, **more: object) -> Record:
        """Add a record that quotes whole events, and its index entry."""
        spans = tuple(Span(e.id, e.seq, 0, len(e.text), e.text) for e in quoted)
        record = Record(
            id=name,
            owner_scope="local",
            subject_id=OWNER_OBJECT,
            kind=RecordKind.FACT,
            content=content,
            observed_at=NOW - 500,
            recorded_at=NOW - 500,
            status=RecordStatus.ACTIVE,
            authority=Authority.USER,
            evidence=spans,
        )
        record = replace(record, **more)  # type: ignore[arg-type]
        self.records_[name] = record
        self._index("local", f"r:{name}", content, " ".join(record.cues))
        return record

    def _index(self, owner: str, document: str, text: str, cues: str = "", at: int = NOW) -> None:
        terms = TOKENIZER.index(text)
        fields = {
            "words": " ".join(terms.words),
            "ids": " ".join(terms.ids),
            "cues": " ".join(TOKENIZER.index(cues).words),
        }
        self.entries.append(IndexEntry(self.last_seq() + 1, owner, document, at, fields))

    def take_out(self, document: str) -> None:
        """Add the entry that takes a document out."""
        self.entries.append(IndexEntry(self.last_seq() + 1, "local", document, NOW, gone=True))

    def entries_after(self, seq: int, limit: int) -> Sequence[IndexEntry]:
        """The follower's rows."""
        return [entry for entry in self.entries if entry.seq > seq][:limit]

    def last_seq(self) -> int:
        """The last entry's number."""
        return len(self.entries)

    def tail(self, owner: str, after: int, limit: int) -> Sequence[IndexEntry]:
        """The newest entries of one owner."""
        return [e for e in self.entries if e.seq > after and e.owner == owner][-limit:]

    def last_index_seq(self) -> int:
        """The last entry's number."""
        return self.last_seq()

    def memory_version(self, owner: str) -> int:
        """A fixed version."""
        return len(owner)

    def intent_version(self, owner: str) -> int | None:
        """The version set."""
        return self.intent if owner == "local" else None

    def records(self, owner: str, ids: Collection[str]) -> Sequence[Record]:
        """By id; another owner's too, which recall itself has to refuse."""
        assert owner
        return [self.records_[name] for name in ids if name in self.records_]

    def binding(
        self, owner: str, objects: Collection[str], task: str | None, now_ms: int
    ) -> Sequence[Record]:
        """The active rules of the owner and of these objects."""
        places = {OWNER_OBJECT, *objects}
        rules = (r for r in self.records_.values() if r.kind is RecordKind.RULE)
        held = (r for r in rules if r.status is RecordStatus.ACTIVE and r.owner_scope == owner)
        return [
            r
            for r in held
            if r.subject_id in places and r.scope.task in {None, task} and r.recorded_at <= now_ms
        ]

    def about(self, owner: str, objects: Collection[str], limit: int) -> Sequence[Record]:
        """The records whose subject is one of the objects."""
        mine = (r for r in self.records_.values() if r.owner_scope == owner)
        return [r for r in mine if r.subject_id in objects][:limit]

    def events(self, owner: str, seqs: Collection[int]) -> Sequence[Event]:
        """By sequence."""
        return [e for e in self.events_ if e.seq in seqs and e.owner == owner]

    def resting_on(self, owner: str, seqs: Collection[int]) -> Mapping[int, Sequence[str]]:
        """The records that quote events."""
        rests = {
            seq: sorted(
                r.id
                for r in self.records_.values()
                if r.owner_scope == owner and any(span.seq == seq for span in r.evidence)
            )
            for seq in seqs
        }
        return {seq: names for seq, names in rests.items() if names}


class Service:
    """A recaller over a memory, with the follower in the test's hand."""

    def __init__(self, folder: Path) -> None:
        self.memory = Memory()
        self.index = SearchIndex.open(folder, tokenizer_version=1)
        self.follower = Follower(self.index, self.memory)
        self.recaller = Recaller(self.memory, self.index, TOKENIZER)

    def ask(self, text: str, **more: object) -> RecallResult:
        """Ask as the owner `local`."""
        query = replace(RecallQuery("q1", "local", text), **more)  # type: ignore[arg-type]
        return self.recaller.recall(query, NOW)


@pytest.fixture(params=["followed", "tail"])
def service(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Service]:
    """A service whose index is up to date, and one whose memory is all in the tail."""
    service = Service(tmp_path / "index")
    if request.param == "followed":
        ask = service.recaller.recall

        def followed(query: RecallQuery, now_ms: int) -> RecallResult:
            service.follower.follow_once()
            return ask(query, now_ms)

        service.recaller.recall = followed  # type: ignore[method-assign]
    yield service
    service.index.close()


def names(hits: Sequence[Hit]) -> list[str]:
    """The ids of hits, in order."""
    return [hit.record.id if hit.record else hit.event.id if hit.event else "" for hit in hits]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("报销单要用三月的新模板", "报销模板"),
        ("The expense template is on the shared drive", "where are the expense templates?"),
        ("服务部署在 prod-db-07 上", "prod-db-07"),
    ],
)
def test_an_event_is_found_by_its_words(service: Service, text: str, question: str) -> None:
    """What was said is found in either language, verbatim, with the reason."""
    service.memory.hear("今天天气很好，we had lunch")
    event = service.memory.hear(text)

    result = service.ask(question)

    assert result.state is RecallState.COMPLETE
    assert result.hits[0].event == event
    assert Reason.KEYWORD in result.hits[0].reasons
    assert result.memory_version == len("local")


def test_a_records_hit_and_its_events_collapse(service: Service) -> None:
    """An event that a record quotes is told as that record's evidence, once."""
    event = service.memory.hear("以后报销都用蓝色模板，记住了")
    other = service.memory.hear("报销的截止日期是周五")
    record = service.memory.learn("r1", "报销使用蓝色模板", event)

    hits = service.ask("报销用什么模板").hits

    assert names(hits) == ["r1", "ev2"]
    assert hits[0].record == record
    assert [(span.quote, source) for span, source in hits[0].evidence] == [(event.text, event)]
    assert hits[1].event == other


def test_an_exact_identifier_tells_its_reason(service: Service) -> None:
    """An identifier is a channel of its own; one that nothing holds is told as a gap."""
    service.memory.hear("合同 BX-2024-001 已经签好")
    service.memory.hear("合同 BX-2024-002 还没有签")

    result = service.ask("BX-2024-002 签了吗")
    missing = service.ask("合同 BX-2024-777 签了吗")

    assert names(result.hits)[0] == "ev2"
    assert Reason.ID in result.hits[0].reasons
    assert result.gaps == ()
    assert len(missing.gaps) == 1


def test_a_cue_leads_to_what_it_stands_for(service: Service) -> None:
    """A record is found by its cues; a cue record gives its event, never itself."""
    event = service.memory.hear("The staging box runs Debian")
    service.memory.learn("r1", "Laptop has 16 GB", cues=("电脑内存",))
    service.memory.learn("c1", "which operating system", event, kind=RecordKind.CUE)

    by_field = service.ask("电脑 内存")
    by_record = service.ask("operating system")

    assert names(by_field.hits) == ["r1"]
    assert Reason.CUE in by_field.hits[0].reasons
    assert names(by_record.hits) == ["ev1"]


def test_binding_rules_do_not_depend_on_the_question(service: Service) -> None:
    """A rule of the object is told whatever is asked, and alone does not make it complete."""
    service.memory.learn(
        "rule",
        "付款前先问我",
        kind=RecordKind.RULE,
        subject_id="expense",
        scope=Scope(("expense",)),
    )
    service.memory.learn("other", "Ask first", kind=RecordKind.RULE, subject_id="travel")

    result = service.ask("weather tomorrow", objects=("elsewhere",))
    bound = service.ask("量子", objects=("expense",), task="t1")

    assert result.binding == ()
    assert names(bound.binding) == ["rule"]
    assert bound.binding[0].reasons == (Reason.OBJECT, Reason.BINDING)


def test_binding_alone_is_not_found(service: Service) -> None:
    """A rule of the owner everywhere is told beside `not_found`, with what was searched."""
    service.memory.learn("rule", "回答用中文", kind=RecordKind.RULE)

    result = service.ask("kubernetes upgrade")

    assert result.state is RecallState.NOT_FOUND
    assert names(result.binding) == ["rule"]
    assert result.hits == ()
    assert f"{result.index_lag} index entries" in result.gaps[0]


def test_what_concerns_the_object_is_ahead(service: Service) -> None:
    """Of equal matches the one of the asked object comes first; the object's others follow."""
    service.memory.hear("服务器重启失败了", objects=("asset-a",))
    service.memory.hear("服务器重启失败了", objects=("asset-b",))
    service.memory.learn("r1", "Runs on port 8080", subject_id="asset-b")

    result = service.ask("服务器重启", objects=("asset-b",))

    assert names(result.hits) == ["ev2", "ev1", "r1"]
    assert Reason.OBJECT in result.hits[0].reasons
    assert result.hits[2].reasons == (Reason.OBJECT,)


@pytest.mark.parametrize(
    "past",
    [
        {"status": RecordStatus.SUPERSEDED},
        {"status": RecordStatus.EXPIRED},
        {"status": RecordStatus.ARCHIVED, "reason": "disabled"},
        {"valid_to": NOW},
    ],
)
def test_past_records_are_told_only_when_asked_for(
    service: Service, past: dict[str, object]
) -> None:
    """What holds no longer is left out, its event too, unless the past is asked for."""
    event = service.memory.hear("办公室在五楼")
    service.memory.learn("old", "办公室在五楼", event, **past)

    result = service.ask("办公室在几楼")
    with_past = service.ask("办公室在几楼", include_past=True)

    assert (result.state, result.expired, result.hits) == (RecallState.EXPIRED, "records", ())
    assert "old" in result.gaps[0]
    assert ("valid_to" in past) == (str(NOW) in result.gaps[0])
    assert names(with_past.hits) == ["old"]
    assert with_past.state is RecallState.COMPLETE


def test_the_valid_record_stands_for_the_outdated_one(service: Service) -> None:
    """After a correction the new record is told and the old statement is not."""
    old = service.memory.hear("会议室在三楼")
    new = service.memory.hear("更正：会议室在六楼")
    service.memory.learn("old", "会议室在三楼", old, status=RecordStatus.SUPERSEDED)
    service.memory.learn("new", "会议室在六楼", new, supersedes=("old",))

    assert names(service.ask("会议室在哪").hits) == ["new"]
    assert set(names(service.ask("会议室在哪", include_past=True).hits)) == {"old", "new"}


def test_an_objects_past_that_did_not_match_is_no_answer(service: Service) -> None:
    """Outdated records of the asked object neither make it expired nor hide its events."""
    event = service.memory.hear("打印机的墨盒型号是蓝色九号", objects=("office",))
    old = {"subject_id": "office", "status": RecordStatus.SUPERSEDED}
    service.memory.learn("old", "Lease ends in May", event, **old)

    assert service.ask("kubernetes", objects=("office",)).state is RecallState.NOT_FOUND
    assert names(service.ask("打印机墨盒", objects=("office",)).hits) == ["ev1"]


def test_what_a_past_record_was_not_met_for_stays_findable(service: Service) -> None:
    """An event whose outdated record has nothing to do with the question is told itself."""
    event = service.memory.hear("办公室在五楼，另外打印机的墨盒型号是蓝色九号")
    service.memory.learn("old", "Office is upstairs", event, status=RecordStatus.SUPERSEDED)

    assert names(service.ask("打印机墨盒").hits) == ["ev1"]


def test_another_owners_memory_is_never_told(service: Service) -> None:
    """The owner is checked in the index and again on what is read."""
    service.memory.hear("报销模板", owner="other")
    service.memory.learn("theirs", "报销模板", owner_scope="other")

    result = service.ask("报销模板")

    assert (result.state, result.hits) == (RecallState.NOT_FOUND, ())


def test_a_request_past_its_time_is_expired(service: Service) -> None:
    """Past `expires_at`, or behind a newer intent, nothing is searched."""
    service.memory.hear("报销模板")
    service.memory.intent = 4

    late = service.ask("报销模板", expires_at=NOW)
    moved_on = service.ask("报销模板", intent_version=3)
    current = service.ask("报销模板", intent_version=4, expires_at=NOW + 1)

    assert (late.state, late.expired) == (RecallState.EXPIRED, "request")
    assert (moved_on.state, moved_on.expired) == (RecallState.EXPIRED, "intent")
    assert current.state is RecallState.COMPLETE


@pytest.mark.parametrize(
    "text", ["", "   ", "？！…", "\x01", "\ud800", "的了吗", '"(AND:*^~', "x" * 40_000]
)
def test_any_question_is_answered(service: Service, text: str) -> None:
    """No text is an error, and one that says nothing finds nothing."""
    service.memory.hear("hello there, 你好")

    result = service.ask(text)

    assert result.state is RecallState.NOT_FOUND
    assert result.gaps != ()


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A small memory that is only asked."""
    service = Service(tmp_path_factory.mktemp("asked"))
    service.memory.hear("报销模板 invoice BX-2024-001")
    service.follower.follow_once()
    service.memory.learn("r1", "天气 weather", cues=("forecast",))
    yield service
    service.index.close()


@given(text=st.text(max_size=80), items=st.integers(1, 50), tokens=st.integers(1, 10_000))
def test_any_text_gives_one_of_the_four_answers(
    asked: Service, text: str, items: int, tokens: int
) -> None:
    """Hits come with `complete` or were too big; a miss says what was searched."""
    result = asked.ask(text, items=items, tokens=tokens)

    assert result.state in {RecallState.COMPLETE, RecallState.NOT_FOUND}
    assert all(hit.reasons and hit.score > 0 for hit in result.hits)
    assert result.hits or result.truncated or result.gaps


def test_a_long_question_keeps_its_rarest_terms(tmp_path: Path) -> None:
    """Of more terms than are searched for, those that tell most stay."""
    service = Service(tmp_path)
    filler = [f"filler{n:02}" for n in range(60)]
    for n in range(3):
        service.memory.hear(" ".join(filler[20 * n : 20 * n + 20] * 2))
        service.memory.hear(" ".join(filler[20 * n : 20 * n + 20]))
    service.memory.hear("the zebra came by")
    service.follower.follow_once()

    assert "ev7" in names(service.ask(f"{' '.join(filler)} zebra").hits)
    service.index.close()


def test_a_question_without_terms_still_tells_of_its_objects(service: Service) -> None:
    """Asking about an object needs no words."""
    service.memory.learn("r1", "Runs on port 8080", subject_id="asset-b")

    assert names(service.ask("", objects=("asset-b",)).hits) == ["r1"]


def test_items_and_tokens_bound_the_hits(service: Service) -> None:
    """A small budget takes the best, and says that there was more."""
    for n in range(6):
        service.memory.hear("报销模板" * (n + 1))

    result = service.ask("报销模板", items=2, tokens=100)

    assert len(result.hits) == 2
    assert result.truncated


def test_valid_records_are_found_behind_many_past_ones(service: Service) -> None:
    """Past records that match better don't use up the search."""
    for n in range(80):
        service.memory.learn(f"old{n:02}", "会议室 三楼", status=RecordStatus.SUPERSEDED)
    service.memory.learn("new", "关于会议室的很多其他的话，还有很多别的内容，搬到了六楼")

    assert names(service.ask("会议室").hits) == ["new"]


def test_what_is_taken_out_is_gone_at_once(tmp_path: Path) -> None:
    """The tail masks what the index still holds."""
    service = Service(tmp_path)
    service.memory.hear("报销模板")
    service.memory.hear("报销日期")
    service.follower.follow_once()
    service.memory.take_out("e:1")
    result = service.ask("报销")

    assert names(result.hits) == ["ev2"]
    assert result.index_lag == 1
    service.index.close()


def test_index_and_tail_score_alike(tmp_path: Path) -> None:
    """The better matches of both are ahead of the worse ones of both."""
    service = Service(tmp_path)
    for n in range(30):
        service.memory.hear(f"别的事情 {n}")
    best = [service.memory.hear("报销模板在共享盘").id]
    service.memory.hear("报销的日期呢")
    service.follower.follow_once()
    best.append(service.memory.hear("模板放在报销系统").id)
    service.memory.hear("模板的颜色呢")

    hits = service.ask("报销模板").hits

    assert set(names(hits)[:2]) == set(best)
    assert len(hits) == 4
    service.index.close()


def test_of_equal_matches_the_newest_comes_first(service: Service) -> None:
    """Recency decides between equal scores, and nothing else."""
    for text in ("模板更新了", "报销模板更新了", "模板更新了", "template updated"):
        service.memory.hear(text)

    assert names(service.ask("报销 模板").hits) == ["ev2", "ev3", "ev1"]


def test_an_index_made_anew_meanwhile_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Documents between the old and the new position are not missed."""
    service = Service(tmp_path)
    service.memory.hear("报销模板")
    service.follower.follow_once()
    search, starts = service.index.search, iter(["damage"])

    def start_over_first(owner: str, query: IndexQuery, limit: int) -> list[ScoredDocument]:
        for reason in starts:
            service.index.start_over(reason)
        return search(owner, query, limit)

    monkeypatch.setattr(service.index, "search", start_over_first)

    assert names(service.ask("报销模板").hits) == ["ev1"]
    assert service.index.position == 0
    service.index.close()


def test_an_index_being_built_is_unavailable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until a new index has caught up, a miss would be read as "does not exist"."""
    monkeypatch.setattr(tails, "CAP", 3)
    service = Service(tmp_path)
    service.memory.learn("rule", "回答用中文", kind=RecordKind.RULE)
    for n in range(5):
        service.memory.hear(f"报销模板 {n}")

    building = service.ask("报销模板")
    service.follower.follow_once()
    for n in range(5):
        service.memory.hear(f"报销日期 {n}")
    behind = service.ask("报销模板")

    assert building.state is RecallState.UNAVAILABLE
    assert names(building.binding) == ["rule"]
    assert building.index_lag == 6
    assert behind.state is RecallState.COMPLETE
    assert len(behind.gaps) == 1
    service.index.close()


def test_a_store_that_refuses_is_unavailable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A refused read is one of the four answers, not an error."""
    service = Service(tmp_path)
    service.memory.hear("报销模板")

    def refuse(_owner: str, _seqs: Collection[int]) -> Sequence[Event]:
        raise UnavailableError

    monkeypatch.setattr(service.memory, "events", refuse)

    assert service.ask("报销模板").state is RecallState.UNAVAILABLE
    service.index.close()


def test_the_same_question_gives_the_same_answer(service: Service) -> None:
    """Equal scores are ordered by id, so repeating a question changes nothing."""
    for _ in range(12):
        service.memory.hear("同样的话 the same words")

    assert service.ask("同样的话") == service.ask("同样的话")
