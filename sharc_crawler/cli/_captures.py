"""Folders that commands are given for a capture and that are none: one fault, one message, one exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.certificate.sources import captures_in, is_capture
from sharc_crawler.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path


def require_capture(path: Path) -> None:
    """Refuse a folder that neither is a capture nor gathers any; of a file nothing is said."""
    if path.is_dir() and captures_in(path) == [path] and not is_capture(path):
        raise UsageError(f"{str(path)!r} holds no capture; name a folder given as output=")
