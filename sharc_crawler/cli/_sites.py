"""The options that name a site to simulate."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sharc_crawler.errors import UsageError
from sharc_crawler.sim.history import HistorySpec
from sharc_crawler.sim.synthetic import LEAVES, SyntheticSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sharc_crawler.model import Instant

Command = TypeVar("Command", bound="Callable[..., Any]")
FILE = click.Path(dir_okay=False)
SYNTHETIC = SyntheticSpec()

_OPTIONS = (
    click.option("--size", default=SYNTHETIC.size, show_default=True, help="Synthetic site: number of pages."),
    click.option("--skew", default=SYNTHETIC.skew, show_default=True, help="Rates are 1/(i+1)^skew."),
    click.option("--outdegree", default=SYNTHETIC.outdegree, show_default=True, help="Children per page."),
    click.option("--leaves", type=click.Choice(LEAVES), default="cold", show_default=True, help="Where it is hot."),
    click.option("--slow-down", default=1.0, show_default=True, help="Seconds between two downloads."),
    click.option("--history", type=FILE, help="Real site instead: change history (.csv, .csv.gz)."),
    click.option("--links", type=FILE, help="Its links when its history begins (.jsonl, .jsonl.gz)."),
    click.option("--linkevents", type=FILE, help="What was added to them and removed since."),
    click.option("--root", default="/", show_default=True, help="Entry page of the real site."),
    click.option("--window", nargs=2, metavar="FROM TO", help="Of the real site: dates (UTC) or unix seconds."),
)


def site_options(command: Command) -> Command:
    """Add the options to a command; hand what click makes of them to :func:`site_spec`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def site_spec(options: Mapping[str, Any]) -> SyntheticSpec | HistorySpec:
    """The site that the options name."""
    if options["history"] is None:
        if options["links"] or options["linkevents"] or options["window"]:
            raise UsageError("links=, linkevents= and window= belong to a real site: add history=")
        names = ("size", "skew", "outdegree", "leaves", "slow_down")
        return SyntheticSpec(**{name: options[name] for name in names})
    if options["window"] is None:
        raise UsageError(f"history={options['history']} needs a window: two dates or unix seconds, FROM TO")
    start, end = map(instant, options["window"])
    return HistorySpec(options["history"], options["root"], start, end, options["links"], options["linkevents"])


def instant(text: str) -> Instant:
    """Unix seconds from a date, a date with time, or unix seconds; UTC where nothing else is said.

    >>> instant("2012-01-02"), instant("2012-01-01T01:00+01:00"), instant("1325376000")
    (1325462400.0, 1325376000.0, 1325376000.0)
    """
    try:
        return float(text)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"window: {text!r} is neither a date such as 2012-01-31 nor unix seconds") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
