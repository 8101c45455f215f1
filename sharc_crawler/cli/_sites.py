"""The options that name a site to simulate."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sharc_crawler.errors import UsageError
from sharc_crawler.lab.history import HistorySpec
from sharc_crawler.lab.synthetic import LEAVES, SyntheticSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sharc_crawler.model import Instant

Command = TypeVar("Command", bound="Callable[..., Any]")
FILE = click.Path(dir_okay=False)
SYNTHETIC = SyntheticSpec()
SIMULATED = {"size", "skew", "outdegree", "leaves", "slow_down"}
REAL = {"links", "linkevents", "root", "window"}
ROOT = "/"
DEFAULTS = {name: getattr(SYNTHETIC, name) for name in SIMULATED} | dict.fromkeys(REAL) | {"root": ROOT}

_OPTIONS = (
    click.option("--size", default=SYNTHETIC.size, show_default=True, help="Synthetic site: number of pages."),
    click.option("--skew", default=SYNTHETIC.skew, show_default=True, help="Rates are 1/(i+1)^skew."),
    click.option("--outdegree", default=SYNTHETIC.outdegree, show_default=True, help="Children per page."),
    click.option(
        "--leaves", type=click.Choice(LEAVES), default=SYNTHETIC.leaves, show_default=True, help="Where it is hot."
    ),
    click.option("--slow-down", default=SYNTHETIC.step, show_default=True, help="Seconds between two downloads."),
    click.option("--history", type=FILE, help="Real site instead: change history (.csv, .csv.gz)."),
    click.option("--links", type=FILE, help="Its links when its history begins (.jsonl, .jsonl.gz)."),
    click.option("--linkevents", type=FILE, help="What was added to them and removed since."),
    click.option("--root", default=ROOT, show_default=True, help="Entry page of the real site."),
    click.option("--window", nargs=2, metavar="FROM TO", help="Of the real site: dates (UTC) or unix seconds."),
)


def site_options(command: Command) -> Command:
    """Add the options to a command; hand what click makes of them to :func:`site_spec`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def site_spec(options: Mapping[str, Any]) -> SyntheticSpec | HistorySpec:
    """The site that the options name; those of the other kind of site are refused."""
    given = {name for name, default in DEFAULTS.items() if options[name] != default}
    if options["history"] is None:
        if stray := given & REAL:
            raise UsageError(f"{_listed(stray)}: only for a real site; add --history")
        return SyntheticSpec(**{name: options[name] for name in SIMULATED})
    if stray := given & SIMULATED:
        raise UsageError(f"{_listed(stray)}: only for a synthetic site, not to --history {options['history']}")
    for name in ("history", "links", "linkevents"):
        if options[name] and not Path(options[name]).exists():
            raise UsageError(f"--{name} {options[name]} does not exist")
    if options["window"] is None:
        raise UsageError(f"--history {options['history']} needs --window FROM TO: two dates, or unix seconds")
    if options["linkevents"] and not options["links"]:
        raise UsageError(f"--linkevents {options['linkevents']} changes links that are not known: add --links")
    start, end = map(instant, options["window"])
    return HistorySpec(options["history"], options["root"], start, end, options["links"], options["linkevents"])


def _listed(names: set[str]) -> str:
    return ", ".join(f"--{name.replace('_', '-')}" for name in sorted(names))


def instant(text: str, what: str = "window") -> Instant:
    """Unix seconds from a date, a date with time, or unix seconds; UTC where nothing else is said.

    >>> instant("2012-01-02"), instant("2012-01-01T01:00+01:00"), instant("1325376000")
    (1325462400.0, 1325376000.0, 1325376000.0)
    """
    try:
        seconds = float(text)
        if math.isfinite(seconds):
            return seconds
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{what}: {text!r} is neither a date such as 2012-01-31 nor unix seconds") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
