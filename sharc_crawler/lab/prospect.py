"""A site's pages and rates before it is crawled, read from a sitemap, former captures or a history."""

from __future__ import annotations

import gzip
import json
import math
import re
import zipfile
from array import array
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.archive.histories.pages import why_no_page
from sharc_crawler.archive.histories.reading import read_history as read_archives
from sharc_crawler.archive.wacz_check import UNREADABLE
from sharc_crawler.errors import MALFORMED, DataError
from sharc_crawler.evidence.lastmods import Lastmod, anywhere
from sharc_crawler.lab.history import GZIP, NOT_UNPACKED, SQLITE, lifetimes, read_history
from sharc_crawler.lab.published import intervals
from sharc_crawler.lab.rates import posterior
from sharc_crawler.lab.truth import Changes
from sharc_crawler.links.entries import SitemapKind
from sharc_crawler.links.sitemap import Sitemap, read
from sharc_crawler.model import Hints, Instant, Kind, RateEstimate, Seconds, Sighting, Url
from sharc_crawler.rates.base import PRIOR
from sharc_crawler.rates.chain import Chain, default_chain
from sharc_crawler.rates.history import SiteHistory
from sharc_crawler.rates.sources import HistoryRates, capture_length
from sharc_crawler.rates.trust import forget_classes
from sharc_crawler.seeds.hacs.updates import digest_change
from sharc_crawler.storage.observations import ObservationStore

ZIP = b"PK\x03\x04"
ARCHIVE = re.compile(rb"WARC/1|\s?CDX |!|\S+ \d{1,14} (\{|\S+ \S+ (\d{3}|-) )")  #: how WARC, CDX and CDXJ files begin
PAGES = "report-pages.jsonl"  #: file beside report.json
OUR_PAGES = "report/data-pages.jsonl"  #: the same file in our WACZ files
REPORT = b'{\n "format": "sharc-report"'
START = 4096  #: number of bytes from which a file's format is detected


@dataclass(frozen=True, slots=True)
class Prospect:
    """Pages and rates, one entry per page."""

    source: str
    urls: list[str]
    rates: NDArray[np.float64]  #: changes per second
    shapes: NDArray[np.float64]  #: shapes of the rates' Gamma posteriors; inf: point estimates
    attested: NDArray[np.bool_]  #: whether a sitemap dates the page's last change, before now
    guessed: int = 0  #: pages whose rate is the prior's


def from_file(path: Path, now: Instant, site: str | None = None, step: Seconds = 1.0) -> Prospect:
    """Read a file, gzipped or not, or a folder of archives. The file may be ``report.json`` (with its pages beside it)
    or an archive (WACZ, WARC, CDX) of a former capture, a change history, any kind of sitemap, or a history of
    observations, which may hold several sites.

    ``step``: seconds between two downloads; the shorter the capture, the more recent changes count.
    Raises DataError for other files, and if there is no page.
    """
    start = b"" if path.is_dir() else _unpacked(path, START).removeprefix(BOM_UTF8)
    if start.startswith(SQLITE):
        return from_store(path, now, site, step)
    if start.startswith(ZIP) and _is_ours(path):
        found = from_report(_within(path, OUR_PAGES), str(path))
    elif path.is_dir() or start.startswith(ZIP) or ARCHIVE.match(start):
        found = from_archives(path, now)
    elif start.lstrip().startswith(b"{"):
        found = from_report(_lines(path), str(path))
    elif start.startswith(b"page,"):
        found = from_history(path)
    else:
        url = path.absolute().as_uri()
        found = from_sitemap(read(_unpacked(path), url), url, now)
    if not found.urls:
        raise DataError(f"{path}: no page is named there")
    return found


def _unpacked(path: Path, size: int = -1) -> bytes:
    """The content of a file, or its first ``size`` bytes, gunzipped if necessary."""
    try:
        with path.open("rb") as file:
            packed = file.read(len(GZIP)) == GZIP
        with gzip.open(path) if packed else path.open("rb") as stream:
            return stream.read(size)
    except NOT_UNPACKED as error:
        raise DataError(f"{path} cannot be unpacked to its end: {error}") from None


def _is_ours(path: Path) -> bool:
    """Whether a WACZ file holds one of our reports."""
    try:
        with zipfile.ZipFile(path) as package:
            return OUR_PAGES in package.namelist()
    except UNREADABLE as error:
        raise DataError(f"{path} is no whole WACZ file: {error}") from None


def _within(path: Path, name: str) -> Iterator[bytes]:
    try:
        with zipfile.ZipFile(path) as package, package.open(name) as lines:
            yield from lines
    except UNREADABLE as error:
        raise DataError(f"{path} is no whole WACZ file: {error}") from None


