"""``sharc seeds rank``: choose seeds without crawling."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from datetime import UTC
from pathlib import Path
from typing import Any

import click

from sharc_crawler.archive.histories.reading import read_history
from sharc_crawler.cli._next import capture_words, say_again, say_next
from sharc_crawler.cli._outputs import drawn, to_file, written
from sharc_crawler.cli._table_options import row
from sharc_crawler.cli.seeds.listing import histories
from sharc_crawler.cli.seeds.output import facts, say, show
from sharc_crawler.instants import second
from sharc_crawler.live.monitoring.busy import busy
from sharc_crawler.model import Kind
from sharc_crawler.observation import Observation
from sharc_crawler.seeds.base import RankingTask
from sharc_crawler.seeds.hacs.rank import make_ranker, rank
from sharc_crawler.seeds.hacs.updates import READS_LINKS
from sharc_crawler.storage.observations import ObservationStore

_DAY = 86_400.0


@click.command(
    "rank", epilog="\b\nExample:\n  sharc seeds rank nasa.cdx.gz timemaps/ --seeds seeds.txt --theta 0.7 -o next.txt"
)
@click.argument("history", nargs=-1, type=click.Path(path_type=Path))
@click.option("--store", type=click.Path(path_type=Path, exists=True), help="Our own captures: an observation store.")
@click.option(
    "--seeds", type=click.Path(path_type=Path), help="File of URLs, one per line.  [default: captured HTML pages]"
)
@click.option("--ranker", default="hacs", show_default=True, help="hacs, hacs-plain, frequency, last-obs, random, all.")
@row("theta")
@row("budget")
@row("updates")
@click.option("--level", type=click.Choice(["homepage", "website"]), default="homepage", show_default=True)
@click.option(
    "--now", type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"]), help="Time of the ranking, UTC.  [default: now]"
)
@click.option("--weeks", type=click.FloatRange(0, min_open=True), help="Length of the history used.  [default: all]")
@click.option(
    "--ahead", type=click.FloatRange(0), default=7.0, show_default=True, help="Days ahead in which an update counts."
)
@click.option("--picture", type=click.Path(path_type=Path), callback=drawn, help="Draw the ranking (PNG or SVG).")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    callback=to_file,
    help="Write the chosen seeds, one URL per line.",
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object instead of a table.")
def rank_command(history: tuple[Path, ...], **options: Any) -> None:
    """Rank seeds by their HISTORY: CDX, CDXJ, answers of CDX servers, TimeMaps, WARC, WACZ, or folders of these."""
    ranker = make_ranker(options["ranker"])
    with busy("reading", total=1.0) as report:
        own, links = _observations(options["store"]), options["updates"] in READS_LINKS
        found = read_history(history, own, links=links, progress=report)
    now = options["now"].replace(tzinfo=UTC).timestamp() if options["now"] else time.time()
    back = math.inf if options["weeks"] is None else options["weeks"] * 7 * _DAY
    if later := int((found.captures.times > now).sum()):
        found.problems.left_out[f"dated after now, {second(now)}"] = later
    task = RankingTask(now, options["ahead"] * _DAY, back)
    seeds = histories(found, options["updates"], options["seeds"], options["level"])
    ranked = rank(seeds, ranker, task, theta=options["theta"], budget=options["budget"])
    say(found)
    if options["output"]:
        with written(options["output"]) as file:
            file.writelines(f"{one.url}\n" for one in ranked if one.chosen)
    if options["picture"]:
        from sharc_crawler.lab.pictures import draw_ranking  # matplotlib takes a second

        least = min((one.value for one in ranked if one.chosen), default=None)
        draw_ranking(ranked, least if options["theta"] == "auto" else options["theta"], options["picture"])
    if options["as_json"]:
        click.echo(json.dumps(facts(ranked, found.problems, task, options), indent=1))
    else:
        show(ranked, options, task, ranker.since)
        if options["output"]:
            say_next(*capture_words(f"seeds={options['output']}", urls=[one.url for one in ranked if one.chosen]))
        else:
            say_again("--output", "seeds-next.txt")


def _observations(store: Path | None) -> Iterator[Observation]:
    if store is not None:
        with ObservationStore(store, reading=True) as observations:
            for site in observations.sites():
                yield from (one for one in observations.observations(site) if one.kind is Kind.PAGE)
