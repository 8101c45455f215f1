"""The frontier's parts for a project whose own spider decides what there is to fetch."""

from __future__ import annotations

from urllib.parse import urlsplit

from sharc_crawler.frontier.parts import Parts


def hostname(url: str) -> str:
    """A host without its port, as Scrapy's downloader names its slots."""
    return urlsplit(url).hostname or ""


class Everything:
    """A scope without bounds: the project's spider has already decided."""

    def why_not(self, _: str) -> str | None:
        """No reason."""
        return None

    def widened(self, _: str) -> Everything:
        """As wide as before."""
        return self


PARTS = Parts(scope=lambda _: Everything(), host_of=hostname)
