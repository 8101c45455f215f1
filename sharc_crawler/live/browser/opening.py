"""The browsers of a crawl, by its options."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.live.browser.answers import sealed
from sharc_crawler.live.browser.browsing import Browsing
from sharc_crawler.live.browser.manner import Manner

if TYPE_CHECKING:
    from pathlib import Path

    from sharc_crawler.live.session import Session
    from sharc_crawler.options.table import Options


def opened(session: Session, options: Options) -> Browsing:
    """None runs yet."""

    def folder_of(site: str) -> Path:
        return session.places[site].folder

    config, login = session.config, session.login
    manner = Manner(
        every=options.browser == "always",
        pictures=options.screenshots,
        texts=options.text,
        behaviors=options.behaviors,
        posts=options.post,
        agent=config.user_agent,
        time=config.browser_time,
        login=login,
        seal=sealed(login, config.output),
    )
    return Browsing(session.sites, session.readers, session.clock.now, folder_of, session.describe, manner)
