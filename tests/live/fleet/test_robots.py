"""robots.txt of a machine that several sites ask is read once for all of them, a site's own by each."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from sharc_crawler.model import Fetch, Kind, Outcome, Result, Sighting
from tests.live.fleet.test_worker import LOOKS, SITE, Working

if TYPE_CHECKING:
    from pathlib import Path

CDN = "cdn.example"
CLOSED = "User-agent: *\nDisallow: /closed/\n"
PICTURES = [f"http://{CDN}/{name}.png" for name in ("open", "closed/one")]


async def asked(working: Working, last: str) -> list[str]:
    """What a site asks for, up to a URL."""
    worker, sites, found = working.worker, working.session.sites, []
    now = working.session.clock.now()
    for _ in range(LOOKS):
        await asyncio.sleep(0.02)  # the journal is told meanwhile
        now += 1.0
        decision = worker.sendable()
        if decision is None and not (isinstance(decision := sites.next(now), Fetch) and worker.may_go(decision)):
            continue
        found.append(decision.url)
        links = [Sighting(url, Kind.RESOURCE, decision.url) for url in PICTURES] if decision.kind is Kind.PAGE else []
        robots = CLOSED if decision.kind is Kind.ROBOTS else None
        sites.finished(decision, Outcome(Result.OK, now, now, 200, "sha1:A", robots=robots), links)
        if decision.url == last:
            break
    return found


@pytest.mark.slow
@deferred_f_from_coro_f
async def test_what_one_sites_capture_read_another_takes_and_obeys(tmp_path: Path):
    working = Working(tmp_path)
    working.ledger.keep_robots(CDN, CLOSED)
    working.ledger.keep_robots(SITE, "User-agent: *\nDisallow: /\n")
    await working.begin()
    await working.until(lambda: SITE in working.worker.holdings.places)
    found = await asked(working, PICTURES[0])
    assert f"http://{SITE}/robots.txt" in found, "its own is read, whatever is known"
    assert f"http://{CDN}/robots.txt" not in found
    assert PICTURES[0] in found
    assert PICTURES[1] not in found
    frontier = working.session.sites[SITE]
    assert any(f"http://{CDN}/robots.txt was not asked for" in note for note in frontier.capture.notes)
    await working.end()


@pytest.mark.slow
@deferred_f_from_coro_f
async def test_what_nobody_has_read_is_read_and_told(tmp_path: Path):
    working = Working(tmp_path)
    await working.begin()
    await working.until(lambda: SITE in working.worker.holdings.places)
    found = await asked(working, PICTURES[0])
    assert f"http://{CDN}/robots.txt" in found
    await working.until(lambda: working.ledger.robots(CDN, 60.0) is not None)
    assert working.ledger.robots(CDN, 60.0)[1] == CLOSED
    assert working.ledger.robots(SITE, 60.0)[1] == CLOSED
    await working.end()
