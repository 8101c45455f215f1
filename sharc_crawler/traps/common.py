"""What the rules share: what they compare of a page, and how they word a reason."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sharc_crawler.model import Outcome

YEAR = re.compile(r"(?:19|20|21)(?<![0-9]..)[0-9]{2}")  #: no digit before it; asked last, for speed
FOUND = "probe"  #: how an address was found that is only asked for to tell traps: it was made up
MANY = 500  #: known pages, from which on those that seeds name count, too


def as_trap(why: str | None) -> str | None:
    """Why something is left, and what takes it."""
    return f"looks like a trap: {why} (traps=0 takes them)" if why else None


def content_of(outcome: Outcome) -> str | None:
    """Text and pictures, which a trap's pages share, else the fingerprint; in a second line without the address."""
    return (outcome.document and outcome.document.words) or outcome.fingerprint


def without_address(content: str | None) -> str:
    """What a page shows, its own address left out."""
    return content.rpartition("\n")[2] if content else ""
