"""URLs that look like orders to the server: to fill a cart, vote, delete."""

from __future__ import annotations

import re

_THINGS = r"([Cc]art|[Bb]asket|[Ww]ishlist|[Cc]ompare)"
_DEEDS = r"(vote|upvote|downvote|like|unlike|follow|unfollow|subscribe|unsubscribe|delete)"
#: each must match a whole path segment or parameter: /how-to-delete-files is a page
ORDERS = (
    rf"(/|\?|&)(add|remove|delete)[-_]?([Tt]o|[Ff]rom)?[-_]?{_THINGS}([/?&=]|$)"
    rf"|/{_THINGS}/(add|remove|delete|update|clear|empty)([/?]|$)"
    rf"|(\?|&)(action|do|op|cmd|task)=(add|buy|remove|watch|unwatch|{_DEEDS})(&|$)"
    r"|(\?|&)(like_comment|remove_item)="
    rf"|/{_DEEDS}/\d+/?(\?|$)|/\d+/{_DEEDS}/?(\?|$)"
)
_FOUND = re.compile(ORDERS)


def is_order(url: str) -> bool:
    """Would a request probably change something at the server, by its URL?

    >>> [is_order(f"http://h/{one}") for one in ("cart/add?id=7", "?add-to-cart=7", "p?action=delete&id=7", "n/7/vote")]
    [True, True, True, True]
    >>> [is_order(f"http://h/{one}") for one in ("how-to-delete-files", "cart", "?action=show", "subscribe", "likes/7")]
    [False, False, False, False, False]
    """
    return _FOUND.search(url) is not None
