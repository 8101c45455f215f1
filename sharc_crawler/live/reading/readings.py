"""What a crawl asks of those who read documents for it, and what they answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from sharc_crawler.model import Document, Hints, Kind, LinkColumns, Sighting

if TYPE_CHECKING:
    import asyncio
    from concurrent.futures import Future

    WhenRead = Future["Reading"] | asyncio.Future["Reading"]


class Payload(NamedTuple):
    """Digests of a payload; ``None`` where there is nothing to take them of."""

    digest: str | None = None  #: as sent: transfer-decoded, content-encoded
    decoded: str | None = None  #: content-decoded, where it was encoded (``of_unpacked``)
    fingerprint: str | None = None  #: of what counts as content


_NOTHING = Payload()


class Wants(StrEnum):
    """What is to be read of it, beside its digests."""

    NOTHING = "nothing"
    ROBOTS = "robots"
    SITEMAP = "sitemap"
    NEWS = "news"  #: a sitemap, as an instant crawl reads it
    HUB = "hub"
    DOCUMENT = "document"


WANTS = {  #: of what is fetched, where nothing else is known of it
    Kind.ROBOTS: Wants.ROBOTS,
    Kind.SITEMAP: Wants.SITEMAP,
    Kind.HUB: Wants.HUB,
    Kind.PAGE: Wants.DOCUMENT,
    Kind.RESOURCE: Wants.DOCUMENT,
    Kind.DATA: Wants.NOTHING,
    Kind.PROBE: Wants.DOCUMENT,
}


class Order(NamedTuple):
    """What is to be done with a response. Sent as a list."""

    url: str
    wants: Wants
    digests: bool = True  #: not of what was cut short: it shows nothing of the whole
    compared: bool = False  #: its content is held against another download's: a fingerprint is wanted
    words: bool = False  #: it may be one of endlessly many pages
    says: bool = False  #: it is asked for once more: each word that it shows is wanted
    text: bool = False  #: a browser shows it, too: is what it says the same?
    known: str | None = None  #: payload digest of a former download: the same would name nothing new
    masks: str | None = None  #: file of those that its site has for itself


@dataclass(frozen=True, slots=True)
class Reading:
    """What reading a document came to: digests, links, words."""

    payload: Payload = _NOTHING
    links: Sequence[Sighting] = ()
    feeds: tuple[str, ...] = ()  #: of a page; the site's own, or one of each post
    document: Document | None = None
    robots: str | None = None
    unreadable: str | None = None  #: why it could not be read at all
    text: str | None = None  #: digest of what a page says, without pictures and addresses
    problems: tuple[str, ...] = ()  #: what could not be used of it
    lost: bool = False  #: nobody could so much as take its digests


def unpacked_reading(answer: dict[str, Any], via: str) -> Reading:
    r"""A reading, from the bytes that the reading process sent.

    >>> one = Reading(Payload("sha1:A"), [Sighting("http://h/a", Kind.PAGE, "http://h/", Hints(changefreq="daily"))])
    >>> import json; from sharc_crawler.live.reading.reader_process import packed
    >>> unpacked_reading(json.loads(json.dumps(packed(one))), "http://h/").links[0] == one.links[0]
    True
    """
    about, (urls, runs, hints, canonical) = answer["document"], answer["links"]
    kinds = [one for kind, size in runs for one in [Kind(kind)] * size]
    links = LinkColumns(via, urls, kinds, [words and tuple.__new__(Hints, words) for words in hints], canonical)
    payload, feeds, problems = Payload(*answer["payload"]), tuple(answer["feeds"]), tuple(answer["problems"])
    robots, unreadable, text = answer["said"]
    return Reading(payload, links, feeds, Document(*about) if about else None, robots, unreadable, text, problems)
