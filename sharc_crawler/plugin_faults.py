"""What a plug-in raises, or answers badly, is said to be its own fault."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from sharc_crawler.errors import DataError, SharcError

T = TypeVar("T")


def fault(who: str, how: str) -> DataError:
    """The error that says so.

    >>> fault("the ranker mine.Rank", "answered with int, not Scores")
    DataError('the ranker mine.Rank answered with int, not Scores. That is a fault of this plug-in')
    """
    return DataError(f"{who} {how}. That is a fault of this plug-in")


def tried(who: str, asked: Callable[[], T], where: str = "", passing: tuple[type[Exception], ...] = ()) -> T:
    """What a plug-in answers. Errors of ours, and ``passing`` ones, are raised as they are; others are its fault."""
    try:
        return asked()
    except SharcError:
        raise
    except passing:
        raise
    except (Exception, SystemExit) as error:
        raise fault(who, f"raised {type(error).__name__}: {error}{where}") from error
