"""``sharc diff``: what changed on a page between two captures, and what was ignored."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table

from sharc_crawler.changes.difference import difference
from sharc_crawler.changes.masks import load_masks
from sharc_crawler.cli._fetched import is_capture, page_of
from sharc_crawler.cli._next import say_again
from sharc_crawler.errors import UsageError
from sharc_crawler.report.difference import page, verdict
from sharc_crawler.report.terminal import foreign

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sharc_crawler.changes.difference import Difference, LinePair

_FILE = click.Path(exists=True, path_type=Path)


@click.command()
@click.argument("old", type=_FILE)
@click.argument("new", type=_FILE)
@click.argument("url", required=False)
@click.option("--former", type=_FILE, multiple=True, help="A former capture that payloads are stored in (dedup=site).")
@click.option("--masks", type=_FILE, help="What does not count on this site, as `sharc masks` writes it.")
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), help="Write both versions side by side.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    old: Path,
    new: Path,
    url: str | None,
    former: tuple[Path, ...],
    masks: Path | None,
    html: Path | None,
    as_json: bool,
) -> None:
    r"""Compare page URL in the captures OLD and NEW (folder, WARC file or WACZ): its first and its last fetch.

    One capture named twice compares a page's visit with its revisit. OLD and NEW may also be two saved pages.

    \b
    Example:
      sharc diff captures/monday captures/friday https://www.example.org/news.html --html diff.html
      sharc diff before.html after.html --json | jq .changed
    """
    if url is None and (captures := [one for one in (old, new) if is_capture(one)]):
        raise UsageError(f"{captures[0]} is a capture: say which page of it, as in `sharc diff {old} {new} URL`")
    beside = (*former, *(one for one in (old, new) if is_capture(one)))  # NEW may store what is equal in OLD alone
    first, second = page_of(old, url, beside, last=False), page_of(new, url, beside, last=True)
    found = difference(first.body, second.body, second.media_type, load_masks(masks) if masks else ())
    if html:
        html.write_text(page(found, first, second))
    if as_json:
        click.echo(json.dumps(_document(found)))
        return
    _show(found)
    if html:
        click.echo(f"side by side: {html}")
    elif found.changed:
        say_again("--html", "diff.html")


def _document(found: Difference) -> dict[str, object]:
    return {
        "equal_bytes": found.equal_bytes,
        "changed": found.changed,
        "edits": [asdict(row) for row in found.edits],
        "ignored": [asdict(row) for row in found.ignored],
    }


def _show(found: Difference) -> None:
    console = Console()
    console.print(verdict(found), style="bold")
    for title, rows in (("changed", found.edits), ("ignored", found.ignored)):
        if rows:
            console.print(_table(title, rows))


def _table(title: str, rows: Sequence[LinePair]) -> Table:
    table = Table("before", "after", title=title, title_justify="left", expand=True)
    for row in rows:
        table.add_row(foreign(row.old or "", "red"), foreign(row.new or "", "green"))
    return table
