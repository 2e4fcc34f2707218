"""Errors of the pipeline that are not an answer to a request."""

from storage.errors import BadRequestError, MemoryServiceError


class SettingsError(BadRequestError):
    """A setting is wrong; see `deskpaw-memory config show`."""


class LostRaceError(MemoryServiceError):
    """Another worker was there first; look again at what is left to do."""
