"""A capture of any size on disk, by the code that a crawl writes with: WARC files, and a store with every page.

Pages have 5 KB and 20 links. Half of the revisits bring equal bytes, a quarter a 304, a quarter other bytes; pages that
are known and not visited were left by the budget. ``--cut``: killed when so many were visited, and none twice.
"""

from __future__ import annotations

import argparse
import math
import os
from pathlib import Path

from sharc_crawler.archive.options import Original
from sharc_crawler.archive.warc import WarcWriter
from sharc_crawler.archive.warcinfo import CaptureInfo
from sharc_crawler.changes.http import parse_response
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.live.monitoring.crawl_log import CrawlLog
from sharc_crawler.model import (
    CaptureRef,
    Document,
    Exchange,
    Kind,
    Outcome,
    Phase,
    Plan,
    Result,
    Slot,
    Validators,
    Verdict,
)
from sharc_crawler.state.lifecycle import State
from sharc_crawler.state.rows import Batch, CaptureRow, HostRow, JudgementRow, PageRow, VisitRow
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.opening import begin_state

START = 1_795_000_000.25
SITE = "http://example.org"
SIZE, LINKS, BATCH = 5_000, 20, 1_000
HEAD = b'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nETag: "%d"\r\nContent-Length: %d\r\n\r\n'
LEFT = "budget: max_requests=9 has no room left for it"
ASKED = b'GET %b HTTP/1.1\r\nHost: example.org\r\nIf-None-Match: "%d"\r\n\r\n'


def path_of(number: int) -> str:
    return f"/archive/{number % 40}/department/page-{number:07}"


def body(number: int, pages: int, state: int = 0) -> bytes:
    others = (number + 1, *(number * 7919 + other * 104_729 for other in range(LINKS - 1)))
    links = "".join(f"<li><a href='{path_of(other % pages)}'>{other}</a>\n" for other in others)
    words = "".join(f"<p>{word * word * 31 % 10_007 + state} words on {number}\n" for word in range(180))
    return f"<!doctype html><title>{number}</title><ul>{links}</ul>{words}".encode()[:SIZE].ljust(SIZE)


def answer(number: int, pages: int, state: int = 0) -> bytes:
    content = body(number, pages, state)
    return HEAD % (number, len(content)) + content


class Maker:
    """Writes a capture of so many known pages, of which the first so many are visited and revisited.

    ``cut``: it is never finished. ``site``: another than ``SITE``.
    """

    def __init__(self, folder: Path, known: int, visited: int, site: str = SITE, *, cut: bool = False) -> None:
        self._known, self._visited = known, visited
        self._folder, self._site, self._cut = folder, site, cut
        self._host = site.partition("//")[2]
        self._reference = START + visited
        self._store = begin_state(folder, "sqlite")
        self._out = WarcWriter(folder, self._host, "run", CaptureInfo("bench", "nobody", "obey", "bfs"))
        self._firsts: dict[int, tuple[str, CaptureRef]] = {}

    def make(self) -> None:
        self._commit(Batch(captures={0: self._capture(None)}, hosts={self._host: HostRow(self._host, None, 1.0)}))
        for start in range(0, self._known, BATCH):
            pages = [self._page(number) for number in range(start, min(start + BATCH, self._known))]
            self._commit(Batch(pages=pages))
        for slot in (Slot.FIRST,) if self._cut else (Slot.FIRST, Slot.SECOND):
            for start in range(0, self._visited, BATCH):
                numbers = range(start, min(start + BATCH, self._visited))
                visits = [self._visit(number, slot) for number in numbers]
                judged = [self._judgement(number) for number in numbers] if slot is Slot.SECOND else []
                self._out.sync()
                self._commit(Batch(visits=visits, judgements=judged))
        if self._cut:
            CrawlLog(self._folder, self._store, ["json"]).finish()
            os._exit(0)  # nothing is closed
        self._commit(Batch(captures={0: self._capture(self._reference + self._visited)}))
        self._out.close()
        self._store.close()

    def _commit(self, batch: Batch) -> None:
        self._store.commit(batch)

    def _capture(self, ended: float | None) -> CaptureRow:
        spec = CaptureSpec(self._host, (f"{self._site}{path_of(0)}",), "bfs", settings={"run": "run"})
        phase = Phase.VISIT if ended is None else Phase.DONE
        return CaptureRow(0, spec, phase, START, self._reference if ended else None, ended, ())

    def _page(self, number: int) -> PageRow:
        url, parent = f"{self._site}{path_of(number)}", (number - 1) // LINKS if number else -1
        depth = int(math.log(number * (LINKS - 1) + 1, LINKS)) if number else 0
        via = f"{self._site}{path_of(parent)}" if number else "seed"
        visited = number < self._visited
        state, reason = (State.QUEUED, "") if visited or self._cut else (State.LATE, LEFT)
        row = (number, 0, url, url, Kind.PAGE, self._host, depth, parent, via, state)
        return PageRow(*row, 1e-6 * (1 + number % 50), "prior", math.inf, 1.0, None, reason)

    def _visit(self, number: int, slot: Slot) -> VisitRow:
        again = slot is Slot.SECOND
        at = START + number + (self._visited + 0.5 if again else 0.0)
        if again and number % 4 == 0:
            outcome = self._not_modified(number, at)
        else:
            outcome = self._downloaded(number, at, int(again and number % 4 == 1))
        lease = number + again * self._visited + 1
        row = (number, slot, Plan.HOPEFUL, 1, True, lease)
        return VisitRow(*row, at - 0.01, outcome)

    def _exchange(self, number: int, at: float, response: bytes) -> Exchange:
        path = path_of(number)
        return Exchange(self._site + path, at, at + 0.1, ASKED % (path.encode(), number), response, "127.0.0.1")

    def _downloaded(self, number: int, at: float, state: int) -> Outcome:
        response = answer(number, self._known, state)
        digest = parse_response(response).digest
        ref = self._out.write(self._exchange(number, at, response))
        self._firsts.setdefault(number, (digest, ref))
        return Outcome(
            Result.OK, at, at + 0.1, status=200, digest=digest, fingerprint=digest[5:21], length=SIZE,
            validators=Validators(f'"{number}"'), media_type="text/html", document=Document(0, 0, LINKS), capture=ref,
        )  # fmt: skip

    def _not_modified(self, number: int, at: float) -> Outcome:
        digest, _ = self._firsts[number]
        head = b'HTTP/1.1 304 Not Modified\r\nETag: "%d"\r\n\r\n' % number
        original = Original(self._site + path_of(number), START + number, digest)
        ref = self._out.write_revisit(self._exchange(number, at, head), original)
        return Outcome(Result.NOT_MODIFIED, at, at + 0.1, status=304, capture=ref)

    def _judgement(self, number: int) -> JudgementRow:
        if number % 4 == 0:
            return JudgementRow(number, Verdict.COHERENT, Evidence.VALIDATOR, Reason.NOT_MODIFIED)
        if number % 4 == 1:
            return JudgementRow(number, Verdict.CHANGED, Evidence.BYTES, Reason.OTHER_BYTES)
        return JudgementRow(number, Verdict.COHERENT, Evidence.BYTES, Reason.EQUAL_BYTES)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--known", type=int, required=True)
    parser.add_argument("--visited", type=int, required=True)
    parser.add_argument("--site", default=SITE)
    parser.add_argument("--cut", action="store_true", help="killed before its end")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    Maker(args.folder, args.known, args.visited, args.site, cut=args.cut).make()


if __name__ == "__main__":
    main()
