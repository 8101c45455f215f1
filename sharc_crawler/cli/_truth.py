"""What really happened on the living site, as JSON lines."""

from __future__ import annotations

import json
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sharc_crawler.demo import LivingSite
    from sharc_crawler.demo.server import Request
    from sharc_crawler.model import Instant


def write_truth(site: LivingSite, start: Instant, end: Instant, file: IO[str]) -> None:
    """One line for each page and resource: its true rate, and its changes in (from, to]."""
    for path, changes in site.truth(start, end).items():
        line = {"page": path, "rate": site.rate(path), "from": start, "to": end, "changes": changes.tolist()}
        file.write(json.dumps(line) + "\n")


def write_log(requests: Iterable[Request], file: IO[str]) -> None:
    """One line for each request, in the order of arrival."""
    file.writelines(json.dumps(request._asdict()) + "\n" for request in requests)
