"""Outside workers: claim, commit, fail, and what becomes of their proposals."""

from typing import Any

import pytest

from pipeline.runner import SPLIT_AFTER
from tests.conftest import StartService
from tests.service_support import MINUTE, NOW, SECOND, Service, event

pytestmark = pytest.mark.integration

CLAIM = "memory.observation.claim"
COMMIT = "memory.observation.commit"
FAIL = "memory.observation.fail"

RULE = "以后报销都用新模板"
NOTHING = "only talk"


def filtered(service: Service, *events: dict[str, Any], owner: str = "local") -> None:
    """Bring events as far as ready packages, observed by nobody yet."""
    service.ingest(*events, owner=owner)
    service.ask("ops.flush", owner=owner)


def claimed(service: Service, **params: Any) -> Any:
    """The one package that a worker gets."""
    (package,) = service.ask(CLAIM, worker="w1", **params)["packages"]
    return package


def commit(service: Service, package: Any, *proposals: Any, **params: Any) -> Any:
    """Hand in proposals for a claimed package."""
    return service.ask(
        COMMIT,
        package_id=package["id"],
        token=package["token"],
        proposals=list(proposals),
        **params,
    )


def rule(content: str = RULE, quote: str | None = None, **more: Any) -> dict[str, Any]:
    """A rule that the event e1 states."""
    evidence = [{"event": "e1", "quote": content if quote is None else quote}]
    return {"kind": "rule", "content": content, "evidence": evidence} | more


# ---- claim -----------------------------------------------------------------


def test_there_is_nothing_to_claim(service: Service) -> None:
    """A claim without ready packages gets an empty list."""
    assert service.ask(CLAIM, worker="w1") == {"packages": []}
    service.ingest(event("e1", RULE))
    assert service.ask(CLAIM, worker="w1") == {"packages": []}


def test_a_claimed_package_shows_all_that_an_observer_needs(service: Service) -> None:
    """A package carries its lease, its object, its events with what they say, and a budget."""
    filtered(
        service,
        event(
            "e1",
            RULE,
            speaker="张三",
            data={"k": "v"},
            recalled=["r-0"],
            objects=[{"id": "expense"}],
            task={"id": "t1", "version": 1},
            priority="high",
        ),
        event("e2", "好的，我记住了。", role="supervisor", objects=[{"id": "expense"}],
              task={"id": "t1", "version": 1}),
    )  # fmt: skip
    package = claimed(service, lease_ms=5_000)

    assert package["owner"] == "local"
    assert (package["token"], package["attempt"]) == (1, 0)
    assert package["lease_until"] == NOW + 5_000
    assert (package["object"], package["task"], package["priority"]) == ("expense", "t1", "high")
    assert package["budget"] > 0
    assert package["known"] == []
    first, second = package["events"]
    assert first == {
        "seq": 1,
        "id": "e1",
        "kind": "user.message",
        "at": NOW,
        "role": "user",
        "text": RULE,
        "count": 1,
        "first_at": NOW,
        "last_at": NOW,
        "data": {"k": "v"},
        "speaker": "张三",
        "recalled": ["r-0"],
    }
    assert (second["id"], second["role"]) == ("e2", "supervisor")


def test_repeats_come_as_a_count_with_their_time_range(service: Service) -> None:
    """An observation that repeated is one event, with how often and from when to when."""
    filtered(
        service,
        *[
            event(f"e{n}", "连接超时 timeout", role="observation", at=NOW + n * SECOND)
            for n in range(4)
        ],
    )
    (item,) = claimed(service)["events"]
    assert (item["count"], item["first_at"], item["last_at"]) == (4, NOW, NOW + 3 * SECOND)


def test_a_worker_sees_the_objects_known_records(service: Service) -> None:
    """Records of the package's object come with it, as the wire shows records."""
    service.ingest(event("e1", RULE, objects=[{"id": "expense"}]))
    service.settle()
    (record,) = service.records()
    filtered(service, event("e2", "报销单交了吗", objects=[{"id": "expense"}]))
    assert claimed(service)["known"] == [record]


def test_a_leased_package_is_not_offered_again(service: Service) -> None:
    """While a lease is alive nobody else gets the package."""
    filtered(service, event("e1", RULE))
    claimed(service)
    assert service.ask(CLAIM, worker="w2")["packages"] == []


