"""The port of all archives: exchanges in, references out."""

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
    """Where a site capture's exchanges are kept; implementations pass :mod:`sharc_crawler.testing.writers`.

    What :meth:`sync` returned for is kept, also if the process dies or the power fails. What a method raised for left
    no trace, and the visit has failed. A writer of the same site and run in the same folder goes on where a former one
    ended or died.
    """

    def write(self, exchange: Exchange) -> CaptureRef:
        """Keep an exchange, however it ended; returns where its answer lies (or what is known of its failure)."""

    def write_revisit(self, exchange: Exchange, original: Original) -> CaptureRef:
        """Keep an exchange that the server answered with 304: the page is as it was at ``original``.

        Raises :class:`~sharc_crawler.errors.DataError` for any other answer.
        """

    def stored(self) -> Iterator[tuple[Original, bool]]:
        """The payloads that are held in full, and whether they are chunked: captures to come may refer to them."""

    def sync(self) -> None:
        """Have all that was written on the disk.

        What it raised for (all since the last call) is lost, and this writer takes nothing more: another begins, as
        after a crash.
        """

    def close(self) -> None:
        """Finish what is open. Nothing can be written afterwards."""


class WriterKind(Protocol):
    """A plug-in of ``sharc_crawler.writers``: makes the writer of one site capture."""

    def __call__(
        self, folder: Path, site: str, run: str, info: CaptureInfo, options: WarcOptions, former: Former | None
    ) -> CaptureWriter:
        """``former`` finds a payload in former captures of the site; None: there is no history."""


_GIVEN = "folder", "site", "run", "info", "options", "former"


def check_writer(name: str) -> None:
    """Can it be made as it will be, and, where it is a class, has it all methods? Raises UsageError."""
    kind = plugins.load("writer", name)
    try:
        signature(kind).bind(*_GIVEN)
    except (TypeError, ValueError) as error:
        raise UsageError(f"SHARC_WRITER={name!r} makes no writer of {', '.join(_GIVEN)}: {error}") from error
    wanted = [one for one in vars(CaptureWriter) if not one.startswith("_")] if isinstance(kind, type) else []
    if missing := sorted(one for one in wanted if not callable(getattr(kind, one, None))):
        port = f"{CaptureWriter.__module__}.{CaptureWriter.__name__}"
        raise UsageError(f"SHARC_WRITER={name!r} is no writer: it lacks {', '.join(missing)} ({port} has all)")
