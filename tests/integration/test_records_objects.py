"""Records and objects through the socket."""

from typing import Any

import pytest

from tests.service_support import DAY, NOW, Service, event

pytestmark = pytest.mark.integration

PUT = "memory.object.put"


# ---- records ---------------------------------------------------------------


def test_a_record_says_what_it_is_and_where_from(service: Service) -> None:
    """A record carries owner, subject, kind, times, status, authority, revisions and sources."""
    service.ingest(event("e1", "以后报销都用新模板", objects=[{"id": "expense"}], at=NOW - DAY))
    service.settle()
    (record,) = service.records()

    assert record["kind"] == "rule"
    assert record["owner_scope"] == "local"
    assert record["subject_id"] == "expense"
    assert record["content"] == "以后报销都用新模板"
    assert record["status"] == "active"
    assert record["authority"] == "user"
    assert (record["observed_at"], record["recorded_at"]) == (NOW - DAY, NOW)
    assert record["revision"] == 1
    assert service.ask("memory.record.get", record_id=record["id"]) == record


def test_a_profile_fact_shows_its_class(service: Service) -> None:
    """A fact's class and profile kind come out under the names that proposals use."""
    service.ingest(event("e1", "我叫张伟"), event("e2", "My name is John Smith."))
    service.settle()
    facts = service.records(kind="fact")
    assert facts
    assert {(fact["class"], fact["profile_kind"]) for fact in facts} == {("profile", "identity")}


def test_a_corrected_record_keeps_its_history(service: Service) -> None:
    """A correction supersedes, links back, and the old record's versions stay readable."""
    service.ingest(event("e1", "以后报销都用旧模板", objects=[{"id": "expense"}]))
    service.settle()
    (old,) = service.records()
    service.ingest(
        event(
            "e2",
            "不对，以后报销都用新模板",
            kind="user.correction",
            objects=[{"id": "expense"}],
            at=NOW + 1,
        )
    )
    service.settle()

    new = next(found for found in service.records() if found["id"] != old["id"])
    assert new["supersedes"] == [old["id"]]
    versions = service.ask("memory.record.history", record_id=old["id"])
    assert [(found["revision"], found["status"]) for found in versions["items"]] == [
        (1, "active"),
        (2, "superseded"),
    ]
    assert versions["next"] is None
    assert service.ask("memory.record.get", record_id=old["id"])["status"] == "superseded"
    assert [found["id"] for found in service.records(status="active")] == [new["id"]]


def _records_of_several_objects(service: Service) -> list[str]:
    service.ingest(
        *[
            event(f"e{n}", f"以后项目{n}的周报都用模板{n}", objects=[{"id": f"o{n}"}])
            for n in range(5)
        ]
    )
    service.settle()
    return sorted(found["id"] for found in service.records())


def test_record_pages_put_together_are_all_records(service: Service) -> None:
    """Pages in order of id lead through everything once, and the last one has no next."""
    wanted = _records_of_several_objects(service)
    seen: list[str] = []
    after: str | None = None
    while True:
        more = {"after": after} if after else {}
        page = service.ask("memory.record.list", limit=2, **more)
        seen += [found["id"] for found in page["items"]]
        after = page["next"]
        if after is None:
            break
    assert seen == wanted
    assert len(seen) == 5


def test_records_are_listed_by_object_kind_and_status(service: Service) -> None:
    """Each filter leaves out what doesn't fit."""
    _records_of_several_objects(service)
    (found,) = service.records(object="o3")
    assert "模板3" in found["content"]
    assert service.records(kind="episode", object="o3") == []
    assert service.records(status="superseded") == []
    assert len(service.records(kind=found["kind"], status="active")) == 5


def test_records_of_owners_are_apart(service: Service) -> None:
    """Another owner's record is neither found nor listed."""
    service.ingest(event("e1", "以后报销都用新模板"), owner="a")
    service.settle()
    (record,) = service.records(owner="a")
    assert service.records(owner="b") == []
    for method in ("memory.record.get", "memory.record.history"):
        error = service.refused(method, owner="b", record_id=record["id"])
        assert error["code"] == "not_found"


@pytest.mark.parametrize("limit", [0, 201])
@pytest.mark.parametrize("method", ["memory.record.list", "memory.object.list", "ops.packages"])
def test_a_page_has_1_to_200_items(service: Service, method: str, limit: int) -> None:
    """A limit out of bounds is refused, not clamped."""
    error = service.refused(method, limit=limit)
    assert (error["code"], "limit" in error["message"]) == ("bad_request", True)


# ---- objects ---------------------------------------------------------------


def test_an_object_is_created_and_changed_by_revision(service: Service) -> None:
    """Expected revision 0 creates; the current one changes, and counts up."""
    made = service.ask(PUT, id="expense", kind="domain", title="报销", expected_revision=0)
    assert made == {
        "id": "expense",
        "kind": "domain",
        "title": "报销",
        "state": "active",
        "revision": 1,
        "created_at": NOW,
        "updated_at": NOW,
    }
    service.clock.advance(5)
    changed = service.ask(
        PUT, id="expense", kind="domain", title="报销", state="dormant", expected_revision=1
    )
    assert changed == made | {"state": "dormant", "revision": 2, "updated_at": NOW + 5}
    assert service.ask("memory.object.get", id="expense") == changed


