"""``sharc search``: the text of a collection's pages."""

from __future__ import annotations

import json
import os
import re
from datetime import date
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from sharc_crawler.cli._inputs import FOLDER, regular
from sharc_crawler.cli._next import say_next
from sharc_crawler.collection.folder import Collection
from sharc_crawler.collection.search import TEXTS, bring_up
from sharc_crawler.errors import UsageError, nearest
from sharc_crawler.live.monitoring.busy import busy
from sharc_crawler.plural import counted
from sharc_crawler.report.listing import REPLAY
from sharc_crawler.report.words import printable, short
from sharc_crawler.storage.texts import END, START, DatedText, Hit, TextIndex

_DATE = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")
_SHOWN_PROBLEMS = 5
_SHOWN_TEXTS = 5


@click.command()
@click.argument("folder", metavar="DIR", type=FOLDER, callback=regular)
@click.argument("words", nargs=-1, required=True)
@click.option("--site", default="", help="Only this site, by the name of its folder in DIR/captures.")
@click.option("--from", "since", default="", help="Only copies since then: 2026, 2026-11 or 2026-11-18.")
@click.option("--to", "until", default="", help="Only copies until the end of that year, month or day.")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Maximum number of results.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per result.")
def command(folder: Path, words: tuple[str, ...], site: str, since: str, until: str, limit: int, as_json: bool) -> None:
    r"""Find the captured pages of the collection DIR that contain all WORDS, best matches first.

    Quote several words to find them in a row; end a word with * to find words that begin with it. Each result is a
    page with its texts, newest first: when captured, and where sharc replay DIR --port 8090 shows it. The index
    (texts.db) is updated before each search. It contains only HTML.

    \b
    Example:
      sharc search news "high water" light*
      sharc search news election --site example.org --from 2026-10 --to 2026-11 --json
    """
    collection = Collection(folder)
    first, last = _digits("--from", since), _digits("--to", until)
    if last and first > f"{last}9":
        raise UsageError(f"--from {since} comes after --to {until}: nothing lies between them")
    if site and site not in collection.names():
        raise UsageError(f"--site {site!r} has no captures in {folder}{nearest(site, collection.names())}")
    kept = os.access(folder, os.W_OK)
    if not kept:
        click.echo(f"sharc: {folder} cannot be written to: the index is made for this search alone", err=True)
    with TextIndex(folder / TEXTS if kept else ":memory:") as index:
        with busy("reading") as share:
            problems = list(dict.fromkeys(bring_up(collection, index, share)))
        hits = index.search(words, site=site, since=first, until=f"{last}:" if last else "9", most=limit)
    for problem in problems[:_SHOWN_PROBLEMS]:
        click.echo(f"sharc: left out: {printable(problem)}", err=True)
    if len(problems) > _SHOWN_PROBLEMS:
        click.echo(f"sharc: and {counted(len(problems) - _SHOWN_PROBLEMS, 'more page')} left out", err=True)
    for hit in hits:
        if as_json:
            click.echo(json.dumps(_document(hit)))
        else:
            _show(hit)
    if not hits and not as_json:
        click.echo("No captured page contains all of these words.")
    elif not as_json:
        say_next("sharc", "replay", folder, "--port", 8090)


def _digits(option: str, text: str) -> str:
    if text and not (_DATE.fullmatch(text) and _is_date(text)):
        raise UsageError(f"{option} {text!r} is no year, month or day; write 2026, 2026-11 or 2026-11-18")
    return text.replace("-", "")


def _is_date(text: str) -> bool:
    try:
        return bool(date.fromisoformat(f"{text}-01-01"[:10]))
    except ValueError:
        return False


def _document(hit: Hit) -> dict[str, object]:
    snippet = hit.snippet.replace(START, "").replace(END, "")
    texts = [{**_times(text), "captures": text.captures, "replay": _replay(hit, text)} for text in hit.texts]
    return {**hit._asdict(), **_times(hit), "snippet": snippet, "texts": texts, "replay": _replay(hit, hit)}


def _show(hit: Hit) -> None:
    console = Console(highlight=False)
    console.print(Text(short(hit.title or hit.url), "bold"), soft_wrap=True)
    if hit.title:
        console.print(Text(short(hit.url)), soft_wrap=True)
    text = Text("  ")
    for number, part in enumerate(re.split(f"[{START}{END}]", hit.snippet)):
        text.append(printable(part), "bold" if number % 2 else "")
    console.print(text, soft_wrap=True)
    for one in hit.texts[:_SHOWN_TEXTS]:
        until = f" to {_time(one.last)}, {counted(one.captures, 'capture')}" if one.first != one.last else ""
        console.print(Text(f"  {_time(one.first)}{until}  {_replay(hit, one)}", "dim"), soft_wrap=True)
    if (left := len(hit.texts) - _SHOWN_TEXTS) > 0:
        console.print(Text(f"  and {counted(left, 'older text')} of this page (--json has all)", "dim"))
    console.print()


def _time(digits: str) -> str:
    """Fourteen digits as a time.

    >>> _time("20261118110640")
    '2026-11-18T11:06:40Z'
    """
    day, clock = digits[:8], digits[8:14]
    return f"{day[:4]}-{day[4:6]}-{day[6:]}T{clock[:2]}:{clock[2:4]}:{clock[4:]}Z"


def _times(found: Hit | DatedText) -> dict[str, str]:
    return {"first": _time(found.first), "last": _time(found.last)}


def _replay(hit: Hit, found: Hit | DatedText) -> str:
    return printable(f"{REPLAY}{found.last}/{hit.url}")
