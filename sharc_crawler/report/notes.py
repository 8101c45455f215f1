"""What the figures of a capture give reason to tell its reader, in sentences."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from sharc_crawler.evidence import measures
from sharc_crawler.evidence.reasons import in_words
from sharc_crawler.frontier.admission import OVER_LIMIT, TOO_FAR
from sharc_crawler.frontier.budget import PREFIX
from sharc_crawler.model import Kind, Result
from sharc_crawler.report.words import counted, forecast, guessed, kept_content, percent, were

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sharc_crawler.evidence.facts import CaptureFacts, PageFacts

MANY = 0.05  #: share of the pages from which on something is worth a note
FAR = 4.0  #: standard deviations between what was expected and what was counted
ALIKE = 3  #: URLs with one payload from which on they are hardly pages of their own


def noted(facts: CaptureFacts) -> list[str]:
    """What the figures show, most important first; what the capture itself noted comes after it (``facts.notes``)."""
    pages = [page for page in facts.pages if page.kind is Kind.PAGE and page.verdict is not None]
    return [*_noise(pages), *_surprise(facts, pages), *_by_script(pages), *_alike(pages)]


def left_by_bounds(facts: CaptureFacts) -> str:
    """How many pages and links the budget, ``limit`` and ``hops`` left, and the way out; empty where they did not."""
    pages, links = list(_left_pages(facts)), dict(_left_links(facts))
    told = []
    if pages:
        told.append(f"{counted(len(pages), 'more page')} {were(len(pages))} left by {' and '.join(sorted(set(pages)))}")
    if links:
        number = sum(links.values())
        told.append(f"{counted(number, 'link')} {were(number)} not followed for {' and '.join(links)}")
    one = "a larger one" if len({*pages, *links}) == 1 else "larger ones"
    return f"{', and '.join(told)}. A new capture with {one} would take them, too" if told else ""


def _left_pages(facts: CaptureFacts) -> Iterator[str]:
    """Per page that the budget left, which bound it was."""
    for page in facts.pages:
        if page.kind is Kind.PAGE and page.verdict is None and (why := in_words(page.reason)).startswith(PREFIX):
            yield why.removeprefix(PREFIX).partition(" ")[0]


def _left_links(facts: CaptureFacts) -> Iterator[tuple[str, int]]:
    """Which other bounds left links, and how many."""
    for name, reason in (("limit", OVER_LIMIT), ("hops", TOO_FAR)):
        bound = facts.settings.get(name)
        if left := facts.skipped.get(reason.format(bound)):
            yield f"{name}={bound}", left


def same_content(pages: Sequence[PageFacts]) -> str:
    """How many pages kept their content, where that is more than are coherent; else empty."""
    return kept_content(measures.tally(pages))


def _noise(pages: Sequence[PageFacts]) -> Iterator[str]:
    if sum(map(measures.only_noise, pages)) > MANY * len(pages):
        yield (
            f"{same_content(pages)}. Coherence is judged by bytes all the same; what is ignored, and how `sharc masks`"
            " learns what else is noise on this site: docs/changes.md"
        )


def _surprise(facts: CaptureFacts, pages: Sequence[PageFacts]) -> Iterator[str]:
    """The count lies where no chance takes it: the rates were wrong."""
    found = measures.expected(pages, facts.reference)
    missed = found["same_content"] - found["coherent"]
    if abs(missed) <= max(FAR * found["deviation"], MANY * found["pages"]):
        return
    sources = Counter(page.rate_source for page in pages).most_common()
    came = ", ".join(f"{name} ({number:,})" for name, number in sources)
    more = "more" if missed < 0 else "less"
    noise = "; if it is noise that differs, `sharc masks` learns to ignore it (docs/changes.md)" if missed < 0 else ""
    guess = ", a guess" if guessed(found) else ""
    yield (
        f"{forecast(found)} pages were expected to keep their content and {found['same_content']:,} did: the pages"
        f" change {more} often than the rates say, which came from {came}{guess}. {_remembered(facts)}{noise}"
    )


def _remembered(facts: CaptureFacts) -> str:
    """Whether what this capture saw is kept for the next one, and where."""
    if history := facts.settings.get("history"):
        return f"What this capture saw is in {history} now: the next one with that history goes by it, too"
    return "Captures with history=FILE go by what those before them saw"


def _by_script(pages: Sequence[PageFacts]) -> Iterator[str]:
    """Most HTML pages show nothing without a browser."""
    made = [page.by_script for page in pages if page.by_script is not None]
    if 2 * sum(made) > len(made):
        have = "has" if sum(made) == 1 else "have"
        yield (
            f"{sum(made):,} of {counted(len(made), 'HTML page')} {have} scripts, no links and hardly any text: what"
            " scripts make is not captured, since JavaScript is not run. With a browser as download handler it is:"
            ' "What is not offered" in the README'
        )


def _alike(pages: Sequence[PageFacts]) -> Iterator[str]:
    """Many URLs with one payload: an error page sent with status 200, or one page under many URLs."""
    groups: dict[str, list[PageFacts]] = {}
    for page in pages:
        if page.visit and page.visit.result is Result.OK and page.visit.digest:
            groups.setdefault(page.visit.digest, []).append(page)
    alike = sorted((group for group in groups.values() if len(group) >= ALIKE), key=len, reverse=True)
    if alike:
        number = sum(map(len, alike))
        yield (
            f"{counted(number, 'page')} ({percent(number / len(pages))}) are copies of {len(alike):,}, byte for byte:"
            f" error pages with status 200, or one page under many URLs? Most: {len(alike[0]):,} as {alike[0][0].url}"
        )
