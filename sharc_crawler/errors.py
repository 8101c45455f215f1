"""Errors that a user can act on: each names the setting, argument or file, its value, and the way out."""

from __future__ import annotations

from collections.abc import Iterable


class SharcError(Exception):
    """Base of every error that this package raises on purpose."""

    #: exit code of a command that ends with this error (docs/reference.md)
    exit_code = 1


class UsageError(SharcError):
    """A setting or argument cannot be used as given."""

    exit_code = 2


class DataError(SharcError):
    """A file or an answer from outside, a plug-in's too, cannot be read as what it should be."""

    exit_code = 3


class StateError(SharcError):
    """An event that the life cycle of a page or a capture does not allow."""


class StoreUnavailable(SharcError):  # noqa: N818 - a state of the store, as its port calls it
    """A store cannot be read or written for now; what was committed is whole."""


class StoreFull(StoreUnavailable):
    """A store finds no room for what it is to keep: once there is some, the same commit succeeds."""


class Superseded(SharcError):  # noqa: N818 - a state of the store, as its port calls it
    """The state is somebody else's, by now or from the start: nothing may be written, and nothing fetched."""

    exit_code = 2


class StoppedCaptureError(StateError):
    """A capture is stopped, as its host is silent for long; the same command goes on with it."""


class StrategyError(StoppedCaptureError):
    """A strategy raised, or decided what its port does not allow; it is asked nothing more."""


class SiteError(SharcError):
    """What is in the way of one site of many; ``site`` says whose it is, the cause what it is."""

    def __init__(self, site: str, cause: Exception) -> None:
        super().__init__(str(cause))
        self.site, self.cause = site, cause


def unknown_name(what: str, name: str, allowed: Iterable[str]) -> UsageError:
    """The error for a name that is none of the allowed ones, with the nearest one suggested.

    >>> print(unknown_name("strategy", "sharc-selectiv", ["bfs", "sharc-selective"]))
    strategy='sharc-selectiv' is not known; did you mean 'sharc-selective'? Allowed: bfs, sharc-selective
    """
    return UsageError(f"{what}={name!r} is not known{nearest(name, allowed)}")


def nearest(name: str, allowed: Iterable[str], listed: str = "") -> str:
    """The end of a sentence on a name that is none of the allowed ones. ``listed``: the guide that has many of them."""
    from sharc_crawler.suggestions import suggested  # most names are known

    return suggested(name, allowed, listed)
