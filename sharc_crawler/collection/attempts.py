"""| ``keep.json``: the results of the last attempts to capture each site. Without it only the back-off is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import IO, NamedTuple

from sharc_crawler.archive.drafts import replace_file
from sharc_crawler.errors import MALFORMED, UsageError
from sharc_crawler.locks import is_locked, lock
from sharc_crawler.model import Instant, Seconds

NAME, LOCK = "keep.json", ".keep.lock"


def read_tries(folder: Path) -> dict[str, Tries]:
    """The results by site; an unreadable file counts as empty."""
    try:
        known = json.loads((folder / NAME).read_text(encoding="utf-8"))
        read = {name: Tries(**one) for name, one in known.items()}
        return {
            name: Tries(float(one.ended), int(one.failures), int(one.code), str(one.said)) for name, one in read.items()
        }
    except (OSError, *MALFORMED):
        return {}


def write_tries(folder: Path, known: dict[str, Tries]) -> None:
    """Write the results, whole or not at all."""
    text = json.dumps({name: one._asdict() for name, one in known.items()}, indent=1, sort_keys=True)
    replace_file(folder / NAME, text + "\n")


def is_kept(folder: Path) -> bool:
    """Whether a process keeps the collection now."""
    return is_locked(folder / LOCK)


def hold_collection(folder: Path) -> IO[bytes]:
    """Keep a collection until the returned file is closed or the process ends; raises UsageError."""
    try:
        held = (folder / LOCK).open("ab", buffering=0)
    except OSError as error:
        raise UsageError(f"collection={str(folder)!r} cannot be written to: {error.strerror}") from error
    if not lock(held.fileno()):
        held.close()
        raise UsageError(
            f"collection={str(folder)!r} is kept by another `sharc keep` already; stop that one, or leave it to it"
        )
    return held


FIRST_WAIT: Seconds = 900.0  #: after a first failure, doubled for each further one
LONGEST_WAIT: Seconds = 86_400.0  #: and no longer than the site's ``every``


class Tries(NamedTuple):
    """The result of the last attempts to capture a site."""

    ended: Instant = 0.0
    failures: int = 0  #: in a row
    code: int = 0  #: of ``scrapy crawl``
    said: str = ""  #: what a person needs to know; "": nothing


def due(every: Seconds | None, last: Instant | None, tries: Tries, *, unfinished: bool = False) -> Instant | None:
    """When the next capture is due; ``None``: never. Missed captures are made up for once.

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
    """How long a site rests after so many failures in a row.

    >>> back_off(1, 86_400.0), back_off(3, 86_400.0), back_off(30, 86_400.0), back_off(5, 600.0)
    (900.0, 3600.0, 86400.0, 600.0)
    """
    return min(FIRST_WAIT * 2.0 ** min(failures - 1, 20), LONGEST_WAIT, every)


def is_told(failures: int) -> bool:
    """Whether somebody is notified of so many failures in a row: the 1st, 2nd, 4th, 8th, …

    >>> [number for number in range(1, 20) if is_told(number)]
    [1, 2, 4, 8, 16]
    """
    return failures > 0 and failures & (failures - 1) == 0
