"""Error pages of status 200 that name ever new ones: asking for a page that cannot exist finds them.

Their addresses look like others (``/kqzvbnwt``). Where four pages of a folder show the same, or three that lead on, a
name in it is asked for that nobody gave. What it shows is the folder's error page. Pages that show the same are visited
only where others name them. What only they name is left if it is new; what only they had named waits until nothing else
is left, and is then left but for samples. So three visits are spent before anything is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

COPIES = 4  #: pages of a folder that show the same, until one asks
LEADING = 3  #: or so many, where the last was the first to name others
MOST = 5  #: folders that are asked in
KEPT = 80  #: contents that are counted, those seen last


class SoftErrors:
    """Counts equal pages of each folder; knows what was asked for, and what it showed.

    >>> errors = SoftErrors()
    >>> [asked] = [errors.saw(f"http://h/x/{name}", "Oops", "http://h/x/kqzv") for name in ("bnwt", "wmdk", "qjxe")][2]
    >>> errors.answered(asked, "Oops")
    >>> errors.why_not("Oops"), errors.why_not("a story")
    ('linked only by an error page with status 200 (http://h/x/no-such-page-euxmcqqecr shows it, too)', None)
    """

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}  # of a folder and a content; the latest last
        self._asked: dict[str, str] = {}  # folder → what was asked for
        self.shown: dict[str, str] = {}  #: content of an error page → what showed it
        self.leading: set[str] = set()  #: of what was asked for, what named new ones

    def saw(self, url: str, content: str, first: str, leads: Callable[[], object] = bool) -> Sequence[str]:
        """A page was captured that shows what ``first`` had shown; what is to be asked for.

        Queries are others' to look at: one page may be shown under many. ``leads``: was it the first to name others?
        """
        for place in _places(url):
            count = self._count(place, content, first)
            may = count in {LEADING, COPIES} and place not in self._asked and len(self._asked) < MOST
            if may and (count == COPIES or leads()):
                from sharc_crawler.addresses.unlikely import unlikely  # on few sites

                self._asked[place] = probe = f"{place}/{unlikely(place)}"
                return (probe,)
        return ()

    def _count(self, folder: str, content: str, first: str) -> int:
        key = hash((folder, content))
        self._counts[key] = count = self._counts.pop(key, folder in _places(first)) + 1
        if len(self._counts) > KEPT:
            del self._counts[next(iter(self._counts))]
        return count

    def answered(self, url: str, content: str | None) -> None:
        """What was asked for was answered as if it were a page."""
        if content is not None and url in self._asked.values():
            self.shown.setdefault(content, url)

    def why_not(self, content: str | None) -> str | None:
        """Why what a page names, and nobody had named, is left; ``None``: it is not."""
        url = content and self.shown.get(content)
        return url and f"linked only by an error page with status 200 ({url} shows it, too)"


def _places(url: str) -> dict[str, None]:
    """Its folder, and the top."""
    return dict.fromkeys(() if "?" in url else (url.rpartition("/")[0], "/".join(url.split("/")[:3])))
