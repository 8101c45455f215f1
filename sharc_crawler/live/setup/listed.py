"""Seeds that nobody typed, but a list brought."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.errors import UsageError
from sharc_crawler.live.setup.operator import private_seeds
from sharc_crawler.live.wire.addresses import AddressRules
from sharc_crawler.options.reading import read_setting

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy.settings import BaseSettings


def refuse_private(settings: BaseSettings, urls: Iterable[str]) -> None:
    """Private addresses in a list of seeds are refused before anything is sent, unless a setting allows them.

    Raises :class:`~sharc_crawler.errors.UsageError` that names the first.
    """
    rules = AddressRules.of(read_setting(settings, "SHARC_ALLOWED_ADDRESSES") or ())
    for url in urls:
        if any(rules.refusal(address) for address in private_seeds([url])):
            raise UsageError(
                f"seeds: {url} is a private address; if it is meant, allow its network, as in"
                " -s SHARC_ALLOWED_ADDRESSES=127.0.0.0/8"
            )
