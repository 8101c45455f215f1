"""Endless sites that no single URL gives away: one template, ever new addresses, the same few contents."""

from __future__ import annotations

import re
from array import array

from sharc_crawler.frontier.seen import UNSEEN, SeenUrls

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


class Traps:
    """Counts the contents of each template's pages. What differs not only in a session id is seen once, at least.

    Templates, contents and URLs are known by their hashes: many a template has one page, and a page costs bytes.

    >>> traps = Traps()
    >>> for number in range(20): traps.saw(f"http://h/s/{number}/p", f"content {number % 5}")
    >>> traps.why_not("http://h/s/99/p")
    'looks like a trap: 20 pages of /s/*/p had 5 contents (traps=0 takes them)'
    """

    def __init__(self) -> None:
        self._templates = SeenUrls()  # each with its row
        self._pages = array("i")
        self._contents = array("i")  # different ones
        self._seen = SeenUrls()  # contents of each row; URLs without what may be a session id
        self._reasons: dict[int, str] = {}  # why a row is a trap; it stays one

    def saw(self, url: str, content: str | None) -> None:
        """A page was captured; ``content`` is its fingerprint, where there is one."""
        if content is None or "*" not in (name := template(url)):
            return
        row = self._row(name)
        if row == UNSEEN or self._contents[row] >= HONEST:
            return
        self._pages[row] += 1
        self._contents[row] += self._is_new(f"{row} {content}")
        if (rest := _SESSION.sub("*", url)) != url:
            self._is_new(rest)
        self._judge(row, name)

    def _judge(self, row: int, name: str) -> None:
        pages, contents = self._pages[row], self._contents[row]
        if row not in self._reasons and pages >= max(LEAST, REPEATS * contents):
            told = "one content" if contents == 1 else f"{contents} contents"
            self._reasons[row] = f"looks like a trap: {pages} pages of {name} had {told} (traps=0 takes them)"
        elif contents >= HONEST:
            self._reasons.pop(row, None)

    def _row(self, name: str) -> int:
        """A template's row; ``UNSEEN``: too many are watched already."""
        row = self._templates.get(name)
        if row == UNSEEN and len(self._pages) < MOST:
            row = len(self._pages)
            self._templates.add(name, row)
            self._pages.append(0)
            self._contents.append(0)
        return row

    def _is_new(self, key: str) -> bool:
        if key in self._seen:
            return False
        self._seen.add(key, 0)
        return True

    def why_not(self, url: str) -> str | None:
        """Why a page that was not visited yet is left; ``None``: it is not."""
        reason = self._reasons.get(self._templates.get(template(url))) if self._reasons else None
        if reason is None:
            return None
        rest = _SESSION.sub("*", url)
        return reason if rest == url or rest in self._seen else None
