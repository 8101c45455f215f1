"""| Requests that failed or were never sent: each is recorded as the outcome of its visit."""

from __future__ import annotations

import errno
import logging
import resource
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import IgnoreRequest

from sharc_crawler.archive.options import USUAL
from sharc_crawler.errors import DataError
from sharc_crawler.live.failures.error_texts import plain
from sharc_crawler.live.requests import META_KEY, SENT_KEY, Lease
from sharc_crawler.live.wire.addresses import AddressRefusedError
from sharc_crawler.live.wire.handler import EXCHANGE_KEY, WITHHELD_KEY
from sharc_crawler.live.writing.errors_as_json import fault_of, is_passing
from sharc_crawler.model import Exchange, Fetch, Outcome, Result
from sharc_crawler.plural import counted
from sharc_crawler.report.unfinished import going_on

logger = logging.getLogger(__name__)

_SENT_AGAIN = (
    " sent a second time, since the connection that the first one went over was closed without an answer, as idle ones"
    " are. A server may have seen both. They count as one, and the WARC files tell which they were (sent-before)"
)

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.live.middlewares import ArchiveMiddleware
    from sharc_crawler.live.session import Session


def failed(middleware: ArchiveMiddleware, session: Session, request: Request, exception: Exception) -> None:
    """Archive an exchange that failed, and record its outcome."""
    sent = request.meta.pop(SENT_KEY, None)
    if isinstance(exception, IgnoreRequest):
        _dropped(session, request, exception)
    if isinstance(exception, IgnoreRequest) or sent is None:
        return
    if request.meta.pop(WITHHELD_KEY, False):
        middleware.withheld(request.meta.get(META_KEY))
        return
    ended = session.clock.now()
    if (exchange := request.meta.pop(EXCHANGE_KEY, None)) is None:
        from sharc_crawler.live.wire.exchanges import failed as made  # only with another download handler

        exchange = made(request, exception, sent, ended)
    fetch: Fetch | None = request.meta.get(META_KEY)
    if middleware.is_void(fetch):
        return
    if fetch:
        remark(session.sites.of(fetch).capture, fetch, exchange)
    # An address that is refused stays refused: no second attempt.
    result = Result.REFUSED if isinstance(exception, AddressRefusedError) else Result.FAILED
    length = len(exchange.response)  # received bytes count against the budget
    outcome = Outcome(result, exchange.started, ended, length=length, error=plain(exception), sent=exchange.sent)
    middleware.tell(fetch, outcome, middleware.keep(exchange, fetch))


def not_asked(middleware: ArchiveMiddleware, session: Session, request: Request, response: Response) -> Response:
    """Record that a cache or another middleware answered, perhaps for an earlier request: the server said nothing."""
    now = session.clock.now()
    error = "answered by a cache or another middleware, not by the server"
    middleware.tell(request.meta.get(META_KEY), Outcome(Result.REFUSED, now, now, error=error))
    return response if response.request in (None, request) else response.replace(request=request)


def _dropped(session: Session, request: Request, exception: IgnoreRequest) -> None:
    """Record that a middleware of the project dropped the request, unless it has an outcome already."""
    fetch: Fetch | None = request.meta.get(META_KEY)
    lease = session.leases.get(fetch.lease) if fetch else None
    if lease is not None and lease.outcome is None:
        now = session.clock.now()
        text = str(exception)
        why = "robots.txt disallows it" if "robots.txt" in text else f"dropped before it was downloaded: {text}"
        lease.outcome = Outcome(Result.REFUSED, now, now, error=why.removesuffix(": "))


def unarchived(lease: Lease, error: BaseException) -> None:
    """Handle an exchange that could not be written: it is repeated once there is room, or has failed.

    Raises :class:`~sharc_crawler.errors.DataError` where no site can write any more: that ends the crawl.
    """
    assert lease.outcome is not None, "noted before it is written"
    if is_passing(error):
        lease.unwritten, lease.fault = str(error), fault_of(error)
        return
    if why := unwritable(error):
        raise why from error
    logger.error("%s was fetched and cannot be archived: %s", lease.fetch.url, error)
    lease.outcome, lease.links = _failed(lease.outcome, error), ()


def unwritable(error: BaseException) -> DataError | None:
    """The error that ends the crawl: a writer plug-in failed, or the file size limit was reached. ``None``: neither."""
    if getattr(error.__cause__ or error, "errno", None) == errno.EFBIG:
        return DataError(
            f"{error}{file_limit() or ' (a limit of its file system)'}; raise that, and the same command resumes it"
        )
    return error if isinstance(error, DataError) else None


def file_limit() -> str:
    """The largest file size allowed, in brackets; "" if there is no limit."""
    most, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    return "" if most == resource.RLIM_INFINITY else f" (ulimit -f: a file may have {most:,} bytes)"


def _failed(outcome: Outcome, error: BaseException) -> Outcome:
    if outcome.status is None:  # without an answer, the first reason stays
        return outcome._replace(error=f"{outcome.error}; and not archived: {error}")
    return Outcome(Result.FAILED, outcome.started, outcome.ended, error=f"not archived: {error}", sent=outcome.sent)


def remark(capture: SiteCapture, fetch: Fetch, exchange: Exchange, *, verified: bool = True) -> None:
    """Note that the server's TLS certificate is not valid, or that the request was sent twice."""
    if exchange.untrusted and not verified:
        capture.note(_untrusted(fetch.host, exchange.untrusted))
    if exchange.before:
        former = next((note for note in capture.notes if note.endswith(_SENT_AGAIN)), "")
        number = exchange.before + int(former.partition(" ")[0].replace(",", "") or 0)
        capture.note(f"{counted(number, 'request', 'were')}{_SENT_AGAIN}", instead_of=former)


def _untrusted(host: str, why: str) -> str:
    return (
        f"{host}: its TLS certificate is not shown to be valid ({why}): nothing shows who answered"
        " (-s DOWNLOAD_VERIFY_CERTIFICATES=True refuses such hosts)"
    )


def way_out(session: Session | None, output: Path) -> str:
    """How to go on after a crawl that is stopped at once."""
    return _unreturned(session) + going_on(output)


def _unreturned(session: Session | None) -> str:
    """The text that blames a writer plug-in that has not returned; "" otherwise."""
    if session is None or session.config.writer == USUAL:
        return ""
    archivist, writer = session.archivist, session.config.writer
    if not archivist.pending and not archivist.turn.locked():
        return ""
    unsaved = counted(archivist.pending, "unsaved visit")
    return f"SHARC_WRITER={writer!r} had not returned, {unsaved} will be retried (mend it if it never does); "
