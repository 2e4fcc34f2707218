"""The observers there are, by the word of `observer.kind`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from pipeline.observers.anthropic import AnthropicObserver
from pipeline.observers.anthropic_account import Account
from pipeline.observers.anthropic_batches import Batches
from pipeline.observers.anthropic_client import MessagesClient
from pipeline.observers.anthropic_gate import Gate
from pipeline.observers.external import ExternalObserver
from pipeline.observers.offline import OfflineObserver
from pipeline.observers.port import Observer
from pipeline.settings import Settings
from storage.clock import Clock
from storage.writer import Writer


@dataclass(frozen=True, slots=True)
class Parts:
    """What an observer may be made of: the settings, the clock and the process's writer."""

    settings: Settings
    clock: Clock
    writer: Writer


def account_of(parts: Parts) -> Account:
    """What asking a model costs, under the budget of the settings."""
    return Account(parts.writer, parts.clock, parts.settings.observer.daily_tokens)


def _anthropic(parts: Parts) -> Observer:
    settings = parts.settings.observer
    longest_ms = parts.settings.pipeline.backoff_cap_ms
    client = MessagesClient(settings, longest_wait_ms=longest_ms)
    account = account_of(parts)
    batches = Batches(settings, client, account, parts.writer, parts.clock)
    return AnthropicObserver(
        settings,
        client,
        account,
        Gate(parts.clock, longest_ms),
        batches if settings.batches else None,
    )


def _external(_: Parts) -> Observer:
    return ExternalObserver()


def _offline(_: Parts) -> Observer:
    return OfflineObserver()


OBSERVERS: Mapping[str, Callable[[Parts], Observer]] = MappingProxyType(
    {"anthropic": _anthropic, "external": _external, "offline": _offline}
)
"""How each kind is made."""


def make_observer(parts: Parts) -> Observer:
    """The observer that the settings name. Nothing is imported or asked before its first package."""
    return OBSERVERS[parts.settings.observer.kind](parts)
