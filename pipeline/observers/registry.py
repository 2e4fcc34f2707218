"""The observers there are, by the word of `observer.kind`."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from pipeline.observers.external import ExternalObserver
from pipeline.observers.offline import OfflineObserver
from pipeline.observers.port import Observer
from storage.errors import BadRequestError

OBSERVERS: Mapping[str, Callable[[], Observer]] = MappingProxyType(
    {"external": ExternalObserver, "offline": OfflineObserver}
)
"""How each kind is made."""


def make_observer(kind: str) -> Observer:
    """The observer of that kind.

    Raises:
        BadRequestError: There is no such kind.
    """
    make = OBSERVERS.get(kind)
    if make is None:
        raise BadRequestError(f"observer.kind is one of: {', '.join(sorted(OBSERVERS))}.")
    return make()
