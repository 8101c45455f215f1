"""| Adds what a capture observed to the site's history (``history=FILE``), at its end."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from sharc_crawler.addresses.known_urls import Texts
from sharc_crawler.changes.http import http_date
from sharc_crawler.evidence.headers import is_part
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.model import Change, Document, Hints, Instant, Kind, Outcome, Result, Slot, Url, Verdict
from sharc_crawler.observation import Observation
from sharc_crawler.traps.common import content_of, without_address
from sharc_crawler.traps.probing import shown_by, shows_errors

if TYPE_CHECKING:
    from sharc_crawler.state.rows import JudgementRow, LastmodRow, LinksRow, PageRow, UrlRow, VisitRow
    from sharc_crawler.state.store import FrontierStore
    from sharc_crawler.storage.observations import ObservationStore

NOT_MODIFIED = 304  #: in answer to a visit: the server says that a former capture is still valid
CHANGES = {Verdict.COHERENT: Change.UNCHANGED, Verdict.CHANGED: Change.CHANGED, Verdict.UNKNOWN: Change.UNKNOWN}


def remember(store: FrontierStore, history: ObservationStore) -> None:
    """Add everything that the captures of a store observed; adding it twice changes nothing."""
    for number, capture in store.captures().items():
        names = _Names()
        history.append(observations(store, number, history, names))
        history.append_numbered_links(_links(store.links(), names, history.numbers(capture.spec.site, names.urls)))


class _Names:
    """The URLs of a capture's pages, in columns sorted by page."""

    def __init__(self) -> None:
        self.pages, self.urls = array("i"), Texts()

    def add(self, page: int, url: Url) -> None:
        self.pages.append(page)
        self.urls.append(url)


def _links(
    found: Iterable[LinksRow], names: _Names, numbers: Iterator[int | None]
) -> Iterator[tuple[int | None, Instant, Iterable[int | None]]]:
    """The links of a capture's documents, by the history's ``numbers`` of pages."""
    known = array("q")
    for row in found:
        if not known:
            known.extend([0] * (max(names.pages, default=0) + 1))
            for page, number in zip(names.pages, numbers, strict=True):
                known[page] = number or 0
        if row.page < len(known):
            yield known[row.page], row.time, (known[target] for target in row.targets if target < len(known))


def _url(row: PageRow) -> Url:
    """The URL by which later captures know a page: its own, as a redirect's target answers for itself."""
    return Url(row.key.removesuffix("#"))


def observations(store: FrontierStore, capture: int, history: ObservationStore, names: _Names) -> Iterator[Observation]:
    """Everything that a capture observed, compared with what was known before; ``names`` collects the URLs."""
    site = store.captures()[capture].spec.site
    before = history.contents(site)
    errors = _error_pages(store, capture)
    data = _changed_data(store, capture, before)
    for url in store.urls(capture):
        row = url.page
        names.add(row.page, _url(row))
        documents: dict[str | None, Document | None] = {}  # equal bytes are not read twice
        for visit, change in _changes(url, before):
            outcome, again = visit.outcome, visit.slot is Slot.SECOND
            if data and row.kind is Kind.PAGE and any((key, again) in data for key in url.embeds):
                outcome, change = _with_data(outcome, change, again=again)
            lastmod = _lastmod(url.lastmods, visit) or (None if again else row.hints)
            document = documents.setdefault(outcome.digest, outcome.document)
            if row.kind is Kind.PAGE and without_address(content_of(outcome)) in errors:  # no page for later captures
                outcome = outcome._replace(result=Result.GONE)
            yield _observation(site, row, outcome, change, lastmod, document)


def _changes(url: UrlRow, before: Callable[[str], str | None]) -> Iterator[tuple[VisitRow, tuple[Change, Evidence]]]:
    """The downloads of a URL, each compared with the one before."""
    first = None
    for visit in url.visits:
        if visit.finished and visit.attempt:
            again = visit.slot is Slot.SECOND
            yield visit, _change(visit, url.judgement, first if again else before(_url(url.page)))
            if not again:
                first = _shown(visit.outcome)


