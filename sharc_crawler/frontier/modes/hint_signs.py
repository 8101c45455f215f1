"""Where hints may come from: pages that list recent changes, by their names, and what those are worth asking for."""

from __future__ import annotations

import re
from urllib.parse import unquote

#: How wikis, forums, trackers and documentation name their lists of what changed last, by the last part of an address.
LISTS_CHANGES = re.compile(
    r"(recent|latest|last)[-_ ]?(changes|changed|updates|updated|edits|posts|news|articles)"
    r"|what'?s[-_ ]?new|all[-_ ]?changes|web[-_ ]?changes|change[-_ ]?log|do=recent"
    r"|(^|[=:])(recent|latest|updates|timeline|activity|tracker|news|feed|rss|atom)(\.\w+)?$"
)
PERHAPS = re.compile(r"recent|la(te)?st|new|change|update|timeline|activity|tracker|feed|rss|atom")  #: asked of all
WORTH = 50  #: visited pages per sitemap that is read again
MODIFIED = "last-modified"  #: the source of a rate that was made with that header


def lists_changes(url: str) -> bool:
    """Does its address say that a page lists recent changes, or is a feed?

    >>> lists_changes("http://h/wiki/Special:RecentChanges"), lists_changes("http://h/changelog.html")
    (True, True)
    >>> lists_changes("http://h/recent"), lists_changes("http://h/recently-opened-museums")
    (True, False)
    """
    name = url.rstrip("/").rpartition("/")[2].lower()
    return PERHAPS.search(name) is not None and LISTS_CHANGES.search(unquote(name)) is not None
