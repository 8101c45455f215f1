"""The image URLs of a ``srcset`` attribute."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: A URL; unless a comma ends it, descriptors up to the next comma that stands in no brackets.
_CANDIDATE = re.compile(r"([^\s,]\S*+)(?:(?<=,)|(?:[^,(]++|\([^)]*+\)?)*+)")


def candidates(srcset: str) -> Iterator[str]:
    """The image URLs of a ``srcset`` attribute, by the HTML Standard's rules.

    >>> list(candidates("a.png, b,c.png 2x, data:image/png;base64,xx 3x"))
    ['a.png', 'b,c.png', 'data:image/png;base64,xx']
    """
    for match in _CANDIDATE.finditer(srcset):
        yield match[1].rstrip(",")
