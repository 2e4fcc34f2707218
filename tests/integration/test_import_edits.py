"""What people write into exported documents, and what becomes of it."""

import pytest

from tests.service_support import DAY, NOW, Service, event
from tests.transfer_support import (
    CHINESE,
    ENGLISH,
    document_of,
    exported,
    outcomes,
    said,
    secret,
    taken_in,
    with_content,
    with_field,
)

pytestmark = pytest.mark.integration


# ---- edits -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "edit", "question"),
    [
        (CHINESE, "以后报销都用紫色模板，并附发票", "紫色模板"),
        (ENGLISH, "From now on always use the purple form for expense claims.", "purple form"),
    ],
)
def test_an_edit_becomes_a_new_version_in_the_users_words(
    service: Service, text: str, edit: str, question: str
) -> None:
    """What somebody wrote into the file holds, rests on an event of its own, and is found."""
    record = said(service, text)
    service.clock.advance(DAY)
    assert outcomes(service, with_content(document_of(service, record["id"]), edit)) == ["updated"]
    service.settle()

    (changed,) = service.records(object="报销")
    assert (changed["content"], changed["revision"], changed["status"]) == (edit, 2, "active")
    assert (changed["authority"], changed["observed_at"]) == ("user", NOW + DAY)
    found = service.ask("memory.evidence.get", record_id=record["id"])
    assert found["missing"] == []
    assert [(e["kind"], e["role"], e["text"]) for e in found["events"]] == [
        ("record.edit", "user", edit)
    ]
    assert [span["quote"] for span in found["spans"]] == [edit]
    versions = service.ask("memory.record.history", record_id=record["id"])["items"]
    assert [version["content"] for version in versions] == [text, edit]
    answer = service.ask("memory.continuity.recall", request_id="q", query=question)
    assert record["id"] in [
        hit["record"]["id"] for hit in answer["hits"] + answer["binding"] if "record" in hit
    ]


def test_the_words_of_an_edit_are_not_organised_again(service: Service) -> None:
    """An edit has its effect at once: no observer makes a second record of it."""
    record = said(service, CHINESE)
    edit = "不对，以后报销都用旧模板"
    assert outcomes(service, with_content(document_of(service, record["id"]), edit)) == ["updated"]
    service.settle()
    assert [found["id"] for found in service.records()] == [record["id"]]
    (source,) = service.ask("memory.evidence.get", record_id=record["id"])["events"]
    assert service.fate(source["id"]) == ("audit", "record_edit")
    positions = service.positions()
    assert (positions["backlog"], positions["published"]) == (0, positions["received"])


def test_the_same_edit_again_is_unchanged(service: Service) -> None:
    """A file that was taken in stays good: what it says is there."""
    record = said(service, CHINESE)
    document = with_content(document_of(service, record["id"]), "以后报销都用紫色模板")
    assert outcomes(service, document) == ["updated"]
    assert outcomes(service, document) == ["unchanged"]
    assert service.records(object="报销")[0]["revision"] == 2


def test_a_stale_edit_is_a_conflict_and_changes_nothing(service: Service) -> None:
    """An edit of a version that memory no longer has names both versions."""
    record = said(service, CHINESE)
    document = document_of(service, record["id"])
    assert outcomes(service, with_content(document, "以后报销都用紫色模板")) == ["updated"]
    before = service.records()

    (told,) = taken_in(service, with_content(document, "以后报销都用绿色模板"))
    assert told["outcome"] == "conflict"
    assert told["expected"] == {"revision": 1, "object_revision": 2}
    assert told["current"] == {"revision": 2, "object_revision": 3}
    assert service.records() == before


def test_an_old_export_that_nobody_edited_is_older(service: Service) -> None:
    """What memory has moved on from is no conflict: there is nothing to take from it."""
    record = said(service, CHINESE)
    old = document_of(service, record["id"])
    taken_in(service, with_content(old, "以后报销都用紫色模板"))
    assert outcomes(service, old) == ["older"]
    assert service.records()[0]["content"] == "以后报销都用紫色模板"