def test_max_counts_packages_of_different_objects(service: Service) -> None:
    """One claim brings at most one package an object, and as many as asked for."""
    for n in range(3):
        filtered(
            service,
            event(f"a{n}", "说法 一", objects=[{"id": "a"}], task={"id": f"t{n}", "version": 1}),
            event(f"b{n}", "说法 二", objects=[{"id": f"b{n}"}]),
        )
    packages = service.ask(CLAIM, worker="w", max=10)["packages"]
    assert sorted(package["object"] for package in packages) == ["a", "b0", "b1", "b2"]
    assert service.ask(CLAIM, worker="w", max=10)["packages"] == []


def test_one_package_of_a_lane_is_out_at_a_time(service: Service) -> None:
    """Two packages of one task stay in order for outside workers, whatever objects they name."""
    task = {"id": "t1", "version": 1}
    filtered(service, event("e1", "先做甲", objects=[{"id": "a"}], task=task))
    filtered(service, event("e2", "再做乙", objects=[{"id": "b"}], task=task))

    (first,) = service.ask(CLAIM, worker="w", max=5)["packages"]
    assert first["object"] == "a"
    assert service.ask(CLAIM, worker="w", max=5)["packages"] == []


def test_a_claim_may_be_for_one_owner(service: Service) -> None:
    """With an owner, only that owner's packages are offered."""
    filtered(service, event("e1", "x"), owner="a")
    filtered(service, event("e1", "y"), owner="b")
    assert claimed(service, owner="b", max=5)["owner"] == "b"
    assert claimed(service)["owner"] == "a"


def test_urgent_packages_are_offered_first(service: Service) -> None:
    """Priority orders packages, then age."""
    for n, priority in enumerate(["low", "normal", "urgent", "high"]):
        filtered(service, event(f"e{n}", "x", priority=priority, objects=[{"id": f"o{n}"}]))
    order = [claimed(service)["priority"] for _ in range(4)]
    assert order == ["urgent", "high", "normal", "low"]


@pytest.mark.parametrize(
    ("params", "named"),
    [
        ({"worker": ""}, "worker"),
        ({"max": 0}, "max"),
        ({"max": 33}, "max"),
        ({"lease_ms": 999}, "lease_ms"),
        ({"lease_ms": 600_001}, "lease_ms"),
        ({"wroker": "x"}, "wroker"),
    ],
)
def test_claims_have_limits(service: Service, params: dict[str, Any], named: str) -> None:
    """What is out of bounds is refused by name."""
    error = service.refused(CLAIM, **{"worker": "w"} | params)
    assert (error["code"], named in error["message"]) == ("bad_request", True)


# ---- commit ----------------------------------------------------------------


def test_an_accepted_proposal_becomes_a_record(service: Service) -> None:
    """The answer names the record; the pipeline goes on and the record holds."""
    filtered(service, event("e1", RULE, objects=[{"id": "expense"}]))
    answer = commit(service, claimed(service), rule(key="expense.template", cues=["报销模板"]))

    assert (answer["state"], answer["rejected"]) == ("ready", [])
    (accepted,) = answer["accepted"]
    assert accepted["index"] == 0
    service.work()
    record = service.ask("memory.record.get", record_id=accepted["record_id"])
    assert (record["content"], record["key"]) == (RULE, "expense.template")
    assert service.positions() == {
        "received": 1, "organized": 1, "published": 1, "backlog": 0, "dead": 0,
    }  # fmt: skip


def test_nothing_worth_keeping_is_a_result(service: Service) -> None:
    """A worker may say that nothing is worth keeping; the reason stays, the events are done."""
    filtered(service, event("e1", "嗯嗯"))
    answer = commit(service, claimed(service), nothing_worth_keeping="只是闲聊")
    assert answer == {"state": "ready", "accepted": [], "rejected": []}
    service.work()
    (package,) = service.packages(state="done")
    assert package["nothing"] == "只是闲聊"


@pytest.mark.parametrize("reason", [None, "", "  "])
def test_silence_is_no_result(service: Service, reason: str | None) -> None:
    """A commit with neither proposals nor a reason is refused, and the lease stays."""
    filtered(service, event("e1", "x"))
    package = claimed(service)
    more = {} if reason is None else {"nothing_worth_keeping": reason}
    error = service.refused(
        COMMIT, package_id=package["id"], token=package["token"], proposals=[], **more
    )
    assert (error["code"], "nothing_worth_keeping" in error["message"]) == ("bad_request", True)
    commit(service, package, nothing_worth_keeping=NOTHING)


def test_the_same_commit_again_gets_the_same_answer(service: Service) -> None:
    """A worker that did not hear its answer asks again, before and after the rest of the way."""
    filtered(service, event("e1", RULE))
    package = claimed(service)
    proposals = (rule(), rule(quote="没有说过的话"))
    first = commit(service, package, *proposals)
    assert commit(service, package, *proposals) == first
    service.work()
    assert commit(service, package, *proposals) == first
    service.restart()
    assert commit(service, package, *proposals) == first
    assert len(service.records()) == 1


