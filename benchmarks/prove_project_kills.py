"""Kill the example projects at random moments, over and over, and prove that each goes on as if nobody had.

    python benchmarks/prove_project_kills.py [--kills 50] [--seed 1]

Both projects of `examples/` (log-in, forms, a pipeline; a CrawlSpider with images) run with ``SHARC_RESUME`` and are
killed (SIGKILL) after a few more items each time. At each end their items are those of a stock run, but that items of
requests in flight may be there twice: at most 8 for each kill, which are made at once. Ends with 1 at the first
difference.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.live.example_sites import example_site
from tests.live.test_example_projects import AT_ONCE, EXAMPLES, PROJECTS, items_of, killed_until_complete, run


def main() -> int:
    """Prove it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    chance, kills, rounds = random.Random(arguments.seed), 0, 0
    while kills < arguments.kills:
        for name, site, _ in PROJECTS:
            with tempfile.TemporaryDirectory() as place, example_site(site) as (url, _):
                folder = Path(shutil.copytree(EXAMPLES / name, Path(place) / name))
                expected = run(folder, url).items
                made = killed_until_complete(folder, url, chance, most=arguments.kills - kills)
                found = items_of(folder)
            twice = found.total() - expected.total()
            kills, rounds = kills + made, rounds + 1
            print(f"{name}: {made} kills, {expected.total()} items, {twice} twice", flush=True)
            if found.keys() != expected.keys() or twice > made * AT_ONCE:
                print(f"missing {expected.keys() - found.keys()}, more {found.keys() - expected.keys()}")
                return 1
    print(f"{kills} kills in {rounds} crawls: nothing lost")
    return 0


if __name__ == "__main__":
    sys.exit(main())
