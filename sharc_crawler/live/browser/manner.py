"""How pages are shown."""

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
class Manner:
    """What a crawl wants of its browsers."""

    every: bool = True  #: all pages are shown, else those that are others then
    pictures: bool = False  #: of each one's first screen are archived
    texts: bool = False  #: so is what each says
    behaviors: tuple[str, ...] = ("scroll",)  #: what is done with each
    posts: bool = False  #: scripts may send what they ask by POST
    agent: str | None = None  #: the User-Agent
    time: Seconds = 30.0  #: of processor time that a page may take
    login: Login | None = None  #: whose they are
    seal: Seal | None = None  #: locks what lies on the disk of their requests


def as_settings(options: Options) -> dict[str, object]:
    """How pages were shown, as report and certificate say it, with the browser's version."""
    return {
        "browser": options.browser,
        "chromium": version(),
        "behaviors": ",".join(options.behaviors) or "off",
        **{name: True for name in ("post", "screenshots", "text") if getattr(options, name)},
    }


def opened(session: Session, options: Options) -> Browsing:
    """The browsers of a crawl; none runs yet."""

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
