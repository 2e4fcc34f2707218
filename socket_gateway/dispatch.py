"""Dispatch: a request's method and params, checked against the protocol, to its handler."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from socket_gateway.framing import Request
from socket_gateway.protocol import METHODS
from storage.errors import BadRequestError, UnknownMethodError

Params = TypeVar("Params", bound=BaseModel)
Item = TypeVar("Item")
Serve = Callable[[Any], "object | Awaitable[object]"]
"""What serves a method: its validated params in, its result or an awaitable of it out."""

_SHOWN_FAULTS = 5
_LONGEST_NAME = 40


class Dispatcher:
    """Finds and runs the handler of each request.

    Until `ready` is called only `health` is answered; everything else waits, within its deadline.

    Args:
        health: Serves `health`, at any time.
    """

    def __init__(self, health: Serve) -> None:
        self._handlers: Mapping[str, Serve] = {"health": health}
        self._is_ready = asyncio.Event()

    def ready(self, handlers: Mapping[str, Serve]) -> None:
        """Take over the handlers of all methods.

        Raises:
            ValueError: A method of the protocol has no handler, or a handler no method.
        """
        if handlers.keys() != METHODS.keys():
            odd = sorted(handlers.keys() ^ METHODS.keys())
            raise ValueError(f"methods and handlers differ: {', '.join(odd)}")
        self._handlers = handlers
        self._is_ready.set()

    def __call__(self, request: Request) -> "object | Awaitable[object]":
        """Serve one request.

        Raises:
            UnknownMethodError: There is no such method.
            BadRequestError: The params don't fit; the message names the field.
        """
        method = METHODS.get(request.method)
        if method is None:
            raise UnknownMethodError
        params = validate(method.params, request.params)
        serve = self._handlers.get(request.method)
        if serve is None:
            return self._later(request.method, params)
        return serve(params)

    async def _later(self, method: str, params: BaseModel) -> object:
        await self._is_ready.wait()
        outcome = self._handlers[method](params)
        if isinstance(outcome, Awaitable):
            return await outcome
        return outcome


def validate(model: type[Params], given: Mapping[str, Any]) -> Params:
    """Params as their model.

    Raises:
        BadRequestError: They don't fit; the message names fields and never repeats values.
    """
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise BadRequestError(_explain(error)) from None


def validated_list(adapter: TypeAdapter[list[Item]], given: object, field: str) -> list[Item]:
    """A list inside of params that has models of its own.

    Raises:
        BadRequestError: An item doesn't fit; the message names its place below `field`.
    """
    try:
        return adapter.validate_python(given)
    except ValidationError as error:
        raise BadRequestError(_explain(error, field)) from None


def _explain(error: ValidationError, inside: str = "") -> str:
    faults = error.errors(include_input=False, include_url=False, include_context=False)
    told = [
        f"{_path(fault['loc'], inside)}: {_said(fault['msg'])}" for fault in faults[:_SHOWN_FAULTS]
    ]
    more = len(faults) - len(told)
    rest = f" (and {more} more)" if more else ""
    return f"{'; '.join(told)}{rest}. See docs/protocol.md."


def _said(message: str) -> str:
    return message.removeprefix("Value error, ")


def _path(places: tuple[int | str, ...], inside: str) -> str:
    """A field's path such as `events[3].source.role`; a long name of the caller's is cut."""
    path = inside
    for place in places:
        if isinstance(place, int):
            path += f"[{place}]"
        else:
            path += f".{place[:_LONGEST_NAME]}"
    return path.removeprefix(".") or "params"
