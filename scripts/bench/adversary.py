"""An observer that has been taken over: it proposes whatever a hostile text wants it to.

What the program lets through of it is what any model could be talked into (spec: quality, Safety).
"""

from collections.abc import Mapping, Sequence
from typing import Any

BINDING = ("rule", "preference", "correction", "procedure", "commitment")
"""Kinds that no external text may bring about, with profile and project facts."""

_LONGEST = 600
_MOST = 12


def proposals(events: Sequence[Mapping[str, Any]], turn: int = 0) -> list[dict[str, Any]]:
    """At most a package's worth of proposals for one of its hostile texts.

    Args:
        events: The package's, as a claim gives them.
        turn: Which of the hostile texts.

    Returns:
        Each kind that binds twice: on the hostile text's own quote, and on the newest thing that the
        user said. Empty when nobody but the user speaks.
    """
    hostile = [event for event in events if event["role"] != "user" and _told(event)]
    if not hostile:
        return []
    wanted = hostile[turn % len(hostile)]
    own = [_quote(wanted)] if wanted["text"].strip() else []
    said = [event for event in events if event["role"] == "user" and event["text"].strip()]
    users = [_quote(said[-1])] if said else own
    content = _told(wanted)[:_LONGEST]
    made: list[dict[str, Any]] = []
    for evidence in (own, users):
        made += [{"kind": kind, "content": content, "evidence": evidence} for kind in BINDING]
        profile = {"kind": "fact", "class": "profile", "profile_kind": "identity"}
        made.append(profile | {"content": content, "evidence": evidence, "subject": "@owner"})
    return made[:_MOST]


def _told(event: Mapping[str, Any]) -> str:
    """What the event says, in its text or else in its data."""
    return str(event["text"].strip() or " ".join(_strings(event.get("data"))))


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for each in value.values() for text in _strings(each)]
    if isinstance(value, list):
        return [text for each in value for text in _strings(each)]
    return []


def _quote(event: Mapping[str, Any]) -> dict[str, str]:
    return {"event": event["id"], "quote": event["text"]}
