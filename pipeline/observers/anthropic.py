"""The observer that asks a model over the Messages API (mission C3)."""

from pipeline.observers.anthropic_account import Account, Asked
from pipeline.observers.anthropic_batches import Batches
from pipeline.observers.anthropic_client import MessagesClient
from pipeline.observers.anthropic_faults import ServerFault
from pipeline.observers.anthropic_gate import Gate
from pipeline.observers.anthropic_reply import observation_of
from pipeline.observers.anthropic_request import request_of
from pipeline.observers.port import ObserverFault
from pipeline.observers.prompts import has_something_to_read
from pipeline.observers.schemas import ReplyModel
from pipeline.settings import ObserverSettings
from storage.records.runs import Observation, WorkPackage


class AnthropicObserver:
    """Asks a model about one package at a time, or about a backlog as a message batch.

    Args:
        settings: Which model, and how it is asked.
        client: Its server.
        account: What the answers may cost and did.
        gate: Closed while the server can't be asked.
        batches: Message batches; None for none.
    """

    name = "anthropic"
    batch = 1

    def __init__(
        self,
        settings: ObserverSettings,
        client: MessagesClient,
        account: Account,
        gate: Gate,
        batches: Batches | None,
    ) -> None:
        self._settings = settings
        self._client = client
        self._account = account
        self._gate = gate
        self._batches = batches

    def ready(self) -> bool:
        """Whether the server may be asked, and the day's budget has room or a batch is out."""
        if not self._gate.is_open():
            return False
        if self._batches is not None and self._batches.any_out():
            return True
        return self._account.spent_until() is None

    def observe(self, work: WorkPackage) -> Observation:
        """Ask the model about a package; one without any text is not worth a call (mission C2).

        Raises:
            ObserverFault: The model or its server failed; of kind content where the package is at
                fault.
            BudgetSpentError: The day's tokens are spent.
            WaitsForBatchError: A message batch holds the answer, and has not ended.
        """
        if not has_something_to_read(work):
            return Observation((), nothing_worth_keeping="no_text")
        prepared = self._prepared(work)
        return observation_of(self._asked(work)) if prepared is None else prepared

    def _prepared(self, work: WorkPackage) -> Observation | None:
        """What a message batch made of a package; None when it is not read in one."""
        if self._batches is None:
            return None
        reply = self._batches.answer(work)
        if reply is None:
            self._account.check()
            self._batches.send(work)
            return None
        try:
            return observation_of(reply)
        except ObserverFault:
            self._batches.drop(work.package.id)
            raise

    def _asked(self, work: WorkPackage) -> ReplyModel:
        self._account.check()
        try:
            reply = self._client.create(request_of(work, self._settings))
        except ServerFault as fault:
            self._gate.close(fault.retry_after_ms)
            raise
        self._gate.open()
        package = work.package
        self._account.note([(Asked(package.id, package.fence, package.attempt), reply)])
        return reply
