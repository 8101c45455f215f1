"""``sharc temporal``: from page-view logs, the sites that an instant crawler should poll."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from sharc_crawler.cli._next import capture_words, say_again, say_next
from sharc_crawler.cli._outputs import drawn, to_file, written
from sharc_crawler.cli._tables import print_whole
from sharc_crawler.errors import UsageError
from sharc_crawler.live.monitoring.busy import busy
from sharc_crawler.plural import counted
from sharc_crawler.report.foreign import foreign
from sharc_crawler.report.words import percent
from sharc_crawler.seeds.temporal.analysis import Analysis, By, analyse, held_out, seed_of, site_thresholds
from sharc_crawler.seeds.temporal.classify import Threshold, best_threshold, confusion, read_labels
from sharc_crawler.seeds.temporal.fit import LEAST_DAYS
from sharc_crawler.seeds.temporal.rank import LEAST_PAGES, Ranked, within_budget
from sharc_crawler.seeds.temporal.views import LogOptions, PageViews, read_views

Labelled = tuple[NDArray[np.int64], NDArray[np.bool_]]


@click.command(
    epilog="\b\nExample:\n  sharc temporal access.log*.gz --host https://example.org --top 100 -o instant-seeds.txt"
)
@click.argument("logs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--top", type=click.IntRange(1), default=None, help="Number of groups to choose.  [default: 100]")
@click.option(
    "--budget", type=click.FloatRange(0), default=None, help="Choose groups with this many pages a day in all."
)
@click.option(
    "--by", type=click.Choice([by.value for by in By]), default="site", show_default=True, help="What to rank."
)
@click.option("--days", default=60, show_default=True, help="Length of the window: the last days of the logs.")
@click.option("--until", type=click.DateTime(["%Y-%m-%d"]), default=None, help="Last day of the window.")
@click.option(
    "--least-views", type=click.IntRange(1), default=None, help="Minimum views of a page.  [default: one a day]"
)
@click.option(
    "--threshold",
    type=(float, float),
    default=(3.0, 0.7),
    show_default=True,
    metavar="DAYS SHARE",
    help="n, q: a temporal page has more than the share q of its interest in its first n days.",
)
@click.option("--host", default="", help="Site of pages without one: https://www.example.org")
@click.option("--site-column", default=None, help="Column of a table that holds the site.")
@click.option(
    "--labels",
    type=click.Path(path_type=Path),
    default=None,
    help="CSV (page, label), to measure the classes and find n, q.",
)
@click.option("--per-site", is_flag=True, help="With --labels: sites with enough labels get their own thresholds.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), callback=to_file, help="Write the seeds, one URL per line."
)
@click.option("--pictures", type=click.Path(path_type=Path), callback=drawn, help="Draw curves.png, ranking.png there.")
@click.option(
    "--curves", type=click.Path(path_type=Path), callback=to_file, help="Write each page's class and curve (CSV)."
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object instead of tables.")
def command(logs: tuple[Path, ...], **options: Any) -> None:
    """Find news sites in LOGS of page views: sites whose pages are read mostly soon after they appear.

    LOGS are access logs (Common or Combined Log Format), tables of daily counts (.csv, .tsv, .parquet) or Wikimedia
    pageview files, compressed or not.
    """
    threshold = _checked(options)
    log = _read(logs, options)
    if threshold.days >= (days := log.views.shape[1]):
        window = f"a window of {counted(days, 'day')}"
        raise UsageError(f"--threshold: {threshold.days:g} days are no part of {window}; give less")
    found = _analyse(log, threshold, options)
    labelled = read_labels(options["labels"], found.log.pages) if options["labels"] else None
    measured = _measured(found, labelled) if labelled else None
    if labelled and options["per_site"]:
        found = _by_site(found, labelled)
    chosen = _choose(found, options)
    facts = _facts(found, chosen, measured)
    seeds = dict.fromkeys(seed_of(group.group) for group in chosen)
    if options["output"] and seeds:
        with written(options["output"]) as seeds_file:
            seeds_file.writelines(f"{seed}\n" for seed in seeds)
    if options["curves"]:
        _write_curves(found, options["curves"])
    if options["pictures"]:
        _draw(found, len(chosen), options["pictures"])
    if options["as_json"]:
        click.echo(json.dumps(facts, indent=1))
    else:
        show(facts)
        _say_next(facts, options, seeds)


def _checked(options: dict[str, Any]) -> Threshold:
    if options["top"] is not None and options["budget"] is not None:
        raise UsageError("--top and --budget are different ways to choose; give one")
    if options["per_site"] and not options["labels"]:
        raise UsageError("--per-site learns thresholds from labelled pages: give --labels FILE")
    if options["days"] < LEAST_DAYS:
        raise UsageError(f"--days {options['days']}: a curve needs {LEAST_DAYS} days, and better 60")
    try:
        return Threshold(*options["threshold"])
    except UsageError as error:
        raise UsageError(f"--threshold: {error}") from error


def _say_next(facts: dict[str, Any], options: dict[str, Any], seeds: Iterable[str]) -> None:
    if not facts["chosen"]:
        click.echo(why_none(facts, options), err=True)
    elif options["output"]:
        say_next(*capture_words(f"seeds={options['output']}", "mode=instant", urls=seeds))
    else:
        say_again("--output", "temporal.txt")


def _read(logs: tuple[Path, ...], options: dict[str, Any]) -> PageViews:
    until: datetime | None = options["until"]
    names = ("days", "least_views", "host", "site_column")
    log_options = LogOptions(until=until.date() if until else None, **{name: options[name] for name in names})
    with busy("reading logs", total=len(logs)) as share:
        return read_views(logs, log_options, lambda _: share.more(1))


def _analyse(log: PageViews, threshold: Threshold, options: dict[str, Any]) -> Analysis:
    with busy("fitting curves", total=len(log.pages)) as share:
        return analyse(log, threshold, By(options["by"]), progress=share.more)


def _choose(found: Analysis, options: dict[str, Any]) -> list[Ranked]:
    worthy = [group for group in found.ranked if group.temporal]
    if options["budget"] is not None:
        return within_budget(worthy, options["budget"], found.log.views.shape[1])
    return worthy[: options["top"] or 100]


def _by_site(found: Analysis, labelled: Labelled) -> Analysis:
    at, labels = labelled
    sites = [found.log.sites[page] for page in at]
    own = site_thresholds(labels, found.curves.take(at), sites)
    return found.by_site(own)


def _measured(found: Analysis, labelled: Labelled) -> dict[str, Any]:
    """Agreement with labels, now and with the best threshold; the gain by thresholds per site, on held-out pages."""
    at, labels = labelled
    curves = found.curves.take(at)
    now = confusion(labels, curves.known, found.temporal[at])
    best, then = best_threshold(labels, curves)
    sites = [found.log.sites[page] for page in at]
    one, own = held_out(labels, curves, sites)
    each = site_thresholds(labels, curves, sites)
    return {
        "labelled": len(at),
        "now": asdict(found.threshold) | asdict(now) | {"reward": now.reward},
        "best": asdict(best) | asdict(then) | {"reward": then.reward},
        "sites": {site: asdict(threshold) for site, threshold in each.items()},
        "held_out": {"one": one, "per_site": own},
    }


def _facts(found: Analysis, chosen: list[Ranked], measured: dict[str, Any] | None) -> dict[str, Any]:
    log, value = found.log, found.worth(chosen)
    facts = {
        "window": {"start": log.start.isoformat(), "days": log.views.shape[1]},
        "lines": log.lines,
        "skipped": log.skipped,
        "pages": {
            "seen": log.seen,
            "reliable": len(log.pages),
            "temporal": int(found.temporal.sum()),
            "untemporal": int((found.curves.known & ~found.temporal).sum()),
            "unknown": int((~found.curves.known).sum()),
        },
        "threshold": asdict(found.threshold),
        "groups": len(found.ranked),
        "groups_left_out": len(set(found.groups)) - len(found.ranked),
        "chosen": [asdict(group) | {"score": round(group.score, 4), "seed": seed_of(group.group)} for group in chosen],
        "worth": asdict(value) | {"precision": value.precision, "recall": value.recall, "f": value.f},
    }
    return facts | ({"labels": measured} if measured else {})


def _draw(found: Analysis, chosen: int, folder: Path) -> None:
    from sharc_crawler.lab.pictures import draw_curves, draw_groups  # matplotlib takes a second

    folder.mkdir(parents=True, exist_ok=True)
    draw_curves(found, folder / "curves.png")
    draw_groups(found.ranked, chosen, folder / "ranking.png")


def _write_curves(found: Analysis, file: Path) -> None:
    """Write a row per page: class, Φ(n), the curve's ln A, b, μ, σ, its sum of squares, and views under it."""
    curves, log = found.curves, found.log
    shares = curves.gathered(found.threshold.days)
    fitted = (curves.log_area, curves.birth, curves.mu, curves.sigma, curves.squares, curves.covered)
    numbers = zip(shares, *fitted, strict=True)
    with written(file) as stream:
        rows = csv.writer(stream)
        names = ("log_area", "birth", "mu", "sigma", "squares", "covered")
        rows.writerow(["page", "site", "views", "class", "share", *names])
        for i, row in enumerate(numbers):
            kind = "unknown" if not curves.known[i] else "temporal" if found.temporal[i] else "untemporal"
            total = int(log.views[i].sum())
            rows.writerow([log.pages[i], log.sites[i], total, kind, *(f"{value:.12g}" for value in row)])


