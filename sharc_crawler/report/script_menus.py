"""Notes on pages that lead nowhere but load scripts: scripts, which are not run, may make their menus."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sharc_crawler.guides import guide
from sharc_crawler.model import Kind, PageId
from sharc_crawler.plural import agreeing, counted
from sharc_crawler.report.marks import BY_SCRIPT, SEED, TILED
from sharc_crawler.report.words import short

if TYPE_CHECKING:
    from sharc_crawler.evidence.facts import CaptureFacts
    from sharc_crawler.report.pages import Stored
    from sharc_crawler.state.rows import CaptureRow, UrlRow
    from sharc_crawler.state.spec import CaptureSpec

FEW = 2  #: links that a seed without a menu may have (its author, its licence); a folder's index has fewer
RARE = 0.05  #: share of the pages; if more folder indexes lead nowhere, the site is just like that


def unled(store: Stored, capture: CaptureRow) -> Iterator[str]:
    """Notes on seeds and folder indexes that lead to no page, and on images in tiles: a browser may show more."""
    if capture.ended is None or not _may_lead(capture.spec):
        return
    found: dict[PageId, UrlRow] = {}
    tiled = 0
    for url in store.urls(capture.capture):
        tiled += url.page.url.endswith(TILED) and url.judgement is not None
        if _leads_by_scripts(url):
            found[url.page.page] = url
    yield from _untiled(tiled)
    yield from _unled(store, capture, found)


def _untiled(images: int) -> Iterator[str]:
    if images:
        yield (
            f"{counted(images, 'image')} (IIIF: …{TILED}) may be shown in tiles, which viewers ask for by script:"
            " captured is what manifests name of them, and no tile. With browser=auto it is what viewers show first,"
            f" too ({guide('browser')})"
        )


def _unled(store: Stored, capture: CaptureRow, found: dict[PageId, UrlRow]) -> Iterator[str]:
    folders: defaultdict[str, list[PageId]] = defaultdict(list)
    for page, url in found.items():
        folders[_folder(url.page.key)].append(page)
    pages = 0
    for url in store.urls(capture.capture) if found else ():
        if url.page.kind is Kind.PAGE:
            pages += 1
            for page in (url.page.parent, *_above(url, folders)):
                found.pop(page, None)
    if pages == capture.spec.limit:
        return  # the limit left out what they lead to
    seeds = [url for url in found.values() if url.page.via == SEED]
    others = [url for url in found.values() if url.page.via != SEED]
    for one in seeds + others if len(others) <= RARE * pages else seeds:
        scripts = counted(sum(map(_is_script, one.embeds)), "script")
        yield (
            f"{short(one.page.url)} links to no other page of this capture and loads {scripts}: {BY_SCRIPT}, which is"
            f" not run, so pages behind them are missing. browser=auto captures them ({guide('browser')})"
        )


def unshown(facts: CaptureFacts) -> str:
    """The note on a site whose HTML pages are mostly empty without a browser, or even in one."""
    made, read = facts.figures.by_script[True], facts.figures.by_script.total()
    if facts.settings.get("browser", "never") == "never":
        why = f"what scripts make is missing: JavaScript is not run. With browser=always it is ({guide('browser')})"
    elif any("not shown by a browser" in note for note in facts.notes):
        why = "not each was shown by a browser, so what scripts make may be missing"
    else:
        why = "a browser that ran the scripts shows no more. What they ask for may be missing"
    pages = f"{made:,} of {counted(read, 'HTML page')} {agreeing(made, 'have')}"
    return f"{pages} scripts, no links and hardly any text: {why}"


def _may_lead(spec: CaptureSpec) -> bool:
    """Can a note help? Not for a project's own spider, nor if a browser was used."""
    return "spider" not in spec.settings and spec.settings.get("browser", "never") == "never"


def _leads_by_scripts(url: UrlRow) -> bool:
    page, about = url.page, next((visit.outcome.document for visit in url.visits if visit.outcome.document), None)
    if page.kind is not Kind.PAGE or url.judgement is None or about is None or not any(map(_is_script, url.embeds)):
        return False
    if page.via == SEED:
        return about.outlinks <= FEW and not about.by_script  # pages made by script have a note of their own
    return about.outlinks < FEW and urlsplit(page.key).path.rpartition("/")[2].partition(".")[0] in ("", "index")


def _is_script(resource: str) -> bool:
    return urlsplit(resource).path.endswith((".js", ".mjs"))


def _folder(key: str) -> str:
    """The folder of a page, with a slash at its end."""
    parts = urlsplit(key)
    return f"{parts.scheme}://{parts.netloc}{parts.path.rpartition('/')[0]}/"


def _above(url: UrlRow, folders: Mapping[str, Sequence[PageId]]) -> Iterator[PageId]:
    """The other pages in whose folders a page lies."""
    folder = _folder(url.page.key)
    while folder.count("/") > 2:
        yield from (page for page in folders.get(folder, ()) if page != url.page.page)
        folder = folder[: folder.rindex("/", 0, -1) + 1]
