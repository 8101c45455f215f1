"""| Notes on what a project's middlewares repeated and followed, and on forms and credentials that it sent."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING

from sharc_crawler.addresses.urls import without_credentials
from sharc_crawler.guides import guide
from sharc_crawler.live.requests import META_KEY, Lease
from sharc_crawler.model import HowMade, Outcome, Result
from sharc_crawler.plural import counted

if TYPE_CHECKING:
    from scrapy import Request

    from sharc_crawler.frontier.frontier import Frontier
    from sharc_crawler.live.session import Session

logger = logging.getLogger(__name__)
BEGINS = "Scrapy's middlewares repeated "
IN_CLEAR = (
    "the spider sent forms or credentials: they are in the WARC files as they were sent, passwords in clear."
    f" Look at them before you hand the files on ({guide('warc')})"
)


def repeats(before: Request | None, request: Request) -> bool:
    """Whether a request is a retry of the one before it; otherwise it is a redirect."""
    was = int(before.meta.get("retry_times", 0)) if before is not None else 0
    return int(request.meta.get("retry_times", 0)) > was


def led(lease: Lease, outcome: Outcome) -> Outcome:
    """The outcome with the target of the redirects that were followed."""
    return outcome if outcome.result is Result.REDIRECTED else outcome._replace(location=lease.led)


def note_hops(frontier: Frontier, lease: Lease) -> None:
    """Update the note on repeated and followed requests, which may stem from a former run."""
    former = next((note for note in frontier.capture.notes if note.startswith(BEGINS)), "")
    repeated, followed = [int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*", former)[:2]] or (0, 0)
    frontier.note(hops_note(repeated + lease.repeated, followed + lease.hops - lease.repeated), former)


def hops_note(repeated: int, followed: int) -> HowMade:
    """The note.

    >>> hops_note(1000, 1)[:64]
    "Scrapy's middlewares repeated 1,000 requests and followed 1 redi"
    """
    return HowMade(
        f"{BEGINS}{counted(repeated, 'request')} and followed {counted(followed, 'redirect')}: all of them are in the"
        " WARC files. Exchanges, attempts and the log count each visit once, with its last answer. What the redirect of"
        f" a form led to is the form's target, and in no claim unless it was asked for, too ({guide('drop-in')})"
    )


class Secrets:
    """Warns once of requests with forms or credentials, and notes it for each host."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._warned = False

    def look(self, request: Request) -> None:
        """Look at a request that is sent: its body may hold a password."""
        if not self._session.archives or not (request.body or b"Authorization" in request.headers):
            return
        if not self._warned:
            self._warned = True
            logger.warning("%s %s: %s", request.method, without_credentials(request.url).partition("?")[0], IN_CLEAR)
        if (fetch := request.meta.get(META_KEY)) is not None:
            self._session.sites.of(fetch).note(IN_CLEAR)
