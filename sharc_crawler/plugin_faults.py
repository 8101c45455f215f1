"""Blame plug-ins for their exceptions and invalid answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from sharc_crawler.errors import DataError, SharcError

T = TypeVar("T")


def fault(who: str, how: str) -> DataError:
    """Make the error for a plug-in's fault.

    >>> fault("the ranker mine.Rank", "answered with int, not Scores")
    DataError('the ranker mine.Rank answered with int, not Scores. That is a fault of this plug-in')
    """
    return DataError(f"{who} {how}. That is a fault of this plug-in")


def tried(who: str, call: Callable[[], T], where: str = "", passing: tuple[type[Exception], ...] = ()) -> T:
    """Call a plug-in. Our own errors, and ``passing`` ones, are raised as they are; others are its fault."""
    try:
        return call()
    except SharcError:
        raise
    except passing:
        raise
    except (Exception, SystemExit) as error:
        raise fault(who, f"raised {type(error).__name__}: {error}{where}") from error
