"""Pictures that one script shows: its query tells them apart (``img.php?id=7``)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sharc_crawler.live.reading.words import without_made_up

if TYPE_CHECKING:
    from collections.abc import Sequence

_FILE = re.compile(r"\.(?!(?:php|cgi|pl|aspx?|jsp|do)\Z)\w{1,5}\Z")  #: its query may be there for caches alone


def pictures_of(addresses: Sequence[str]) -> str:
    """What scripts are asked for, without what looks made up.

    >>> pictures_of(["http://h/img.php?id=7", "http://h/logo.png?v=2"])
    '?id=7'
    """
    queries = (
        query for path, _, query in (one.partition("?") for one in addresses) if query and not _FILE.search(path)
    )
    return "".join(f"?{without_made_up(query.encode()).decode()}" for query in queries)
