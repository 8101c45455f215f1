"""Parts of an address that a site may make up for each visitor: a session's name, a long random number."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from re import Match

#: what may be made up per visitor: uuids, hexadecimal runs, long numbers, letters and digits by turns
_MADE_UP = (
    r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
    r"|(?<![A-Za-z0-9])(?=[A-Za-z0-9]{6})(?:[0-9A-Fa-f]{16,}|[0-9]{9,}|(?=[A-Fa-f]*[0-9])[0-9A-Fa-f]{8,}"
    r"|(?=[0-9]*[A-Za-z]+[0-9]+[A-Za-z]|[A-Za-z]*[0-9]+[A-Za-z]+[0-9])[A-Za-z0-9]{6,})(?![A-Za-z0-9])"
)
_SESSION = re.compile(_MADE_UP)  # canonical URLs are ASCII: IGNORECASE would take twice as long
_PARAMETER = re.compile(r"[?&]([^=&?/]*)=[^&]*\Z")


class MadeUp(NamedTuple):
    """Something in an address that may be made up for each visitor."""

    place: str  #: behind this path, or in this parameter of whatever page
    rest: str  #: the address without it
    values: tuple[str, ...]  #: what stands there


def made_up(url: str) -> list[MadeUp]:
    """What may be made up in an address: each place, then all together. The end of a path may name a document.

    >>> [one.rest for one in made_up("http://h/s/x7Gk2p/a?r=1234567890")]
    ['http://h/s/*/a?r=1234567890', 'http://h/s/x7Gk2p/a?r=*', 'http://h/s/*/a?r=*']
    """
    start = url.find("/", len("https://"))
    found = _SESSION.finditer(url, start) if start > 0 else ()
    parts = [one for match in found if (one := _single(url, start, match))]
    if len(parts) > 1:
        rest = _SESSION.sub(lambda match: "*" if _single(match.string, 0, match) else match.group(), url[start:])
        values = tuple(value for one in parts for value in one.values)
        parts.append(MadeUp(" ".join(one.place for one in parts), f"{url[:start]}{rest}", values))
    return parts


def _single(url: str, start: int, found: Match[str]) -> MadeUp | None:
    before, after = url[: found.start()], url[found.end() :]
    parameter = _PARAMETER.search(before)
    if not parameter and after in {"", "/"}:
        return None
    place = f"?{parameter[1]}=*" if parameter else f"{_SESSION.sub('*', before[start:])}*"
    return MadeUp(place, f"{before}*{after}", (found[0],))
