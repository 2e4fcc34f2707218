"""What the user asks of records: confirming and correcting (spec: protocol, Records and objects)."""

from functools import partial
from typing import Any

from pipeline.acting.acting import Acting
from pipeline.acting.asking import Asked
from pipeline.runner import Work
from pipeline.runtime import make_review_times
from socket_gateway import protocol, shapes
from socket_gateway.handlers.services import Services

Json = dict[str, Any]


class Acts:
    """Serves the methods by which the user's words change a record."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._acting = Acting(
            services.core.writer,
            services.core.clock,
            make_review_times(services.core.settings),
            # A content is written by a model, whatever it was asked for by.
            partial(services.redactor.has_secret, by_model=True),
        )

    async def confirm(self, params: protocol.ConfirmParams) -> Json:
        """Serve `memory.record.confirm`.

        Raises:
            MemoryServiceError: As `Acting.confirm` says; nothing was changed.
        """
        acted = await self._services.read(self._acting.confirm, _asked(params))
        self._services.wake(Work.ADVANCE)
        return {
            "record": shapes.record(acted.record),
            "superseded": [record.id for record in acted.yielded],
        }

    async def correct(self, params: protocol.CorrectParams) -> Json:
        """Serve `memory.record.correct`.

        Raises:
            MemoryServiceError: As `Acting.correct` says; nothing was changed.
        """
        acted = await self._services.read(self._acting.correct, _asked(params), params.content)
        self._services.wake(Work.ADVANCE)
        (old,) = acted.yielded
        return {
            "record": shapes.record(acted.record),
            "corrected": {"record_id": old.id, "status": old.status.value},
        }


def _asked(params: protocol.ConfirmParams) -> Asked:
    request = params.user_request
    return Asked(
        params.owner, params.record_id, params.expected_revision, request.event_id, request.quote
    )
