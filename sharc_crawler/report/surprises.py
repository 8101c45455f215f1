"""What no chance explains: the rates were wrong, or told nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sharc_crawler.guides import guide
from sharc_crawler.model import HowMade
from sharc_crawler.plural import counted
from sharc_crawler.report.phrases import forecast, guessed, sources

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sharc_crawler.evidence.facts import CaptureFacts


def told(facts: CaptureFacts, found: Mapping[str, Any]) -> str:
    """The note; ``found``: what was expected, and what came."""
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
