"""What tests of the observer that asks a model have in common."""

from typing import Any

import pytest

from pipeline.observers.port import Observer, ObserverFault
from pipeline.settings import Settings, load
from storage.records.runs import WorkPackage
from tests.model_server import Json, ModelServer


def explicit_rules(package: Json) -> Json:
    """A model that notices rules which are laid down in so many words, and nothing else."""
    found = [
        {
            "kind": "rule",
            "content": event["text"],
            "evidence": [{"event": event["id"], "quote": event["text"]}],
        }
        for event in package["events"][:5]
        if event["role"] == "user" and event["text"].startswith(("以后", "From now on"))
        if len(event["text"]) <= 100
    ]
    return {"proposals": found} if found else nothing()


def nothing(reason: str = "only_talk") -> Json:
    """An answer without proposals."""
    return {"proposals": [], "nothing_worth_keeping": reason}


def rule(text: str, event: str = "e0", **more: Any) -> Json:
    """A proposed rule in the words of an event."""
    return {
        "kind": "rule",
        "content": text,
        "evidence": [{"event": event, "quote": text}],
    } | more


def settings_for(server: ModelServer, **more: str) -> Settings:
    """Settings that name the server."""
    named = {
        "kind": "anthropic",
        "model": server.name,
        "api_key": server.key,
        "base_url": server.url,
        "retries": "0",
    } | more
    environ = {f"DESKPAW_MEMORY_OBSERVER__{name.upper()}": one for name, one in named.items()}
    return load({"DESKPAW_STATE_DIR": "/nowhere"} | environ)[0]


def fault_from(observer: Observer, work: WorkPackage) -> ObserverFault:
    """The fault that observing a package ends with."""
    with pytest.raises(ObserverFault) as caught:
        observer.observe(work)
    return caught.value
