"""Endless sites that no single URL gives away: one template, ever new addresses, the same few contents."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_MADE_UP = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<![a-z0-9])[0-9a-f]{16,}(?![a-z0-9])"
#: what may be made up per visitor: uuids, long hexadecimal runs
_SESSION = re.compile(_MADE_UP, re.IGNORECASE)
_RUN = re.compile(rf"{_MADE_UP}|\d+", re.IGNORECASE)
_VALUE = re.compile(r"=[^&]*")
LEAST = 20  #: pages of one template before it is judged
REPEATS = 4  #: pages for each different content, from which on it is a trap
HONEST = 1_000  #: different contents after which a template is never a trap
MOST = 20_000  #: templates that are watched


def template(url: str) -> str:
    """What URLs have in common that differ in their numbers, hexadecimal runs and query values alone.

    >>> template("http://h/s/0123456789abcdef0123/p/7?page=2&sort=up"), template("http://h/cal/2026/11")
    ('/s/*/p/*?page=*&sort=*', '/cal/*/*')
    """
    path, mark, query = url.partition("://")[2].partition("?")
    return _RUN.sub("*", "/" + path.partition("/")[2]) + mark + _VALUE.sub("=*", query)


@dataclass(slots=True)
class _Seen:
    pages: int = 0
    contents: set[int] = field(default_factory=set)
    rests: set[int] = field(default_factory=set)  #: URLs without what may be a session id
    reason: str | None = None  #: why it is a trap; it stays one


class Traps:
    """Counts the contents of each template's pages. What differs not only in a session id is seen once, at least.

    >>> traps = Traps()
    >>> for number in range(20): traps.saw(f"http://h/s/{number}/p", f"content {number % 5}")
    >>> traps.why_not("http://h/s/99/p")
    'looks like a trap: 20 pages of /s/*/p had 5 contents (traps=0 takes them)'
    """

    def __init__(self) -> None:
        self._templates: dict[str, _Seen | None] = {}  #: None: shown to be honest
        self._any = False

    def saw(self, url: str, content: str | None) -> None:
        """A page was captured; ``content`` is its fingerprint, where there is one."""
        name = template(url)
        if content is None or "*" not in name:
            return
        if len(self._templates) < MOST:
            self._templates.setdefault(name, _Seen())
        seen = self._templates.get(name)
        if seen is None:
            return
        seen.pages += 1
        seen.contents.add(hash(content))
        seen.rests.add(hash(_SESSION.sub("*", url)))
        if seen.reason is None and seen.pages >= max(LEAST, REPEATS * len(seen.contents)):
            self._any = True
            contents = "one content" if len(seen.contents) == 1 else f"{len(seen.contents)} contents"
            seen.reason = f"looks like a trap: {seen.pages} pages of {name} had {contents} (traps=0 takes them)"
        elif len(seen.contents) >= HONEST:
            self._templates[name] = None

    def why_not(self, url: str) -> str | None:
        """Why a page that was not visited yet is left; ``None``: it is not."""
        seen = self._templates.get(template(url)) if self._any else None
        if seen is None or seen.reason is None:
            return None
        rest = _SESSION.sub("*", url)
        return seen.reason if rest == url or hash(rest) in seen.rests else None
