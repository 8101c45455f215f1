"""What changed on a site between two of its captures, page by page."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sharc_crawler.model import Kind
from sharc_crawler.report.load import open_facts

if TYPE_CHECKING:
    from pathlib import Path

    from sharc_crawler.evidence.facts import PageFacts

PageContents = dict[str, frozenset[str]]  #: by URL, what tells a page's content from another: digest, fingerprint

NAMED = 3  #: pages that changed, of which a comparison names the URLs


class CountedChanges(NamedTuple):
    """How many pages are new, gone, changed in content, and the same; some of the changed ones by name."""

    new: int
    gone: int  #: captured formerly and not now, for whatever reason
    changed: int
    same: int
    named: tuple[str, ...]


def contents(folder: Path) -> PageContents:
    """The captured pages of a folder, each with what counts as its content.

    Raises what :func:`~sharc_crawler.report.load.open_facts` does where the state cannot be read.
    """
    with open_facts(folder) as captures:
        pages = (page for facts in captures for page in facts.pages)
        return {page.url: _content(page) for page in pages if page.kind is Kind.PAGE and page.verdict is not None}


def compared(former: PageContents, latter: PageContents) -> CountedChanges:
    """What changed from one capture to a later one. Fingerprints differ where masks do: equal bytes are the same.

    >>> one, other, masked = frozenset({"d1", "f1"}), frozenset({"d2", "f2"}), frozenset({"d1", "f3"})
    >>> compared({"a": one, "b": one, "c": one}, {"a": masked, "b": other, "d": one})
    CountedChanges(new=1, gone=1, changed=1, same=1, named=('b',))
    """
    both = former.keys() & latter.keys()
    changed = sorted(url for url in both if former[url] != latter[url] and not former[url] & latter[url])
    return CountedChanges(
        new=len(latter.keys() - both),
        gone=len(former.keys() - both),
        changed=len(changed),
        same=len(both) - len(changed),
        named=tuple(changed[:NAMED]),
    )


def _content(page: PageFacts) -> frozenset[str]:
    if page.visit is None:
        return frozenset()
    fingerprint = (page.visit.fingerprint or "").partition("+")[0]  # whatever its masks
    return frozenset(filter(None, (fingerprint, page.visit.digest)))
