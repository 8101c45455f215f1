"""Notes on servers: requested waits, wrong clocks, false statements, error pages with status 200."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sharc_crawler.evidence.audit import CONDITIONALS, LASTMODS
from sharc_crawler.evidence.intervals import FAR
from sharc_crawler.evidence.reasons import RARE
from sharc_crawler.model import Kind, Result, Seconds
from sharc_crawler.plural import counted
from sharc_crawler.report.sessions import ended
from sharc_crawler.report.words import span
from sharc_crawler.traps.probing import shows_errors

if TYPE_CHECKING:
    from sharc_crawler.evidence.facts import CaptureFacts
    from sharc_crawler.report.pages import Stored
    from sharc_crawler.state.rows import CaptureRow


def waited(waits: Mapping[str, Sequence[Seconds]]) -> Iterator[str]:
    """Which hosts asked the crawl to wait."""
    for host, asked in waits.items():
        times = f"{counted(len(asked), 'time')}, for {span(sum(asked))} in all"
        yield f"{host} asked the crawl to wait (429 or 503 with Retry-After): {times}"


def clocks(ahead: Mapping[str, Sequence[Seconds]]) -> Iterator[str]:
    """A note on hosts whose clocks differ from ours: one answer ahead of our clock suffices, else all must be behind.

    ``ahead``: by host, the seconds that its clock was ahead in each answer not from a cache.
    """
    off: dict[str, Seconds] = {}
    for host, seconds in ahead.items():
        if abs(last := max(seconds)) > FAR:  # a cached copy cannot be ahead
            off[host] = middle if (middle := sorted(seconds)[len(seconds) // 2]) > FAR else last
    if off:
        host = max(off, key=lambda one: len(ahead[one]))
        others = f" (the clocks of {counted(len(off) - 1, 'other host')} differ, too)" if len(off) > 1 else ""
        when, copies = ("later", "") if off[host] > 0 else ("earlier", ", or these are copies of then")
        far = sum(one > FAR for one in ahead[host])
        some = f"{far:,} of " if 0 < far < len(ahead[host]) else ""
        copies = ", or was set meanwhile, and other answers may count as copies of before" if some else copies
        said = f"it is {span(abs(off[host]))} {when} than by this machine's clock{others}"
        yield (
            f"{host} says in {some}its answers (Date) that {said}: one of the two clocks is wrong{copies}."
            " All times here are by this machine's"
        )


def unbelieved(audit: Mapping[str, Any]) -> Iterator[str]:
    """Notes on classes of lastmods that are not believed."""
    for one in audit["classes"]:
        if one["reason"]:
            words = f"lastmods of {one['label']} not believed ({one['values']:,}): {one['reason']}"
            yield f"{words}. Their pages are therefore visited twice"


_LIES = {
    LASTMODS: "the sitemaps were caught lying: downloads show that {0} had changed and kept the old lastmod. So"
    " no lastmod is believed of {1}. In a collection, later captures do not believe it either",
    CONDITIONALS: "the server was caught lying: for {0} it said that nothing had changed (304), or sent the old"
    " validators, though something had. So no 304 is believed for {1}. In a collection, later captures ask this"
    " server for all pages in full",
}

#: used instead if the session may have ended between the two downloads
_ENDED = (
    "downloads of {{0}} differ though the server's word was that nothing had changed: that is false, or they show what"
    " anybody is shown, since the session's cookies were valid until {0}. So it is believed of none of {{1}}"
)


def caught(facts: CaptureFacts) -> Iterator[str]:
    """Notes on lastmods and 304s that a download proved false."""
    when = ended(facts)
    found: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for one in (facts.audit or {}).get("strata", ()):
        if one["caught"]:
            found[one["of"]][one["label"] or RARE] = one["caught"]
    for of, strata in found.items():
        words = _ENDED.format(when) if when else _LIES[of]
        yield words.format(counted(sum(strata.values()), "page"), ", ".join(strata))


def standing_in(number: int) -> Iterator[str]:
    """The note on pages judged as changed whose first copy is a former capture's, confirmed by a 304."""
    if number:
        yield (
            f"the first copy of {counted(number, 'changed page')} is a former capture's: the server said that nothing"
            " had changed since (304), and the revisit brought something else."
            f" {'They' if number > 1 else 'It'} may have changed before this capture began"
        )


FEW = 3  #: most error pages that are listed


def soft_errors(store: Stored, capture: CaptureRow) -> Iterator[str]:
    """The note on pages with the same bytes as the site's error page. They count as pages nevertheless."""
    errors = {digest for _, digest in _shown(store, capture.capture, Kind.PROBE)}
    pages = _shown(store, capture.capture, Kind.PAGE) if errors else ()
    if found := [url for url, digest in pages if digest in errors]:
        more = f" and {len(found) - FEW:,} more" if len(found) > FEW else ""
        yield (
            f"{counted(len(found), 'page', 'have')} the bytes of the site's error page with status 200, counted as"
            f" captured: {', '.join(found[:FEW])}{more}"
        )


def _shown(store: Stored, capture: int, kind: Kind) -> Iterator[tuple[str, str]]:
    """URLs of a kind with the digest of their first answer. Pages downloaded again for their links are left out."""
    for url in store.urls(capture):
        if url.page.kind is kind and shows_errors(url.page.url) and url.visits:
            outcome = url.visits[0].outcome
            if outcome.result is Result.OK and outcome.digest:
                yield url.page.url, outcome.digest
