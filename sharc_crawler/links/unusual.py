"""Which of many addresses are not canonical as they are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sharc_crawler.urls import PLAIN_NAME, USUAL, is_plain, is_usual

if TYPE_CHECKING:
    from collections.abc import Sequence

_PLAIN_NAMES = re.compile(rf"{PLAIN_NAME.pattern}(?:\n{PLAIN_NAME.pattern})*+", re.ASCII)


def unusual(urls: Sequence[str]) -> list[str]:
    """Which of these URLs are not :func:`~sharc_crawler.urls.is_usual`: one match for all, most documents have none.

    >>> unusual(["http://h/a/b", "http://h/a/c"]), unusual(["http://h/a", "http://h/a/../b"])
    ([], ['http://h/a/../b'])
    """
    parts = [url.rpartition("/") for url in urls]
    names = "\n".join([name for _, _, name in parts])
    if _PLAIN_NAMES.fullmatch(names) and names.count("\n") < len(parts) and max(map(len, urls)) <= USUAL:
        folders = {folder for folder, _, _ in parts}
        if all(is_plain(f"{folder}/") for folder in folders):
            return []
    return [url for url in urls if not is_usual(url)]
