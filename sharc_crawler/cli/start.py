"""``sharc start``: from three answers to a collection, and the command for its first capture."""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from sharc_crawler.cli._outputs import try_folder
from sharc_crawler.collection.folder import Collection
from sharc_crawler.collection.terms import CollectionTerms
from sharc_crawler.errors import DataError, UsageError
from sharc_crawler.options.kinds import Contact, Duration
from sharc_crawler.options.kinds import url as checked_url
from sharc_crawler.plural import counted
from sharc_crawler.report.words import printable, span

if TYPE_CHECKING:
    from sharc_crawler.live.setup.survey import Survey
    from sharc_crawler.model import Seconds

T = TypeVar("T")
VISITS = 2  #: of each page: visit and revisit
IN_ALL = 4  #: factor on the sitemaps' pages: 3.7 where these named 62 of 147 pages, with 64 embedded files
LONG = 3600.0  #: of a capture, from which on it is said why
PROFILE = "SCRAPY_SETTINGS_MODULE=sharc_crawler.live.profile"


@click.command()
@click.argument("url", required=False)
@click.option("--operator", help="Your contact: a web page or mail address for webmasters.")
@click.option("--time", "longest", help="Maximum time of a capture: 30m, 2h or 1d.")
@click.option("--to", "folder", type=click.Path(file_okay=False, path_type=Path), help="Folder.  [default: the host]")
@click.option("-s", "settings", multiple=True, metavar="NAME=VALUE", help="A setting, as for scrapy crawl.")
def command(
    url: str | None, operator: str | None, longest: str | None, folder: Path | None, settings: tuple[str, ...]
) -> None:
    r"""Start with a site. The command asks for what you do not give.

    URL is the site. Only its robots.txt and sitemaps are fetched. You get a collection with this site (a folder), an
    estimate of how long a capture takes, and the command for it.

    \b
    Example:
      sharc start
      sharc start https://www.example.org/ --operator crawls@library.example --time 2h
    """
    _check_new(folder)
    seed = _answer("url", url, "Which site? Its address", checked_url)
    folder = folder or Path(CollectionTerms().of_urls((seed,)).name)
    _check_new(folder)
    contact = _answer("operator", operator, "Who are you? A web page or mail address, for its webmaster", _contact)
    limit = _answer("time", longest, "How long may a capture take? As 30m, 2h, 1d", _time)
    site = CollectionTerms().of_urls((seed,), {"max_time": Duration().show(limit)})
    try_folder("--to", folder)
    ours = dict(_pair(setting) for setting in settings) | {"SHARC_OPERATOR": contact}
    for line in _survey_lines(seed, limit, ours):
        click.echo(line)
    Collection.begin(folder, site, {name: value for name, value in ours.items() if name.startswith("SHARC_")})
    click.echo(f"\nWritten: {folder}/collection.yaml. It is yours to change.")
    more = "".join(f" -s {shlex.quote(setting)}" for setting in settings if not setting.startswith("SHARC_"))
    click.echo("Next, capture it (and watch that in another terminal); then look at it:\n")
    click.echo(f"  {_capture(folder)}{more}")
    click.echo(f"  sharc watch {shlex.quote(str(folder))}")
    click.echo(f"  sharc collection {shlex.quote(str(folder))}")


def _answer(name: str, given: str | None, question: str, read: Callable[[str], T]) -> T:
    """The given or entered answer; a person may correct a wrong one."""
    while given is None:
        if not sys.stdin.isatty():
            raise UsageError(
                f"{name} is not given, and there is no terminal to ask at: sharc start URL --operator CONTACT --time 2h"
            )
        try:
            return read(click.prompt(question, type=str).strip())
        except (ValueError, UsageError) as error:
            click.echo(f"It {error}." if isinstance(error, ValueError) else f"{error}")
    try:
        return read(given)
    except ValueError as error:
        raise UsageError(f"{name}={given!r} {error}") from error


def _check_new(folder: Path | None) -> None:
    """Raise UsageError if the folder exists, before anything else is asked."""
    if folder is None or not folder.exists():
        return
    if Collection.is_in(folder):
        way_out = f"To capture it: {_capture(folder)}. To begin another one: --to FOLDER"
        raise UsageError(f"the folder {str(folder)!r} holds a collection already. {way_out}")
    raise UsageError(f"the folder {str(folder)!r} is there already, and no collection: name another one with --to")


def _capture(folder: Path) -> str:
    return f"{PROFILE} scrapy crawl site -a collection={shlex.quote(str(folder))}"


def _time(text: str) -> Seconds:
    if text.strip().isdecimal():
        raise ValueError(f"has no unit; write it as {text.strip()}m (minutes) or {text.strip()}h (hours)")
    return Duration(1.0).read(text)


def _contact(text: str) -> str:
    return Contact().read(text) or ""


def _pair(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator:
        raise UsageError(f"setting={text!r} is not of the form NAME=value")
    return name, value


def _survey_lines(seed: str, limit: Seconds, settings: dict[str, str]) -> Iterator[str]:
    """What the site says of itself, and what follows."""
    from sharc_crawler.live.setup.survey import NoPagesError, survey  # Scrapy is slow to import

    try:
        found = survey({"url": seed}, [f"{name}={value}" for name, value in settings.items()])
    except NoPagesError as error:
        if error.closed:
            raise DataError(
                f"{seed} cannot be captured as it is: {printable(error.why)}. Nothing is written. Check the address"
                f" and its port, and that the site answers here (curl -I {shlex.quote(seed)}); then give the same"
                " command again"
            ) from error
        yield f"{seed} does not say how large it is: {printable(error.why)}."
        yield "Its pages are found by links as the capture goes on; `browser: auto` finds those that scripts make, too."
        yield f"It ends after {span(limit)} at the latest. What it has not reached by then takes another capture."
        return
    yield from estimate_lines(seed, found, limit)


def estimate_lines(seed: str, found: Survey, limit: Seconds) -> Iterator[str]:
    """The size of the site, the time its capture takes, and what to do if that is too long."""
    pages, step = len(found.urls), found.step
    whole = VISITS * pages * step
    asks = f", and its robots.txt asks for {found.asked:g} s between two requests" if found.asked else ""
    yield f"{seed} names {counted(pages, 'page')}{asks}."
    for note in found.notes:
        yield f"Note: {printable(note)}."
    yield f"A capture visits each page twice, one request every {step:g} s: at least {span(whole)}."
    yield "Embedded files (pictures, styles, scripts) and pages that no sitemap lists take more time:"
    yield f"{span(IN_ALL * whole)} in all would not be unusual. `sharc watch` shows the time left during the capture."
    if IN_ALL * whole <= limit:
        yield f"That fits into {span(limit)}."
    elif whole <= limit:
        yield f"The minimum fits into {span(limit)}, the whole site may not: the rest is left out, and counted."
    else:
        fit = max(math.floor(limit / step / VISITS), 1)
        yield (
            f"That does not fit into {span(limit)}: about {counted(fit, 'page')} would, fewer with embedded files."
            " Give more --time, or leave out what you do not need (`exclude:` in collection.yaml)."
        )
    if whole > LONG and step > found.asked:
        yield (
            f"The {step:g} s spare somebody else's server. For your own site, or with permission, `delay: 0.2` in"
            " collection.yaml makes it faster."
        )
