"""Asking a server of the Messages API, each time with an end (spec: design, Anthropic SDK).

The SDK's own retries are off, since it waits as long as a server tells it to; they are made here,
within the deadline. A call has an event loop and connections of its own, so that a server that
sends a byte now and then is left at the deadline all the same, and nothing outlives the call.

Importing the SDK takes over a second, so only a first call does.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt
from tenacity.wait import wait_random_exponential

from pipeline.observers.anthropic_faults import ServerFault, content_fault, fault_of
from pipeline.observers.schemas import ReplyModel
from pipeline.settings import ObserverSettings

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

Found = TypeVar("Found")

LONGEST_ANSWER: Final = 2 * 1024 * 1024
"""Bytes of a reply. The longest answer that may be asked for is a fraction of it."""

LONGEST_BATCH: Final = 32 * 1024 * 1024
"""Characters of all answers of a batch, which are held at once."""

_LONGEST_PAUSE_MS: Final = 10_000
_NO_MESSAGE: Final = "The model's server answers with something that is no message."


class MessagesClient:
    """A server of the Messages API.

    Args:
        settings: Which server, which key, how long.
        longest_wait_ms: What a wait that the server asks for is cut to.
        sleep: How to wait between two tries, in seconds.
    """

    def __init__(
        self,
        settings: ObserverSettings,
        *,
        longest_wait_ms: int,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._settings = settings
        self._longest_wait_ms = longest_wait_ms
        self._sleep = sleep

    def create(self, request: Mapping[str, Any]) -> ReplyModel:
        """Ask for one message.

        Raises:
            ServerFault: There is no answer, or none that the API allows.
            ObserverFault: The answer is too long, or the request is.
        """

        async def ask(sdk: "AsyncAnthropic") -> ReplyModel:
            streamed = sdk.messages.with_streaming_response.create(**request)
            async with streamed as response:
                return _message(await _body(response.iter_bytes()))

        return self._run(ask)

    def send_batch(self, requests: Mapping[str, Mapping[str, Any]]) -> str:
        """Send requests as one message batch, each under an id of our own; the batch's id.

        Raises:
            ServerFault: The server does not take it.
            ObserverFault: It is too large.
        """

        async def ask(sdk: "AsyncAnthropic") -> str:
            listed: Any = [{"custom_id": name, "params": one} for name, one in requests.items()]
            return _batch_id(await sdk.messages.batches.create(requests=listed))

        return self._run(ask)

    def batch_results(self, batch_id: str) -> dict[str, ReplyModel | None] | None:
        """The answers of a batch by their ids, None while it has not ended.

        An answer that the server doesn't have is None: the request failed, expired or was
        cancelled.

        Raises:
            ServerFault: The server does not tell.
            ObserverFault: What it tells is too long.
        """

        async def ask(sdk: "AsyncAnthropic") -> dict[str, ReplyModel | None] | None:
            batch = await sdk.messages.batches.retrieve(batch_id)
            if getattr(batch, "processing_status", None) != "ended":
                return None
            lines = _unbroken(await sdk.messages.batches.results(batch_id))
            return await _results(lines)

        return self._run(ask)

    def _run(self, ask: Callable[["AsyncAnthropic"], Awaitable[Found]]) -> Found:
        return asyncio.run(self._within_deadline(ask))

    async def _within_deadline(self, ask: Callable[["AsyncAnthropic"], Awaitable[Found]]) -> Found:
        seconds = self._settings.deadline_ms / 1000
        try:
            async with asyncio.timeout(seconds), self._connected() as sdk:
                return await self._tried(ask, sdk)
        except TimeoutError:
            raise ServerFault(f"The model has not answered within {seconds:g} s.") from None

    @asynccontextmanager
    async def _connected(self) -> "AsyncIterator[AsyncAnthropic]":
        anthropic = _sdk()
        key = self._settings.key
        made = anthropic.AsyncAnthropic(
            api_key=key,
            base_url=self._settings.base_url,
            timeout=self._settings.timeout_ms / 1000,
            max_retries=0,
            # Other servers of this API know the key by this name only.
            default_headers={"X-Api-Key": key},
            # Traces would carry the user's text elsewhere.
            open_telemetry=False,
        )
        async with made as sdk:
            yield sdk

    async def _tried(
        self, ask: Callable[["AsyncAnthropic"], Awaitable[Found]], sdk: "AsyncAnthropic"
    ) -> Found:
        """Ask, and again after a passing fault, as often as the settings allow."""
        tries = AsyncRetrying(
            stop=stop_after_attempt(self._settings.retries + 1),
            retry=retry_if_exception(_worth_again),
            wait=_pause,
            sleep=self._sleep,
            reraise=True,
        )
        return await tries(self._asked, ask, sdk)

    async def _asked(
        self, ask: Callable[["AsyncAnthropic"], Awaitable[Found]], sdk: "AsyncAnthropic"
    ) -> Found:
        anthropic = _sdk()
        try:
            return await ask(sdk)
        except anthropic.APIStatusError as error:
            headers = {name.lower(): value for name, value in error.response.headers.items()}
            raise fault_of(
                error.status_code, headers, longest_wait_ms=self._longest_wait_ms
            ) from None
        except anthropic.APITimeoutError:
            raise ServerFault("The model's server took too long.", again=True) from None
        except anthropic.APIConnectionError:
            raise ServerFault(
                "The model's server can't be reached: look at observer.base_url.", again=True
            ) from None
        except anthropic.AnthropicError:
            raise ServerFault(_NO_MESSAGE) from None


def _worth_again(error: BaseException) -> bool:
    """Whether to ask again at once: a longer wait is the ledger's, which keeps nobody busy."""
    return (
        isinstance(error, ServerFault)
        and error.again
        and (error.retry_after_ms or 0) <= _LONGEST_PAUSE_MS
    )


