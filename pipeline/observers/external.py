"""The observer that is somebody else: a worker that claims packages over the socket."""

from storage.errors import UnavailableError
from storage.records.runs import Observation, WorkPackage


class ExternalObserver:
    """Leaves every package to an outside worker (spec: protocol, Observation)."""

    name = "external"
    batch = 1

    def ready(self) -> bool:
        """Never: its packages are claimed over the socket."""
        return False

    def observe(self, work: WorkPackage) -> Observation:
        """Refuse: the package waits for its worker.

        Raises:
            UnavailableError: Always.
        """
        raise UnavailableError(
            "Packages wait for a worker: claim them with memory.observation.claim.",
            details={"package": work.package.id},
        )
