"""What `fuzz.py` feeds: each of our parsers, what must hold whatever it is given, and what it begins with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.fuzz_sent import (
    coding_seeds,
    date_seeds,
    exchange_seeds,
    feed_seeds,
    fingerprint_seeds,
    link_seeds,
    long_seeds,
    robots_seeds,
    run_coding,
    run_dates,
    run_exchange,
    run_feeds,
    run_fingerprint,
    run_links,
    run_long,
    run_robots,
    run_sitemaps,
    run_urls,
    run_wire,
    sitemap_seeds,
    url_seeds,
    wire_seeds,
)
from benchmarks.fuzz_stored import (
    accesslog_seeds,
    certificate_seeds,
    frontier_seeds,
    index_seeds,
    mask_seeds,
    run_accesslog,
    run_cdx,
    run_certificate,
    run_frontier,
    run_masks,
    run_warc,
    warc_seeds,
)

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Target:
    """A parser: `run` raises for what must not be."""

    run: Callable[[bytes], None]
    seeds: Callable[[], list[bytes]]


TARGETS = {
    "long": Target(run_long, long_seeds),
    "sitemaps": Target(run_sitemaps, sitemap_seeds),
    "robots": Target(run_robots, robots_seeds),
    "dates": Target(run_dates, date_seeds),
    "urls": Target(run_urls, url_seeds),
    "exchange": Target(run_exchange, exchange_seeds),
    "wire": Target(run_wire, wire_seeds),
    "links": Target(run_links, link_seeds),
    "fingerprint": Target(run_fingerprint, fingerprint_seeds),
    "coding": Target(run_coding, coding_seeds),
    "feeds": Target(run_feeds, feed_seeds),
    "index": Target(run_cdx, index_seeds),
    "warc": Target(run_warc, warc_seeds),
    "certificate": Target(run_certificate, certificate_seeds),
    "accesslog": Target(run_accesslog, accesslog_seeds),
    "masks": Target(run_masks, mask_seeds),
    "frontier": Target(run_frontier, frontier_seeds),
}
