"""| ``index.json``: the captures of a collection in a few figures; only new ones are compared."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from os import scandir
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sharc_crawler import __version__
from sharc_crawler.archive.files import SUFFIX
from sharc_crawler.certificate.confirming import confirmation_of
from sharc_crawler.certificate.fixity import NAME as CERTIFICATE
from sharc_crawler.certificate.names import CONFIRMATION, CONFIRMED
from sharc_crawler.collection.comparing import COUNTED, Captured, compared, contents
from sharc_crawler.collection.distrust import distrusted
from sharc_crawler.errors import MALFORMED, DataError, SharcError
from sharc_crawler.instants import iso
from sharc_crawler.report.claim import in_words
from sharc_crawler.report.words import printable, short
from sharc_crawler.report.write import DATA

if TYPE_CHECKING:
    from sharc_crawler.collection.folder import CollectedCapture, Collection

    Entry = dict[str, Any]

FORMAT, VERSION = "sharc-collection", 4
INDEX = "index.json"
_TOTALS = ("captured", "coherent", "changed", "unknown", "not_captured")
_ENTRY = {"folder", "stamp", "former", "changes", "time", "complete", "certified", "reference", "statement", "totals"}
_ENTRY |= {"bytes", "seed", "problem", "left", "left_by_budget"}
UNREPORTED = "no report yet; it runs, or was cut off"


def overview(
    collection: Collection, progress: Callable[[int], None] = lambda _: None, *, anew: bool = False
) -> dict[str, Any]:
    """The content of ``index.json``. Comparisons of unchanged captures are taken from the former index, unless
    ``anew``.

    Claims are always read from report and certificate. ``progress`` gets the number of captures done. A capture that
    cannot be read is reported in its entry.
    """
    known = {} if anew else _known(collection.folder / INDEX)
    done, by_site = 0, defaultdict[str, list[dict[str, Any]]](list)
    for site, captures in _by_site(collection):
        entries = _SiteEntries(known)
        for capture in captures:
            by_site[site].append(entries.entry(capture, collection.folder))
            done += 1
            progress(done)
    names = {terms.name: terms for terms in collection.terms.sites}
    return {
        "format": FORMAT,
        "version": VERSION,
        "generator": {"name": "sharc-crawler", "version": __version__},
        "title": collection.terms.title or collection.folder.resolve().name,
        "sites": [
            {
                "name": name,
                "site": names[name].site if name in names else _site_of(by_site[name]) or name,
                "urls": list(names[name].urls) if name in names else [],
                "distrusted": _distrusted(collection, name),
                "captures": by_site[name],
            }
            for name in dict.fromkeys([*names, *by_site])
        ],
    }


def _distrusted(collection: Collection, name: str) -> dict[str, Any] | None:
    """Why a site's server is asked in full, or why that cannot be read."""
    try:
        return distrusted(collection.folder, name, collection.masks(name))
    except DataError as error:
        return {"words": printable(str(error))}


def _site_of(entries: Sequence[Entry]) -> str:
    """The host and port of the last capture's first seed; "": unknown."""
    return next((urlsplit(entry["seed"]).netloc for entry in reversed(entries) if entry["seed"]), "")


class _SiteEntries:
    """The captures of a site, oldest first, each compared with the last one with pages before it."""

    def __init__(self, known: Mapping[str, Entry]) -> None:
        self._known = known
        self._former: CollectedCapture | None = None
        self._contents: Captured | None = None  #: of the former; ``None``: not read yet

    def entry(self, capture: CollectedCapture, root: Path) -> Entry:
        name = capture.folder.relative_to(root).as_posix()
        former = self._former.folder.relative_to(root).as_posix() if self._former else None
        stamp = _stamp(capture.folder)
        entry = {**_summary(capture), "folder": name, "stamp": stamp, "former": former, "changes": None}
        held = self._known.get(name)
        known = held is not None and (held["stamp"], held["former"], held["problem"]) == (stamp, former, None)
        if held is not None and known:
            entry |= {"changes": held["changes"], "left": held["left"]}
        if entry["complete"] and entry["totals"]["captured"]:  # an incomplete one does not show what is gone
            if known:
                self._former, self._contents = capture, None
            else:
                self._compare(capture, entry)
        return entry

    def _compare(self, capture: CollectedCapture, entry: Entry) -> None:
        try:
            if self._former and self._contents is None:
                self._contents = contents(self._former.folder)
            own = contents(capture.folder)
        except SharcError as error:
            entry["problem"] = printable(str(error))
            return
        if self._contents is not None:
            entry["changes"] = compared(self._contents, own)
        entry["left"] = own.left
        self._former, self._contents = capture, own