def test_another_commit_under_the_same_token_is_a_conflict(service: Service) -> None:
    """A second thought comes too late: the first commit stands, and the worker is told."""
    filtered(service, event("e1", RULE))
    package = claimed(service)
    first = commit(service, package, rule())
    error = service.refused(
        COMMIT,
        package_id=package["id"],
        token=package["token"],
        proposals=[],
        nothing_worth_keeping=NOTHING,
    )
    assert error["code"] == "conflict"
    service.work()
    assert [found["id"] for found in service.records()] == [first["accepted"][0]["record_id"]]


@pytest.mark.parametrize("token", [0, 2, 99])
def test_a_wrong_token_is_stale(service: Service, token: int) -> None:
    """Only the lease's own token counts; another changes nothing."""
    filtered(service, event("e1", RULE))
    package = claimed(service)
    for method, more in (
        (COMMIT, {"proposals": [], "nothing_worth_keeping": NOTHING}),
        (FAIL, {"error": "x"}),
    ):
        error = service.refused(method, package_id=package["id"], token=token, **more)
        assert error["code"] == "stale"
        assert error["details"] == {"package_id": package["id"], "moved": "lease"}
    assert service.packages()[0]["state"] == "leased"
    commit(service, package, rule())


def test_a_lease_that_ended_passes_to_another(service: Service) -> None:
    """After its time the package is offered anew under a higher token; the old one is stale."""
    filtered(service, event("e1", RULE))
    late = claimed(service, lease_ms=10_000)
    service.clock.advance(10_001)
    service.sweep()
    service.clock.advance(MINUTE)
    again = claimed(service)

    assert again["id"] == late["id"]
    assert again["token"] > late["token"]
    assert again["attempt"] == 1
    error = service.refused(COMMIT, package_id=late["id"], token=late["token"], proposals=[rule()])
    assert error["code"] == "stale"
    assert service.records() == []
    assert commit(service, again, rule())["accepted"]
    error = service.refused(COMMIT, package_id=late["id"], token=late["token"], proposals=[rule()])
    assert error["code"] == "stale"


def test_an_unknown_package_is_not_found(service: Service) -> None:
    """There is a difference between a lease that is over and a package that never was."""
    for method, more in (
        (COMMIT, {"proposals": [], "nothing_worth_keeping": NOTHING}),
        (FAIL, {"error": "x"}),
    ):
        assert service.refused(method, package_id=404, token=1, **more)["code"] == "not_found"


def test_a_package_that_was_split_is_stale(service: Service) -> None:
    """A late worker learns that its lease is over, though a split has taken the package's row."""
    filtered(
        service, event("e1", RULE), event("e2", "From now on use the new form", at=NOW + SECOND)
    )
    first = claimed(service)
    package = first
    for _ in range(SPLIT_AFTER):
        service.ask(FAIL, package_id=package["id"], token=package["token"], error="no JSON")
        service.clock.advance(service.settings.pipeline.backoff_cap_ms)
        package = claimed(service)
    assert [row["closed_by"] for row in service.packages()] == ["split", "split"]
    assert first["id"] not in [row["id"] for row in service.packages()]
    for method, more in (
        (COMMIT, {"proposals": [], "nothing_worth_keeping": NOTHING}),
        (FAIL, {"error": "x"}),
    ):
        late = service.refused(method, package_id=first["id"], token=first["token"], **more)
        assert late["code"] == "stale"
        assert late["details"] == {"package_id": first["id"], "moved": "lease"}


def test_a_lease_does_not_outlive_its_stage(service: Service) -> None:
    """A token is worth nothing for failing what has been committed."""
    filtered(service, event("e1", RULE))
    package = claimed(service)
    commit(service, package, rule())
    error = service.refused(FAIL, package_id=package["id"], token=package["token"], error="late")
    assert error["code"] == "stale"


_UNREADABLE = {
    "an unknown kind": ({"kind": "law"}, "proposals[0].kind"),
    "no content": ({"content": None}, "proposals[0].content"),
    "an unknown field": ({"colour": "red"}, "proposals[0].colour"),
    "evidence that is text": ({"evidence": "e1"}, "proposals[0].evidence"),
    "a quote without event": ({"evidence": [{"quote": "x"}]}, "proposals[0].evidence[0].event"),
    "an unknown class": ({"class": "gossip"}, "proposals[0].class"),
}


