"""What a decision of the simulator costs: a synthetic site crawled through the whole frontier, discovery included.

    python benchmarks/bench_simulator.py [--sizes 1000 1000000] [--strategies bfs:revisits=none sharc-online]

Prints, per size and strategy, microseconds of CPU per decision and the peak memory of the process so far.
"""

from __future__ import annotations

import argparse
import resource
import time

from sharc_crawler.lab.driver import crawl
from sharc_crawler.lab.rates import believe
from sharc_crawler.lab.synthetic import SyntheticSpec


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--strategies", nargs="+", default=["bfs:revisits=none", "sharc-online", "sharc-selective"])
    parser.add_argument("--graph", default="discover")
    given = parser.parse_args()
    print(f"{'size':>10} {'strategy':<22} {'µs/decision':>12} {'peak MB':>8}")
    for size in given.sizes:
        site = SyntheticSpec(size=size).build()
        belief = believe(site, "oracle")
        _ = site.known, site.numbers  # made once, not by the first strategy
        for strategy in given.strategies:
            began = time.process_time()
            done = crawl(site, belief, strategy, given.graph)
            cost = (time.process_time() - began) / done.decisions
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(f"{size:>10,} {strategy:<22} {cost * 1e6:>12.1f} {peak:>8.0f}", flush=True)


if __name__ == "__main__":
    main()
