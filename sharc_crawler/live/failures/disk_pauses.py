"""| Notes on pauses of the crawl while its disk is full or cannot be written to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.instants import second
from sharc_crawler.report.words import span

if TYPE_CHECKING:
    from sharc_crawler.live.session import Session


def begun(session: Session) -> str:
    """Note that the crawl pauses, while there is still room for the note; returns it."""
    note = f"the crawl paused at {second(session.clock.now())}: its disk had no room"
    session.sites.note(note)
    session.sites.commit()
    return note


def over(session: Session, seconds: float, note: str) -> None:
    """Replace the note by one that says how long the pause was."""
    start = second(session.clock.now() - seconds)
    why = session.space.fault or "its disk had no room"
    session.sites.note(f"the crawl paused at {start}, for {span(seconds)}: {why}", note)
