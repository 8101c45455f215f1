"""Describe, for errors, what a stopped strategy decided or raised, whatever that is."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from pathlib import Path
from signal import SIGINT, default_int_handler, getsignal

from sharc_crawler.model import PageId, Plan, Slot, Visit
from sharc_crawler.strategies.door import Standing

LONGEST = 300  #: characters of a description


def words(thing: object) -> str:
    """Describe a value or an exception.

    >>> words(ValueError("no")), words(("x",))
    ('no', "('x',)")
    """
    try:
        return (str(thing) if isinstance(thing, BaseException) else repr(thing))[:LONGEST]
    except BaseException:  # whatever it is
        return f"a {type(thing).__name__} without words"


def raised(error: BaseException) -> str:
    """Describe an exception and its place. Raise Ctrl-C again, unless a reactor handles it (the strategy raised it)."""
    if isinstance(error, KeyboardInterrupt) and getsignal(SIGINT) is default_int_handler:
        raise error
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"it raised {type(error).__name__}: {words(error)}{where}"


def fault_of(decided: object) -> str:
    """Return why a decision is not a visit; empty if it is one. NumPy's numbers are not ints.

    >>> import numpy as np
    >>> fault_of(Visit(np.int64(0), Slot.FIRST)), fault_of(Visit(0, Slot.FIRST)), fault_of(3)
    ('page is int64, not int', '', 'int, not Visit')
    """
    if type(decided) is not Visit:
        return f"{type(decided).__name__}, not Visit"
    for name, kind in (("page", int), ("slot", Slot), ("plan", Plan)):
        if type(value := getattr(decided, name)) is not kind:
            return f"{name} is {type(value).__name__}, not {kind.__name__}"
    return ""


def left_out(pages: bytearray, waiting: int) -> tuple[PageId, str]:
    """Return the first page that a strategy without further visits left out, and what is wrong."""
    page = pages.find(Standing.WAITING if waiting else Standing.DUE)
    what = "was never handed out" if waiting else "was never revisited"
    return page, f"it says that nothing is left, and page {page} {what}"


def standing_of(pages: Sequence[int], page: PageId | None, slot: Slot | None) -> str:
    """Describe page, slot and the page's standing."""
    if page is None:
        return ""
    known = isinstance(page, int) and 0 <= page < len(pages)
    standing = Standing(pages[page]) if known else Standing.NOT_GIVEN
    wanted = f" in slot {slot.value!r}" if slot else ""
    return f" (page {page}{wanted}, which is {standing.name!r} there)"
