"""``sharc diff``: what changed on a page between two captures, and what was ignored."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from sharc_crawler.certificate.sources import captures_in
from sharc_crawler.changes.difference import Difference, LinePair, difference
from sharc_crawler.changes.masks import Mask, load_masks
from sharc_crawler.cli._fetched import REPEATED, data_of, is_capture, page_of
from sharc_crawler.cli._inputs import regular, require_capture
from sharc_crawler.cli._next import say_again
from sharc_crawler.cli._outputs import to_file, written
from sharc_crawler.collection.comparing import Captured, apart, contents
from sharc_crawler.errors import UsageError
from sharc_crawler.instants import iso, second
from sharc_crawler.live.monitoring.busy import busy
from sharc_crawler.plural import counted
from sharc_crawler.report.difference import DataDifference, of_data, page, verdict
from sharc_crawler.report.foreign import foreign
from sharc_crawler.report.opened import open_facts
from sharc_crawler.report.words import printable
from sharc_crawler.storage.folders import site_folders
from sharc_crawler.storage.opening import holds_state

_NAMED = 3  #: captures listed for a choice
_READING = "reading what was captured"
_FILE = click.Path(exists=True, path_type=Path)


@click.command()
@click.argument("old", type=_FILE, callback=regular)
@click.argument("new", type=_FILE, callback=regular)
@click.argument("url", required=False)
@click.option(
    "--former",
    type=_FILE,
    multiple=True,
    callback=regular,
    help="A former capture that stores payloads of this one (dedup=site).",
)
@click.option("--masks", type=_FILE, help="File of masks from `sharc masks`: what to ignore.")
@click.option("--html", type=click.Path(path_type=Path), callback=to_file, help="Write both versions side by side.")
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
    r"""Compare the page URL in the captures OLD and NEW (folder, WARC file or WACZ): its first and its last download.

    Without URL, list the pages that changed, are new or gone between two capture folders, by their visits.

    Name one capture twice to compare a page's first and last download, usually its visit and revisit. OLD and NEW may
    also be two saved pages. For a page made by script, the data that its scripts fetched is compared, too.

    \b
    Example:
      sharc diff captures/monday captures/friday https://www.example.org/news.html --html diff.html
      sharc diff captures/monday captures/friday
      sharc diff before.html after.html --json | jq .changed
    """
    for given in (old, new):
        require_capture(given)
        _check_one(given)
    if url is None and (captures := [one for one in (old, new) if is_capture(one)]):
        if old.samefile(new) or masks or html or not all(one.is_dir() and holds_state(one) for one in (old, new)):
            raise UsageError(f"{captures[0]} is a capture: say which page of it, as in `sharc diff {old} {new} URL`")
        show_pages(old, new, as_json=as_json)
    else:
        _show_page(old, new, url, former, load_masks(masks) if masks else (), html, as_json=as_json)


def _show_page(
    old: Path,
    new: Path,
    url: str | None,
    former: Sequence[Path],
    masks: Sequence[Mask],
    html: Path | None,
    *,
    as_json: bool,
) -> None:
    """Show the differences between two downloads of a page, or two saved pages."""
    if url is not None and (plain := REPEATED.sub("", url)) != url:
        url = plain
        click.echo(f"all requests for {printable(url)} lie under that URL: its first and its last download", err=True)
    beside = (*former, *(one for one in (old, new) if is_capture(one)))  # NEW may store what is equal in OLD alone
    keys: set[str] = set()
    with busy(_READING):
        old_page = page_of(old, url, beside, last=False, listed=keys)
        new_page = page_of(new, url, beside, last=True, listed=keys)
        found = difference(old_page.body, new_page.body, new_page.media_type, masks)
        data = of_data(data_of(old, keys, beside, last=False), data_of(new, keys, beside, last=True))
    if html:
        with written(html) as file:
            file.write(page(found, old_page, new_page, data))
    if as_json:
        times = {"times": [iso(old_page.time), iso(new_page.time)]} if url else {}
        click.echo(json.dumps({**times, **_document(found, data)}))
        return
    if url:
        click.echo(f"{printable(url)} as downloaded {second(old_page.time)}, then {second(new_page.time)}")
    _show(found, data)
    if html:
        click.echo(f"side by side: {html}")
    elif found.changed or any(row.changed for row in data):
        say_again("--html", "diff.html")


def _check_one(given: Path) -> None:
    """Refuse a folder that contains captures."""
    if given.is_dir() and site_folders(given) is None and (held := captures_in(given)) != [given]:
        named = ", ".join(map(str, held[:_NAMED]))
        raise UsageError(f"{given} holds {counted(len(held), 'capture')}: name one of them: {named}")


def _document(found: Difference, data: Sequence[DataDifference]) -> dict[str, object]:
    document = _of(found)
    if data:
        document["changed"] = found.changed or any(row.changed for row in data)
        document["data"] = [
            {"url": row.url, "before": row.before or row.url, "verdict": row.verdict}
            | (_of(row.found) if row.found else {})
            | {"changed": row.changed}
            for row in data
        ]
    return document


def _of(found: Difference) -> dict[str, object]:
    return {
        "equal_bytes": found.equal_bytes,
        "changed": found.changed,
        "edits": [asdict(row) for row in found.edits],
        "ignored": [asdict(row) for row in found.ignored],
    }


def _show(found: Difference, data: Sequence[DataDifference]) -> None:
    console = Console()
    console.print(verdict(found, data), style="bold")
    for title, rows in (("changed", found.edits), ("ignored", found.ignored)):
        if rows:
            console.print(_table(title, rows))
    for row in data:
        before = [" (before: ", foreign(row.before, ""), ")"] if row.before else []
        console.print(foreign(row.url, ""), *before, f": {row.verdict}", sep="")
        if row.found and row.found.edits:
            console.print(_table("changed", row.found.edits))


def _table(title: str, rows: Sequence[LinePair]) -> Table:
    table = Table("before", "after", title=title, title_justify="left", expand=True)
    for row in rows:
        table.add_row(foreign(row.old or "", "red"), foreign(row.new or "", "green"))
    return table


# -- without a URL: which pages changed from one capture to a later one ------------------------------------------------


SHOWN = 20  #: URLs of each kind
_RARE = "left", "unknown"
#: kinds that are listed; equal pages are only counted
LISTED = {
    "changed": "changed",
    "new": "new",
    "gone": "gone",
    "left": "left by the budget, limit or hops of one of them",
    "unknown": "not known (other masks, or scripts asked for other data)",
}


def show_pages(old: Path, new: Path, *, as_json: bool) -> None:
    """Print how many pages, and which, changed, are new or gone."""
    with busy(_READING):
        found = apart(_contents(old), _contents(new))._asdict()
    if as_json:
        click.echo(json.dumps(found))
        return
    by_data = set(found["by_data"])
    labels = {name: words for name, words in LISTED.items() if found[name] or name not in _RARE}
    counts = [f"{len(found[name]):,} {words}" for name, words in labels.items()]
    stated = len(found["stated"])
    word = f", {stated:,} of these by the server's word (304, or its lastmod): not downloaded anew" if stated else ""
    click.echo(f"Pages: {', '.join(counts)}, {len(found['same']):,} the same{word}")
    for name, words in labels.items():
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
