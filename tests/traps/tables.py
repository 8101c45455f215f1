"""Pages of a site in a row: what the rules for traps ask of the frontier."""

from __future__ import annotations

from sharc_crawler.model import Kind
from sharc_crawler.state.lifecycle import State
from sharc_crawler.state.pages import NO_PARENT, PageTable
from sharc_crawler.state.rows import PageRow

ROOT = "http://h/"


def add(pages: PageTable, path: str, parent: int = NO_PARENT, kind: Kind = Kind.PAGE) -> int:
    """One more page that another names first; its number."""
    page, depth = len(pages), pages.depths[parent] + 1 if parent != NO_PARENT else 0
    url = ROOT + path
    row = PageRow(page, 0, url, url, kind, "h", depth, parent, "", State.QUEUED, 0.0, "none", 1.0, 1.0, None, "")
    pages.extend([row], {"h": 0})
    return page


def table(*paths: str) -> PageTable:
    """A seed, and pages that it names."""
    pages = PageTable()
    add(pages, "")
    for path in paths:
        add(pages, path, 0)
    return pages