def _lines(path: Path) -> Iterator[bytes]:
    """The lines of ``report-pages.jsonl``; ``path`` is this file or its ``report.json``."""
    beside = path.with_name(PAGES)
    is_report = path.suffix == ".json" and beside.exists() and _unpacked(path, START).lstrip().startswith(REPORT)
    with (beside if is_report else path).open("rb") as lines:
        yield from lines


def from_archives(path: Path, now: Instant) -> Prospect:
    """From archives: captured pages, with rates from the changes of their digests."""
    history = read_archives([path])
    captures = history.captures
    changed = digest_change(captures)
    nothing = np.full(len(captures.times), np.nan)
    urls = [Url(url) for url in captures.urls]
    past = SiteHistory(
        str(path), urls, captures.offsets, captures.times, changed, nothing, np.zeros_like(nothing), nothing
    )
    is_page = [not why_no_page(key, kind) for key, kind in zip(captures.keys, history.kinds.tolist(), strict=True)]
    pages = [url for url, kept in zip(urls, is_page, strict=True) if kept]
    return _rated(f"archive {path}", pages, Chain([HistoryRates(past)]), now)


def _rated(source: str, urls: list[Url], rates: Chain, now: Instant) -> Prospect:
    estimates = rates.rates([Sighting(url) for url in urls], now)
    heights, shapes = (np.array([getattr(e, column) for e in estimates]) for column in ("rate", "shape"))
    nothing = np.zeros(len(urls), np.bool_)
    return Prospect(source, [str(url) for url in urls], heights, shapes, nothing, _guessed(estimates))


def _guessed(estimates: Iterable[RateEstimate]) -> int:
    return sum(estimate.source == PRIOR for estimate in estimates)


def from_store(path: Path, now: Instant, site: str | None = None, step: Seconds = 1.0) -> Prospect:
    """From a history of observations: a site's pages with content at the last visit, with the rates of a live crawl."""
    with ObservationStore(path, reading=True) as store:
        name = store.site_named(site) if site else store.only_site()
        urls = store.pages(name)
        rates = Chain([HistoryRates(store.histories(name), capture_length(len(urls), step), store.links(name))])
    return _rated(f"history {path} of {name}", urls, rates, now)


def from_sitemap(sitemap: Sitemap, url: str, now: Instant) -> Prospect:
    """From a sitemap: its pages, with the rates of a live crawl."""
    if sitemap.kind is SitemapKind.INDEX:
        raise DataError(f"{url} is an index of {len(sitemap.entries)} sitemaps: plan with one of them")
    if sitemap.kind is SitemapKind.UNREADABLE:
        raise DataError(f"{url}: {'; '.join(sitemap.problems)}")
    sightings = [Sighting(entry.loc, hints=entry.hints) for entry in sitemap.entries]
    del sitemap
    attested = np.array([_attests(sighting.hints, now) for sighting in sightings], np.bool_)
    estimates = default_chain().rates(sightings, now)
    forget_classes()
    rates, shapes = (np.array([getattr(e, name) for e in estimates]) for name in ("rate", "shape"))
    urls = [sighting.url for sighting in sightings]
    return Prospect(f"sitemap {url}", urls, rates, shapes, attested, _guessed(estimates))


def _attests(hints: Hints | None, now: Instant) -> bool:
    """Whether a sitemap dates the page's last change, before now."""
    if hints is None or hints.lastmod is None:
        return False
    return anywhere(Lastmod(now, hints.lastmod, hints.lastmod + hints.lastmod_precision)).latest < now


def from_report(lines: Iterable[bytes], name: str) -> Prospect:
    """From ``report-pages.jsonl``: pages that were captured or still to be visited, with their last rates."""
    urls, rates, guessed = [], array("d"), 0
    try:
        for page in map(json.loads, lines):
            if page["kind"] == Kind.PAGE and (page["verdict"] or not (page["visit"] or page["reason"])):
                urls.append(str(page["url"]))
                rates.append(float(page["rate"]))
                guessed += page.get("rate_source") == PRIOR
    except MALFORMED as error:
        raise DataError(f"{name} is no report of a capture, or {PAGES} is not beside it: {error!r}") from None
    shapes = np.full(len(urls), math.inf)
    return Prospect(f"report {name}", urls, np.array(rates), shapes, np.zeros(len(urls), np.bool_), guessed)


def from_history(path: Path) -> Prospect:
    """From a change history: the pages that exist at its end, with rates from all their changes."""
    lives = read_history(path)
    everything = Changes.of([life.hist + life.changes for life in lives])
    created = np.array([life.created for life in lives])
    end = max(max((life.created, *life.changes, *life.deleted)) for life in lives)
    begins = np.maximum(created, everything.times.min(initial=end))
    rates, shapes = posterior(intervals(everything, begins, end))
    alive = lifetimes(lives).alive_at(np.full(len(lives), end))
    urls = [life.page for life, there in zip(lives, alive, strict=True) if there]
    return Prospect(f"history {path}", urls, rates[alive], shapes[alive], np.zeros(len(urls), np.bool_))
