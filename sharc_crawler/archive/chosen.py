"""The writer that a setting names: whether it can be one is told before anything is fetched."""

from __future__ import annotations

from inspect import signature

from sharc_crawler import plugins
from sharc_crawler.archive.base import CaptureWriter
from sharc_crawler.errors import UsageError

_GIVEN = "folder", "site", "run", "info", "options", "former"


def check_writer(name: str) -> None:
    """Can it be made as it will be, and, where it is a class, has it all methods? Raises UsageError."""
    kind = plugins.load("writer", name)
    try:
        signature(kind).bind(*_GIVEN)
    except (TypeError, ValueError) as error:
        raise UsageError(f"SHARC_WRITER={name!r} makes no writer of {', '.join(_GIVEN)}: {error}") from error
    wanted = [one for one in vars(CaptureWriter) if not one.startswith("_")] if isinstance(kind, type) else []
    if missing := sorted(one for one in wanted if not callable(getattr(kind, one, None))):
        port = f"{CaptureWriter.__module__}.{CaptureWriter.__name__}"
        raise UsageError(f"SHARC_WRITER={name!r} is no writer: it lacks {', '.join(missing)} ({port} has all)")
