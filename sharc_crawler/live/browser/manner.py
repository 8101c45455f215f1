"""How pages are shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sharc_crawler.live.browser.sealing import Seal
    from sharc_crawler.login import Login


@dataclass(frozen=True, slots=True)
class Manner:
    """What a crawl wants of its browsers."""

    every: bool = True  #: all pages are shown, else those that are others then
    pictures: bool = False  #: of each one's first screen are archived
    texts: bool = False  #: so is what each says
    behaviors: tuple[str, ...] = ("scroll",)  #: what is done with each
    posts: bool = False  #: scripts may send what they ask by POST
    agent: str | None = None  #: the User-Agent
    login: Login | None = None  #: whose they are
    seal: Seal | None = None  #: locks what lies on the disk of their requests
