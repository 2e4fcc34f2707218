"""`snapshot.get`: whole, versioned, bounded views, and nothing published for nothing new."""

from typing import Any

import pytest

from pipeline.projections import snapshot
from storage.repositories import snapshots
from storage.repositories.snapshots import NewSnapshot
from tests.conftest import StartService
from tests.service_support import MINUTE, NOW, SECOND, Service, event

pytestmark = pytest.mark.integration

GET = "snapshot.get"


def remember(service: Service, event_id: str, text: str, **more: Any) -> None:
    """Ingest one event and work it off."""
    service.ingest(event(event_id, text, **more))
    service.settle()


def contents(view: Any, section: str) -> list[str]:
    """What a section of a snapshot says."""
    return [
        item["content"]
        for found in view["sections"]
        if found["name"] == section
        for item in found["items"]
    ]


def test_nothing_is_published_at_first(service: Service) -> None:
    """Without a published snapshot the answer is an empty one of version 0, not an error."""
    empty: dict[str, Any] = {
        "version": 0,
        "published_at": None,
        "hash": None,
        "tokens": 0,
        "sections": [],
    }
    assert service.ask(GET) == empty
    assert service.ask(GET, owner="nobody", object="nothing") == empty


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("以后报销都用新模板", "报销"),
        ("Always use the new template for expense claims.", "expense"),
    ],
    ids=["zh", "en"],
)
def test_an_object_has_a_snapshot_of_its_records(service: Service, said: str, name: str) -> None:
    """After publishing, an object's snapshot says what binds it, from when, and whose word it is."""
    remember(service, "e1", said, objects=[{"id": name}])
    view = service.ask(GET, object=name)

    assert view["version"] >= 1
    assert view["published_at"] == NOW
    assert len(view["hash"]) == 32
    assert view["tokens"] > 0
    (section,) = view["sections"]
    assert (section["name"], section["left_out"]) == ("binding", 0)
    (item,) = section["items"]
    (record,) = service.records()
    assert item["record_id"] == record["id"]
    assert item["content"] == record["content"]
    assert (item["authority"], item["observed_at"]) == ("user", NOW)


def test_the_core_holds_what_is_true_everywhere(service: Service) -> None:
    """Profile and general rules stand in the owner's core; rules of one object do not."""
    remember(service, "e1", "我叫张伟")
    remember(service, "e2", "以后回复都用中文")
    remember(service, "e3", "以后报销都用新模板", objects=[{"id": "expense"}])
    core = service.ask(GET)
    assert contents(core, "profile") == ["我叫张伟"]
    assert contents(core, "binding") == ["以后回复都用中文"]
    assert contents(service.ask(GET, object="expense"), "binding") == ["以后报销都用新模板"]


def test_versions_grow_with_each_publish(service: Service) -> None:
    """A snapshot that says something new has a higher version and another hash."""
    remember(service, "e1", "以后报销都用新模板", objects=[{"id": "expense"}])
    first = service.ask(GET, object="expense")
    service.clock.advance(MINUTE)
    remember(service, "e2", "以后第3类单据都必须放进第3号柜子里面", objects=[{"id": "expense"}])
    second = service.ask(GET, object="expense")
    assert second["version"] > first["version"]
    assert second["hash"] != first["hash"]
    assert second["published_at"] == first["published_at"] + MINUTE
    assert len(contents(second, "binding")) == 2


def test_an_unchanged_view_is_not_published_again(service: Service) -> None:
    """What changes nothing in a snapshot leaves its version, hash and time as they are."""
    remember(service, "e1", "以后报销都用新模板", objects=[{"id": "expense"}])
    before = service.ask(GET, object="expense"), service.ask(GET)
    service.clock.advance(MINUTE)
    remember(service, "e2", "你好", objects=[{"id": "expense"}])
    remember(service, "e3", "以后报销都用新模板", objects=[{"id": "expense"}])
    assert (service.ask(GET, object="expense"), service.ask(GET)) == before


def test_one_objects_news_is_not_anothers(service: Service) -> None:
    """Publishing one object leaves another's snapshot alone."""
    remember(service, "e1", "以后报销都用新模板", objects=[{"id": "a"}])
    before = service.ask(GET, object="a")
    remember(service, "e2", "以后周报都用新模板", objects=[{"id": "b"}])
    assert service.ask(GET, object="a") == before
    assert service.ask(GET, object="b")["version"] > before["version"]


def test_owners_have_snapshots_of_their_own(service: Service) -> None:
    """Versions count for each owner, and nobody sees another's view."""
    for owner in ("a", "b"):
        service.ingest(event("e1", "以后回复都用中文"), owner=owner)
        service.settle()
    assert service.ask(GET, owner="a")["version"] == service.ask(GET, owner="b")["version"] == 1
    service.ingest(event("e2", "以后报告都用英文", at=NOW + 1), owner="b")
    service.settle()
    assert service.ask(GET, owner="a")["version"] == 1


def test_a_superseded_record_leaves_the_snapshot(service: Service) -> None:
    """A correction takes the corrected record's place in the next version."""
    remember(service, "e1", "以后报销都用旧模板", objects=[{"id": "expense"}])
    remember(
        service, "e2", "不对，以后报销都用新模板", kind="user.correction",
        objects=[{"id": "expense"}], at=NOW + SECOND,
    )  # fmt: skip
    (content,) = contents(service.ask(GET, object="expense"), "binding")
    assert "新模板" in content


def test_a_snapshot_keeps_to_its_tokens(start_service: StartService) -> None:
    """What doesn't fit the budget is left out whole and counted; the version says no half."""
    service = start_service(snapshot__object_tokens="60")
    for n in range(8):
        said = f"以后第{n}类单据都必须放进第{n}号柜子里面"
        remember(service, f"e{n}", said, objects=[{"id": "o"}], at=NOW + n)
    view = service.ask(GET, object="o")
    assert view["tokens"] <= 60
    (section,) = view["sections"]
    assert section["left_out"] > 0
    assert len(section["items"]) + section["left_out"] == 8


def test_a_late_older_view_does_not_replace_a_newer_one(service: Service) -> None:
    """Whoever was slower publishes nothing over what was made from more, even if that was no news."""
    remember(service, "e1", "你好")
    done: list[bool] = []

    def publish(content: str, based_on: int) -> bool:
        sections: tuple[Any, ...] = ({"name": "facts", "items": [{"content": content}]},)
        made = snapshot.make("local", "o", sections, now=NOW, tokens=len)
        done.append(
            service.services.core.writer.call(
                "publish", lambda: snapshots.publish(NewSnapshot(made, based_on))
            )
        )
        return done[-1]

    assert publish("甲", 1)
    assert not publish("甲", 3)
    assert not publish("乙", 2)
    assert publish("丙", 3)
    assert not publish("甲", 1)
    found = service.ask(GET, object="o")
    assert found["version"] == sum(done) == 2
    assert contents(found, "facts") == ["丙"]


def test_snapshots_survive_a_restart(service: Service) -> None:
    """What was published is there again after a restart, word for word."""
    remember(service, "e1", "以后报销都用新模板", objects=[{"id": "expense"}])
    before = service.ask(GET, object="expense")
    service.restart()
    assert service.ask(GET, object="expense") == before


def test_unknown_params_are_named(service: Service) -> None:
    """A typo in the object's name of the params is no silent core."""
    error = service.refused(GET, objects="expense")
    assert (error["code"], "objects" in error["message"]) == ("bad_request", True)
