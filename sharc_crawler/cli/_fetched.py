"""| Pages to compare: files saved by a browser, or pages of captures."""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Collection, Iterator, Sequence
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

from sharc_crawler.archive.archived_pages import FetchedPage, pages
from sharc_crawler.bodies.text import is_text
from sharc_crawler.changes.learning import Pair
from sharc_crawler.errors import DataError
from sharc_crawler.model import Seconds

_TITLE = re.compile(rb"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)
_METHOD = re.compile(r"[?&]__wb_method=")  #: separates a URL from what was sent to it, in a key
REPEATED = re.compile(r" \(request \d+\)$")  #: suffix of URLs that a spider requested again, in reports
_CAPTURES = (".wacz", ".warc", ".gz", ".open")


def is_capture(source: Path) -> bool:
    """Whether a path names a capture and not a page."""
    return source.is_dir() or source.suffix in _CAPTURES


def page_of(
    source: Path, url: str | None, former: Sequence[Path] = (), *, last: bool, listed: set[str] | None = None
) -> FetchedPage:
    """A page from a file, or a URL's first or last fetch in a capture; its data's keys are added to ``listed``."""
    if not is_capture(source) or url is None:
        return _saved(source)
    got = (page for page in pages(source, [url], former=former, listed=listed) if not page.sent.method)
    found = sorted(got, key=lambda page: page.time)
    if not found:
        raise DataError(
            f"{source} holds no page {url!r} with status 200{_hint(url, {one.url for one in pages(source)})}"
        )
    return found[-1 if last else 0]


def _hint(url: str, known: set[str]) -> str:
    """The URL that may have been meant."""
    near = get_close_matches(url, known, n=1)
    if "://" in url:
        return f"; did you mean {near[0]!r}?" if near else ""
    near = sorted((other for other in known if other.endswith(f"/{url.lstrip('/')}")), key=len) or near
    return f"; give its whole URL, as {near[0] if near else 'https://www.example.org/news.html'}"


def data_of(source: Path, keys: Collection[str], former: Sequence[Path], *, last: bool) -> dict[str, FetchedPage]:
    """The first or last answers in a capture to scripts' requests with these keys, whatever their status."""
    urls = {_METHOD.split(key)[0] for key in keys}
    got = pages(source, urls, former=former, every=True) if urls else ()
    found = sorted((page for page in got if page.key in keys), key=lambda page: page.time, reverse=not last)
    return {page.key: page for page in found}


def _saved(source: Path) -> FetchedPage:
    """A page saved by a browser."""
    body = source.read_bytes()
    if not is_text(body):
        kinds = f"a folder, or a file {', '.join(_CAPTURES)}"
        raise DataError(f"{source} is neither a capture ({kinds}) nor a saved page: it is no text")
    media_type = mimetypes.guess_type(source.name)[0] or "text/html"
    name = source.as_uri() if source.is_absolute() else str(source)
    return FetchedPage(name, source.stat().st_mtime, media_type, body)


def pairs_within(source: Path, within: Seconds) -> Iterator[Pair]:
    """Successive fetches of a URL within so many seconds, and equal ones however far apart."""
    by_url: dict[str, list[FetchedPage]] = {}
    for page in pages(source, repeated=True):
        by_url.setdefault(page.url, []).append(page)
    for url, found in by_url.items():
        for one, other in pairwise(sorted(found, key=lambda page: page.time)):
            if other.time - one.time <= within or one.body == other.body:
                yield Pair(one.body, other.body, one.media_type, f"{urlsplit(url).path} {_title(one.body)}")


def _title(body: bytes) -> str:
    """The title, which tells ``/?p=1`` from ``/?p=2``, but not ``/post/`` from its form, ``/post/?replytocom=1``."""
    found = _TITLE.search(body)
    return found[1].decode("utf-8", "replace") if found else ""
