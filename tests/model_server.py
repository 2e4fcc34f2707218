"""A server of the Messages API on loopback, which answers as a test says.

It speaks the real protocol: keys and versions in headers, JSON both ways, the API's error shapes,
`retry-after`, and message batches. What the API would refuse, it refuses.
"""

import json
import re
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

Json = dict[str, Any]
Reading = Callable[[Json], Json | str]
"""What a test's model makes of a package: an answer, or a text instead of one."""

Script = Callable[["Exchange"], None]
"""How one request is answered."""

_REFUSED_KEYWORDS: Final = {"minLength", "maxLength", "minimum", "maximum", "maxItems"}
_TYPES: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}
USAGE: Final = {
    "input_tokens": 100,
    "output_tokens": 20,
    "cache_creation_input_tokens": 7,
    "cache_read_input_tokens": 3,
}
"""What each answer costs, unless a test says otherwise."""


@dataclass(frozen=True, slots=True)
class Received:
    """A request as it arrived; the names of its headers in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


class Exchange:
    """One request under way, and the ways to answer it."""

    def __init__(self, handler: BaseHTTPRequestHandler, received: Received, model: str) -> None:
        self._handler = handler
        self.received = received
        self._model = model

    def send(self, status: int, body: bytes | Json, **headers: str) -> None:
        """Answer with a status and a body."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.head(status, len(data), **headers)
        self._handler.wfile.write(data)

    def head(self, status: int, length: int, **headers: str) -> None:
        """Begin an answer that is said to be so long."""
        named = {"content-type": "application/json", "content-length": str(length)}
        named |= {name.replace("_", "-"): value for name, value in headers.items()}
        self._handler.send_response(status)
        for name, value in named.items():
            self._handler.send_header(name, value)
        self._handler.end_headers()

    def write(self, data: bytes) -> None:
        """Send a part of the body at once."""
        self._handler.wfile.write(data)
        self._handler.wfile.flush()

    def message(self, answer: Json | str, **changes: Any) -> Json:
        """A message with that answer, bound as the request asked for it."""
        return _message(self.received.body, self._model, answer) | changes


def _message(request: Json, model: str, answer: Json | str) -> Json:
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    content: list[Json] = [{"type": "text", "text": text, "citations": None}]
    stop_reason = "end_turn"
    if "tools" in request:
        name = request["tools"][0]["name"]
        content = [{"type": "tool_use", "id": "toolu_1", "name": name, "input": answer}]
        stop_reason = "tool_use"
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": dict(USAGE),
    }


def says(answer: Json | str, **changes: Any) -> Script:
    """Answer with this, whatever is asked; `changes` are to the message around it."""
    return lambda exchange: exchange.send(200, exchange.message(answer, **changes))


def fails(status: int, message: str = "no", **headers: str) -> Script:
    """Answer with an error in the API's shape."""
    error = {"type": _TYPES.get(status, "api_error"), "message": message}
    body = {"type": "error", "error": error, "request_id": "req_1"}
    return lambda exchange: exchange.send(status, body, **headers)


def sends(body: bytes, content_type: str = "application/json") -> Script:
    """Answer 200 with these bytes."""
    return lambda exchange: exchange.send(200, body, content_type=content_type)


def breaks_off(exchange: Exchange) -> None:
    """Say that much follows, send a little, and close the connection."""
    exchange.head(200, 10_000)
    exchange.write(b'{"id": "msg_1", "type"')
    exchange._handler.close_connection = True


def floods(exchange: Exchange) -> None:
    """Send an answer of eight million letters; whoever asked may hang up before its end."""
    exchange.send(200, exchange.message("字" * 8_000_000))


def refuses_connection(exchange: Exchange) -> None:
    """Close the connection without a word."""
    exchange._handler.close_connection = True


