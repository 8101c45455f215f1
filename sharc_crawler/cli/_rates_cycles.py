"""When a site's pages change by the hour and the day, and when a capture is best begun."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from sharc_crawler.cli._progress import progress
from sharc_crawler.rates.cycles import DAY, PERIODS, WEEK, DatedChanges, rhythm, rhythms
from sharc_crawler.rates.trust import classes
from sharc_crawler.strategies.start import expected_losses

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sharc_crawler.model import Instant, RateEstimate, Seconds
    from sharc_crawler.rates.history import SiteHistory

HOUR = 3_600.0


def cycle_facts(history: SiteHistory, now: Instant) -> list[dict[str, Any]]:
    """One entry per period: was a cycle found, and when most and least changes."""
    instants = now - now % WEEK + 4 * DAY + np.arange(0, WEEK, HOUR / 2)  # from a Monday on
    facts = []
    for (name, period), cycle in zip(PERIODS.items(), rhythm(DatedChanges.of(history)).cycles, strict=True):
        factor = cycle.factor(instants[instants < instants[0] + period])
        facts.append(
            {
                "period": name,
                "changes": cycle.changes,
                "periods": cycle.clusters,
                "p_value": cycle.p_value,
                "present": cycle.present,
                "most": {"at": float(instants[factor.argmax()]), "times_the_mean": float(factor.max())},
                "least": {"at": float(instants[factor.argmin()]), "times_the_mean": float(factor.min())},
            }
        )
    return facts


def start_facts(
    history: SiteHistory, estimates: Sequence[RateEstimate | None], now: Instant, length: Seconds
) -> dict[str, float] | None:
    """The best hour of the coming week to begin a capture, and what it saves; None: one is as good as another."""
    labels = classes(history.urls)[0]
    found = rhythms(history, labels)
    if not any(one.present for one in found.values()):
        return None
    pages = [(page, known) for page, known in enumerate(estimates) if known is not None]
    rates = np.array([known.rate for _, known in pages])
    shapes = np.array([known.shape for _, known in pages])
    own = labels[[page for page, _ in pages]]
    # The rates are those of a capture that begins now: back to the mean of all hours.
    rates = rates / np.array([found[label].mean(now, now + length) for label in own.tolist()])
    starts = np.ceil(now / HOUR) * HOUR + np.arange(0, WEEK, HOUR)
    with progress("hours to start at", len(starts)) as tell:
        losses = expected_losses(rates, shapes, own, found, starts, length, tell)
    best = int(losses.argmin())
    return {
        "begin": float(starts[best]),
        "expected_changed": float(losses[best]),
        "mean_of_all_hours": float(losses.mean()),
        "worst": float(losses.max()),
    }


def cycle_lines(facts: dict[str, Any], days: float) -> list[str]:
    """The same for readers."""
    lines = []
    for one in facts["cycles"]:
        adjective = {"day": "daily", "week": "weekly"}[one["period"]]
        ground = f"{one['changes']} dated changes on {one['periods']} {one['period']}s"
        if one["present"]:
            most, least = one["most"], one["least"]
            lines.append(
                f"{adjective} cycle: most changes about {_when(most['at'], one['period'])} "
                f"({most['times_the_mean']:.1f} times the mean), fewest about {_when(least['at'], one['period'])} "
                f"({least['times_the_mean']:.1f}); {ground}, p = {one['p_value']:.0e}"
            )
        else:
            lines.append(f"no {adjective} cycle is shown by {ground}")
    if facts["start"]:
        lines.append(start_line(facts["start"], f"{days:g} days"))
    return lines


def start_line(start: dict[str, float], length: str) -> str:
    """When to begin a capture, for readers."""
    return (
        f"a capture of {length} is best begun {_when(start['begin'], 'week')}: "
        f"{start['expected_changed']:.1f} pages may be expected to change meanwhile, "
        f"{start['mean_of_all_hours']:.1f} in the mean of all hours, {start['worst']:.1f} at the worst"
    )


def _when(instant: Instant, period: str) -> str:
    """Time of day, with the day of the week where that matters.

    >>> _when(0.0, "week"), _when(1800.0, "day")
    ('Thursday 00:00 UTC', '00:30 UTC')
    """
    return datetime.fromtimestamp(instant, UTC).strftime("%A %H:%M UTC" if period == "week" else "%H:%M UTC")
