"""What a report says of addresses that were left out since they look like a trap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sharc_crawler.plural import counted
from sharc_crawler.report.next_steps import TRAP

if TYPE_CHECKING:
    from collections.abc import Mapping


def words(report: Mapping[str, Any], dated: int) -> str:
    """What to check. ``dated``: of how many a sitemap tells the last change, as of pages that the site has."""
    number = sum(count for reason, count in report["not_captured"]["reasons"].items() if reason.startswith(TRAP))
    named = f" ({dated:,} of them with a date in a sitemap)" if dated else ""
    return (
        f"{counted(number, 'address', 'were')} left out{named}: what looks like a trap, since pages beside it repeat"
        " what others say. Open a few from the list “Not captured”. If they are pages of their own, take them."
    )