def _shown(outcome: Outcome) -> str | None:
    """The digest of the unpacked content; ``None`` for a part of it, which is compared with nothing."""
    return None if is_part(outcome) else outcome.decoded or outcome.digest


def _changed_data(
    store: FrontierStore, capture: int, before: Callable[[str], str | None]
) -> frozenset[tuple[str, bool]]:
    """Data fetched by scripts that differed from before: its key, and whether a revisit showed it."""
    spec = store.captures()[capture].spec
    if spec.settings.get("browser", "never") == "never" or spec.subsites:  # each part has its own reference instant
        return frozenset()
    found = (url for url in store.urls(capture) if url.page.kind is Kind.DATA)
    seen = ((url.page.key, *one) for url in found for one in _changes(url, before))
    return frozenset((key, visit.slot is Slot.SECOND) for key, visit, (change, _) in seen if change is Change.CHANGED)


def _with_data(
    outcome: Outcome, change: tuple[Change, Evidence], *, again: bool
) -> tuple[Outcome, tuple[Change, Evidence]]:
    """The outcome of a page whose data changed. A revisit's fingerprint rests on the first data: it is left out."""
    if outcome.result not in (Result.OK, Result.NOT_MODIFIED):
        return outcome, change
    return outcome._replace(fingerprint=None) if again else outcome, (Change.CHANGED, Evidence.BYTES)


def _error_pages(store: FrontierStore, capture: int) -> frozenset[str]:
    """The contents of a capture's error pages that came with status 200."""
    if not shown_by(store.captures()[capture].notes):
        return frozenset()
    probes = (url.visits for url in store.urls(capture) if url.page.kind is Kind.PROBE and shows_errors(url.page.url))
    shown = (content_of(visit.outcome) for visits in probes for visit in visits if visit.outcome.result is Result.OK)
    return frozenset(map(without_address, filter(None, shown)))


def _observation(
    site: str,
    row: PageRow,
    outcome: Outcome,
    change: tuple[Change, Evidence],
    lastmod: Hints | None,
    document: Document | None,
) -> Observation:
    return Observation(
        site,
        _url(row),
        outcome.started,
        outcome.result,
        *change,
        outcome.digest if _shown(outcome) else None,
        outcome.fingerprint,
        outcome.validators.etag,
        http_date(outcome.validators.last_modified),
        lastmod.lastmod if lastmod else None,
        lastmod.lastmod_precision if lastmod else 0.0,
        row.kind,
        outcome.media_type,
        document,
        outcome.decoded if _shown(outcome) else None,
    )


def _lastmod(lastmods: Sequence[LastmodRow], visit: VisitRow) -> Hints | None:
    """The first lastmod read after a visit, if the change that it reports is the last one before the visit."""
    outcome = visit.outcome
    asked = min((one for one in lastmods if one.read >= outcome.ended), key=lambda one: one.read, default=None)
    if asked is None or asked.lastmod > outcome.ended:
        return None
    return Hints(asked.lastmod, asked.precision)


def _change(visit: VisitRow, judged: JudgementRow | None, before: str | None) -> tuple[Change, Evidence]:
    """Compare a revisit with its visit, and a visit with the former capture."""
    audited = judged is not None and judged.evidence.dated  # the audit judged the time up to T
    if visit.slot is Slot.SECOND and not audited:
        return (CHANGES[judged.verdict], judged.evidence) if judged else (Change.UNKNOWN, Evidence.NONE)
    outcome = visit.outcome
    if before is None or outcome.result is not Result.OK or (shown := _shown(outcome)) is None:
        return Change.UNKNOWN, Evidence.NONE
    change = Change.UNCHANGED if shown == before else Change.CHANGED
    return change, Evidence.VALIDATOR if outcome.status == NOT_MODIFIED else Evidence.BYTES
