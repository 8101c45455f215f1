"""Checks of arguments that few crawls are given, before a folder is made: other spiders, a history, seed lists."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Iterable, Mapping, Sequence
from ipaddress import ip_network
from pathlib import Path
from typing import TYPE_CHECKING

from sharc_crawler.errors import DataError, UsageError, unknown_name
from sharc_crawler.live.setup.operator import private_seeds
from sharc_crawler.live.wire.addresses import AddressRules
from sharc_crawler.options.reading import read_setting
from sharc_crawler.seeds import SELECTION
from sharc_crawler.storage.gathered import is_collection
from sharc_crawler.storage.observations import ObservationStore

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from sharc_crawler.options.table import Options


logger = logging.getLogger(__name__)
SHOWN = 3  #: files that are named


def check_history(file: Path, arguments: Mapping[str, str], *, reading: bool) -> None:
    """Raise DataError if the file is no history; in a dry run (``reading``) a missing or empty one is left alone."""
    if file.is_dir():
        raise UsageError(f"history={file} is a folder; name a file in it")
    if reading and not (file.exists() and file.stat().st_size):
        return
    try:
        ObservationStore(file, reading=reading).close()
    except DataError as error:
        if str(error).endswith(("readonly database", "unable to open database file")):  # the file itself may be fine
            raise DataError(f"{error}; let this user read and write it, and its folder") from error
        if "collection" not in arguments:
            raise
        anew, captures = f"{arguments['collection']}-anew", f"{arguments['collection']}/captures/*/*"
        way_out = f"the captures still tell all of it: sharc collection add {anew} {captures}"
        raise DataError(f"{error}; {way_out}") from error


def check_spider(args: Sequence[str], known: Sequence[str]) -> None:
    """Raise UsageError for arguments without ``-a``, and for an unknown spider."""
    if bare := [one for one in args[1:] if "=" in one]:
        given = " ".join(f"-a {shlex.quote(one)}" for one in bare)
        raise UsageError(f"argument {bare[0]!r} stands without -a: scrapy crawl {args[0]} {given}")
    if len(args) == 1 and args[0] not in known:
        raise unknown_name("spider", args[0], known)


def check_skipping(options: Options, strategy: str, *, attests: bool) -> None:
    """Raise UsageError where ``skip=attested`` cannot be used: it needs former answers and the word of sitemaps."""
    if options.collection is None:
        raise UsageError("skip='attested' refers to former captures: give collection=, or leave it out")
    if not attests:
        raise UsageError(
            f"skip='attested' goes by what sitemaps say, which strategy={strategy!r} does not: give"
            " strategy=sharc-attested, too"
        )
    for name in ("browser", "cookies", "state", "netrc"):  # browsers and sessions need whole answers
        if (value := getattr(options, name)) not in (None, "never"):
            raise UsageError(f"skip='attested' takes former answers, which {name}={value!r} does not: leave one out")


def refuse_secrets(settings: BaseSettings) -> None:
    """Raise UsageError for headers with secrets: every host and the WARC files would get them."""
    ways = {"authorization": "netrc=FILE, with user and password by host", "cookie": "cookies=FILE"}
    for name in settings.getdict("DEFAULT_REQUEST_HEADERS"):
        if way := ways.get(name.lower()):
            raise UsageError(
                f"DEFAULT_REQUEST_HEADERS: {name} would go to every host, and into the WARC files: give -a {way}"
            )


def refuse_private(settings: BaseSettings, urls: Iterable[str]) -> None:
    """Raise UsageError for the first private address in a list of seeds, unless a setting allows it."""
    rules = AddressRules.of(read_setting(settings, "SHARC_ALLOWED_ADDRESSES") or ())
    for url in urls:
        addresses = private_seeds([url])  # one allowed address of localhost suffices, as on connecting
        if addresses and all(map(rules.refusal, addresses)):
            raise UsageError(
                f"seeds: {url} is a private address; if it is meant, allow it or its network, as in"
                f" -s SHARC_ALLOWED_ADDRESSES={ip_network(addresses[0])}"
            )


def tell_others(folder: Path) -> None:
    """Warn of other files in the folder of a new capture; raises UsageError if it is a collection's."""
    if is_collection(folder):
        raise UsageError(
            f"output={str(folder)!r} is a collection: give -a collection={shlex.quote(str(folder))} instead, for a"
            " capture that belongs to it, or choose another folder"
        )
    others = sorted(one.name for one in folder.glob("[!.]*") if one.name != SELECTION)  # made by this crawl
    if not others:
        return
    names = ", ".join(others[:SHOWN]) + (f" and {len(others) - SHOWN} more" if len(others) > SHOWN else "")
    logger.warning("Folder %s holds other files (%s): they stay, but are in no certificate", folder, names)
