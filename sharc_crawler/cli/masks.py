"""``sharc masks``: learn what changes on a site at every download."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from sharc_crawler.archive.archived_pages import elsewhere
from sharc_crawler.changes.learning import Lesson, Pair, learn
from sharc_crawler.changes.masks import Mask, as_json, load_masks
from sharc_crawler.cli._fetched import is_capture, page_of, pairs_within
from sharc_crawler.cli._inputs import regular, require_capture
from sharc_crawler.cli._next import capture_words, say_again, say_next
from sharc_crawler.cli._outputs import to_file, written
from sharc_crawler.errors import UsageError
from sharc_crawler.live.monitoring.busy import busy
from sharc_crawler.model import Seconds
from sharc_crawler.report.mask_candidates import Teachers
from sharc_crawler.report.mask_learning import lesson_of, of_pairs
from sharc_crawler.report.opened import open_facts
from sharc_crawler.report.words import printable
from sharc_crawler.storage.folders import capture_folders
from sharc_crawler.storage.opening import holds_state

_FILE = click.Path(exists=True, path_type=Path)


@click.command()
@click.argument("sources", type=_FILE, nargs=-1, required=True, callback=regular)
@click.option("--within", default=60.0, show_default=True, help="Maximum seconds between two downloads of a page.")
@click.option("--add", type=_FILE, help="File of known masks, to keep and not learn again.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), callback=to_file, help="File to write.  [default: print]"
)
def command(sources: tuple[Path, ...], within: float, add: Path | None, output: Path | None) -> None:
    r"""Learn masks from a capture (folder, WARC or WACZ) or from two saved fetches of one page.

    In a capture, the pages next to the reference instant are downloaded twice within a minute (--within). A part
    becomes a mask if it differs on at least two pages, and on half of the pages that have it, each time in another
    way. Other differences are listed, with the reason why they are not masks. Look at the file before you use it: it
    hides edits of masked parts.

    \b
    Example:
      sharc masks captures/monday -o masks.json
      sharc masks first.html second.html
      scrapy crawl site -a url=https://www.example.org/ -a masks=masks.json
    """
    known = load_masks(add) if add else ()
    if len(sources) == 1 and is_capture(sources[0]):
        require_capture(sources[0])
        with busy("comparing what was fetched twice"):
            lesson = _of_capture(sources[0], within, known)
    elif len(sources) == 2 and not any(map(is_capture, sources)):
        one, other = (page_of(source, None, last=False) for source in sources)
        lesson = learn([Pair(one.body, other.body, one.media_type)], known)
    else:
        raise UsageError("name one capture, or two saved fetches of one page")
    masks = (*known, *lesson.masks)
    for mask in masks:
        click.echo(printable(f"{mask.path}  {mask.pattern or '(whole element)'}"))
    if output:
        with written(output) as file:
            file.write(json.dumps(as_json(masks), indent=1) + "\n")
    click.echo(f"{len(lesson.masks)} learned{f', in {output}' if output else ''}", err=True)
    for why in lesson.why_no_more():
        click.echo(printable(why), err=True)
    if lesson.masks:
        _say_next(sources, output)


def _of_capture(source: Path, within: Seconds, known: Sequence[Mask]) -> Lesson:
    """Learn like the capture's end does if there is state (with 304s and lastmods), else from its records."""
    if source.is_dir() and holds_state(source):
        with open_facts(source) as captures:
            return lesson_of(Teachers(captures, within), source, known)[0]
    return of_pairs(pairs_within(source, within), known, len(elsewhere(source)))


def _say_next(sources: tuple[Path, ...], output: Path | None) -> None:
    """Print the next command: save the masks, or use them."""
    if output is None:
        say_again("--output", "masks.json")
    elif len(sources) == 2:
        say_next("sharc", "diff", *sources, "--masks", output)
    elif sources[0].is_dir():
        seeds: dict[str, None] = {}
        for folder in capture_folders(sources[0]):
            with open_facts(folder) as captures:
                seeds |= dict.fromkeys(url for facts in captures for url in facts.seeds)
        say_next(*capture_words(f"url={','.join(seeds)}", f"masks={output}", urls=seeds))
