"""What ``sharc temporal`` found, for readers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from sharc_crawler.cli._tables import print_whole
from sharc_crawler.plural import counted
from sharc_crawler.report.terminal import foreign
from sharc_crawler.report.words import percent
from sharc_crawler.seeds.temporal.rank import LEAST_PAGES

if TYPE_CHECKING:
    from collections.abc import Mapping

_SHOWN = 20


def show(facts: dict[str, Any]) -> None:
    """What was read, the groups chosen, and what they hold."""
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
    """What the choice holds, by the classification: nothing is known here of how true that is."""
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
    """Nothing is chosen: why, and what one would do."""
    written = f"; {options['output']} is not written" if options["output"] else ""
    temporal = facts["pages"]["temporal"]
    if not temporal:
        way_out = "Give a log of another time, or let a page count as temporal sooner: a lower share of --threshold"
        return f"No page is temporal: there is no site to poll{written}. {way_out} ({options['threshold'][1]:g} now)."
    if options["budget"] is not None:
        return f"--budget {options['budget']:g} is too little for the first group{written}. Give more pages a day."
    few = f"{counted(temporal, 'temporal page', 'lie')} in groups of fewer than {LEAST_PAGES} pages"
    return f"No group is chosen: {few}{written}. Try {'a longer log' if options['by'] == 'site' else '--by site'}."