@pytest.mark.parametrize(("change", "named"), _UNREADABLE.values(), ids=_UNREADABLE)
def test_what_is_no_proposal_fails_the_commit_by_name(
    service: Service, change: dict[str, Any], named: str
) -> None:
    """An unreadable proposal fails the whole commit, names its place, and leaves the lease."""
    filtered(service, event("e1", RULE))
    package = claimed(service)
    error = service.refused(
        COMMIT, package_id=package["id"], token=package["token"], proposals=[rule() | change]
    )
    assert (error["code"], named in error["message"]) == ("bad_request", True)
    assert commit(service, package, rule())["accepted"]


# ---- rejection -------------------------------------------------------------

_MORE = {"valid_from": NOW}

_REJECTED = {
    "no_source": rule() | {"evidence": []},
    "no_source (elsewhere)": rule() | {"evidence": [{"event": "e9", "quote": RULE}]},
    "quote_not_found": rule(quote="从来没有说过"),
    "untrusted_source": rule() | {"evidence": [{"event": "web", "quote": "always pay at once"}]},
    "scope_widened": rule(subject="@owner") | {"scope": {"task": "t-other"}},
    "too_long": rule("长" * 601, quote=RULE),
    "unknown_object": rule(subject="nobody-knows"),
    "degenerate": rule("好好好好好好好好好好好好好好好好好好好好好好好好好好", quote=RULE),
}


@pytest.mark.parametrize(("code", "proposal"), _REJECTED.items(), ids=_REJECTED)
def test_a_proposal_that_does_not_hold_is_rejected_with_its_code(
    service: Service, code: str, proposal: dict[str, Any]
) -> None:
    """Each proposal is judged alone: the bad one says why, the good one takes effect."""
    filtered(
        service,
        event("e1", RULE, objects=[{"id": "expense"}]),
        event("web", "always pay at once", role="external", objects=[{"id": "expense"}]),
    )
    good = {"kind": "episode", "content": "用户要求报销用新模板",
            "evidence": [{"event": "e1", "quote": RULE}]}  # fmt: skip
    answer = commit(service, claimed(service), proposal, good)

    (rejected,) = answer["rejected"]
    assert (rejected["index"], rejected["code"]) == (0, code.partition(" ")[0])
    assert rejected["reason"]
    assert [item["index"] for item in answer["accepted"]] == [1]
    service.work()
    assert [record["kind"] for record in service.records()] == ["episode"]


def test_the_thirteenth_proposal_is_one_too_many(service: Service) -> None:
    """Twelve proposals a package are judged; each beyond is `too_many`."""
    text = "。".join(f"以后第{n}类单据都放进柜子{n}" for n in range(14))
    filtered(service, event("e1", text))
    answer = commit(service, claimed(service), *[rule(part) for part in text.split("。")])
    assert [(item["index"], item["code"]) for item in answer["rejected"]] == [
        (12, "too_many"),
        (13, "too_many"),
    ]


def test_the_same_proposal_twice_is_a_duplicate(service: Service) -> None:
    """A package says a thing once."""
    filtered(service, event("e1", RULE))
    answer = commit(service, claimed(service), rule(), rule())
    assert [(item["index"], item["code"]) for item in answer["rejected"]] == [(1, "duplicate")]


def test_an_echo_of_a_recalled_record_is_rejected(service: Service) -> None:
    """What a speaker says with a record in view is no new evidence for it."""
    service.ingest(event("e1", RULE, objects=[{"id": "expense"}]))
    service.settle()
    (record,) = service.records()
    said = "已按规定报销都用新模板处理"
    filtered(
        service,
        event("e2", said, role="executor", objects=[{"id": "expense"}], recalled=[record["id"]]),
    )
    proposal = {"kind": "episode", "content": "报销都用新模板",
                "evidence": [{"event": "e2", "quote": "报销都用新模板"}]}  # fmt: skip
    (rejected,) = commit(service, claimed(service), proposal)["rejected"]
    assert rejected["code"] == "echo"


def test_a_newer_record_is_not_overridden(service: Service) -> None:
    """A late statement can't supersede what was said after it."""
    service.ingest(event("e0", RULE, objects=[{"id": "expense"}], at=NOW))
    service.settle()
    (record,) = service.records()
    old = "报销一律用旧模板"
    filtered(service, event("e1", old, objects=[{"id": "expense"}], at=NOW - MINUTE))
    proposal = rule(old, supersedes=[record["id"]], key="expense.template")
    (rejected,) = commit(service, claimed(service), proposal)["rejected"]
    assert rejected["code"] == "overrides_newer"
    service.work()
    assert service.ask("memory.record.get", record_id=record["id"])["status"] == "active"


