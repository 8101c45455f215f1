"""Pauses for want of room on the disk, or of the disk: they belong in the reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.instants import second
from sharc_crawler.report.words import span

if TYPE_CHECKING:
    from sharc_crawler.live.session import Session


def begun(session: Session) -> str:
    """Note that the crawl paused, while there is room for it: it may be killed. Returns the note."""
    note = f"the crawl paused at {second(session.clock.now())}: its disk had no room"
    session.sites.note(note)
    session.sites.commit()
    return note


def over(session: Session, seconds: float, note: str) -> None:
    """The note tells how long the crawl paused."""
    start = second(session.clock.now() - seconds)
    why = session.space.fault or "its disk had no room"
    session.sites.note(f"the crawl paused at {start}, for {span(seconds)}: {why}", note)
