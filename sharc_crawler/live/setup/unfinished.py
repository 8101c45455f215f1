"""| An output folder with a capture that was begun: refused if this crawl cannot continue it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import NamedTuple

from sharc_crawler.archive.files import SUFFIX
from sharc_crawler.archive.warc_file import in_use
from sharc_crawler.errors import UsageError
from sharc_crawler.live.former.continuing import as_given
from sharc_crawler.live.setup.stored_captures import is_whole
from sharc_crawler.model import EMBEDDED, Kind, PageId, Phase, Result, Seconds, Slot
from sharc_crawler.report.words import collected
from sharc_crawler.state.rows import Batch, CaptureRow
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.beside import open_state
from sharc_crawler.storage.folders import RUNNING, capture_folders, site_folders
from sharc_crawler.storage.opening import holds_state
from sharc_crawler.storage.trying_again import unreached

EACH_RUN = "SHARC_OUTPUT=captures/%(name)s/%(time)s"  #: how a project gets a folder for each run
MOMENT: Seconds = 3.0  #: in which the writing process of a killed crawl has ended
#: fields that must not change when a capture is continued; captures stay valid under all others
SAME = ("mode", "seeds", "scope", "sitemaps", "size", "limit", "hops", "traps", "audit", "skip", "subsites", "session")


@dataclass(frozen=True, slots=True)
class OwnSpider:
    """A project's own spider: may it ``resume``, and what is it ``lacking`` of what was kept?"""

    name: str
    resume: bool
    lacking: Callable[[Mapping[str, str]], str] = lambda _: ""


def check_output(output: Path, wanted: Sequence[CaptureSpec] | OwnSpider, bounds: Mapping[str, float]) -> None:
    """Raise UsageError for a folder whose capture this crawl cannot continue, or not within these ``bounds``."""
    if (folders := site_folders(output)) is not None:
        _check_sites(output, folders, wanted, bounds)
        return
    if not output.is_dir() or not holds_state(output):
        return
    if _check_one(output, wanted, bounds):
        raise _complete(output, project=isinstance(wanted, OwnSpider))


def _complete(output: Path, *, project: bool) -> UsageError:
    way_out = f", or one for each run: {EACH_RUN}" if project else "; or keep several together: -a collection=FOLDER"
    held = f"output={str(output)!r} already holds a capture that is complete"
    return UsageError(f"{held}; choose another folder{way_out}")


def _check_sites(
    output: Path, folders: Mapping[str, Path], wanted: Sequence[CaptureSpec] | OwnSpider, bounds: Mapping[str, float]
) -> None:
    """Check a folder with captures of several sites."""
    held = few(folders)
    if isinstance(wanted, OwnSpider) or {spec.site for spec in wanted} != set(folders):
        raise UsageError(
            f"output={str(output)!r} holds the captures of {held}, which only the same command resumes; give the"
            " folder of one of them to go on with it alone, or choose another folder"
        )
    there = {spec.site: [spec] for spec in wanted if folders[spec.site].is_dir()}
    if not there:
        raise UsageError(f"output={str(output)!r}: the folders of {held} were moved elsewhere; choose another folder")
    complete = [holds_state(folders[site]) and _check_one(folders[site], own, bounds) for site, own in there.items()]
    if all(complete):
        raise _complete(output, project=False)


