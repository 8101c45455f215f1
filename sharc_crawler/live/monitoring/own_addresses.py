"""| Warns, once, of addresses that wikis, forums and the like generate themselves, and says how to exclude them."""

from __future__ import annotations

from itertools import islice
from shlex import quote
from typing import TYPE_CHECKING, TextIO

from sharc_crawler.addresses.software import described, of_note, recognised, together
from sharc_crawler.addresses.urls import canonical
from sharc_crawler.guides import guide
from sharc_crawler.live.monitoring.busy import CLEAR
from sharc_crawler.model import Kind

if TYPE_CHECKING:
    from sharc_crawler.frontier.frontier import Frontier
    from sharc_crawler.frontier.sites import Sites

FIRST = 500  #: known pages of a crawl at which they are first looked for; then each time the number has doubled
SAMPLE = 300  #: latest pages that are looked at
ROWS = 3_000  #: latest URLs among which these pages are searched for, as there are embedded files, too
AFTER = "Until then they are captured. That command continues without them: those captured so far stay, unproven"
MODES = ("capture", "continuous")


def look(sites: Sites, out: TextIO | None) -> int:
    """Look for such addresses, and report them in notes and on ``out``; returns at how many pages to look again."""
    for frontier in sites:
        spec = frontier.capture.spec
        if spec.discover and spec.mode in MODES and not frontier.done and len(frontier.pages) >= FIRST:
            _look_at(frontier, out, f"{spec.site}: " if len(sites) > 1 else "")
    return 2 * sum(frontier.capture.counts.pages for frontier in sites)


def _look_at(frontier: Frontier, out: TextIO | None, site: str) -> None:
    """Look at one capture; ``site`` is its prefix in the message. Findings of former runs are not repeated."""
    capture, sample = frontier.capture, _sample(frontier)
    found = recognised(sample)
    if found is None or found[0] in map(of_note, capture.notes) or all(map(capture.scope.why_not, found[1])):
        return  # the rest were queued before they were excluded
    software, own = found
    frontier.note(note := described(software, len(own), len(sample)))
    if out is not None:
        exclude = quote(together(capture.spec.exclude, software))
        way = f"To leave them out: stop (Ctrl-C), and give the same command with\n  -a exclude={exclude}"
        print(
            f"{CLEAR * out.isatty()}{site}{note}. {way}\n{AFTER} ({guide('arguments')}, wikis and blogs).",
            file=out,
            flush=True,
        )


def _sample(frontier: Frontier) -> list[str]:
    """The latest pages, in the form that ``exclude`` matches (sorted parameters)."""
    pages = frontier.pages
    rows = range(len(pages) - 1, max(len(pages) - ROWS, 0) - 1, -1)
    last = (row for row in rows if pages.kinds[row] is Kind.PAGE)
    return [canonical(url) or url for url in (pages.urls[row] for row in islice(last, SAMPLE))]
