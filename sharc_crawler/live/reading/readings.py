"""| What a crawl asks of the processes that read documents, and what they answer."""

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
    """Digests of a payload; ``None`` where there is nothing to digest."""

    digest: str | None = None  #: as sent: transfer-decoded, content-encoded
    decoded: str | None = None  #: content-decoded, if it was encoded
    fingerprint: str | None = None  #: of what counts as content


_NOTHING = Payload()


class Wants(StrEnum):
    """What is to be read of a response besides its digests."""

    NOTHING = "nothing"
    ROBOTS = "robots"
    SITEMAP = "sitemap"
    NEWS = "news"  #: a sitemap, as an instant crawl reads it
    HUB = "hub"
    DOCUMENT = "document"


WANTS = {  #: the default for each kind of URL
    Kind.ROBOTS: Wants.ROBOTS,
    Kind.SITEMAP: Wants.SITEMAP,
    Kind.HUB: Wants.HUB,
    Kind.PAGE: Wants.DOCUMENT,
    Kind.RESOURCE: Wants.DOCUMENT,
    Kind.DATA: Wants.NOTHING,
    Kind.PROBE: Wants.DOCUMENT,
}


class Order(NamedTuple):
    """How to read a response; sent as a list."""

    url: str
    wants: Wants
    digests: bool = True  #: not of a response that was cut short
    compared: bool = False  #: its content is compared with another download's: compute a fingerprint
    words: bool = False  #: it may be a page of a trap: digest its words
    says: bool = False  #: list each word of it, as it is asked for once more
    text: bool = False  #: a browser shows it, too: digest its text, to compare
    known: str | None = None  #: digest of a former payload, whose links are known
    masks: str | None = None  #: file with its site's own masks


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read of a document."""

    payload: Payload = _NOTHING
    links: Sequence[Sighting] = ()
    feeds: tuple[str, ...] = ()  #: named by a page: the site's own, or one for each post
    document: Document | None = None
    robots: str | None = None
    unreadable: str | None = None  #: why it could not be read at all
    text: str | None = None  #: digest of the page's text, without pictures and addresses
    problems: tuple[str, ...] = ()  #: what of it could not be used
    lost: bool = False  #: not even digests could be taken


def unpacked_reading(answer: dict[str, Any], via: str) -> Reading:
    r"""A reading from the reading process's JSON.

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
