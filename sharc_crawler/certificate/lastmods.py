"""What the sitemaps in the WARC files say of the last changes of pages: read once more."""

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
_SHOWS = (Result.OK, Result.GONE, Result.REDIRECTED)  #: a page, or that it is gone or elsewhere


class ServersWord:
    """What the sitemaps of a capture, and the downloads' own headers, say of its pages' last changes.

    A sitemap is what reads as one and is none of the capture's pages and resources (``others``: their URLs).
    ``lag``: how late they tell of changes (:mod:`..evidence.lag`).
    """

    def __init__(self, recorded: Iterable[Recorded], others: Iterable[str], lag: Seconds) -> None:
        self.lastmods = Lastmods()  #: by the number of a URL, each as often as it was read
        self.lag = lag
        self.rebuilt = False  #: was a sitemap not seen on the wire?
        self._numbers = SeenUrls()  # of canonical URLs: first those of the others
        for url in others:
            self._numbers.add(url, len(self._numbers))
        self._others = len(self._numbers)
        self._readings = Readings()
        self._then, self._again = DatedBy(), DatedBy()  # in the capture, and after it
        for witness, warcs in recorded:
            self._read_all(witness, warcs, {})

    def read_later(self, witness: Witness, warcs: Warcs, clocks: Clocks) -> None:
        """By another machine, or when this one's clock had been set: a reading's own Date says when it was made.

        ``clocks``: the servers' in the capture.
        """
        self._read_all(witness, warcs, {host: clock["greatest"] for host, clock in clocks.items()})

    def _read_all(self, witness: Witness, warcs: Warcs, ahead: Mapping[str, int]) -> None:
        for exchange in sorted(self._unlisted(witness), key=lambda one: one.date):
            known = ahead.get(urlsplit(exchange.uri).netloc.lower(), max(ahead.values(), default=0))
            self._read(exchange, _body(exchange, witness, warcs), known if ahead else None)

    def _unlisted(self, witness: Witness) -> Iterator[RecordedExchange]:
        """What is no page or resource, and may be a sitemap."""
        for one in witness:
            if one.message and one.message.status == _OK:
                number = self._numbers.get(canonical(one.uri) or "")
                if number == UNSEEN or number >= self._others:
                    yield one

    def _read(self, exchange: RecordedExchange, body: bytes | None, ahead: int | None) -> None:
        """What a sitemap says of pages' last changes, and up to when its answer shows that.

        ``ahead``: how far its server's clock was ahead of the capture's, at most; None: its own reading.
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
        """A page at T, by its downloads and what was said of it."""
        return of_comparison(self._weigh(url, downloads, reference).comparison)

    def belied(self, url: str, downloads: Sequence[Download]) -> bool:
        """Whether downloads of a page show a change that its lastmods hide."""
        last = max((one.started for one in downloads), default=0.0)
        return bool(downloads and self._weigh(url, downloads, last).lies)

    def _weigh(self, url: str, downloads: Sequence[Download], reference: Instant) -> Weighed:
        page = self._numbers.get(url)
        said: Sequence[Lastmod] = self.lastmods.get(page, ())
        if self._again and not self._then.bears_out(page, self._again):
            said = [one._replace(read=min(one.read, self._then.until)) for one in said]
        return weigh(downloads, said, reference, self.lag, self._readings.clock)


class DatedBy:
    """Which sitemaps dated each page."""

    def __init__(self) -> None:
        self.until: Instant = -math.inf  #: the last reading
        self._places: FewByPage[frozenset[str]] = FewByPage()
        self._all: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._all)

    def add(self, page: int, place: str, read: Instant) -> None:
        """One dates a page."""
        before = self._places.get(page, frozenset())
        if place not in before:
            self._places[page] = before | {place}
            self._all.add(place)
        self.until = max(self.until, read)

    def bears_out(self, page: int, later: DatedBy) -> bool:
        """Do those that dated a page date it again? One that was read, and dates it only now, is kept, too.

        Another one may have been left behind: its old date confirms nothing.
        """
        then, now = self._places.get(page, frozenset()), later._places.get(page, frozenset())
        return then <= now or bool(now & self._all - then)


def _owner(url: str) -> str:
    """Any sitemap may list another's pages: evidence is what is said of its own host's."""
    return machine_of(host_of(url))


def attested(judge: Judge, entry: Entry, first: Outcome | None, second: Outcome | None) -> Judgement:
    """A judgement by what sitemaps and the downloads' headers say of the page's last change."""
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
    """What a certificate states of an answer in a former capture, which was not asked for."""
    started, said = unix(stated["date"]), stated["server"]
    modified = unix(said["modified"]) if said["modified"] else None
    return Download(started, started, unix(said["date"]), stated["digest"], modified, former=True)


def content_of(message: HttpResponse | None) -> str | None:
    """What a page says, its nonces and counters left out; ``None``: nobody knows."""
    if message is None:
        return None
    body = decoded(message.payload, message.values(b"content-encoding"))
    return None if body is None else fingerprint(body, header_text(message.header(b"content-type")))


def _body(exchange: RecordedExchange, witness: Witness, warcs: Mapping[str, Callable[[], IO[bytes]]]) -> bytes | None:
    message = answered(exchange, witness, warcs)
    return decoded(message.payload, message.values(b"content-encoding")) if message else None
