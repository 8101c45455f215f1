"""A year of the policy pages of `ota-contrib-2012-2023.jsonl.gz` (Open Terms Archive) as one site's change history.

    python benchmarks/policy_history.py ota-contrib-2012-2023.jsonl.gz 2023 ota-2023.csv.gz

No figure was chosen by it. Changes are updates (U); a technical extraction (T) is none. It has no links: what
`bench_expected.py` asks of a history is in it.
"""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import json
import sys
from typing import Any

from sharc_crawler.lab.history import COLUMNS

YEAR = 365 * 86_400


def row(page: str, events: list[list[Any]], start: float, end: float) -> list[object] | None:
    """Its line; None: it was not there in the year."""
    born = min(event[0] for event in events)
    gone = [event[0] for event in events if event[1] == "X"]
    if born >= end or any(at < start for at in gone):
        return None
    until = min((at for at in gone if at < end), default=end)
    updates = sorted(event[0] for event in events if event[1] == "U" and event[0] > born)
    past = [at for at in updates if start - YEAR <= at < start]
    changes = [at for at in updates if start <= at < until]
    name = page.replace(" ", "_").replace(",", "_")
    deleted = until if until < end else ""
    return [name, born, int(born < start), deleted, ";".join(map(str, past)), ";".join(map(str, changes))]


def main() -> None:
    source, year, target = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    start, end = (dt.datetime(one, 1, 1, tzinfo=dt.UTC).timestamp() for one in (year, year + 1))
    with gzip.open(source, "rt") as lines, gzip.open(target, "wt", newline="") as file:
        table = csv.writer(file)
        table.writerow(COLUMNS)
        records = (json.loads(line) for line in lines)
        table.writerows(one for record in records if (one := row(record["page"], record["events"], start, end)))


if __name__ == "__main__":
    main()
