"""What a server of the Messages API is asked about a package."""

from typing import Any, Final

from pipeline.observers.anthropic_reply import TOOL
from pipeline.observers.prompts import SYSTEM, package_text
from pipeline.observers.schemas import answer_schema
from pipeline.settings import ObserverSettings
from pipeline.text.budget import estimate_tokens
from storage.records.runs import WorkPackage

Request = dict[str, Any]

_USUAL_CACHE: Final = {"type": "ephemeral"}
_BATCH_CACHE: Final = {"type": "ephemeral", "ttl": "1h"}


def request_of(work: WorkPackage, settings: ObserverSettings, *, batch: bool = False) -> Request:
    """The parameters of `messages.create`.

    What stands before the package is the same each time and marked for the server's cache; a
    batch's requests may be hours apart, so there it is kept longer.
    """
    system = {
        "type": "text",
        "text": SYSTEM,
        "cache_control": _BATCH_CACHE if batch else _USUAL_CACHE,
    }
    request: Request = {
        "model": settings.model,
        "max_tokens": settings.max_tokens,
        "system": [system],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": package_text(work)}]},
        ],
        **_binding(settings),
    }
    if settings.thinking == "off":
        request["thinking"] = {"type": "disabled"}
    return request


def most_tokens(work: WorkPackage, settings: ObserverSettings) -> int:
    """What an answer about a package may cost at most, in tokens, estimated on the safe side."""
    return estimate_tokens(SYSTEM) + estimate_tokens(package_text(work)) + settings.max_tokens


def _binding(settings: ObserverSettings) -> Request:
    """What binds the answer to the schema."""
    if settings.output == "schema":
        form = {"type": "json_schema", "schema": answer_schema()}
        return {"output_config": {"format": form}}
    tool = {
        "name": TOOL,
        "description": "Hands in what is worth keeping of the package.",
        "input_schema": answer_schema(),
        "strict": True,
    }
    return {"tools": [tool], "tool_choice": {"type": "tool", "name": TOOL}}