def _check_one(output: Path, wanted: Sequence[CaptureSpec] | OwnSpider, bounds: Mapping[str, float]) -> bool:
    """Check the folder of one capture (or spider); ``True``: it is complete."""
    _require_unwritten(output)
    with open_state(output) as store:
        captures = store.captures().values()
        complete = all(row.phase is Phase.DONE for row in captures) and not (output / RUNNING).exists()
        less = not complete and any(narrowed(row, bounds) for row in captures)
        # All of it is read only if that decides, as there may be much.
        whole = complete or less or isinstance(wanted, OwnSpider)
        state = store.load() if captures and whole else Batch()
    if not captures:
        return False
    held = {row.spec.site for row in captures}
    if complete and not unreached(state):
        return True
    unfinished = f"output={str(output)!r} holds an unfinished capture of {', '.join(sorted(held))}"
    if isinstance(wanted, OwnSpider):
        others = {str(row.spec.settings.get("spider", wanted.name)) for row in captures} - {wanted.name}
        _check_going_on(unfinished, others, resume=wanted.resume, kept=bool(state.kept))
        if lack := wanted.lacking(state.kept):
            raise UsageError(
                f"{unfinished}, and {lack}: give it back, and the same command resumes it; or choose another folder"
            )
    else:
        if {spec.site for spec in wanted} != held:
            raise UsageError(f"{unfinished}, which only the same command resumes; {_way_out(output)}")
        begun = {row.spec.site: row.spec for row in captures}
        for spec in wanted:
            if other := _changed_field(begun[spec.site], spec):
                raise UsageError(f"{unfinished}, {other}; {_way_out(output)}")
    for row in captures if less else ():
        check_bounds(row, bounds, state, output)
    return False


def _way_out(output: Path) -> str:
    return f"give it as before, or {f'move {output} away to begin anew' if collected(output) else 'another folder'}"


def _changed_field(begun: CaptureSpec, given: CaptureSpec) -> str:
    """The first field that differs from the begun capture, in words; "": none."""
    for name in SAME:
        was, now = getattr(begun, name), getattr(given, name)
        if was != now:
            argument, before = _as_argument(name, was)
            return f"begun with {argument}={before}, not {_as_argument(name, now)[1]}"
    return ""


def _check_going_on(unfinished: str, others: set[str], *, resume: bool, kept: bool) -> None:
    """Raise UsageError if a project's own spider may not go on; ``others``: spiders that began the capture."""
    if kept and others:
        raise UsageError(
            f"{unfinished} by the spider {few(others)}, which alone goes on with it; choose another folder, or one for"
            " each spider: SHARC_OUTPUT='captures/%(name)s'"
        )
    if kept and not resume:
        raise UsageError(
            f"{unfinished}, begun with SHARC_RESUME=True: give that again to go on, or choose another folder"
        )
    if not kept:
        raise UsageError(
            f"{unfinished}, and a project's own spider goes on only where it began with SHARC_RESUME=True; choose"
            f" another folder{'' if resume else f', or one for each run, as {EACH_RUN}'}"
        )


def check_rebuilding(
    output: Path, specs: Sequence[CaptureSpec], bounds: Mapping[str, float], *, collected: bool = False
) -> None:
    """Raise UsageError where state cannot be made again: there is some, or no WARC files of these ``specs``.

    State that the same command made, before it was cut off, is continued. ``collected``: former captures are at hand.
    """
    from sharc_crawler.archive.recorded import archived  # rarely needed
    from sharc_crawler.live.former.rebuilding import check, was_made_again

    folders = capture_folders(output)
    lost = [folder for folder in folders if not is_whole(folder)]
    if folders and not lost and any(map(was_made_again, folders)):
        check_output(output, specs, bounds)
        return
    if folders and not lost:
        raise UsageError(f"resume='rebuild': the state in output={str(output)!r} can be read; leave it out to go on")
    if not any(any(folder.glob(f"*{SUFFIX}*")) for folder in lost):
        # a damaged file could not be used for a new capture either
        way_out = "choose another folder" if any(map(holds_state, lost)) else "leave it out to begin"
        raise UsageError(f"resume='rebuild': output={str(output)!r} holds no WARC files; {way_out}")
    for folder in lost:
        _require_unwritten(folder)
        check(folder, specs)
        if not collected and any(file.confirms for file in archived(folder, f"*{SUFFIX}*")):
            raise UsageError(
                f"resume='rebuild': output={str(folder)!r} refers to answers in former captures of its collection:"
                " give that, too (collection=DIR)"
            )


def _require_unwritten(output: Path) -> None:
    """Raise UsageError if another process still writes there; that of a killed crawl ends by itself in a moment."""
    patience = monotonic() + MOMENT
    while (written := in_use(output)) and monotonic() < patience:
        sleep(0.02)
    if written:
        raise UsageError(f"output={str(output)!r} is being written by another crawl ({written.name}); wait for its end")