@dataclass
class ModelServer:
    """The server: its address, its key, what it was asked, and how it answers.

    Each request takes the next of `scripts`; without one `model` reads the package.
    """

    model: Reading
    url: str = ""
    name: str = "a-model-1"
    key: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    scripts: list[Script] = field(default_factory=list)
    received: list[Received] = field(default_factory=list)
    batches: dict[str, Json] = field(default_factory=dict)
    stopping: threading.Event = field(default_factory=threading.Event)

    def then(self, *scripts: Script) -> None:
        """Answer the next requests by these."""
        self.scripts += scripts

    def always(self, script: Script) -> None:
        """Answer every request to come by this."""
        self.scripts = [script] * 1_000

    def hangs(self, exchange: Exchange) -> None:
        """Say nothing until the test is over."""
        self.stopping.wait()
        refuses_connection(exchange)

    def trickles(self, exchange: Exchange) -> None:
        """Send a byte now and then until the test is over or whoever asked has gone."""
        exchange.head(200, 10_000)
        while not self.stopping.wait(0.02):
            exchange.write(b" ")

    @property
    def asked(self) -> list[Json]:
        """The bodies of the requests for a message, in order."""
        return [one.body for one in self.received if one.path == "/v1/messages"]

    def packages(self) -> list[Json]:
        """The packages that were sent in requests for a message, in order."""
        return [package_in(body) for body in self.asked]

    def end_batches(self) -> None:
        """Let every batch have ended."""
        for batch in self.batches.values():
            batch["processing_status"] = "ended"
            batch["results_url"] = f"{self.url}/v1/messages/batches/{batch['id']}/results"

    # ---- the protocol ------------------------------------------------------

    def serve(self, exchange: Exchange) -> None:
        """Answer one request."""
        received = exchange.received
        self.received.append(received)
        fault = self._refusal(received)
        if fault is not None:
            fault(exchange)
        elif self.scripts:
            self.scripts.pop(0)(exchange)
        elif received.path == "/v1/messages":
            says(self.model(package_in(received.body)))(exchange)
        else:
            self._batch(exchange)

    def _refusal(self, received: Received) -> Script | None:
        headers = received.headers
        if headers.get("x-api-key") != self.key:
            return fails(401)
        if "anthropic-version" not in headers:
            return fails(400)
        if received.method == "POST" and headers.get("content-type") != "application/json":
            return fails(400)
        if received.path == "/v1/messages" and not _is_request(received.body, self.name):
            return fails(400)
        return None

    def _batch(self, exchange: Exchange) -> None:
        received = exchange.received
        if received.method == "POST" and received.path == "/v1/messages/batches":
            exchange.send(200, self._new_batch(received.body["requests"]))
            return
        batch_id, _, results = received.path.removeprefix("/v1/messages/batches/").partition("/")
        batch = self.batches.get(batch_id)
        if batch is None:
            fails(404)(exchange)
        elif results:
            lines = [self._result(one) for one in batch["requests"]]
            exchange.send(200, b"".join(lines), content_type="application/binary")
        else:
            exchange.send(200, {name: part for name, part in batch.items() if name != "requests"})

    def _new_batch(self, requests: list[Json]) -> Json:
        batch_id = f"msgbatch_{len(self.batches) + 1}"
        told = {
            "id": batch_id,
            "type": "message_batch",
            "processing_status": "in_progress",
            "created_at": "2026-01-01T00:00:00Z",
            "expires_at": "2026-01-02T00:00:00Z",
            "request_counts": dict.fromkeys(
                ("processing", "succeeded", "errored", "canceled", "expired"), 0
            ),
            "results_url": None,
        }
        self.batches[batch_id] = told | {"requests": requests}
        return told

    def _result(self, request: Json) -> bytes:
        made = self.model(package_in(request["params"]))
        if isinstance(made, str):
            result: Json = {"type": made}
            if made == "errored":
                error = {"type": "invalid_request_error", "message": "no"}
                result["error"] = {"type": "error", "error": error, "request_id": None}
        else:
            message = _message(request["params"], self.name, made)
            result = {"type": "succeeded", "message": message}
        return json.dumps({"custom_id": request["custom_id"], "result": result}).encode() + b"\n"


def package_in(body: Json) -> Json:
    """The package in a request's user message."""
    text: str = body["messages"][0]["content"][0]["text"]
    (found,) = re.findall(r"<package>(.*?)</package>", text, re.DOTALL)
    package: Json = json.loads(found)
    return package


def _is_request(body: Json, model: str) -> bool:
    """Whether the API would take a request for a message."""
    schema = body.get("output_config", {}).get("format", {}).get("schema")
    if schema is None:
        schema = body["tools"][0]["input_schema"]
    return (
        body["model"] == model
        and isinstance(body["max_tokens"], int)
        and body["messages"][0]["role"] == "user"
        and not body.keys() & {"temperature", "top_p", "top_k"}
        and _is_supported(schema)
    )


def _is_supported(schema: Any) -> bool:
    if isinstance(schema, list):
        return all(map(_is_supported, schema))
    if not isinstance(schema, dict):
        return True
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        return False
    return not schema.keys() & _REFUSED_KEYWORDS and all(map(_is_supported, schema.values()))


@contextmanager
def model_server(model: Reading) -> Iterator[ModelServer]:
    """A server whose model reads packages so; gone when the block ends."""
    serving = ModelServer(model)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
            del format, args

        def do_GET(self) -> None:
            self._serve(None)

        def do_POST(self) -> None:
            self._serve(json.loads(self.rfile.read(int(self.headers["content-length"]))))

        def _serve(self, body: Any) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            received = Received(self.command, self.path, headers, body)
            try:
                serving.serve(Exchange(self, received, serving.name))
            except ConnectionError:
                # Whoever asked has hung up, as some tests want it to.
                self.close_connection = True

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        serving.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield serving
        finally:
            serving.stopping.set()
            server.shutdown()
            thread.join()
