"""Further captures into a collection, beside the first: requests, bytes and time where 1 % of the pages were edited.

    python benchmarks/second_capture.py /tmp/second [documentation mediawiki …] [--pages 100] [--masks] [--captures 2]

`documentation` is Debian's python3-doc behind `python -m http.server` (Last-Modified, 304); the others are the stock
programs of ``cms.py``, as Debian packages them, filled with so many pages. Edited are one page in a hundred, at least
one. Bytes are
those of answers' bodies, as they came. A wiki's page that is edited changes others, too: listings, and what shows the
last edit.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cms import ADDRESS, KNOWN, Site, answers, free_port, running

from sharc_crawler.collection.folder import Collection
from sharc_crawler.storage.beside import load_state

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCUMENTATION = Path("/usr/share/doc/python3.11/html")
ONE_IN = 100


@contextmanager
def documentation(folder: Path, port: int, _number: int) -> Iterator[Site]:
    root = folder / "site"
    shutil.copytree(DOCUMENTATION, root, symlinks=False, ignore_dangling_symlinks=True)
    made = sorted((root / "library").glob("*.html"))

    def edit(place: int) -> None:
        path = made[place * 7 % len(made)]
        path.write_bytes(path.read_bytes().replace(b"</h1>", b" EDITED</h1>", 1))

    command = [sys.executable, "-m", "http.server", "--bind", ADDRESS, "-d", str(root), str(port)]
    with running(command, folder / "server.log", lambda: answers(port)):
        yield Site(f"http://{ADDRESS}:{port}/index.html", edit, lambda place: made[place * 7 % len(made)].name, [])


def capture(url: str, kept: Path, more: list[str]) -> dict[str, Any]:
    """What a capture into the collection took, and what it claims."""
    command = [
        sys.executable, "-m", "scrapy", "crawl", "site", "-a", f"collection={kept}", "-a", f"url={url}", "-a",
        "delay=0", "-s", "LOG_LEVEL=WARNING", *more,
    ]  # fmt: skip
    began = time.monotonic()
    environment = os.environ | {"SCRAPY_PROJECT": "demo"}
    done = subprocess.run(
        command, cwd=Path(__file__).parent.parent, env=environment, capture_output=True, text=True, timeout=1500
    )
    if done.returncode:
        raise SystemExit(f"{url}: {done.stdout[-1500:]}\n{done.stderr[-1500:]}")
    seconds = time.monotonic() - began
    folder = list(Collection(kept).captures())[-1].folder
    state = load_state(folder)
    visits = [one for one in state.visits if one.attempt]  # the others were taken of a former capture
    kinds = {one.page: one.kind.value for one in state.pages}
    parts = Counter[str]()
    for one in visits:
        failed = one.outcome.status not in (200, 304)
        parts[f"status {one.outcome.status}" if failed else kinds[one.page]] += one.outcome.length
    totals = json.loads((folder / "report.json").read_text())["captures"][0]["coherence"]
    return {
        "requests": len(visits),
        "bytes": sum(one.outcome.length for one in visits),
        "parts": ", ".join(f"{kind} {size:,}" for kind, size in parts.most_common() if size),
        "told": sum(one.outcome.status == 304 for one in visits),
        "seconds": seconds,
        "warc": sum(path.stat().st_size for path in folder.glob("*.warc.gz")),
        "pages": totals["captured"],
        "coherent": totals["coherent"],
    }


def take_masks(kept: Path) -> None:
    """What the first capture learned is taken over by the next one."""
    with (kept / "collection.yaml").open("a") as out:
        out.write("defaults: {masks: auto}\n")


def tell(name: str, number: int, one: dict[str, Any], first: dict[str, Any]) -> dict[str, Any]:
    """A line of the table."""
    share = "" if one is first else f" ({one['bytes'] / first['bytes']:.1%})"
    cells = (
        name, number, one["pages"], one["coherent"], f"{one['requests']:,}", f"{one['told']:,}",
        f"{one['bytes']:,}{share}", one["parts"], f"{one['warc']:,}", f"{one['seconds']:.0f}",
    )  # fmt: skip
    print(f"| {' | '.join(map(str, cells))} |", flush=True)
    return one


def main() -> None:
    """Print a Markdown table."""
    every = {"documentation": documentation, **KNOWN}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", default=list(every), help=" ".join(every))
    parser.add_argument("--pages", type=int, default=100)
    parser.add_argument("--captures", type=int, default=2)
    parser.add_argument("--masks", action="store_true", help="masks: auto")
    given, more = parser.parse_known_args()
    print(
        "| site | capture | pages | coherent | requests | of these 304 | bytes of bodies | of what | WARC | seconds |"
    )
    print("|" + "---|" * 10)
    for name in given.names:
        folder = given.folder.resolve() / name
        folder.mkdir(parents=True, exist_ok=True)
        with every[name](folder / "made", free_port(), given.pages) as (url, edit, _, words):
            first = tell(name, 1, one := capture(url, folder / "kept", [*words, *more]), one)
            few = max(1, first["pages"] // ONE_IN)
            if given.masks:
                take_masks(folder / "kept")
            for number in range(2, given.captures + 1):
                for place in range(few):
                    edit(number * few + place)
                time.sleep(2)  # a Last-Modified within a second of its answer is no validator
                tell(name, number, capture(url, folder / "kept", [*words, *more]), first)
        command = [Path(sys.executable).with_name("sharc"), "verify", folder / "kept"]
        told = subprocess.run(command, capture_output=True, text=True, timeout=900)
        print(told.stdout.splitlines()[0], file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