# -- what was found, for readers ---------------------------------------------------------------------------------------


_SHOWN = 20


def show(facts: dict[str, Any]) -> None:
    """Print what was read, and the chosen groups with what they hold."""
    console = Console()
    pages, window = facts["pages"], facts["window"]
    skipped = ", ".join(f"{count:,} {reason}" for reason, count in facts["skipped"].items()) or "none"
    console.print(
        f"{counted(facts['lines'], 'line')}; window: {counted(window['days'], 'day')} from"
        f" {window['start']} on; left out: {skipped}"
    )
    console.print(
        f"{counted(pages['seen'], 'page')}, {pages['reliable']:,} reliable: {pages['temporal']:,} temporal, "
        f"{pages['untemporal']:,} untemporal, {pages['unknown']:,} unknown"
    )
    if small := facts["groups_left_out"]:
        console.print(f"{counted(small, 'group')} of fewer than {LEAST_PAGES} pages left out")
    if facts["chosen"]:
        print_whole(console, _table(facts["chosen"][:_SHOWN]))
        console.print(_worth(facts))
    if "labels" in facts:
        _labels(console, facts["labels"])


def _worth(facts: Mapping[str, Any]) -> str:
    """What the choice holds, by our classification, whose own accuracy is not known here."""
    worth = facts["worth"]
    held = f"{worth['temporal']:,} of {counted(worth['all_temporal'], 'page')} called temporal"
    share = f"{percent(worth['precision'])} of their pages are called so"
    return f"{len(facts['chosen']):,} of {counted(facts['groups'], 'group')} chosen: they hold {held}; {share}"


