"""``sharc diff OLD NEW``, without a URL: which pages changed from one capture to a later one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from sharc_crawler.cli._next import say_again
from sharc_crawler.collection.comparing import apart, contents
from sharc_crawler.errors import UsageError
from sharc_crawler.report.opened import open_facts
from sharc_crawler.report.words import printable

if TYPE_CHECKING:
    from pathlib import Path

    from sharc_crawler.collection.comparing import Captured

SHOWN = 20  #: URLs of each kind
_RARE = "left", "unknown"
#: those that are listed; what is the same is counted alone
LISTED = {
    "changed": "changed",
    "new": "new",
    "gone": "gone",
    "left": "left by the budget, limit or hops of one of them",
    "unknown": "not known (other masks, or scripts asked for other data)",
}


def show_pages(old: Path, new: Path, *, as_json: bool) -> None:
    """Print how many pages changed, are new or gone, by their visits; and which."""
    found = apart(_contents(old), _contents(new))._asdict()
    if as_json:
        click.echo(json.dumps(found))
        return
    by_data = set(found["by_data"])
    told = {name: words for name, words in LISTED.items() if found[name] or name not in _RARE}
    counts = [f"{len(found[name]):,} {words}" for name, words in told.items()]
    stated = len(found["stated"])
    word = f", {stated:,} of these by the server's word (304, or its lastmod): not downloaded anew" if stated else ""
    click.echo(f"Pages: {', '.join(counts)}, {len(found['same']):,} the same{word}")
    for name, words in told.items():
        for url in found[name][:SHOWN]:
            by = " (its data)" if url in by_data else ""
            click.echo(f"{words}{by}: {printable(url)}")
        if (left := len(found[name]) - SHOWN) > 0:
            click.echo(f"{words}: … and {left:,} more (--json has all)")
    if found["changed"]:
        say_again(found["changed"][0])


def _contents(folder: Path) -> Captured:
    with open_facts(folder) as captures:
        if any(facts.ended is None for facts in captures):
            raise UsageError(
                f"{folder} is not complete: what is new or gone is not known yet; go on with it, or name one page"
                " (sharc diff OLD NEW URL)"
            )
    return contents(folder)