def test_a_change_leaves_alone_what_it_does_not_name(service: Service) -> None:
    """Putting an object to sleep takes neither its title nor its kind from it."""
    service.ask(PUT, id="expense", kind="domain", title="报销")
    changed = service.ask(PUT, id="expense", state="dormant", expected_revision=1)
    assert (changed["kind"], changed["title"], changed["state"]) == ("domain", "报销", "dormant")


@pytest.mark.parametrize(("expected", "current"), [(0, 2), (1, 2), (3, 2)])
def test_a_moved_revision_is_refused_with_both_numbers(
    service: Service, expected: int, current: int
) -> None:
    """A put against another revision changes nothing and says expected and current."""
    service.ask(PUT, id="o1", title="one")
    service.ask(PUT, id="o1", title="two", expected_revision=1)

    error = service.refused(PUT, id="o1", title="three", expected_revision=expected)
    assert error["code"] == "revision_conflict"
    assert error["details"] == {"expected": expected, "current": current}
    assert service.ask("memory.object.get", id="o1")["title"] == "two"


def test_an_object_that_is_not_there_has_no_revision(service: Service) -> None:
    """A put with a revision against nothing is a conflict with current 0."""
    error = service.refused(PUT, id="o1", expected_revision=4)
    assert error["details"] == {"expected": 4, "current": 0}
    assert service.refused("memory.object.get", id="o1")["code"] == "not_found"


def test_events_create_the_objects_they_name(service: Service) -> None:
    """An unknown object of an event becomes one: a project unless said, active, titled."""
    service.ingest(
        event("e1", "x", objects=[{"id": "o1"}, {"id": "o2", "kind": "asset", "title": "打印机"}])
    )
    service.settle()
    found = service.ask("memory.object.list")["items"]
    assert [(o["id"], o["kind"], o["title"], o["state"]) for o in found] == [
        ("o1", "project", "o1", "active"),
        ("o2", "asset", "打印机", "active"),
    ]


def test_an_event_does_not_change_a_known_object(service: Service) -> None:
    """The kind and title that an event names are for creation only."""
    service.ask(PUT, id="o1", kind="domain", title="报销")
    service.ingest(event("e1", "x", objects=[{"id": "o1", "kind": "asset", "title": "other"}]))
    service.settle()
    found = service.ask("memory.object.get", id="o1")
    assert (found["kind"], found["title"]) == ("domain", "报销")


def test_a_settled_record_moves_its_objects_revision(service: Service) -> None:
    """An object's revision grows with its records, so that a stale put is noticed."""
    service.ask(PUT, id="expense")
    service.ingest(event("e1", "以后报销都用新模板", objects=[{"id": "expense"}]))
    service.settle()
    (record,) = service.records()
    assert service.ask("memory.object.get", id="expense")["revision"] == 2
    assert record["object_revision"] == 2
    assert service.refused(PUT, id="expense", expected_revision=1)["code"] == "revision_conflict"


def test_objects_are_listed_by_kind_and_state_in_pages(service: Service) -> None:
    """Filters and pages of objects work as those of records."""
    for n in range(4):
        kind = "asset" if n % 2 else "domain"
        service.ask(PUT, id=f"o{n}", kind=kind, state="done" if n == 3 else "active")

    def ids(**params: Any) -> list[str]:
        return [found["id"] for found in service.ask("memory.object.list", **params)["items"]]

    assert ids(kind="asset") == ["o1", "o3"]
    assert ids(state="done") == ["o3"]
    first = service.ask("memory.object.list", limit=3)
    assert first["next"] == "o2"
    assert ids(after=first["next"]) == ["o3"]
    assert ids(owner="somebody") == []


def test_two_names_that_look_alike_are_two_objects(service: Service) -> None:
    """Simplified and traditional, and upper and lower case, stay apart."""
    for name in ("报销", "報銷", "Expense", "expense"):
        service.ask(PUT, id=name)
    assert len(service.ask("memory.object.list")["items"]) == 4


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"id": "@owner"}, "id"),
        ({"id": "@x"}, "id"),
        ({"id": ""}, "id"),
        ({"title": ""}, "title"),
        ({"title": "字" * 201}, "title"),
        ({"kind": "thing"}, "kind"),
        ({"state": "asleep"}, "state"),
        ({"expected_revision": -1}, "expected_revision"),
        ({"titel": "x"}, "titel"),
    ],
)
def test_a_bad_object_is_refused_by_field(
    service: Service, change: dict[str, Any], named: str
) -> None:
    """What is reserved, out of bounds or unknown is refused and named."""
    error = service.refused(PUT, **{"id": "o1"} | change)
    assert (error["code"], named in error["message"]) == ("bad_request", True)


@pytest.mark.parametrize("field", ["id", "title", "owner"])
def test_no_secret_becomes_an_object(service: Service, field: str) -> None:
    """An object's id, title or owner that holds a secret is refused and not kept."""
    secret = "AKIA" + "QYLPMN5HHHFPZAM2"
    error = service.refused(PUT, **{"id": "o1", field: secret})
    assert (error["code"], field in error["message"]) == ("bad_request", True)
    assert secret not in str(error)
    assert service.holds_bytes(secret) == []
