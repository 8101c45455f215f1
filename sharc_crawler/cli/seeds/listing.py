"""| The user's list of seeds, and what a history has of them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from sharc_crawler.addresses.urls import canonical, with_scheme
from sharc_crawler.archive.histories.pages import pages_among
from sharc_crawler.archive.surt import surt
from sharc_crawler.errors import DataError, UsageError
from sharc_crawler.options.mappings import is_several, lines_of
from sharc_crawler.plural import counted
from sharc_crawler.seeds.guarded import updated
from sharc_crawler.seeds.hacs.sites import SeedHistories, homepages, websites

if TYPE_CHECKING:
    from sharc_crawler.archive.histories.gathering import Problems
    from sharc_crawler.archive.histories.reading import History


def read_list(file: Path, problems: Problems) -> list[str]:
    """The addresses in a list, without duplicates, comments (#) and empty lines; other lines are problems."""
    try:
        lines = lines_of(file)
    except ValueError as error:
        raise UsageError(f"seeds={str(file)!r} {error}") from error
    urls: dict[str, None] = {}
    for number, text in lines.items():
        url = with_scheme(text)
        if is_several(text):
            problems.add(str(file), number, f"more than one address: {text[:80]!r}")
        elif canonical(url) is None:
            problems.add(str(file), number, f"not a web address: {text[:80]!r}")
        else:
            urls[url] = None
    if not urls:
        raise UsageError(f"seeds={str(file)!r} names no web address; give one a line")
    return list(urls)


def histories(found: History, updates: str, file: Path | None, level: str) -> SeedHistories:
    """The histories of listed seeds (default: every captured page), by page or by website."""
    captures, changed = found.captures, updated(updates, found.captures)
    pages, no_pages = pages_among(captures, found.kinds)
    if file is None:
        _note(found, pages, no_pages)
        urls, keys = [captures.urls[page] for page in pages], [captures.keys[page] for page in pages]
    else:
        urls = read_list(file, found.problems)
        keys = [surt(url) for url in urls]
    if level == "website":
        return websites(urls, keys, captures, changed, pages, found.answered)
    return homepages(urls, keys, captures, changed, found.answered)


def _note(found: History, pages: list[int], no_pages: Counter[str]) -> None:
    """Count captured URLs that are no seeds, by reason."""
    if not pages:
        why = ", ".join(f"{count:,} {reason}" for reason, count in no_pages.items())
        message = (
            f"history: it holds {counted(len(found.captures), 'URL')}, and no page ({why}); name"
            f" the seeds: --seeds FILE"
        )
        raise DataError(message)
    found.problems.no_seeds.update(no_pages)
