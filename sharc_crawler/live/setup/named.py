"""What is said of a spider that ``scrapy crawl`` is to run, before it does."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from sharc_crawler.errors import UsageError, unknown_name

if TYPE_CHECKING:
    from collections.abc import Sequence


def check_spider(args: Sequence[str], known: Sequence[str]) -> None:
    """Raises :class:`~sharc_crawler.errors.UsageError` for arguments without ``-a``, and for an unknown name."""
    if bare := [one for one in args[1:] if "=" in one]:
        given = " ".join(f"-a {shlex.quote(one)}" for one in bare)
        raise UsageError(f"argument {bare[0]!r} stands without -a: scrapy crawl {args[0]} {given}")
    if len(args) == 1 and args[0] not in known:
        raise unknown_name("spider", args[0], known)
