"""| The options of showing pages in browsers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sharc_crawler.live.browser.answers import Seal, sealed
from sharc_crawler.live.browser.browsing import Browsing
from sharc_crawler.live.browser.chromium import version

if TYPE_CHECKING:
    from sharc_crawler.live.session import Session
    from sharc_crawler.login import Login
    from sharc_crawler.model import Seconds
    from sharc_crawler.options.table import Options


@dataclass(frozen=True, slots=True)
class BrowserOptions:
    """How a crawl wants its pages shown."""

    every: bool = True  #: show all pages, else those that differ then
    pictures: bool = False  #: archive a picture of the first screen
    texts: bool = False  #: archive the text
    behaviors: tuple[str, ...] = ("scroll",)  #: what is done with each page
    posts: bool = False  #: scripts may send POST requests
    agent: str | None = None  #: the User-Agent
    time: Seconds = 30.0  #: processor time that a page may take
    login: Login | None = None  #: the session to use
    seal: Seal | None = None  #: encrypts its requests on disk


def as_settings(options: Options) -> dict[str, object]:
    """How pages were shown, for report and certificate, with the browser's version."""
    return {
        "browser": options.browser,
        "chromium": version(),
        "behaviors": ",".join(options.behaviors) or "off",
        **{name: True for name in ("post", "screenshots", "text") if getattr(options, name)},
    }


def opened(session: Session, options: Options) -> Browsing:
    """The browsers of a crawl, not running yet."""

    def folder_of(site: str) -> Path:
        return session.places[site].folder

    config, login = session.config, session.login
    chosen = BrowserOptions(
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
    return Browsing(session.sites, session.readers, session.clock.now, folder_of, session.describe, chosen)
