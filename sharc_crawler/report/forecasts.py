"""Sentences on what was expected of a capture by its change rates, and notes on results that they do not explain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sharc_crawler.evidence.facts import CaptureFacts, PageFacts
from sharc_crawler.guides import guide
from sharc_crawler.instants import second
from sharc_crawler.model import HowMade, Kind, Verdict
from sharc_crawler.plural import agreeing, counted
from sharc_crawler.report.phrases import guessed, sources


def forecast(expected: Mapping[str, Any]) -> str:
    """How many pages were expected to stay the same, with the range of four in five such captures.

    >>> forecast({"coherent": 1008.04, "low": 1007, "high": 1009})
    '1,008 (80 %: 1,007 to 1,009)'
    >>> forecast({"coherent": 8.99, "low": 9, "high": 9})  # nothing is that sure
    '9'
    """
    words, low, high = f"{expected['coherent']:,.1f}".removesuffix(".0"), expected["low"], expected["high"]
    return words if low == high else f"{words} (80 %: {low:,} to {high:,})"


def came(expected: Mapping[str, Any]) -> str:
    """The actual result for the pages in :func:`forecast`.

    >>> came({"pages": 9, "counted": 7, "same_content": 7}), came({"pages": 9, "counted": 1, "same_content": 8})
    ('7 of 9 pages judged were coherent', '8 of 9 pages judged kept their content, 1 its bytes, too')
    """
    judged, kept, same = f"{counted(expected['pages'], 'page')} judged", expected["same_content"], expected["counted"]
    if kept == same:
        return f"{same:,} of {judged} {agreeing(same, 'were')} coherent"
    bytes_too = f"{same:,} {agreeing(same, 'their')} bytes, too"
    return f"{kept:,} of {judged} kept {agreeing(kept, 'their')} content, {bytes_too}"


UNCHANGED = 5  #: least unchanged pages; with fewer, all pages may change all the time
APART = 20  #: one page in 20, and one unchanged page in 5, may contradict the moment


def surprises(facts: CaptureFacts, found: Mapping[str, Any]) -> Iterator[str]:
    """The notes; ``found``: expected and actual numbers."""
    totals = facts.figures.whole.tally.totals()
    may = totals["changed"] >= totals["coherent"] >= UNCHANGED  # otherwise there is no such moment
    if may and (anew := at_once(facts.pages)):
        yield anew
    yield _missed(facts, found)


def at_once(pages: Iterable[PageFacts]) -> str:
    """The note that most pages changed as if at one moment; empty: they did not."""
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
    for time, step in sorted(steps):  # fit: how many pages a change right after this time explains
        fit += step
        if fit > best:
            best, moment = fit, time
    apart = len(both) - best
    if changed < unchanged or unchanged < max(UNCHANGED, apart * APART / 4) or apart * APART > len(both):
        return ""
    but = f", {apart:,} apart" if apart else ""
    return (
        f"{changed:,} of {counted(len(both), 'page')} changed as if at one moment after {second(moment)}{but}: those"
        " downloaded before and after it did, the others did not. Was the site republished? Then a new capture shows"
        " it whole"
    )


def _missed(facts: CaptureFacts, found: Mapping[str, Any]) -> str:
    if guessed(found):  # then nothing was expected
        pages = f"{found['guessed']:,} of {counted(found['pages'], 'page', 'change')}"
        return HowMade(f"Nothing was known beforehand about how often {pages}. {_remembered(facts)}")
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
    """Where the rates of this capture are kept for the next one, or how to keep them."""
    if history := facts.settings.get("history"):
        return f"What this capture saw is now in {history}, and the next one with that history uses it"
    name = "SHARC_HISTORY" if "spider" in facts.settings else "history"
    return f"Captures with {name}=FILE use what earlier ones saw"