_own_pause = wait_random_exponential(multiplier=0.5, max=_LONGEST_PAUSE_MS / 1000)


def _pause(state: RetryCallState) -> float:
    """Seconds until the next try: what the server asks for, else longer each time."""
    error = state.outcome.exception() if state.outcome else None
    asked = error.retry_after_ms if isinstance(error, ServerFault) else None
    return _own_pause(state) if asked is None else asked / 1000


_Part = TypeVar("_Part")


async def _unbroken(parts: AsyncIterator[_Part]) -> AsyncIterator[_Part]:
    """The parts of a response's body; whatever goes wrong on the way is the connection's fault."""
    try:
        async for part in parts:
            yield part
    except Exception:  # noqa: BLE001 - the SDK lets its transport's own errors through here
        raise ServerFault("The model's server broke off its answer.", again=True) from None


async def _body(chunks: AsyncIterator[bytes]) -> bytes:
    body = bytearray()
    async for chunk in _unbroken(chunks):
        body += chunk
        if len(body) > LONGEST_ANSWER:
            raise content_fault(f"The model's answer is over {LONGEST_ANSWER} bytes.")
    return bytes(body)


def _message(body: bytes) -> ReplyModel:
    try:
        return ReplyModel.model_validate_json(body)
    except ValueError:
        raise ServerFault(_NO_MESSAGE) from None


def _batch_id(batch: object) -> str:
    found = getattr(batch, "id", None)
    if not isinstance(found, str) or not found:
        raise ServerFault("The model's server answers with something that is no message batch.")
    return found


async def _results(lines: AsyncIterator[Any]) -> dict[str, ReplyModel | None]:
    """The results of a batch by their ids.

    Raises:
        ObserverFault: They are longer than that many answers may be.
    """
    found: dict[str, ReplyModel | None] = {}
    size = 0
    async for line in lines:
        name, message = _result(line)
        size += len(message.model_dump_json()) if message else 0
        if size > LONGEST_BATCH:
            raise content_fault(f"A batch's answers are over {LONGEST_BATCH} characters.")
        found[name] = message
    return found


def _result(line: object) -> tuple[str, ReplyModel | None]:
    """The id and the message of one line of a batch's results, None where it holds no message."""
    told = line.to_dict(warnings=False) if isinstance(line, _sdk().BaseModel) else {}
    name = str(told.get("custom_id"))
    try:
        return name, ReplyModel.model_validate(told["result"]["message"])
    except (KeyError, TypeError, ValueError):
        return name, None


def _sdk() -> ModuleType:
    """The SDK, imported on the first call, and kept from writing requests into the log."""
    import anthropic  # noqa: PLC0415 - over a second, which only a worker that asks a model shall wait

    for name in ("anthropic", "httpx2", "httpcore2"):
        logging.getLogger(name).setLevel(logging.WARNING)
    return anthropic
