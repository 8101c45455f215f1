"""Errors for users: each names the setting, argument or file, its value, and what to do."""

from __future__ import annotations

from collections.abc import Iterable

#: what reading untrusted JSON raises if it is none, has other fields or types, or is nested too deeply
MALFORMED = (ValueError, LookupError, TypeError, AttributeError, RecursionError)


class SharcError(Exception):
    """Base of all errors that this package raises on purpose."""

    #: exit code of a command that ends with this error
    exit_code = 1


class UsageError(SharcError):
    """A setting or argument cannot be used as given."""

    exit_code = 2


class DataError(SharcError):
    """A file or an answer from outside, such as a plug-in's, is invalid."""

    exit_code = 3


class StateError(SharcError):
    """An event that the life cycle of a page or a capture does not allow."""


class StoreUnavailable(SharcError):  # noqa: N818 - a state of the store, as its port calls it
    """A store cannot be read or written for now; committed state is intact."""


class StoreFull(StoreUnavailable):
    """A store has no room: once there is some, the same commit succeeds."""


class Superseded(SharcError):  # noqa: N818 - a state of the store, as its port calls it
    """Another process owns the state: nothing may be written or fetched."""

    exit_code = 2


class StoppedCaptureError(StateError):
    """A capture is stopped, as its host has long been silent; the same command resumes it."""


class StrategyError(StoppedCaptureError):
    """A strategy raised, or made an illegal decision; it is not called again."""


class SiteError(SharcError):
    """An error that stops one site of many: its name and the cause."""

    def __init__(self, site: str, cause: Exception) -> None:
        super().__init__(str(cause))
        self.site, self.cause = site, cause


def unknown_name(what: str, name: str, allowed: Iterable[str]) -> UsageError:
    """Make the error for an unknown name, with the nearest allowed one as a suggestion.

    >>> print(unknown_name("strategy", "sharc-selectiv", ["bfs", "sharc-selective"]))
    strategy='sharc-selectiv' is not known; did you mean 'sharc-selective'? Allowed: bfs, sharc-selective
    """
    return UsageError(f"{what}={name!r} is not known{nearest(name, allowed)}")


def nearest(name: str, allowed: Iterable[str], listed: str = "") -> str:
    """Return the end of a sentence on an unknown name: a suggestion. ``listed``: the guide that lists many names."""
    from sharc_crawler.suggestions import suggested  # most names are known

    return suggested(name, allowed, listed)
