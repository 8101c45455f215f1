"""``sharc masks``: learn what changes on a site at every download."""

from __future__ import annotations

from pathlib import Path

import click

from sharc_crawler.changes.learning import Pair, learn_masks
from sharc_crawler.changes.masks import load_masks, save_masks
from sharc_crawler.cli._fetched import is_capture, page_of, pairs_within
from sharc_crawler.errors import UsageError
from sharc_crawler.report.words import printable

_FILE = click.Path(exists=True, path_type=Path)
_ENOUGH = 2  #: pages that must show a mask, where a whole capture is asked


@click.command()
@click.argument("sources", type=_FILE, nargs=-1, required=True)
@click.option("--within", default=60.0, show_default=True, help="Seconds between two fetches of a page, at most.")
@click.option("--add", type=_FILE, help="Masks that are known: kept, and not learned again.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="File to write; else print.")
def command(sources: tuple[Path, ...], within: float, add: Path | None, output: Path | None) -> None:
    r"""Learn masks from a capture (folder, WARC or WACZ) or from two saved fetches of one page.

    In a capture the pages next to the reference instant are fetched twice within a minute (--within): what differs
    between these on half of the pages that have it, and on two at least, is the server's doing. Look at the file
    before you use it: it is short.

    \b
    Example:
      sharc masks captures/monday -o masks.json
      sharc masks first.html second.html
      scrapy crawl site -a url=https://www.example.org/ -a masks=masks.json
    """
    known = load_masks(add) if add else ()
    if len(sources) == 1 and is_capture(sources[0]):
        learned = learn_masks(pairs_within(sources[0], within), known, _ENOUGH)
    elif len(sources) == 2 and not any(map(is_capture, sources)):
        one, other = (page_of(source, None, last=False) for source in sources)
        learned = learn_masks([Pair(one.body, other.body, one.media_type)], known)
    else:
        raise UsageError("name one capture, or two saved fetches of one page")
    for mask in (*known, *learned):
        click.echo(printable(f"{mask.path}  {mask.pattern or '(whole element)'}"))
    if output:
        save_masks(output, (*known, *learned))
    click.echo(f"{len(learned)} learned{f', in {output}' if output else ''}", err=True)
