"""What a strategy that is stopped did, in words: whatever it decided or raised, and however that is spelled."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from pathlib import Path
from signal import SIGINT, default_int_handler, getsignal

from sharc_crawler.model import PageId, Plan, Slot, Visit
from sharc_crawler.strategies.door import Standing

LONGEST = 300  #: characters of what it says


def words(thing: object) -> str:
    """What something says of itself, if it can.

    >>> words(ValueError("no")), words(("x",))
    ('no', "('x',)")
    """
    try:
        return (str(thing) if isinstance(thing, BaseException) else repr(thing))[:LONGEST]
    except BaseException:  # whatever it is
        return f"a {type(thing).__name__} without words"


def raised(error: BaseException) -> str:
    """What it raised, and where. Raises Ctrl-C again; under a reactor that hears it itself, it was the strategy's."""
    if isinstance(error, KeyboardInterrupt) and getsignal(SIGINT) is default_int_handler:
        raise error
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"it raised {type(error).__name__}: {words(error)}{where}"


def fault_of(decided: object) -> str:
    """Why what a strategy decided is no visit; empty: it is one. Numbers of NumPy look like others and are none.

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
    """Nothing is under way, it has nothing more, and pages are left: the first of them, and what is wrong."""
    page = pages.find(Standing.WAITING if waiting else Standing.DUE)
    what = "was never handed out" if waiting else "was never revisited"
    return page, f"it says that nothing is left, and page {page} {what}"


def standing_of(pages: Sequence[int], page: PageId | None, slot: Slot | None) -> str:
    """The page, the slot and where the page stands."""
    if page is None:
        return ""
    known = isinstance(page, int) and 0 <= page < len(pages)
    standing = Standing(pages[page]) if known else Standing.NOT_GIVEN
    wanted = f" in slot {slot.value!r}" if slot else ""
    return f" (page {page}{wanted}, which is {standing.name!r} there)"