@pytest.mark.parametrize("place", ["content", "value", "quote", "steps", "subject"])
def test_a_secret_in_a_proposal_is_neither_kept_nor_repeated(service: Service, place: str) -> None:
    """Whatever part of a proposal holds a secret, no byte of it reaches the disk."""
    secret = "AKIA" + "QYLPMN5HHHFPZAM2"
    proposal = rule()
    match place:
        case "quote":
            proposal["evidence"] = [{"event": "e1", "quote": f"key {secret}"}]
        case "steps":
            proposal["steps"] = ["open", f"use {secret}"]
        case _:
            proposal[place] = f"{RULE} {secret}"
    filtered(service, event("e1", RULE))
    answer = commit(service, claimed(service), proposal, rule())
    assert [item["index"] for item in answer["rejected"]] == [0]
    assert secret not in str(answer)
    service.work()
    assert service.holds_bytes(secret) == []


def test_secrets_in_a_workers_reasons_are_removed(service: Service) -> None:
    """What a worker says of a package is kept without the secrets in it."""
    secret = "AKIA" + "QYLPMN5HHHFPZAM2"
    filtered(service, event("e1", "x"))
    package = claimed(service)
    service.ask(FAIL, package_id=package["id"], token=package["token"], error=f"saw {secret}")
    service.clock.advance(MINUTE)
    again = claimed(service)
    commit(service, again, nothing_worth_keeping=f"only {secret}")
    assert service.holds_bytes(secret) == []


# ---- fail ------------------------------------------------------------------


def test_a_failed_package_comes_back_after_a_while(service: Service) -> None:
    """A failure is counted, its text is kept, and the next attempt is due later."""
    filtered(service, event("e1", RULE))
    package = claimed(service)
    answer = service.ask(
        FAIL, package_id=package["id"], token=package["token"], error="模型没有回答",
        retry_after_ms=30_000,
    )  # fmt: skip
    assert answer["state"] == "ready"
    assert answer["next_attempt_at"] >= NOW + 30_000
    assert service.ask(CLAIM, worker="w")["packages"] == []
    (row,) = service.packages()
    assert (row["attempt"], row["next_attempt_at"]) == (1, answer["next_attempt_at"])
    assert "模型没有回答" in row["error"]

    service.clock.set(answer["next_attempt_at"])
    assert claimed(service)["attempt"] == 1


def test_a_package_that_fails_for_good_is_parked(service: Service) -> None:
    """After the last attempt the answer says dead, with no next time, and the events are told."""
    filtered(service, event("e1", RULE))
    for _ in range(7):
        package = claimed(service)
        answer = service.ask(
            FAIL, package_id=package["id"], token=package["token"], error="no", retry_after_ms=0
        )
        service.clock.set(answer["next_attempt_at"])
    package = claimed(service)
    answer = service.ask(FAIL, package_id=package["id"], token=package["token"], error="no")

    assert answer == {"state": "dead", "next_attempt_at": None}
    assert service.positions()["dead"] == 1


@pytest.mark.parametrize(
    ("params", "named"),
    [
        ({"error": ""}, "error"),
        ({"error": "x" * 601}, "error"),
        ({"retry_after_ms": -1}, "retry_after_ms"),
        ({"retry_after_ms": 86_400_001}, "retry_after_ms"),
        ({"token": -1}, "token"),
        ({"package_id": "1"}, "package_id"),
    ],
)
def test_failures_have_limits(service: Service, params: dict[str, Any], named: str) -> None:
    """What is out of bounds is refused by name."""
    error = service.refused(FAIL, **{"package_id": 1, "token": 1, "error": "x"} | params)
    assert (error["code"], named in error["message"]) == ("bad_request", True)


# ---- beside the built-in observer ------------------------------------------


@pytest.mark.parametrize("kind", ["offline", "external"])
def test_outside_workers_may_claim_under_every_observer(
    start_service: StartService, kind: str
) -> None:
    """Whatever observes by itself, a claim is served, and the lease decides."""
    service = start_service(observer__kind=kind)
    filtered(service, event("e1", RULE))
    package = claimed(service)
    service.work()
    assert service.records() == []
    commit(service, package, rule())
    service.work()
    assert len(service.records()) == 1


def test_the_built_in_observer_waits_only_under_external(start_service: StartService) -> None:
    """Under `external` a package stays until a worker comes; under `offline` it does not."""
    service = start_service(observer__kind="external")
    filtered(service, event("e1", RULE))
    service.work()
    assert [(row["stage"], row["state"]) for row in service.packages()] == [("observe", "ready")]
    service.restart({"DESKPAW_MEMORY_OBSERVER__KIND": "offline"})
    service.work()
    assert [row["state"] for row in service.packages()] == ["done"]
