"""What is known of a site before it is crawled: its pages and their rates, from a sitemap, a report or a history."""

from __future__ import annotations

import gzip
import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.errors import DataError, UsageError, unknown_name
from sharc_crawler.links.entries import SitemapKind
from sharc_crawler.links.sitemap import read
from sharc_crawler.model import Kind, Sighting
from sharc_crawler.rates.chain import Chain, default_chain
from sharc_crawler.rates.sources import HistoryRates
from sharc_crawler.sim.history import GZIP, lifetimes, read_history
from sharc_crawler.sim.published import intervals
from sharc_crawler.sim.rates import posterior
from sharc_crawler.sim.truth import Changes
from sharc_crawler.storage.observations import ObservationStore

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from sharc_crawler.model import Instant


SQLITE = b"SQLite format 3\0"


@dataclass(frozen=True, slots=True)
class Prospect:
    """Pages and rates, one entry per page."""

    source: str
    urls: list[str]
    rates: NDArray[np.float64]  #: changes per second
    shapes: NDArray[np.float64]  #: of Gamma posteriors; inf: point estimates


def from_file(path: Path, now: Instant, site: str | None = None) -> Prospect:
    """From a file, gzipped or not: ``report.json`` of a former capture, a change history, a sitemap of any kind, or an
    archive's history, which may hold more than one site.

    Raises DataError where it is none of these or names no page.
    """
    raw = path.read_bytes()
    if raw.startswith(SQLITE):
        return from_store(path, now, site)
    try:
        body = gzip.decompress(raw) if raw.startswith(GZIP) else raw
    except (OSError, EOFError) as error:
        raise DataError(f"{path} cannot be unpacked to its end: {error}") from None
    if body.lstrip().startswith(b"{"):
        found = from_report(body, str(path))
    elif body.startswith(b"page,"):
        found = from_history(path)
    else:
        found = from_sitemap(body, path.absolute().as_uri(), now)
    if not found.urls:
        raise DataError(f"{path}: no page is named there")
    return found


def from_store(path: Path, now: Instant, site: str | None = None) -> Prospect:
    """From an archive's history: the pages of a site that had content when last heard of, rated as a capture would."""
    with ObservationStore(path) as store:
        sites = store.sites()
        if site is None and len(sites) != 1:
            raise UsageError(f"{path} holds {len(sites)} sites: say which with --site ({', '.join(sites[:5])}, …)")
        if site is not None and site not in sites:
            raise unknown_name("site", site, sites)
        name = site or sites[0]
        urls = [url for url, last in store.latest(name).items() if last.kind is Kind.PAGE]
        rates = Chain([HistoryRates(store.histories(name), links=store.links(name))])
    estimates = rates.rates([Sighting(url) for url in urls], now)
    columns = (np.array([getattr(e, column) for e in estimates]) for column in ("rate", "shape"))
    return Prospect(f"history {path} of {name}", [str(url) for url in urls], *columns)


def from_sitemap(body: bytes, url: str, now: Instant) -> Prospect:
    """From the body of a sitemap, read as a live crawl reads it."""
    sitemap = read(body, url)
    if sitemap.kind is SitemapKind.INDEX:
        raise DataError(f"{url} is an index of {len(sitemap.entries)} sitemaps: plan with one of them")
    if sitemap.kind is SitemapKind.UNREADABLE:
        raise DataError(f"{url}: {'; '.join(sitemap.problems)}")
    sightings = [Sighting(entry.loc, hints=entry.hints) for entry in sitemap.entries]
    estimates = default_chain().rates(sightings, now)
    rates, shapes = (np.array([getattr(e, name) for e in estimates]) for name in ("rate", "shape"))
    return Prospect(f"sitemap {url}", [sighting.url for sighting in sightings], rates, shapes)


def from_report(body: bytes, name: str) -> Prospect:
    """From ``report.json``: the pages of its captures with the rates known at their end."""
    try:
        captures = json.loads(body)["captures"]
        pages = {
            page["url"]: float(page["rate"])
            for capture in captures
            for page in capture["pages"]
            if page["kind"] == Kind.PAGE
        }
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{name} is no report of a capture: {error!r}") from None
    rates = np.array(list(pages.values()))
    return Prospect(f"report {name}", list(pages), rates, np.full(len(rates), math.inf))


def from_history(path: Path) -> Prospect:
    """From a change history: the pages that exist at its end, and all of their changes."""
    lives = read_history(path)
    everything = Changes.of([life.hist + life.changes for life in lives])
    created = np.array([life.created for life in lives])
    end = max(max((life.created, *life.changes, *life.deleted)) for life in lives)
    begins = np.maximum(created, everything.times.min(initial=end))
    rates, shapes = posterior(intervals(everything, begins, end))
    alive = lifetimes(lives).alive_at(np.full(len(lives), end))
    urls = [life.page for life, there in zip(lives, alive, strict=True) if there]
    return Prospect(f"history {path}", urls, rates[alive], shapes[alive])