def few(sites: Iterable[str], most: int = 5) -> str:
    """The first of some names, and how many more there are.

    >>> few(["b.example", "a.example"]), few("abcdefg")
    ('a.example, b.example', 'a, b, c, d, e and 2 more')
    """
    names = sorted(sites)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _as_argument(name: str, value: object) -> tuple[str, str]:
    """The argument of a field and its value, as users give them.

    >>> _as_argument("sitemaps", None), _as_argument("sitemaps", ()), _as_argument("limit", 9)
    (('sitemap', 'auto'), ('sitemap', 'off'), ('limit', '9'))
    >>> _as_argument("session", "")
    ('session', '(none)')
    """
    if name != "sitemaps":
        return name, as_given(value) or "(none)"
    return "sitemap", "auto" if value is None else as_given(value) if value else "off"


# -- what a begun capture has spent: a smaller budget would leave no room for its revisits -----------------------------


_REVISITED = EMBEDDED | {Kind.PAGE}


class Spent(NamedTuple):
    """What a site capture has spent, and roughly what its revisits will take."""

    requests: int
    size: int  #: bytes
    ran: Seconds
    revisits: int  #: pages and resources waiting for theirs
    due_size: int
    sitemaps: int  #: that may be read again

    def least(self) -> dict[str, tuple[float, float, str]]:
        """For each bound: what is spent, the least that leaves room for the revisits, and the unit."""
        pace = self.ran / max(1, self.requests)
        reads = self.revisits + (self.sitemaps if self.revisits else 0)
        return {
            "max_requests": (self.requests, self.requests + reads, ""),
            "max_bytes": (self.size, self.size + self.due_size, "B"),
            "max_time": (round(self.ran), round(self.ran + pace * reads), "s"),
        }


def spent(row: CaptureRow, state: Batch) -> Spent:
    """What one of a store's captures has spent."""
    kinds = {page.page: page.kind for page in state.pages if page.capture == row.capture}
    made = [one for one in state.visits if one.attempt and one.page in kinds and one.outcome.started >= row.started]
    sizes: dict[PageId, int] = {}
    for visit in made:
        if visit.slot is Slot.SECOND:
            sizes.pop(visit.page, None)
        elif visit.finished and visit.slot is Slot.FIRST and visit.outcome.result is Result.OK:
            sizes[visit.page] = visit.outcome.length
    due = [length for page, length in sizes.items() if kinds[page] in _REVISITED]
    paused = sum(end - start for start, end in row.interruptions if start >= row.started)
    return Spent(
        requests=len(made),
        size=sum(visit.outcome.length for visit in made),
        ran=max((visit.outcome.ended for visit in made), default=row.started) - row.started - paused,
        revisits=len(due),
        due_size=sum(due),
        sitemaps=sum(kinds[page] is Kind.SITEMAP for page in sizes),
    )


def narrowed(row: CaptureRow, bounds: Mapping[str, float]) -> list[str]:
    """The bounds that are smaller than those the capture began with."""
    was = {name: getattr(row.spec, name) for name in bounds}
    return [name for name, bound in bounds.items() if bound and (not was[name] or bound < was[name])]


def check_bounds(row: CaptureRow, bounds: Mapping[str, float], state: Batch, output: Path) -> None:
    """Raise UsageError for a smaller budget that leaves no room for the revisits of visited pages."""
    found = spent(row, state)
    for name in narrowed(row, bounds):
        used, least, unit = found.least()[name]
        if bounds[name] < least or bounds[name] <= used:
            due = f", and the revisits that are due take {least - used:,.10g}{unit} more" if found.revisits else ""
            before = f"{name}={was:.10g}, as before" if (was := getattr(row.spec, name)) else "none, as before"
            raise UsageError(
                f"{name}={bounds[name]:.10g}{unit} is too little to go on with the capture in output={str(output)!r}:"
                f" {used:,.10g}{unit} are used{due}. Give {name}={max(least, used + 1):.10g} or more, or {before}"
            )
