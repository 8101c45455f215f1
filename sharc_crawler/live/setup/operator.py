"""| The crawl's identity and reach: a contact for public sites, private addresses only if they were named."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from sharc_crawler import __version__
from sharc_crawler.addresses.scope import site_of
from sharc_crawler.errors import UsageError
from sharc_crawler.live.wire.addresses import LOOPBACK, AddressRules, Opening, literal
from sharc_crawler.options.reading import read_setting

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from sharc_crawler.addresses.scope import ScopeKind


PUBLIC = AddressRules()
DEFAULT_PORTS = {"http": 80, "https": 443}


def user_agent(operator: str | None) -> str:
    """The User-Agent of a crawl.

    >>> user_agent("https://library.example/crawls").split("/")[0]
    'sharc-crawler'
    """
    return f"sharc-crawler/{__version__}" + (f" (+{operator})" if operator else "")


def private_seeds(urls: Iterable[str]) -> list[str]:
    """The private addresses that URLs name outright: whoever types one means it.

    >>> private_seeds(["http://127.0.0.3:8000/", "http://localhost/", "https://example.org/"])
    ['127.0.0.3', '127.0.0.1', '::1']
    """
    addresses: list[str] = []
    for url in urls:
        host = urlsplit(url).hostname or ""
        if host == "localhost":
            addresses += LOOPBACK
        elif (address := literal(host)) is not None and PUBLIC.refusal(str(address)):
            addresses.append(str(address))
    return addresses


def openings(typed: Iterable[str], scope: str) -> list[Opening]:
    """Private hosts typed as seeds: each is open to its own site's capture, at its port.

    >>> openings(["http://127.0.0.3:8000/", "https://example.org/"], "host")
    [Opening(site='127.0.0.3:8000', host='127.0.0.3', port=8000)]
    """
    return [
        Opening(
            site_of(url, cast("ScopeKind", scope)),
            parts.hostname or "",
            parts.port or DEFAULT_PORTS.get(parts.scheme, 0),
        )
        for url in typed
        if private_seeds([url])
        for parts in [urlsplit(url)]
    ]


def require_operator(settings: BaseSettings, urls: Iterable[str], of: str = "") -> None:
    """Raise UsageError if public sites would be crawled without a valid contact. ``of``: words for such a site."""
    if read_setting(settings, "SHARC_OPERATOR"):
        return
    public = [url for url in urls if not private_seeds([url])]
    if public:
        raise UsageError(
            "SHARC_OPERATOR is not set: a live crawl says whom a webmaster can turn to. Add your contact, as in"
            f" -s SHARC_OPERATOR=https://library.example/crawls or -s SHARC_OPERATOR=crawls@library.example"
            f" (needed for {of or public[0]})"
        )
