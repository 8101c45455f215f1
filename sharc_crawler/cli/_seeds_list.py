"""The list of seeds that a user gives: a URL a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.errors import UsageError
from sharc_crawler.frontier.urls import canonical

if TYPE_CHECKING:
    from pathlib import Path

    from sharc_crawler.archive.problems import Problems


def read_list(file: Path, problems: Problems) -> list[str]:
    """The addresses in a list, each once; empty lines and comments (#) are passed over, other lines are problems."""
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"seeds={str(file)!r} cannot be read: {error}") from error
    urls: dict[str, None] = {}
    for number, line in enumerate(lines, 1):
        url = line.strip()
        if not url or url.startswith("#"):
            continue
        if canonical(url) is None:
            problems.add(str(file), number, f"not a web address: {url[:80]!r}")
        else:
            urls[url] = None
    if not urls:
        raise UsageError(f"seeds={str(file)!r} names no web address; give one a line")
    return list(urls)
