"""``sharc seeds fetch``: what an archive holds of seeds, onto disk."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sharc_crawler.archive.histories.gathering import Problems
from sharc_crawler.archive.histories.servers import DIALECTS, dialect
from sharc_crawler.cli._next import say_next
from sharc_crawler.cli._outputs import to_folder
from sharc_crawler.cli._table_options import asks
from sharc_crawler.cli.seeds.listing import read_list
from sharc_crawler.errors import UsageError
from sharc_crawler.live.monitoring.busy import busy
from sharc_crawler.plural import counted
from sharc_crawler.report.words import printable, short

if TYPE_CHECKING:
    from sharc_crawler.live.fetching.work import Tally

NOTHING_CAPTURED, INCOMPLETE = 4, 5
_SHOWN = 20
_DATE = click.DateTime(["%Y-%m-%d"])


@click.command(
    "fetch",
    epilog="\b\nExample:\n  sharc seeds fetch --from https://web.archive.org/cdx/search/cdx seeds.txt -o histories "
    "--operator crawls@library.example\n  sharc seeds rank histories --seeds seeds.txt",
)
@click.argument("seeds", type=click.Path(path_type=Path))
@click.option(
    "--from", "server", required=True, metavar="URL", help="The archive's CDX server, or root of its TimeMaps."
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), callback=to_folder, required=True, help="Folder for the answers."
)
@click.option("--dialect", "name", default="auto", show_default=True, help=f"{', '.join(DIALECTS)}.")
@click.option("--level", type=click.Choice(["homepage", "website"]), default="homepage", show_default=True)
@click.option("--since", type=_DATE, help="Captures from this day on.  [default: all]")
@click.option("--mementos", is_flag=True, help="Also fetch archived documents, needed for link additions.")
@click.option("--replay", metavar="URL", help="Beginning of addresses of mementos.  [default: by the dialect]")
@click.option("--rate", type=click.FloatRange(0, min_open=True), default=24.0, show_default=True, help="Per minute.")
@asks
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object instead of a summary.")
@click.pass_context
def fetch_command(context: click.Context, /, seeds: Path, as_json: bool, **options: Any) -> None:
    """Fetch an archive's history of SEEDS, a file with one URL per line, from its CDX server or TimeMaps.

    Answers that are already in the folder are not requested again: after an interruption, the same command continues.
    Use the folder in sharc seeds rank, sharc seeds evaluate and scrapy crawl site -a timemaps=.

    Exit codes: 0 all seeds were answered; 4 the same, but the archive has no capture of any; 5 not all were answered,
    and the same command continues. If all answers were 404, the address may be wrong: nothing is kept, and the same
    command asks again.
    """
    from sharc_crawler.live.fetching.run import Manners, fetch  # Scrapy takes half a second
    from sharc_crawler.live.fetching.work import FetchPlan

    problems = Problems()
    urls = read_list(seeds, problems)
    for problem in problems.named:
        click.echo(printable(str(problem)), err=True)
    if not options["server"].startswith(("http://", "https://")):
        raise UsageError(f"from={options['server']!r} is no web address; give that of a CDX server")
    archive = dialect(options["server"], options["name"])
    since = f"{options['since']:%Y%m%d}000000" if options["since"] else None
    replay = (options["replay"] or archive.replay()) if options["mementos"] else None
    plan = FetchPlan(archive, tuple(urls), options["level"] == "website", since, replay)
    manners = Manners(options["rate"], options["operator"], options["allow"])
    with busy("asking the archive") as share:
        tally = fetch(plan, options["output"], manners, lambda phase, done, total: share(done, total, phase))
    click.echo(json.dumps(asdict(tally), indent=1) if as_json else _summary(tally, options["output"]))
    if (code := _exit_code(tally)) == 0 and not as_json:
        say_next("sharc", "seeds", "rank", options["output"], "--seeds", seeds, "-o", "seeds-next.txt")
    context.exit(code)


def _summary(tally: Tally, folder: Path) -> str:
    lines = [
        f"{tally.fetched:,} of {counted(tally.seeds, 'seed')} fetched into {folder},"
        f" {counted(tally.requests, 'request')}"
    ]
    if tally.unknown:
        lines.append(f"{tally.unknown:,} of them are unknown to the archive")
    if tally.missing:
        lines.append(f"all answered 404 ({counted(tally.missing, 'seed')}), nothing kept: is --from right?")
    if tally.mementos:
        lines.append(f"{counted(tally.mementos, 'memento')}")
    lines += [f"not fetched: {short(failure, 1000)}" for failure in tally.failures[:_SHOWN]]
    if len(tally.failures) > _SHOWN:
        lines.append(f"… and {len(tally.failures) - _SHOWN:,} more (--json has all)")
    if tally.stopped:
        lines.append(f"stopped: {tally.stopped}")
    if tally.stopped or tally.failures:
        lines.append("The same command continues.")
    return "\n".join(lines)


def _exit_code(tally: Tally) -> int:
    if tally.stopped or tally.failures:
        return INCOMPLETE
    return NOTHING_CAPTURED if tally.missing or tally.unknown == tally.seeds else 0
