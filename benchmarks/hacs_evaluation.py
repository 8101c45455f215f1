"""Rankers on captures drawn from records of link additions, whose true times are known: docs/hacs-evaluation.md.

    python benchmarks/hacs_evaluation.py ota-contrib-2012-2023.jsonl.gz -o docs

As `sharc seeds evaluate` measures histories: in each regime of captures, for homepages and websites, with technical
events ignored and counted; θ is chosen on 2022, and 2023 is scored.
"""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.link_additions import REGIMES, read_records, sampled
from sharc_crawler.cli.seeds.evaluate import studies, write

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sharc_crawler.cli.seeds.evaluate import Histories

PREFACE = """# HACS measured

Written by `benchmarks/hacs_evaluation.py`; what the columns mean is said in [hacs.md](hacs.md)."""


def recorded(file: Path, draws: int) -> Iterator[tuple[str, list[Histories]]]:
    """Every regime of captures, level and meaning of technical events."""
    for website, technical, regime in product((False, True), (False, True), REGIMES):
        records = read_records(file, technical=technical)
        title = f"{regime.capitalize()}, {'website' if website else 'homepage'}" + ", T counted" * technical
        yield title, [sampled(records, regime, website=website, draw=draw) for draw in range(draws)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=Path("docs"))
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--weeks", type=int, default=12)
    args = parser.parse_args()
    instants = [datetime(year, 1, 1, tzinfo=UTC).timestamp() for year in (2022, 2023, 2024)]
    write(
        list(studies(list(recorded(args.records, args.draws)), instants, range(1, args.weeks + 1))),
        args.output,
        PREFACE,
    )


if __name__ == "__main__":
    main()
