"""Read the sitemaps in the WARC files again: what they say of pages' last changes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sharc_crawler.addresses.known_urls import UNSEEN, SeenUrls
from sharc_crawler.addresses.urls import canonical, host_of, machine_of
from sharc_crawler.bodies.coding import decoded
from sharc_crawler.certificate.named_sitemaps import answered
from sharc_crawler.changes.fingerprint import fingerprint
from sharc_crawler.evidence.headers import header_text, is_part, of_headers
from sharc_crawler.evidence.intervals import DATE_PRECISION
from sharc_crawler.evidence.judgement import of_comparison
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.lastmods import Download, Lastmod, Readings, Weighed, download_of, weigh
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.evidence.rows_by_page import FewByPage, Lastmods
from sharc_crawler.instants import unix
from sharc_crawler.links import sitemap
from sharc_crawler.model import Instant, Judgement, Outcome, Result, Seconds, Verdict

if TYPE_CHECKING:
    from sharc_crawler.certificate.judging import Entry, Judge
    from sharc_crawler.certificate.witness import RecordedExchange, Witness
    from sharc_crawler.changes.http import HttpResponse

    Warcs = Mapping[str, Callable[[], IO[bytes]]]
    Recorded = tuple[Witness, Warcs]  #: and the WARC files that it is of
    Clocks = Mapping[str, Mapping[str, int]]  #: as in certificates (:func:`..certificate.document.server_clocks`)

_OK = 200
_SHOWS = (Result.OK, Result.GONE, Result.REDIRECTED)  #: results that show a page's state


class ServersWord:
    """What a capture's sitemaps and the downloads' headers say of its pages' last changes.

    Whatever can be read as a sitemap is one, unless its URL is a page or resource of the capture (``others``).
    ``lag``: seconds by which sitemaps lag behind changes (:mod:`..evidence.lag`).
    """

    def __init__(self, recorded: Iterable[Recorded], others: Iterable[str], lag: Seconds) -> None:
        self.lastmods = Lastmods()  #: by the URL's number: one for each reading
        self.lag = lag
        self.rebuilt = False  #: was a sitemap not recorded from the wire?
        self._numbers = SeenUrls()  # numbers of canonical URLs; those of ``others`` come first
        for url in others:
            self._numbers.add(url, len(self._numbers))
        self._others = len(self._numbers)
        self._readings = Readings()
        self._then, self._again = DatedBy(), DatedBy()  # sitemaps read in the capture, and after it
        for witness, warcs in recorded:
            self._read_all(witness, warcs, {})

    def read_later(self, witness: Witness, warcs: Warcs, clocks: Clocks) -> None:
        """Read sitemaps fetched after the capture. The clock may be another one: their own Date says when.

        ``clocks``: the servers' clocks in the capture.
        """
        self._read_all(witness, warcs, {host: clock["greatest"] for host, clock in clocks.items()})

    def _read_all(self, witness: Witness, warcs: Warcs, ahead: Mapping[str, int]) -> None:
        for exchange in sorted(self._unlisted(witness), key=lambda one: one.date):
            known = ahead.get(urlsplit(exchange.uri).netloc.lower(), max(ahead.values(), default=0))
            self._read(exchange, _body(exchange, witness, warcs), known if ahead else None)

    def _unlisted(self, witness: Witness) -> Iterator[RecordedExchange]:
        """Answers that are no page or resource, and may be sitemaps."""
        for one in witness:
            if one.message and one.message.status == _OK:
                number = self._numbers.get(canonical(one.uri) or "")
                if number == UNSEEN or number >= self._others:
                    yield one

    def _read(self, exchange: RecordedExchange, body: bytes | None, ahead: int | None) -> None:
        """Note the lastmods in a sitemap, each with the instant up to which the answer shows it.

        ``ahead``: most seconds that the server's clock was ahead of the capture's; None: read in the capture itself.
        """
        assert exchange.message is not None, "only what was answered"
        started, place = unix(exchange.date), canonical(exchange.uri)
        dating = self._then if ahead is None else self._again
        answer = Outcome(Result.OK, started, started, **of_headers(exchange.message.headers))
        read, dated = self._readings.until(place, answer), False
        if ahead is not None:
            read = min(read, (answer.date or -math.inf) + DATE_PRECISION - ahead)
        for entry in sitemap.read(body, exchange.uri).entries if body else ():
            url, lastmod = canonical(entry.loc), entry.hints.lastmod
            if url is not None and lastmod is not None and place is not None and _owner(url) == _owner(place):
                number = self._numbers.add(url, new := len(self._numbers))
                told = Lastmod(read, lastmod, lastmod + entry.hints.lastmod_precision)
                page = new if number == UNSEEN else number
                self.lastmods.add(page, told)
                dating.add(page, place, read)
                dated = True
        if dated:
            self.rebuilt |= exchange.rebuilt
            self._readings.add(place, answer, later=ahead is not None)

    def judge(self, url: str, downloads: Sequence[Download], reference: Instant) -> Judgement:
        """Judge a page at T by its downloads and lastmods."""
        return of_comparison(self._weigh(url, downloads, reference).comparison)

    def belied(self, url: str, downloads: Sequence[Download]) -> bool:
        """Do downloads of a page show a change that its lastmods hide?"""
        last = max((one.started for one in downloads), default=0.0)
        return bool(downloads and self._weigh(url, downloads, last).lies)

    def _weigh(self, url: str, downloads: Sequence[Download], reference: Instant) -> Weighed:
        page = self._numbers.get(url)
        said: Sequence[Lastmod] = self.lastmods.get(page, ())
        if self._again and not self._then.bears_out(page, self._again):
            said = [one._replace(read=min(one.read, self._then.until)) for one in said]
        return weigh(downloads, said, reference, self.lag, self._readings.clock)


class DatedBy:
    """Which sitemaps give lastmods for each page."""

    def __init__(self) -> None:
        self.until: Instant = -math.inf  #: when the last one was read
        self._places: FewByPage[frozenset[str]] = FewByPage()
        self._all: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._all)

    def add(self, page: int, place: str, read: Instant) -> None:
        """A sitemap has a lastmod for a page."""
        before = self._places.get(page, frozenset())
        if place not in before:
            self._places[page] = before | {place}
            self._all.add(place)
        self.until = max(self.until, read)

    def bears_out(self, page: int, later: DatedBy) -> bool:
        """Do the sitemaps that dated a page date it again? Or another one that had been read already?

        A sitemap that is no longer maintained keeps its old dates, which confirm nothing.
        """
        then, now = self._places.get(page, frozenset()), later._places.get(page, frozenset())
        return then <= now or bool(now & self._all - then)


def _owner(url: str) -> str:
    """The host of a URL. A sitemap may list pages of other hosts, but is evidence for its own only."""
    return machine_of(host_of(url))


def attested(judge: Judge, entry: Entry, first: Outcome | None, second: Outcome | None) -> Judgement:
    """Judge a page by the last change that sitemaps and the downloads' headers state."""
    downloads = []
    for stated, outcome in ((entry["visit"], first), (entry.get("revisit"), second)):
        if stated is None or outcome is None:
            continue
        if "server" in stated:
            downloads.append(former_download(stated))
        elif outcome.result in _SHOWS and judge.exchange(stated) is not None and not is_part(outcome):
            downloads.append(download_of(outcome)._replace(away=outcome.result is not Result.OK))
    instant = judge.references.get(entry["subsite"])
    judge.rebuilt |= judge.word().rebuilt
    if judge.word().belied(entry["url"], downloads):  # by bytes, whatever counts as content
        return Judgement(Verdict.CHANGED, Evidence.BYTES, Reason.OTHER_BYTES)
    return judge.word().judge(entry["url"], downloads, unix(instant) if instant else math.inf)


def former_download(stated: Mapping[str, Any]) -> Download:
    """The download in a former capture that a page was taken from without a request."""
    started, said = unix(stated["date"]), stated["server"]
    modified = unix(said["modified"]) if said["modified"] else None
    return Download(started, started, unix(said["date"]), stated["digest"], modified, former=True)


def content_of(message: HttpResponse | None) -> str | None:
    """The fingerprint of a page's content (without nonces and counters); ``None``: not known."""
    if message is None:
        return None
    body = decoded(message.payload, message.values(b"content-encoding"))
    return None if body is None else fingerprint(body, header_text(message.header(b"content-type")))


def _body(exchange: RecordedExchange, witness: Witness, warcs: Mapping[str, Callable[[], IO[bytes]]]) -> bytes | None:
    message = answered(exchange, witness, warcs)
    return decoded(message.payload, message.values(b"content-encoding")) if message else None
