"""The Python client of the memory service, blocking and asyncio.

It knows the wire (`socket_gateway.protocol`) and the error codes, nothing else of the service, so
that an agent can take it without the pipeline and the storage.
"""

from socket_gateway.client.asynchronous import AsyncMemoryClient
from socket_gateway.client.blocking import MemoryClient
from socket_gateway.client.errors import NotReachableError, ServiceError
from socket_gateway.client.repeating import REPEATABLE, Ports, RetryPolicy

__all__ = [
    "REPEATABLE",
    "AsyncMemoryClient",
    "MemoryClient",
    "NotReachableError",
    "Ports",
    "RetryPolicy",
    "ServiceError",
]
