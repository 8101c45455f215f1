"""What a former capture's answer stands for, as the outcome of a visit: by a 304, or without asking."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.evidence.headers import of_headers
from sharc_crawler.model import Fetch, Outcome, Result, Validators

if TYPE_CHECKING:
    from sharc_crawler.archive.former import FormerAnswer
    from sharc_crawler.live.middlewares import ArchiveMiddleware
    from sharc_crawler.live.session import Session


def unchanged(outcome: Outcome, fetch: Fetch, answer: FormerAnswer) -> Outcome:
    """A 304 to a first visit: it shows what the former capture has, by the server's word."""
    own, sent = outcome.validators, fetch.validators
    of_former = of_headers(answer.message.headers)
    return outcome._replace(
        result=Result.OK,
        validators=Validators(own.etag or sent.etag, own.last_modified or sent.last_modified),
        media_type=of_former["media_type"],
        charset=of_former["charset"],
    )


def as_taken(answer: FormerAnswer) -> Outcome:
    """The outcome of a visit that a former answer stands for."""
    held, own = answer.original, of_headers(answer.message.headers)
    status, place = answer.message.status, answer.place
    return Outcome(Result.OK, held.date, held.date, status, held.digest, capture=place, decoded=held.decoded, **own)


def take(middleware: ArchiveMiddleware, session: Session, fetch: Fetch) -> None:
    """A former answer stands for the page, and is read for what it names; one that is gone by now does not."""
    known = session.former
    answer = known.find(fetch.url) if known else None
    if known is None or answer is None:
        middleware.withheld(fetch)
        return
    outcome = as_taken(answer)
    order = middleware.order(fetch, outcome, fetch.url)._replace(digests=True)
    middleware.tell(fetch, outcome, None, session.readers.read(answer.raw, order))
