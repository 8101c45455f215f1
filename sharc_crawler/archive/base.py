"""The port of writers: they archive exchanges and return references to them."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sharc_crawler import plugins
from sharc_crawler.errors import UsageError

if TYPE_CHECKING:
    from sharc_crawler.archive.options import Former, Original, WarcOptions
    from sharc_crawler.archive.warcinfo import CaptureInfo
    from sharc_crawler.model import CaptureRef, Exchange


class CaptureWriter(Protocol):
    """Archives a site capture's exchanges; implementations must pass :mod:`sharc_crawler.testing.writers`.

    Everything written before :meth:`sync` returned outlasts a crash or power failure. A method that raises has written
    nothing, and the visit has failed. A new writer of the same site and run in the same folder continues where a former
    one ended or died.
    """

    def write(self, exchange: Exchange) -> CaptureRef:
        """Archive an exchange; returns the place of its answer, or of the notes on its failure."""

    def write_revisit(self, exchange: Exchange, original: Original) -> CaptureRef:
        """Archive an exchange that was answered with 304: the page is as it was at ``original``.

        Raises :class:`~sharc_crawler.errors.DataError` for any other status.
        """

    def stored(self) -> Iterator[tuple[Original, bool]]:
        """The payloads stored in full, and whether they are chunked: later captures may refer to them."""

    def sync(self) -> None:
        """Make everything written outlast a power failure.

        If this raises, everything since the last call is lost and this writer cannot be used any more. A new one
        continues, as after a crash.
        """

    def close(self) -> None:
        """Finish open files. Nothing can be written afterwards."""


class WriterKind(Protocol):
    """A plug-in of ``sharc_crawler.writers``: makes the writer of one site capture."""

    def __call__(
        self, folder: Path, site: str, run: str, info: CaptureInfo, options: WarcOptions, former: Former | None
    ) -> CaptureWriter:
        """Make a writer; ``former`` finds a payload in former captures of the site (None: there is no history)."""


_GIVEN = "folder", "site", "run", "info", "options", "former"


def check_writer(name: str) -> None:
    """Raise UsageError if a writer does not take the arguments, or is a class that lacks methods."""
    kind = plugins.load("writer", name)
    try:
        signature(kind).bind(*_GIVEN)
    except (TypeError, ValueError) as error:
        raise UsageError(f"SHARC_WRITER={name!r} makes no writer of {', '.join(_GIVEN)}: {error}") from error
    wanted = [one for one in vars(CaptureWriter) if not one.startswith("_")] if isinstance(kind, type) else []
    if missing := sorted(one for one in wanted if not callable(getattr(kind, one, None))):
        port = f"{CaptureWriter.__module__}.{CaptureWriter.__name__}"
        raise UsageError(f"SHARC_WRITER={name!r} is no writer: it lacks {', '.join(missing)} ({port} has all)")
