"""After the faults: what sites' own access log, WARC files and states say of how the fleet behaved."""

from __future__ import annotations

import base64
import json
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from warcio.archiveiterator import ArchiveIterator

from sharc_crawler.certificate.verify import verify
from sharc_crawler.errors import SharcError
from sharc_crawler.model import Slot
from sharc_crawler.storage.beside import load_state

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from sharc_crawler.demo.site import LivingSite

_NUMBER = re.compile(rb"X-Number: (\d+)", re.IGNORECASE)
_EPOCH = re.compile(r"epoch-(\d+)")
_CLAIMED = re.compile(r"event=claimed site=\"([^\"]+)\" epoch=(\d+)")
DRIFT = 0.01  #: seconds that clocks may differ by in a delay


class Told(NamedTuple):
    """A line of the access log."""

    number: int
    time: float
    site: str
    peer: str
    target: str
    status: int


@dataclass
class Findings:
    """What was found; ``wrong`` is empty where the fleet kept its word."""

    wrong: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    figures: dict[str, float] = field(default_factory=Counter)

    def note(self, what: str, example: object) -> None:
        self.wrong[what] += 1
        self.examples.setdefault(what, str(example))


def access(log: Path) -> dict[str, list[Told]]:
    """The log by site, in the order of arrival."""
    found: dict[str, list[Told]] = defaultdict(list)
    for line in log.read_text().splitlines():
        fields = json.loads(line)
        if fault := fields.get("fault"):
            raise ValueError(f"{log}: a site was asked what it could not read: {fault}")
        row = Told(**fields)
        found[row.site].append(row)
    return found


def records(folder: Path) -> Iterator[tuple[str, int, int]]:
    """File, offset and number of each archived answer."""
    for path in sorted(folder.glob("*.warc.gz")):
        ids: dict[str, int] = {}
        with path.open("rb") as stream:
            every = ArchiveIterator(stream, no_record_parse=True)
            for record in every:
                block = record.raw_stream.read()
                head = record.rec_headers
                if record.rec_type in {"response", "revisit"}:
                    ids[head.get_header("WARC-Record-ID")] = every.get_record_offset()
                    if found := _NUMBER.search(block):
                        yield path.name, every.get_record_offset(), int(found[1])
                elif record.rec_type == "metadata" and (found := _NUMBER.search(_coded(block))):
                    yield path.name, ids[head.get_header("WARC-Concurrent-To")], int(found[1])


def _coded(block: bytes) -> bytes:
    found = re.search(rb"http-response-base64: (\S+)", block)
    return base64.b64decode(found[1]) if found else b""


def check(
    log: Path,
    folders: Mapping[str, Path],
    sites: Mapping[str, LivingSite],
    owners: Mapping[str, Mapping[int, str]],
) -> Findings:
    """All of it but delays.

    folders, sites: by name, as in the log; owners: by site and epoch, the address of who held it (empty: all are one's)
    """
    found = Findings()
    told = access(log)
    for name, folder in folders.items():
        _check_site(name, folder, sites[name], told.get(name, []), owners.get(name, {}), found)
    return found


def _check_site(name, folder, site, told, owners, found) -> None:
    if not (folder / "frontier.db").exists():
        found.note("a capture is not complete", name)
        return
    numbers = {(file, offset): number for file, offset, number in records(folder)}
    state = load_state(folder)
    times = {row.number: row.time for row in told}
    pages = {row.page: row for row in state.pages}
    visits: dict[tuple[int, Slot], int] = {}
    for visit in state.visits:
        ref = visit.outcome.capture
        found.figures["failed visits"] += not visit.finished
        number = numbers.get((ref.file, ref.offset)) if ref else None
        if visit.finished and visit.outcome.status and number is None:
            found.note("a visit that counts is not in a WARC file", (name, visit))
        elif visit.finished and number is not None:
            if (visit.page, visit.slot) in visits:
                found.note("a page was visited twice", (name, visit))
            visits[visit.page, visit.slot] = number
    _check_pages(name, site, state, pages, visits, times, found)
    _check_order(name, told, numbers, owners, found)
    try:
        findings = verify(folder).findings
    except SharcError as error:
        findings = [error]
    for finding in findings:
        found.note("a certificate does not verify", (name, finding))
    found.figures["requests"] += len(told)
    found.figures["visits kept"] += len(visits)
    found.figures["repeated"] += len(told) - len(set(visits.values()))


def check_delays(wire: Path, delay: float, found: Findings) -> None:
    """By the kernel's stamps of what arrived (wire.py), whoever sent it."""
    arrived: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in wire.read_text().splitlines():
        row = json.loads(line)
        arrived[row["site"]].append(row)
    count = sum(map(len, arrived.values()))
    if count < found.figures["requests"]:
        found.note("requests are missing among those on the wire", count)
    for rows in arrived.values():
        for before, after in pairwise(sorted(rows, key=itemgetter("time"))):
            gap = after["time"] - before["time"]
            shortest = found.figures.get("shortest gap, of the delay", 9.0)
            found.figures["shortest gap, of the delay"] = min(shortest, gap / delay)
            if gap < delay - DRIFT:
                found.note("the delay was undercut", (gap, before, after))


def _check_pages(name, site, state, pages, visits, times, found) -> None:
    captured = {path_of(pages[page].url) for page, _ in visits}
    for path in site.paths:
        if not path.startswith("/private/") and path not in captured:
            found.note("a page is missing", (name, path))
    if any(not str(row.phase).endswith("done") for row in state.captures.values()):
        found.note("a capture is not complete", name)
    for judgement in state.judgements:
        if judgement.page not in pages:
            continue
        path = path_of(pages[judgement.page].url)
        verdict = str(judgement.verdict).rpartition(".")[2].lower()
        ends = [times.get(visits.get((judgement.page, slot), -1)) for slot in (Slot.FIRST, Slot.SECOND)]
        if verdict == "unknown" or None in ends or path not in site.paths:
            continue
        found.figures["judgements compared"] += 1
        if (len(site.changes(path, *ends)) == 0) != (verdict == "coherent"):
            found.note("a judgement is not what the site's own log says", (name, path, verdict))


def _check_order(name, told, numbers, owners, found) -> None:
    """Nothing of an old owner comes after the first request of the new one."""
    epochs = {number: int(match[1]) for (file, _), number in numbers.items() if (match := _EPOCH.search(file))}
    latest = 0
    for row in told:
        epoch = epochs.get(row.number)
        if epoch is None:  # in flight when something broke: of whoever may have been the owner
            own = sorted(one for one, peer in owners.items() if peer == row.peer)
            epoch = next((one for one in own if one >= latest), own[-1] if own else latest)
        if epoch < latest:
            found.note("an old owner asked after the new one", (name, row, epoch, latest))
        latest = max(latest, epoch)


def path_of(url: str) -> str:
    return "/" + url.split("/", 3)[3]


def owners_of(logs: Mapping[str, Path]) -> dict[str, dict[int, str]]:
    """By site and epoch the address of its owner, from the workers' own logs; these by address."""
    found: dict[str, dict[int, str]] = defaultdict(dict)
    for peer, log in logs.items():
        for site, epoch in _CLAIMED.findall(log.read_text()):
            found[site][int(epoch)] = peer
    return found
