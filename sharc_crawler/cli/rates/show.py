"""``sharc rates SITE``: how often its pages change, how well that is known, and whether its lastmods are believed."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from sharc_crawler.cli._next import say_next
from sharc_crawler.cli._outputs import drawn, to_file, written
from sharc_crawler.model import RateEstimate, Sighting, Url
from sharc_crawler.plural import agreeing, counted
from sharc_crawler.rates.history import SiteHistory
from sharc_crawler.rates.ranges import shortest
from sharc_crawler.rates.sources import HistoryRates
from sharc_crawler.rates.trust import of_headers, trust
from sharc_crawler.report.foreign import foreign
from sharc_crawler.storage.observations import ObservationStore

DAY = 86_400.0
FEW = 3  #: comparisons of two downloads (or lastmods) below which a page's rate is mostly that of pages like it


@click.command(
    "show", epilog="\b\nExample:\n  sharc rates www.example.org --history archive.sqlite --picture rates.png"
)
@click.argument("site")
@click.option("--history", required=True, type=click.Path(exists=True, dir_okay=False), help="The history store.")
@click.option("--horizon", default=30.0, show_default=True, help="Length of the next capture, in days.")
@click.option("--limit", default=20, show_default=True, help="How many pages to show, hottest first.")
@click.option(
    "--picture",
    type=click.Path(path_type=Path),
    callback=drawn,
    help="Draw the distribution: FILE.png, .svg.",
)
@click.option(
    "--changes", type=click.Path(path_type=Path), callback=to_file, help="Write a change history (CSV) to simulate."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object with all pages.")
def show_command(
    site: str, history: str, horizon: float, limit: int, picture: Path | None, changes: Path | None, as_json: bool
) -> None:
    """Show how often the pages of SITE change: rate, its source, and how well it is known."""
    with ObservationStore(history, reading=True) as store:
        site = store.site_named(site)
        known, links = store.histories(site), store.links(site) or None
        if changes:
            from sharc_crawler.lab.history import write_changes  # only where it is wanted

            with written(changes) as file:
                write_changes(store, site, file)
    now = time.time()
    sightings = [Sighting(url) for url in known.urls]
    still = {url for url, last in zip(known.urls, known.last_change(), strict=True) if math.isnan(last)}
    estimates = HistoryRates(known, horizon * DAY, links).rates(sightings, now)
    pages = [(url, found) for url, found in zip(known.urls, estimates, strict=True) if found is not None]
    pages.sort(key=lambda page: -page[1].rate)
    if picture:
        from sharc_crawler.lab.pictures import draw_rates  # matplotlib takes a second

        draw_rates([found.rate for _, found in pages], site, picture)
    facts = _facts(known, pages, still, now)
    if as_json:
        click.echo(json.dumps(facts))
    else:
        _show(facts, limit, horizon)
        if changes and len(known.times):
            window = (math.floor(known.times.min()), math.ceil(known.times.max()))
            say_next("sharc", "simulate", "--history", changes, "--root", known.urls[0], "--window", *window)
        elif pages:
            say_next("sharc", "plan", history, "--site", site)


def _facts(history: SiteHistory, pages: list[tuple[Any, RateEstimate]], still: set[Url], now: float) -> dict[str, Any]:
    """What ``--json`` prints; rates in changes per day, NaN and infinity as null."""
    ranges = shortest([found.rate * DAY for _, found in pages], [found.shape for _, found in pages])
    return {
        "site": history.site,
        "time": now,
        "urls": len(history),
        "accesses": len(history.times),
        "lastmods": [asdict(verdict) | {"believed": verdict.believed} for verdict in trust(history)],
        "headers": [asdict(verdict) | {"believed": verdict.believed} for verdict in trust(of_headers(history))],
        "pages": [
            {
                "url": url,
                "per_day": found.rate * DAY,
                "low": low,
                "high": high,
                "spread": found.spread * DAY if found.spread == found.spread else None,
                "shape": found.shape if found.shape < float("inf") else None,
                "observations": found.observations,
                "change_seen": url not in still,
                "source": found.source,
            }
            for (url, found), low, high in zip(pages, *(ends.tolist() for ends in ranges), strict=True)
        ],
    }


def _show(facts: dict[str, Any], limit: int, horizon: float) -> None:
    """Tables for readers."""
    table = Table(
        title=foreign(f"{facts['site']}: {counted(facts['urls'], 'URL')}, {counted(facts['accesses'], 'access')}")
    )
    for name in ("one change in", "likely", "seen", "source", "URL"):
        table.add_column(name, justify="left" if name in ("source", "URL") else "right", overflow="fold")
    for page in facts["pages"][:limit]:
        gap = f"{_gap(page['per_day'])}{'' if page['change_seen'] else ' *'}"
        between = _between(page["low"], page["high"])
        table.add_row(gap, between, str(page["observations"]), page["source"], foreign(page["url"]))
    table.caption = (
        f"{min(limit, len(facts['pages']))} of {counted(len(facts['pages']), 'page')} with a rate, hottest first;"
        f" rates as a capture of {horizon:g} days has them (--horizon); likely: four such pages in five"
    )
    console = Console()
    console.print(table)
    if not all(page["change_seen"] for page in facts["pages"][:limit]):
        console.print(
            "*: no capture has seen it change; the rate is what the looks at it, and pages like it, leave open"
        )
    for line in _rough(facts["pages"]):
        console.print(line)
    for name, verdicts in (("lastmods", facts["lastmods"]), ("Last-Modified", facts["headers"])):
        for verdict in verdicts:
            if verdict["values"]:
                word = "believed" if verdict["believed"] else f"not believed: {verdict['reason']}"
                console.print(foreign(f"{name} of {verdict['label']}: {word} ({counted(verdict['checks'], 'check')})"))


def _rough(pages: list[dict[str, Any]]) -> Iterator[str]:
    """A warning, where most rates rest on next to nothing."""
    few = sum(page["observations"] < FEW for page in pages)
    if 2 * few > len(pages):
        yield (
            f"{few:,} of {counted(len(pages), 'page')} {agreeing(few, 'were')} seen fewer than {FEW}"
            f" times (two looks compared, or"
            " a lastmod): these rates are rough guesses, mostly by pages like them; more captures sharpen them"
        )


def _between(low: float, high: float) -> str:
    """In which four of five such pages have one change; nothing where that is not known.

    >>> _between(0.1, 0.5), _between(0.0, 0.5), _between(0.5, 0.5), _between(0.0, 0.0)
    ('2.0 days to 10.0 days', 'over 2.0 days', '', '')
    """
    if low == high:
        return ""
    return f"{_gap(high)} to {_gap(low)}" if low else f"over {_gap(high)}"


def _gap(per_day: float) -> str:
    """The mean time between changes, in a unit for readers.

    >>> _gap(48.0), _gap(0.5), _gap(86_400 / 7), _gap(0.0)
    ('30.0 min', '2.0 days', '7.0 s', 'never')
    """
    if per_day <= 0:
        return "never"
    days = 1.0 / per_day
    for unit, length in (("years", 365.25), ("days", 1.0), ("h", 1 / 24), ("min", 1 / 1440)):
        if days >= 1.5 * length:
            return f"{days / length:.1f} {unit}"
    return f"{days * DAY:.1f} s"
