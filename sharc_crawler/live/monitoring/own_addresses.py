"""Addresses that a site's software makes by itself, told of while they are found: once, with the way to leave them."""

from __future__ import annotations

from itertools import islice
from shlex import quote
from typing import TYPE_CHECKING, TextIO

from sharc_crawler.addresses.software import of_note, recognised, together, told
from sharc_crawler.addresses.urls import canonical
from sharc_crawler.guides import guide
from sharc_crawler.live.monitoring.busy import CLEAR
from sharc_crawler.model import Kind

if TYPE_CHECKING:
    from sharc_crawler.frontier.frontier import Frontier
    from sharc_crawler.frontier.sites import Sites

FIRST = 500  #: known pages of a crawl at which it is looked at first; then each time that they have doubled
SAMPLE = 300  #: pages found last that are looked at
ROWS = 3_000  #: in which they are looked for: there are embedded files between them
AFTER = "Until then they are captured. That command goes on without them: those captured so far stay, unproven"
MODES = ("capture", "continuous")


def look(sites: Sites, out: TextIO | None) -> int:
    """Look at what was found; what it shows is a note of each capture, and told to whoever reads ``out``.

    Returns how many pages are known when it is to be looked at again.
    """
    for frontier in sites:
        spec = frontier.capture.spec
        if spec.discover and spec.mode in MODES and not frontier.done and len(frontier.pages) >= FIRST:
            _look_at(frontier, out, f"{spec.site}: " if len(sites) > 1 else "")
    return 2 * sum(frontier.capture.counts.pages for frontier in sites)


def _look_at(frontier: Frontier, out: TextIO | None, site: str) -> None:
    """At one ``site`` (its name, where there are others). What was said of it, by whatever run, is not said again."""
    capture, sample = frontier.capture, _sample(frontier)
    found = recognised(sample)
    if found is None or found[0] in map(of_note, capture.notes) or all(map(capture.scope.why_not, found[1])):
        return  # the last: they were queued before they were excluded
    software, own = found
    frontier.note(note := told(software, len(own), len(sample)))
    if out is not None:
        exclude = quote(together(capture.spec.exclude, software))
        way = f"To leave them out: stop (Ctrl-C), and give the same command with\n  -a exclude={exclude}"
        print(
            f"{CLEAR * out.isatty()}{site}{note}. {way}\n{AFTER} ({guide('arguments')}, wikis and blogs).",
            file=out,
            flush=True,
        )


def _sample(frontier: Frontier) -> list[str]:
    """The pages found last, as ``exclude`` sees their addresses: with their parameters in order."""
    pages = frontier.pages
    rows = range(len(pages) - 1, max(len(pages) - ROWS, 0) - 1, -1)
    last = (row for row in rows if pages.kinds[row] is Kind.PAGE)
    return [canonical(url) or url for url in (pages.urls[row] for row in islice(last, SAMPLE))]
