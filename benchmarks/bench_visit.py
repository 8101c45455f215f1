"""Which functions of the package one visit takes in the crawl's process.

    python benchmarks/bench_visit.py [--list]

A site of a few pages on loopback is captured by `scrapy crawl site` in this process, under a profiler that notes each
call. Counted are distinct functions and their modules, from the end of a first visit (`Frontier.finished`) to that of
the next: the median of three, and what all three take. What is done once a second falls into more visits on a busy
machine, so the second figure is the steadier one. Writer and readers are processes of their own, and not counted.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import threading
from contextlib import suppress
from http.server import ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.bench_startup import SETTINGS, Site

if TYPE_CHECKING:
    from types import FrameType

ROOT = Path(__file__).parents[1]
PACKAGE = f"{ROOT}/sharc_crawler/"
COUNTED = slice(1, 4)  #: visits of the five: neither the first nor the last
END = ("frontier/frontier.py", "Frontier.finished")

Call = tuple[str, str]


def calls_of_a_capture(folder: Path) -> list[Call]:
    """Module and name of each function of ours, as often as it is called, while a site is captured."""
    from scrapy.cmdline import execute  # once the settings are there

    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    server.first = threading.Event()  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    found: list[Call] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE):
            found.append((code.co_filename.removeprefix(PACKAGE), code.co_qualname))

    arguments = {"url": f"http://127.0.0.1:{server.server_port}/0", "sitemap": "off", "output": folder / "c"}
    words = [word for name, value in arguments.items() for word in ("-a", f"{name}={value}")]
    sys.setprofile(note)
    with suppress(SystemExit):
        execute(["scrapy", "crawl", "site", *words])
    sys.setprofile(None)
    server.shutdown()
    return found


def visits(calls: list[Call]) -> list[set[Call]]:
    """The functions of each visit; comprehensions and lambdas are parts of theirs."""
    ends = [at for at, call in enumerate(calls) if call == END]
    named = [{call for call in calls[a:b] if "<" not in call[1].split(".")[-1]} for a, b in pairwise(ends)]
    return named[COUNTED]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="what all three take, module by module")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "visit_settings.py").write_text(SETTINGS)
        sys.path.insert(0, name)
        os.environ |= {"SCRAPY_SETTINGS_MODULE": "visit_settings", "PYTHONPATH": os.pathsep.join([name, str(ROOT)])}
        found = visits(calls_of_a_capture(Path(name)))
    rooms = ["", *sorted({module.split("/")[0] for visit in found for module, _ in visit if "/" in module})]
    for room in rooms:
        those = [{call for call in visit if call[0].startswith(f"{room}/" if room else "")} for visit in found]
        functions = statistics.median(len(visit) for visit in those)
        modules = statistics.median(len({module for module, _ in visit}) for visit in those)
        each = set.intersection(*those)
        of_each = f"in each {len(each)} in {len({module for module, _ in each})}"
        print(f"{room or 'all'}: {functions:g} functions in {modules:g} modules; {of_each}")
    if args.list:
        print("\n".join(f"{module} {function}" for module, function in sorted(set.intersection(*found))))


if __name__ == "__main__":
    main()
