"""What a crawl asks of those who read documents for it, and what they answer."""

from __future__ import annotations

from dataclasses import asdict, astuple, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from sharc_crawler.changes.payload import Payload
from sharc_crawler.model import Document, Hints, Kind, Sighting

if TYPE_CHECKING:
    from collections.abc import Sequence

_NOTHING = Payload()


class Wants(StrEnum):
    """What is to be read of it, beside its digests."""

    NOTHING = "nothing"
    ROBOTS = "robots"
    SITEMAP = "sitemap"
    NEWS = "news"  #: a sitemap, as an instant crawl reads it
    HUB = "hub"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be done with a response."""

    url: str
    wants: Wants
    digests: bool = True  #: not of what was cut short: it shows nothing of the whole
    compared: bool = False  #: its content is held against another download's: a fingerprint is wanted
    words: bool = False  #: it may be one of endlessly many pages
    known: str | None = None  #: payload digest of a former download: the same would name nothing new


@dataclass(frozen=True, slots=True)
class Reading:
    """What came of it."""

    payload: Payload = _NOTHING
    links: Sequence[Sighting] = ()
    feeds: tuple[str, ...] = ()  #: of a page; the site's own, or one of each post
    document: Document | None = None
    robots: str | None = None
    unreadable: str | None = None  #: why it could not be read at all
    text: str | None = None  #: digest of what a page says, without pictures and addresses
    problems: tuple[str, ...] = ()  #: what could not be used of it


def packed(reading: Reading) -> dict[str, Any]:
    """A reading as JSON has it; all its links were found at one place."""
    return {
        "payload": reading.payload,
        "links": [[link.url, link.kind, _told(link.hints)] for link in reading.links],
        "feeds": reading.feeds,
        "document": reading.document and asdict(reading.document),
        "robots": reading.robots,
        "unreadable": reading.unreadable,
        "text": reading.text,
        "problems": reading.problems,
    }


def unpacked_reading(answer: dict[str, Any], via: str) -> Reading:
    r"""The reading again.

    >>> one = Reading(Payload("sha1:A"), [Sighting("http://h/a", Kind.PAGE, "http://h/", Hints(changefreq="daily"))])
    >>> import json; unpacked_reading(json.loads(json.dumps(packed(one))), "http://h/") == one
    True
    """
    kinds = {kind.value: kind for kind in Kind}
    links = [Sighting(url, kinds[kind], via, Hints(*hints) if hints else None) for url, kind, hints in answer["links"]]
    about = answer["document"]
    return Reading(
        Payload(*answer["payload"]),
        links,
        tuple(answer["feeds"]),
        Document(**about) if about else None,
        answer["robots"],
        answer["unreadable"],
        answer["text"],
        tuple(answer["problems"]),
    )


def _told(hints: Hints | None) -> list[Any] | None:
    if hints is None:
        return None
    return list(astuple(hints))
