"""Ctrl-C while the modules of a crawl are loaded, which takes seconds: told in a line, as it is later.

For the settings profile, which is the first of ours that Scrapy loads.
"""

import sys
from types import TracebackType

_otherwise = sys.excepthook


def _ended(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.stderr.write("sharc: stopped before it began; give the same command again\n")
        sys.exit(5)
    _otherwise(kind, error, trace)


sys.excepthook = _ended
if sys.stderr is None:  # it was closed, and Scrapy's log asks it what it is
    from sharc_crawler.live.failures.unwritten import unfailing

    unfailing()
