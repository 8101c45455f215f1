"""What the rules have in common: what of a page is compared, how a reason is worded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sharc_crawler.model import Outcome

YEAR = re.compile(r"(?:19|20|21)(?<![0-9]..)[0-9]{2}")  #: no digit before it; asked last, for speed
MANY = 500  #: known pages, from which on those that seeds name count, too


def as_trap(why: str | None) -> str | None:
    """Why something is left, and what takes it."""
    return f"looks like a trap: {why} (traps=0 takes them)" if why else None


def content_of(outcome: Outcome) -> str | None:
    """What pages of a trap have in common: text and pictures, else all that counts. A second line: without address."""
    return (outcome.document and outcome.document.words) or outcome.fingerprint


def without_address(content: str | None) -> str:
    """What a page shows, its own address left out."""
    return content.rpartition("\n")[2] if content else ""
