"""``sharc plan``: what a capture would come to, without crawling."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import click
import numpy as np

from sharc_crawler.cli._next import capture_words, say_next
from sharc_crawler.cli._tables import print_table
from sharc_crawler.errors import UsageError
from sharc_crawler.lab.plan import Foreseen, foresee
from sharc_crawler.lab.prospect import Prospect, from_file
from sharc_crawler.live.monitoring.busy import busy
from sharc_crawler.model import Seconds
from sharc_crawler.options.kinds import url as checked_url
from sharc_crawler.plugins import names as plugin_names
from sharc_crawler.plural import counted
from sharc_crawler.report.words import printable
from sharc_crawler.storage.folders import site_folders
from sharc_crawler.storage.observations import ObservationStore
from sharc_crawler.strategies.base import Setting
from sharc_crawler.strategies.make import make_strategy

STRATEGIES = "bfs,sharc-online,sharc-offline,sharc-revisits,sharc-optimal,sharc-selective,sharc-attested"
SHOWN = 10  #: hopeless pages that are listed
COSTLY = 0.05  #: expected changes of these, below which the table shows 0.0 and they are not listed
DELAY = 1.0  #: for pages from a file
FILES = (".xml", ".gz", ".txt", ".rss", ".atom", ".json", ".jsonl", ".wacz", ".warc", ".cdx", ".cdxj", ".csv", ".db")
_HOST = re.compile(r"(localhost|[\w-]+(\.[\w-]+)+)(:\d+)?(/|$)")
SITEMAPS = (".xml", ".xml.gz", ".txt", ".txt.gz", ".rss", ".atom")


@click.command()
@click.argument("source")
@click.option("--strategy", default=STRATEGIES, show_default=True, help="Comma-separated.")
@click.option("--delay", type=click.FloatRange(0, min_open=True), help="Seconds between two downloads.  [default: 1]")
@click.option("--history", type=click.Path(exists=True, dir_okay=False), help="For a URL: the archive's history.")
@click.option("--site", help="The site, if the history or the crawl's folder has several.")
@click.option("-s", "settings", multiple=True, metavar="NAME=VALUE", help="For a URL: a setting, as for scrapy crawl.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    source: str,
    strategy: str,
    delay: float | None,
    history: str | None,
    site: str | None,
    settings: tuple[str, ...],
    as_json: bool,
) -> None:
    r"""Predict a capture: duration, expected coherence and blur of each strategy, hopeless pages.

    SOURCE is a file (a sitemap; the folder, report.json, WACZ, WARC or CDX file of a former capture; an archive's
    history; a change history) or a URL: a site or one sitemap. Of a site, only robots.txt and the sitemaps are
    fetched, as politely as in a crawl. A bare host name means https://.

    \b
    Example:
      sharc plan https://www.example.org/ -s SHARC_OPERATOR=crawls@library.example
      sharc plan sitemap.xml --delay 2
      sharc plan captures/demo --strategy sharc-selective --json
      sharc plan example.org-20261118110640-r1.wacz
    """
    now = time.time()
    names = [name.strip() for name in strategy.split(",")]
    for name in names:
        make_strategy(name, Setting())
    source = _address(source)
    if "://" in source and not Path(source).exists():
        prospect, step, notes = _asked(source, delay, history, settings)
    elif history or settings:
        raise UsageError(f"--history and -s belong to a URL; {source} is read from disk")
    else:
        step = delay or DELAY
        with busy("reading the pages"):
            prospect = _read(Path(source), now, site, step)
        notes = _hosts(prospect.urls)
    plans = []
    with busy("plans", total=len(names)) as tell:
        for number, name in enumerate(names):
            plans.append(foresee(prospect, name, step, now))
            tell(number + 1)
    if as_json:
        click.echo(_json(prospect, step, notes, plans))
        return
    _show(prospect, step, notes, plans)
    if strategy == STRATEGIES:
        others = ", ".join(sorted({*plugin_names("strategy")} - {*names}))
        click.echo(f"Left out: {others}, which are there to compare with. --strategy NAME,NAME takes these, too.")
    if prospect.source.startswith("site ") and not urlsplit(source).path.endswith(SITEMAPS):
        more = [f"history={history}"] if history else []
        more += [f"delay={delay:g}"] if delay else []
        say_next(*capture_words(f"url={source}", *more, urls=[source], settings=settings))


def _json(prospect: Prospect, step: Seconds, notes: Sequence[str], plans: Sequence[Foreseen]) -> str:
    known = {"source": prospect.source, "pages": len(prospect.urls), "guessed": prospect.guessed}
    return json.dumps({**known, "delay": step, "notes": notes, "plans": [asdict(plan) for plan in plans]})


def _address(source: str) -> str:
    """A site's URL as a crawl takes it; file names, even misspelt ones, are left alone."""
    file = Path(source).suffix in FILES or not _HOST.match(source)
    if Path(source).exists() or (file and "://" not in source):
        return source
    try:
        return checked_url(source)
    except ValueError as error:
        raise UsageError(f"url={source!r} {error}") from error


