"""How long certifying and verifying a large capture takes, beside ``warcio check`` of the same files.

    python benchmarks/bench_certificate.py                    # 20,000 pages, a table
    python benchmarks/bench_certificate.py --pages 100000 --json

Every page is visited and revisited: half of the revisits bring equal bytes, a quarter a 304, a quarter other bytes. The
bodies are 4 KB of text. Seconds are of the processor; memory is the peak of the process.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from sharc_crawler.archive.options import Original
from sharc_crawler.archive.warc import WarcWriter
from sharc_crawler.archive.warcinfo import CaptureInfo
from sharc_crawler.certificate.verify import verify
from sharc_crawler.certificate.writing import certify
from sharc_crawler.changes.http import parse_response
from sharc_crawler.evidence.facts import CaptureFacts, PageFacts, VisitFacts
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.model import Exchange, Kind, Result, Slot, Url, Verdict
from sharc_crawler.report.packaging import package

START = 1_795_000_000.25
SAME = b'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\n\r\n'
REQUEST = b'GET / HTTP/1.1\r\nHost: example.org\r\nIf-None-Match: "1"\r\n\r\n'


def body(number: int, state: int) -> bytes:
    words = b" ".join(b"%d" % (number * 7919 + state + word * word * 31 % 10_007) for word in range(700))
    head = b'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nETag: "1"\r\nContent-Length: 4000\r\n\r\n'
    return head + words[:4000].ljust(4000)


def make(folder: Path, pages: int) -> CaptureFacts:
    """The WARC files and the facts of a capture."""
    facts, reference = [], START + pages

    def fetched(number: int, at: float, response: bytes, slot: Slot, original: Original | None = None) -> VisitFacts:
        exchange = Exchange(f"http://example.org/{number}", at, at + 0.1, REQUEST, response, "127.0.0.1")
        ref = out.write_revisit(exchange, original) if original else out.write(exchange)
        place = f"{ref.file}:{ref.offset}"
        if original:
            return VisitFacts(slot, Result.NOT_MODIFIED, at, at + 0.1, 304, warc=place)
        return VisitFacts(slot, Result.OK, at, at + 0.1, 200, parse_response(response).digest, warc=place)

    with WarcWriter(folder, "example.org", "run", CaptureInfo("bench", "nobody", "obey", "bfs")) as out:
        visits = [fetched(number, START + number, body(number, 0), Slot.FIRST) for number in range(pages)]
        for number, visit in enumerate(visits):
            at, url = reference + number, f"http://example.org/{number}"
            verdict, evidence, reason = Verdict.COHERENT, Evidence.BYTES, Reason.EQUAL_BYTES
            if number % 4 == 0:
                original = Original(url, visit.started, visit.digest)
                revisit = fetched(number, at, SAME, Slot.SECOND, original)
                evidence, reason = Evidence.VALIDATOR, Reason.NOT_MODIFIED
            else:
                revisit = fetched(number, at, body(number, number % 4 == 1), Slot.SECOND)
            if number % 4 == 1:
                verdict, reason = Verdict.CHANGED, Reason.OTHER_BYTES
            facts.append(
                PageFacts(Url(url), Kind.PAGE, "seed", 0, 0.0, "prior",
                          visit=visit, revisit=revisit, verdict=verdict, evidence=evidence, reason=reason)
            )  # fmt: skip
    warcs = tuple(sorted(path.name for path in folder.glob("*.warc.gz")))
    return CaptureFacts(
        "example.org", ("http://example.org/0",), "bfs", START, reference + pages, reference, tuple(facts), warcs=warcs
    )


def processor() -> float:
    """Seconds of this process, and of those that it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def timed(what: str, action, rows: list[dict[str, object]], size: int, records: int):
    clock, cpu = time.perf_counter(), processor()
    result = action()
    seconds, spent = time.perf_counter() - clock, processor() - cpu
    rows.append({
        "step": what, "seconds": round(seconds, 2), "processor": round(spent, 2),
        "records/s": round(records / seconds), "MB/s": round(size / seconds / 1e6, 1),
        "peak MB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000),
    })  # fmt: skip
    return result


def check(folder: Path) -> None:
    """The peer: every digest of every record, nothing else."""
    files = sorted(map(str, folder.glob("*.warc.gz")))
    subprocess.run([sys.executable, "-m", "warcio.cli", "check", *files], check=True, stdout=subprocess.DEVNULL)


def run(pages: int) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        facts = make(folder, pages)
        size = sum(path.stat().st_size for path in folder.glob("*.warc.gz"))
        records = 4 * pages + pages // 4
        timed("certify", lambda: certify([facts], folder), rows, size, records)
        found = timed("verify", lambda: verify(folder), rows, size, records)
        assert found.findings == [], found.findings[:3]
        timed("warcio check", lambda: check(folder), rows, size, records)
        path = timed("package", lambda: package(folder, [facts]), rows, size, records)
        timed("verify the WACZ", lambda: verify(path), rows, size, records)
        rows.append(
            {
                "pages": pages,
                "WARC bytes": size,
                "certificate bytes": sum(path.stat().st_size for path in folder.glob("certificate*")),
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    rows = run(arguments.pages)
    print(json.dumps(rows, indent=1) if arguments.json else "\n".join(map(str, rows)))


if __name__ == "__main__":
    main()
