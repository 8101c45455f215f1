"""What to do about addresses that a site's software makes by itself, and those that look like orders to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from shlex import quote
from typing import Any

from sharc_crawler.addresses import orders
from sharc_crawler.addresses.software import of_note
from sharc_crawler.report.marks import ORDERS


def left_out(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The words of a step, and what is to be given, for each kind that a note tells of and nothing excludes."""
    given = str(report["settings"].get("exclude") or "")
    ended = report["times"]["ended"] is not None
    way = (
        "A new capture leaves them out" if ended else "The same command goes on without them (what was captured stays)"
    )
    for what, exclude in _told(report["notes"]):
        if exclude not in given:
            yield (
                f"{what}. {way}, with this beside it.",
                f"-a exclude={quote('|'.join(filter(None, (given, exclude))))}",
            )


def _told(notes: Iterable[str]) -> Iterator[tuple[str, str]]:
    """What such addresses are, and an expression for them."""
    for note in notes:
        if software := of_note(note):
            yield f"Many addresses are of the making of {software.name} ({software.what})", software.exclude
        elif ORDERS in note:
            yield f"Addresses look {ORDERS} (to fill a cart, to vote, to delete)", orders.ORDERS