def _read(path: Path, now: float, site: str | None, step: Seconds) -> Prospect:
    if not path.exists():
        raise UsageError(f"{str(path)!r} is no file, and no URL such as https://www.example.org/")
    if folders := site_folders(path):
        if site not in folders:
            raise UsageError(
                f"{str(path)!r} holds the captures of several sites: say which, as in --site {min(folders)}"
            )
        path = folders[site]
    report = path / "report.json"
    if path.is_dir() and not any(path.iterdir()):
        raise UsageError(
            f"{str(path)!r} is empty: it holds neither a report.json (sharc report {path} writes it) nor WARCs"
        )
    return from_file(report if report.exists() else path, now, site, step)


def _hosts(urls: Sequence[str]) -> list[str]:
    """A note if pages from a file are of several hosts."""
    hosts = sorted({urlsplit(url).netloc for url in urls})
    named = ", ".join(hosts[:3]) + (", …" if len(hosts) > 3 else "")
    return [f"pages of {counted(len(hosts), 'host')} ({named}) are planned as one site"] if len(hosts) > 1 else []


def _asked(
    url: str, delay: float | None, history: str | None, settings: tuple[str, ...]
) -> tuple[Prospect, Seconds, list[str]]:
    """Ask the site for robots.txt and sitemaps (or one sitemap): pages, Δ, notes."""
    from sharc_crawler.live.setup.survey import survey  # Scrapy is slow to import, and only this needs it

    arguments = {"url": url}
    if urlsplit(url).path.endswith(SITEMAPS):
        arguments = {"url": urljoin(url, "/"), "sitemap": url}
    if history is not None:
        arguments["history"] = history
        ObservationStore(history, reading=True).close()  # before the site is asked, in case it is no store
    found = survey(arguments, settings)
    notes = list(found.notes)
    if found.refused:
        notes.append(f"robots.txt closes {found.refused} of the pages: they are left out")
    rates, shapes, attested = (np.array(column) for column in (found.rates, found.shapes, found.attested))
    step = max(delay or found.step, found.asked)
    return Prospect(f"site {url}", found.urls, rates, shapes, attested, found.guessed), step, notes


def _guessed(prospect: Prospect) -> str:
    """A warning that the plans rest on guesses; "": they do not."""
    pages, guessed = len(prospect.urls), prospect.guessed
    if 2 * guessed <= pages:
        return ""
    which = "all rates are" if guessed == pages else f"the rates of {guessed:,} of {counted(pages, 'page')} are"
    return (
        f"Coherence and blur below cannot be relied on: {which} guesses. Sitemaps with"
        " changefreq or lastmod, or --history of former captures, would tell more."
    )


def _show(prospect: Prospect, step: Seconds, notes: list[str], plans: list[Foreseen]) -> None:
    if warning := _guessed(prospect):
        click.echo(warning)
    foreseen = ("coherent", "changed", "unknown", "blur", "hopeless", "of these\nchanged")
    names = ("strategy", "downloads", "duration", *foreseen)
    rows = [
        [
            plan.strategy,
            f"{plan.downloads:,}",
            str(timedelta(seconds=round(plan.seconds))),
            f"{plan.expected_coherent:,.1f}",
            f"{plan.expected_incoherent:,.1f}",
            f"{plan.unknown:,}",
            f"{plan.expected_blur:.3f}",
            f"{len(plan.hopeless):,}",
            f"{plan.hopeless_incoherent:,.1f}",
        ]
        for plan in plans
    ]
    print_table(
        f"{prospect.source}: {counted(len(prospect.urls), 'page')}, {step:g} s between two downloads", names, rows
    )
    click.echo("Downloads are those of pages alone: pictures, styles and scripts come on top, and take their time.")
    for note in notes:
        click.echo(f"Note: {printable(note)}.")
    for plan in plans:
        if plan.hopeless_incoherent < COSTLY:
            continue  # if changes are rare, even the best order may let a page wait longer than a colder one
        for url in plan.hopeless[:SHOWN]:
            click.echo(f"{plan.strategy} gives up {printable(url)}")
        if len(plan.hopeless) > SHOWN:
            click.echo(f"… and {len(plan.hopeless) - SHOWN} more (--json names all)")
