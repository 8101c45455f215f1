"""| The state of a running crawl for programs and for the page in a browser."""

from __future__ import annotations

from typing import Any

from sharc_crawler.model import Instant
from sharc_crawler.report.words import every, size
from sharc_crawler.watch.tally import Watched
from sharc_crawler.watch.terminal import counts, headline

BARS = 400  #: pages in the picture, sampled evenly
HOSTS = 50


def facts(watched: Watched, now: Instant) -> dict[str, Any]:
    """Everything as JSON; instants are unix seconds in ``pages``, RFC 3339 elsewhere."""
    seen = watched.seen
    busiest = sorted(seen.hosts.items(), key=lambda item: -item[1].requests)[:HOSTS]
    return {
        "headline": headline(watched, now),
        "counts": counts(watched),
        "ended": watched.ended,
        "silent": watched.silent(now),
        "paused": bool(watched.status.get("paused")),
        "captures": watched.status.get("captures", []),
        "requests": seen.requests,
        "bytes": seen.bytes,
        "size": size(seen.bytes),
        "results": dict(seen.results),
        "verdicts": dict(seen.verdicts),
        "hosts": [
            {
                "host": name,
                "requests": host.requests,
                "pace": every(1.0 / host.gap) if host.gap else "",
                "errors": host.errors,
                "last_error": host.last_error,
            }
            for name, host in busiest
        ],
        "last": [
            {name: entry[name] for name in ("started", "url", "slot", "result", "status", "verdict", "bytes")}
            for entry in reversed(seen.last)
        ],
        "pages": _bars(seen.visits),
    }


def _bars(visits: dict[str, list[Instant]]) -> list[list[Instant]]:
    """The times of a sample of pages' downloads, in the order of their visits."""
    starts = [times for times in visits.values() if times]
    step = max(1, len(starts) // BARS)
    return starts[::step]
