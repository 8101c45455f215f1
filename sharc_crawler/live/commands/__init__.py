"""``scrapy`` commands of ours (setting ``COMMANDS_MODULE``)."""

import sys
from types import TracebackType

from sharc_crawler.errors import UsageError
from sharc_crawler.live.versions import require_scrapy

_otherwise = sys.excepthook


def _ended(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Ctrl-C while modules are loaded, which takes seconds: told in a line, as it is later."""
    if issubclass(kind, KeyboardInterrupt):
        sys.stderr.write("sharc: stopped before it began; give the same command again\n")
        sys.exit(5)
    _otherwise(kind, error, trace)


sys.excepthook = _ended

try:  # Scrapy imports all commands before it runs one: what is missing is said in a line, here
    require_scrapy()
except UsageError as error:
    sys.exit(f"sharc: error: {error}")
