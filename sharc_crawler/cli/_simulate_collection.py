"""``sharc simulate --every``: how often sites are captured, compared on their histories."""

from __future__ import annotations

import json
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING

import click

from sharc_crawler.cli._progress import progress
from sharc_crawler.cli._tables import print_table
from sharc_crawler.collection.allocation import DAY
from sharc_crawler.errors import UsageError
from sharc_crawler.lab.collection import POLICIES, compare, longest, members, read
from sharc_crawler.plural import counted

if TYPE_CHECKING:
    from pathlib import Path

MOST = 365  #: days
PAGES = 1000  #: of a site that are looked at, about
WEEKS = 3  #: fewest, in which something can be learned
WORDS = {
    "auto": "as sharc keep plans every: auto",
    "even": "one interval for all",
    "proportional": "as often as learned rates say",
    "told": "auto, told the true mean rates",
}


def show_collection(files: list[Path], every: float, seeds: int, *, as_json: bool) -> None:
    """Print the share of pages that are as archived, by policy, with as many requests; means over the seeds."""
    if not files:
        raise UsageError(f"--every {every:g}: of which sites? Add --history FILE for each")
    times = {path.name.partition(".")[0]: read(path) for path in files}
    days = min(longest(times), MOST)
    if days < 7 * WEEKS or not 0 < every < days / 2:
        raise UsageError(
            f"--every {every:g}: these histories share {days:.0f} days, and need {7 * WEEKS} at least;"
            " it must be less than half of them"
        )
    each = max(1, max(len(one.names) for one in times.values()) // PAGES)
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in POLICIES}
    with progress("collections", seeds * len(POLICIES)) as tell:
        for seed in range(seeds):
            for name, share, requests in compare(partial(members, times, days, each, seed), days * DAY, every):
                found[name].append((share, requests))
                tell(sum(map(len, found.values())))
    means = {name: tuple(map(fmean, zip(*each, strict=True))) for name, each in found.items()}
    if as_json:
        click.echo(json.dumps({name: {"fresh": share, "requests": asked} for name, (share, asked) in means.items()}))
        return
    rows = [(name, WORDS[name], f"{share:.2%}", f"{asked:.2f}") for name, (share, asked) in means.items()]
    title = f"{counted(len(files), 'site')} over {days:.0f} days, a capture in {every:g} days on average"
    print_table(title, ("intervals", "", "pages as archived", "requests"), rows, 2)