@pytest.mark.parametrize("status", ["archived", "expired"])
def test_a_record_can_be_put_away(service: Service, status: str) -> None:
    """A status that ends a record is taken, and what the user says again doesn't bring it back."""
    record = said(service, CHINESE)
    document = with_field(document_of(service, record["id"]), "status", status)
    assert outcomes(service, document) == ["updated"]
    service.settle()
    assert service.records()[0]["status"] == status
    assert service.ask("snapshot.get", object="报销")["sections"] == []
    answer = service.ask("memory.continuity.recall", request_id="q", query="报销模板")
    assert record["id"] not in str(answer["hits"])
    if status == "archived":
        assert service.records()[0]["reason"] == "disabled"


def test_a_validity_can_be_changed(service: Service) -> None:
    """Until when a record holds is the user's to say, in a date as people write it."""
    record = said(service, CHINESE)
    document = with_field(document_of(service, record["id"]), "valid_to", "2026-01-05")
    assert outcomes(service, document) == ["updated"]
    (changed,) = service.records()
    assert changed["valid_to"] == 1_767_542_400_000
    assert changed["source_refs"] == record["source_refs"]
    assert changed["observed_at"] == record["observed_at"]


def test_other_words_of_a_record_can_be_edited(service: Service) -> None:
    """A changed value or cue rests on an event of its own, beside what the record rested on."""
    record = said(service, CHINESE)
    document = with_field(document_of(service, record["id"]), "value", "紫色模板")
    assert outcomes(service, document) == ["updated"]
    (changed,) = service.records()
    assert (changed["value"], changed["content"]) == ("紫色模板", CHINESE)
    assert [span["quote"] for span in changed["source_refs"]] == [CHINESE, "紫色模板"]


@pytest.mark.parametrize(
    ("name", "value", "field"),
    [
        ("owner", '"somebody"', "owner"),
        ("subject", '"旅行"', "subject"),
        ("kind", "fact", "kind"),
        ("authority", "verification", "authority"),
        ("observed_at", "2026-02-01", "observed_at"),
        ("recorded_at", "2026-02-01", "recorded_at"),
        ("key", '"expense.form"', "key"),
        ("reason", '"disabled"', "reason"),
        ("class", "profile", "class"),
        ("scope", "{once: true}", "scope"),
        ("status", "superseded", "status"),
        ("status", "candidate", "status"),
        ("valid_to", "2026-01-05\nvalid_from: 2026-01-06", "valid_to"),
    ],
)
def test_what_is_not_the_users_to_write_is_refused(
    service: Service, name: str, value: str, field: str
) -> None:
    """A field that can't be edited is named, and nothing of that file is taken."""
    record = said(service, CHINESE)
    document = with_field(document_of(service, record["id"]), name, value)
    (told,) = taken_in(service, with_content(document, "以后报销都用紫色模板"))
    assert (told["outcome"], told["field"]) == ("refused", field)
    assert service.records() == [record]


@pytest.mark.parametrize(
    ("before", "after"),
    [('event: "e1"', 'event: "e9"'), ("start: 0", "start: 1"), ('quote: "以后', 'quote: "从此')],
)  # fmt: skip
def test_evidence_can_t_be_edited(service: Service, before: str, after: str) -> None:
    """What a record rests on is what was said, not what somebody writes."""
    record = said(service, CHINESE)
    document = document_of(service, record["id"])
    head, _, tail = document.partition("evidence:")
    (told,) = taken_in(service, head + "evidence:" + tail.replace(before, after, 1))
    assert (told["outcome"], told["code"], told["field"]) == ("refused", "not_editable", "evidence")


