"""When a site of a collection is due: pure, from its terms, its last capture and what came of the last tries."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from sharc_crawler.model import Instant, Seconds

FIRST_WAIT: Seconds = 900.0  #: after a first failure; doubled for each further one
LONGEST_WAIT: Seconds = 86_400.0  #: but no longer than the site's own ``every``, either


class Tries(NamedTuple):
    """What came of the last tries to capture a site."""

    ended: Instant = 0.0
    failures: int = 0  #: in a row
    code: int = 0  #: of ``scrapy crawl``
    said: str = ""  #: what a person needs to know of the last one; empty: nothing


def due(every: Seconds | None, last: Instant | None, tries: Tries, *, unfinished: bool = False) -> Instant | None:
    """When the next capture is due; ``None``: never. What was missed is caught up once.

    ``last``: when the last one was begun, ``unfinished``: it goes on.

    >>> due(60.0, 1000.0, Tries()), due(60.0, None, Tries()), due(None, 1000.0, Tries())
    (1060.0, 0.0, None)
    >>> due(60.0, 1000.0, Tries(1050.0, failures=2)), due(86_400.0, 0.0, Tries(90_000.0, failures=2))
    (1110.0, 91800.0)
    """
    if every is None and not unfinished:
        return None
    planned = 0.0 if last is None or unfinished else last + (every or 0.0)
    return max(planned, tries.ended + back_off(tries.failures, every or LONGEST_WAIT)) if tries.failures else planned


def back_off(failures: int, every: Seconds) -> Seconds:
    """How long a site rests that has failed so often.

    >>> back_off(1, 86_400.0), back_off(3, 86_400.0), back_off(30, 86_400.0), back_off(5, 600.0)
    (900.0, 3600.0, 86400.0, 600.0)
    """
    return min(FIRST_WAIT * 2.0 ** min(failures - 1, 20), LONGEST_WAIT, every)


def is_told(failures: int) -> bool:
    """Is somebody told of so many failures in a row? Of the 1st, 2nd, 4th, 8th, …

    >>> [number for number in range(1, 20) if is_told(number)]
    [1, 2, 4, 8, 16]
    """
    return failures > 0 and failures & (failures - 1) == 0
