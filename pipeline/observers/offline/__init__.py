"""The observer that needs no network: closed tables of wordings, and nothing that was not said."""

from pipeline.observers.offline.observer import OfflineObserver

__all__ = ["OfflineObserver"]
