"""What no chance explains: the rates were wrong, or told nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sharc_crawler.evidence.facts import CaptureFacts, PageFacts
from sharc_crawler.guides import guide
from sharc_crawler.instants import second
from sharc_crawler.model import HowMade, Kind, Verdict
from sharc_crawler.plural import counted
from sharc_crawler.report.forecasts import forecast
from sharc_crawler.report.phrases import guessed, sources

UNCHANGED = 5  #: pages; by fewer no moment is told from pages that always change
APART = 20  #: one page in so many, and one unchanged page in a quarter as many, may be apart from the others


def told(facts: CaptureFacts, found: Mapping[str, Any]) -> Iterator[str]:
    """The notes; ``found``: what was expected, and what came."""
    totals = facts.figures.whole.tally.totals()
    may = totals["changed"] >= totals["coherent"] >= UNCHANGED  # else no walk over the pages is worth it
    if may and (anew := at_once(facts.pages)):
        yield anew
    yield _missed(facts, found)


def at_once(pages: Iterable[PageFacts]) -> str:
    """A note on most pages having changed as if at one moment between their downloads; empty: they did not."""
    both = [
        (page.verdict, page.visit.started, page.revisit.started)
        for page in pages
        if page.kind is Kind.PAGE
        if page.verdict in (Verdict.COHERENT, Verdict.CHANGED) and page.visit and page.revisit
    ]
    changed = sum(verdict is Verdict.CHANGED for verdict, *_ in both)
    fit = best = unchanged = len(both) - changed
    moment = 0.0
    steps = [
        (time, sign if verdict is Verdict.CHANGED else -sign)
        for verdict, *times in both
        for time, sign in zip(times, (1, -1), strict=True)
    ]
    for time, step in sorted(steps):  # how many pages a change just after it explains
        fit += step
        if fit > best:
            best, moment = fit, time
    apart = len(both) - best
    if changed < unchanged or unchanged < max(UNCHANGED, apart * APART / 4) or apart * APART > len(both):
        return ""
    but = f", {apart:,} apart" if apart else ""
    return (
        f"{changed:,} of {counted(len(both), 'page')} changed as if at one moment after {second(moment)}{but}: those"
        " downloaded before and after it did, the others did not. Was the site published anew? Then a new capture shows"
        " it whole"
    )


def _missed(facts: CaptureFacts, found: Mapping[str, Any]) -> str:
    if guessed(found):  # then nothing was expected
        pages = f"{found['guessed']:,} of {counted(found['pages'], 'page', 'change')}"
        return HowMade(f"Nothing told beforehand how often {pages}. {_remembered(facts)}")
    came = sources(dict(facts.figures.rate_sources.most_common()))
    missed = found["same_content"] - found["coherent"]
    more = "more" if missed < 0 else "less"
    ignore = f"; if it is noise that differs, `sharc masks` learns to ignore it ({guide('changes')})"
    noise = ignore if missed < 0 else ""
    return (
        f"{forecast(found)} pages were expected to keep their content and {found['same_content']:,} did: the pages"
        f" change {more} often than the rates say, which came from {came}. {_remembered(facts)}{noise}"
    )


def _remembered(facts: CaptureFacts) -> str:
    """Whether what this capture saw is kept for the next one, and where."""
    if history := facts.settings.get("history"):
        return f"What this capture saw is in {history} now: the next one with that history goes by it, too"
    name = "SHARC_HISTORY" if "spider" in facts.settings else "history"
    return f"Captures with {name}=FILE go by what those before them saw"
