"""The line that says with what a crawl goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.live.monitoring.progress import Snapshot
from sharc_crawler.plural import counted

if TYPE_CHECKING:
    from sharc_crawler.frontier.sites import Sites


def goes_on(sites: Sites) -> str:
    """What a former run has done."""
    if sites.polls:
        from sharc_crawler.live.setup.modes import done  # only of instant crawls

        return f"goes on where it was: {done(sites.polls)}\n"
    made = Snapshot.of(sites)
    revisited = f", {made.revisits:,} revisited" if made.revisits else ""
    return f"goes on where it was: {made.visits:,} of {counted(made.pages, 'known page')} visited{revisited}\n"