def _by_site(collection: Collection) -> Iterator[tuple[str, Iterator[CollectedCapture]]]:
    return ((name, collection.captures(name)) for name in collection.names())


def _known(index: Path) -> dict[str, Entry]:
    """The entries of a former index; none if it is of another version, or damaged."""
    try:
        found = json.loads(index.read_text(encoding="utf-8"))
        if (found["format"], found["version"]) != (FORMAT, VERSION):
            return {}
        entries = [entry for site in found["sites"] for entry in site["captures"]]
        return {entry["folder"]: entry for entry in entries if entry.keys() >= _ENTRY and _is_counted(entry)}
    except (OSError, *MALFORMED):
        return {}


def _is_counted(entry: Entry) -> bool:
    """Whether its stored fields are counts."""
    changes = entry["changes"]
    if changes is None:
        return isinstance(entry["left"], int)
    named = all(isinstance(url, str) for url in changes["named"])
    counted = all(isinstance(count, int) for count in (entry["left"], *(changes[name] for name in COUNTED)))
    return named and counted and changes.keys() == {*COUNTED, "named"}


def _stamp(folder: Path) -> list[int]:
    """Changes if report, certificate or confirmation are rewritten, or WARC files differ."""
    found = []
    for name in (DATA, CERTIFICATE, f"{CONFIRMATION}/{CONFIRMED}"):
        try:
            state = (folder / name).stat()
            found += [state.st_mtime_ns, state.st_size]
        except OSError:
            found += [0, 0]
    sizes = _sizes(folder).values()
    return [*found, len(sizes), sum(sizes)]


def _sizes(folder: Path) -> dict[str, int]:
    """The sizes of the WARC files."""
    with scandir(folder) as files:
        return {file.name: file.stat().st_size for file in files if SUFFIX in file.name}


def _damaged(folder: Path) -> str | None:
    """WARC files that are missing or not as long as certified, in words."""
    sizes = _sizes(folder)
    try:
        stated = {file["name"]: file["bytes"] for file in json.loads((folder / CERTIFICATE).read_bytes())["files"]}
    except (OSError, *MALFORMED):
        return None  # it has no certificate, or one that `sharc verify` finds damaged
    other = [name for name, size in stated.items() if sizes.get(name) != size]
    more = f" and {len(other) - 1:,} more" if len(other) > 1 else ""
    return f"{other[0]}{more} missing, or not as certified: sharc verify {folder}" if other else None


def _summary(capture: CollectedCapture) -> Entry:
    """A capture's report in short."""
    entry: Entry = {
        "time": iso(capture.time),
        "complete": False,
        "certified": (capture.folder / CERTIFICATE).exists(),
        "reference": None,
        "statement": UNREPORTED,
        "totals": None,
        "left": 0,
        "left_by_budget": None,
        "bytes": sum(_sizes(capture.folder).values()),
        "seed": None,
        "problem": None,
    }
    try:
        (report,) = json.loads((capture.folder / DATA).read_text(encoding="utf-8"))["captures"]
        stands = (confirmation_of(capture.folder) or {}).get("capture")
        totals = stands["totals"] if stands else report["coherence"]
        return {
            **entry,
            "complete": report["times"]["ended"] is not None,
            "reference": report["times"]["reference"],
            "statement": short((in_words(stands["claim"]) if stands else report["claim"])["statement"], 300),
            "totals": {name: totals[name] for name in _TOTALS},
            "left_by_budget": report["left_by_budget"],
            "seed": report["seeds"][0] if report["seeds"] else None,
            "problem": _damaged(capture.folder),
        }
    except FileNotFoundError:
        return entry
    except (OSError, DataError, *MALFORMED) as error:
        problem = f"its report cannot be read ({error}); make it again: sharc report {capture.folder}"
        return {**entry, "statement": "damaged", "problem": printable(problem)}