def _labels(console: Console, labels: Mapping[str, Any]) -> None:
    for name in ("now", "best"):
        entry = labels[name]
        console.print(
            f"{counted(labels['labelled'], 'labelled page')}, {name}, n = {entry['days']:g}, q = {entry['share']:g}:"
            f" {entry['hit']:,} right, {entry['miss']:,} temporal missed, {entry['false_alarm']:,} false alarms,"
            f" {entry['unknown']:,} unknown; reward {entry['reward']:g}"
        )
    if sites := labels["sites"]:
        held = labels["held_out"]
        console.print(
            f"own thresholds for {counted(len(sites), 'site')} (--per-site): reward {held['per_site']:g}"
            f" on held-out pages, one for all {held['one']:g}"
        )


def _table(chosen: list[dict[str, Any]]) -> Table:
    table = Table("rank", "group", "score", "pages", "temporal", "unknown", "views")
    table.columns[1].overflow = "fold"  # groups are told apart by how they end
    for column in table.columns[2:]:
        column.justify, column.no_wrap = "right", True
    for place, row in enumerate(chosen, 1):
        numbers = (f"{row[name]:,}" for name in ("pages", "temporal", "unknown", "views"))
        table.add_row(str(place), foreign(row["group"]), f"{row['score']:.3f}", *numbers)
    return table


def why_none(facts: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    """Why nothing is chosen, and what to do."""
    written = f"; {options['output']} is not written" if options["output"] else ""
    temporal = facts["pages"]["temporal"]
    if not temporal:
        way_out = "Give a log of another time, or let a page count as temporal sooner: a lower share of --threshold"
        return f"No page is temporal: there is no site to poll{written}. {way_out} ({options['threshold'][1]:g} now)."
    if options["budget"] is not None:
        return f"--budget {options['budget']:g} is too little for the first group{written}. Give more pages a day."
    few = f"{counted(temporal, 'temporal page', 'lie')} in groups of fewer than {LEAST_PAGES} pages"
    return f"No group is chosen: {few}{written}. Try {'a longer log' if options['by'] == 'site' else '--by site'}."
