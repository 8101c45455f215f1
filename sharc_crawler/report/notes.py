"""The notes of a report: what a reader should know of a capture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sharc_crawler.evidence.facts import CaptureFacts
from sharc_crawler.model import HowMade, Kind
from sharc_crawler.plural import agreeing, counted
from sharc_crawler.report.marks import ALIKE, DETECTOR_FAILED, LED, LOCKED, MANY, ORDERS, SEED
from sharc_crawler.report.words import percent, short

FAR = 4.0  #: standard deviations between expected and actual pages that get a note


def noted(facts: CaptureFacts) -> list[str]:
    """All notes with those of the crawl: first what limits the capture, last how it was made."""
    totals = facts.figures.whole.tally.totals()
    found = [
        *_lies(facts),
        *(f"seed {short(one.url)} is not in the capture: {one.reason}" for one in facts.outside if one.via == SEED),
        *_orders(facts),
        *facts.notes,
        *_by_script(facts),
        *_alike(facts, totals["captured"]),
        *_walled(facts, totals["captured"]),
        *_noise(facts, totals),
        *_surprise(facts),
        *_masked(facts),
    ]
    return sorted(
        found, key=lambda note: (isinstance(note, HowMade), not note.startswith(LED), DETECTOR_FAILED not in note)
    )


def left_by_bounds(facts: CaptureFacts) -> str:
    """How many pages and links budget, ``limit`` and ``hops`` left out, and what to do; empty if none."""
    if not (facts.skipped or facts.figures.missing):
        return ""
    from sharc_crawler.report.left_out import left_by  # only where anything was left

    return left_by(facts)


def _lies(facts: CaptureFacts) -> Iterator[str]:
    if facts.audit and any(one["caught"] for one in facts.audit["strata"]):
        from sharc_crawler.report.server_notes import caught, standing_in  # only of servers that may lie

        older = facts.figures.whole.tally.totals()["former_copies"] if facts.belied else 0
        yield from (*caught(facts), *standing_in(older))


def _alike(facts: CaptureFacts, captured: int) -> Iterator[str]:
    """Many URLs with the same payload: error pages with status 200, or one page under many URLs."""
    alike = sorted((number for number in facts.figures.payloads.values() if number >= ALIKE), reverse=True)
    if alike:
        number = sum(alike)
        yield (
            f"{counted(number, 'page')} ({percent(number / captured)}) {agreeing(number, 'are')} copies"
            f" of {len(alike):,}, byte for byte:"
            f" error pages with status 200, or one page under many URLs? Most: {alike[0]:,} as {facts.details.alike}"
        )


def _orders(facts: CaptureFacts) -> Iterator[str]:
    """Requested URLs that look like orders to the server; a cart's counter, say, may then differ on each page."""
    if number := facts.figures.orders:
        yield (
            f"{counted(number, 'address', 'look')} {ORDERS}, as {short(facts.figures.order)}: requesting them"
            " may have changed something there, and what other pages show"
        )


def _noise(facts: CaptureFacts, totals: Mapping[str, Any]) -> Iterator[str]:
    """What is ignored, and which masks the capture learned, or why none."""
    if totals["same_content"] or facts.taught.why:
        from sharc_crawler.report.noise import noise_notes  # few captures have any

        yield from noise_notes(facts, totals)


def _surprise(facts: CaptureFacts) -> Iterator[str]:
    """The number of pages that stayed the same is far from the expected one: the rates were wrong."""
    found = facts.figures.whole.expected.totals()
    missed = found["same_content"] - found["coherent"]
    inside = found["low"] <= found["same_content"] <= found["high"]  # the range includes a likely rebuild of the site
    if not inside and abs(missed) > max(FAR * found["deviation"], MANY * found["pages"]):
        from sharc_crawler.report.forecasts import surprises  # hardly ever

        yield from surprises(facts, found)


def _masked(facts: CaptureFacts) -> Iterator[str]:
    if number := facts.settings.get("masks_number"):
        from sharc_crawler.report.noise import masked  # few captures are made with any

        yield masked(facts, number)


def _by_script(facts: CaptureFacts) -> Iterator[str]:
    """Most HTML pages are empty without a browser, or even in one."""
    if 2 * facts.figures.by_script[True] > facts.figures.by_script.total():
        from sharc_crawler.report.script_menus import unshown  # few sites are so

        yield unshown(facts)


def _walled(facts: CaptureFacts, captured: int) -> Iterator[str]:
    """Captures in a session, and sites that ask for a log-in, cookies or consent."""
    session = facts.settings.keys() & {"session", "session_cookies", "keep_secrets"}
    if session or 2 * len(facts.figures.redirects) >= captured or (Kind.PAGE, LOCKED) in facts.figures.missing:
        from sharc_crawler.report.sessions import session_notes  # few sites are so

        yield from session_notes(facts, captured)