@pytest.mark.parametrize(
    ("content", "code"),
    [("", "degenerate"), ("长" * 601, "too_long"), ("好的" * 200, "degenerate")],
)
def test_an_edit_is_held_to_what_any_proposal_is(service: Service, content: str, code: str) -> None:
    """Empty, endless or looping words do not become memory by way of a file either."""
    record = said(service, CHINESE)
    (told,) = taken_in(service, with_content(document_of(service, record["id"]), content))
    assert (told["outcome"], told["code"], told["field"]) == ("refused", code, "content")


def test_a_record_that_holds_no_longer_is_not_edited(service: Service) -> None:
    """What was put away is said anew, not rewritten."""
    record = said(service, CHINESE)
    taken_in(service, with_field(document_of(service, record["id"]), "status", "archived"))
    document = with_content(document_of(service, record["id"]), "以后报销都用紫色模板")
    (told,) = taken_in(service, document)
    assert (told["outcome"], told["code"], told["field"]) == ("refused", "not_editable", "status")


@pytest.mark.parametrize("template", ["以后报销都用 {} 登录", "Always log in with {} for claims."])
def test_no_secret_comes_in_by_an_edit(service: Service, template: str) -> None:
    """A secret in an edit is taken out and told by its kind; no byte of it reaches the disk."""
    record = said(service, CHINESE)
    document = with_content(document_of(service, record["id"]), template.format(secret()))
    (told,) = taken_in(service, document)
    assert told["outcome"] == "updated"
    assert sum(told["redactions"].values()) == 1
    (changed,) = service.records()
    assert secret() not in changed["content"]
    assert "[redacted" in changed["content"]
    assert changed["source_refs"][0]["quote"] == changed["content"]
    assert outcomes(service, document) == ["unchanged"]
    assert service.holds_bytes(secret()) == []


# ---- objects ---------------------------------------------------------------


def test_an_object_can_be_edited_at_its_revision(service: Service) -> None:
    """Title, kind and state come back by a file, against the object's revision."""
    service.ask("memory.object.put", id="报销", kind="project", title="报销")
    document = exported(service)["报销/INDEX.md"]
    edit = with_field(with_field(document, "title", '"月度报销"'), "state", "done")
    assert outcomes(service, edit) == ["updated"]
    found = service.ask("memory.object.get", id="报销")
    assert (found["title"], found["state"], found["revision"]) == ("月度报销", "done", 2)
    assert outcomes(service, edit) == ["unchanged"]
    assert outcomes(service, document) == ["older"]
    (told,) = taken_in(service, with_field(document, "title", '"x"'))
    assert (told["outcome"], told["expected"], told["current"]) == (
        "conflict", {"revision": 1}, {"revision": 2}
    )  # fmt: skip


@pytest.mark.parametrize("title", ["", "长" * 201])
def test_a_title_has_its_bounds(service: Service, title: str) -> None:
    """An object is not renamed to nothing, nor to a novel."""
    service.ask("memory.object.put", id="报销", title="报销")
    document = with_field(exported(service)["报销/INDEX.md"], "title", f'"{title}"')
    (told,) = taken_in(service, document)
    assert (told["outcome"], told["code"], told["field"]) == ("refused", "too_long", "title")


def test_the_owners_own_object_is_not_edited(service: Service) -> None:
    """The reserved object comes back as it was, and nobody renames it."""
    service.ingest(event("e1", "我叫张伟"))
    service.settle()
    document = exported(service)["%40owner/INDEX.md"]
    (told,) = taken_in(service, with_field(document, "title", '"我"'))
    assert (told["outcome"], told["code"]) == ("refused", "not_editable")


def test_a_secret_in_a_title_is_taken_out(service: Service) -> None:
    """An object's new title is cleaned like everything that is kept."""
    service.ask("memory.object.put", id="报销", title="报销")
    document = exported(service)["报销/INDEX.md"]
    (told,) = taken_in(service, with_field(document, "title", f'"用 {secret()}"'))
    assert (told["outcome"], sum(told["redactions"].values())) == ("updated", 1)
    assert service.holds_bytes(secret()) == []
