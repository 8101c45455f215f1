"""| Errors as JSON, so that one process can report them to another."""

from __future__ import annotations

import errno
import os
from typing import Any

from sharc_crawler.archive.options import USUAL
from sharc_crawler.errors import DataError, SharcError, StateError, StoreFull, StoreUnavailable, Superseded, UsageError
from sharc_crawler.live.writing.messages import NotArchivedError
from sharc_crawler.live.writing.space import is_full
from sharc_crawler.plural import counted

_KINDS = {kind.__name__: kind for kind in (DataError, StateError, StoreFull, StoreUnavailable, Superseded, UsageError)}

_AWAY = {errno.EIO, errno.EROFS, errno.ESTALE, errno.ENODEV, errno.ENOTCONN, errno.ETIMEDOUT}


def is_passing(error: BaseException) -> bool:
    """Could it not be written for want of room, or because a disk or share is away that may come back?"""
    return is_full(error) or getattr(error.__cause__ or error, "errno", None) in _AWAY


def fault_of(error: BaseException) -> str:
    """What is wrong with the disk or share, in words; "": it is full.

    >>> fault_of(OSError(errno.ESTALE, "Stale file handle", "a.warc.gz")), fault_of(OSError(errno.ENOSPC, "No space"))
    ('its disk or share could not be written to (Stale file handle)', '')
    """
    reason = os.strerror(getattr(error.__cause__ or error, "errno", None) or 0)
    return "" if is_full(error) else f"its disk or share could not be written to ({reason})"


def describe(error: Exception) -> dict[str, Any]:
    """The error as JSON, for :func:`error_of`."""
    cause = error.__cause__ if isinstance(error, SharcError) else error
    number = errno.ENOSPC if is_full(error) else getattr(cause, "errno", None)
    return {"kind": type(error).__name__, "said": str(error), "errno": number}


def of_an_end(code: int, writer: str, unsaved: int) -> tuple[dict[str, Any], str]:
    """For a writing process that ended: the error of unanswered exchanges, and a note for the reports."""
    ended = f"the process that writes WARC files ended ({ended_by(code, 'SHARC_WRITER', writer)})"
    lost = f"{counted(unsaved, 'unsaved visit')} will be retried"
    return describe(NotArchivedError(ended)), f"{ended}; restarted. {lost}. No recorded visit is lost"


def ended_by(code: int, setting: str, name: str) -> str:
    """How a process ended, and whose code it ran if that is not ours.

    >>> ended_by(3, "SHARC_WRITER", "mine.Writer"), ended_by(3, "SHARC_WRITER", "warc")
    ("exit code 3 with SHARC_WRITER='mine.Writer'", 'exit code 3')
    """
    ours = name in {"", USUAL, "content"} or name.startswith("sharc_crawler.")
    return f"signal {-code}" if code < 0 else f"exit code {code}{'' if ours else f' with {setting}={name!r}'}"


def error_of(described: dict[str, Any]) -> SharcError:
    """The error from its JSON: of the same class if it is ours, with the cause that tells a full disk.

    >>> error_of(describe(UsageError("level=12 is no level")))
    UsageError('level=12 is no level')
    >>> is_full(error_of(describe(OSError(errno.ENOSPC, "No space left on device"))))
    True
    """
    error = _KINDS.get(described["kind"], NotArchivedError)(described["said"])
    if described["errno"]:
        error.__cause__ = OSError(described["errno"], os.strerror(described["errno"]))
    return error
