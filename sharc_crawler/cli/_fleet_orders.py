"""| The sites that a file names, as orders to a fleet."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sharc_crawler.addresses.scope import site_of
from sharc_crawler.cli._inputs import instant
from sharc_crawler.collection.terms import SiteTerms, parse_terms
from sharc_crawler.errors import DataError, UsageError
from sharc_crawler.fleet.ledger import SiteOrder
from sharc_crawler.live.fleet.order import check_names
from sharc_crawler.options.mappings import seeds_of_file
from sharc_crawler.options.reading import read_arguments

PLANS = (".yaml", ".yml")


def orders(file: Path, given: Sequence[str], priority: int = 0, due: str | None = None) -> list[SiteOrder]:
    """The sites of a file with their arguments; URLs of one site together. Raises SharcError."""
    arguments = _arguments(given)
    terms = _plan(file) if file.suffix in PLANS else _seeds(file, arguments)
    when = instant(due, "--due") if due else 0.0
    found = []
    for one in terms:
        own = {**arguments, **one.arguments}
        check_names(own)
        found.append(SiteOrder(one.site, {"url": " ".join(one.urls), **own}, priority, when))
    return found


def _arguments(given: Sequence[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in given]
    for name, separator, _ in pairs:
        if not separator:
            raise UsageError(f"-a {name}: write it as NAME=VALUE, as in -a limit=5000")
    arguments = {name: value for name, _, value in pairs}
    if "url" in arguments:
        raise UsageError(f"-a url={arguments['url']}: sites stand in FILE, one URL a line")
    check_names(arguments)
    read_arguments(arguments)
    return arguments


def _plan(file: Path) -> Sequence[SiteTerms]:
    try:
        terms = parse_terms(file.read_text(encoding="utf-8-sig"), str(file))
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{file} cannot be read: {error}") from error
    if terms.settings:
        given = " ".join(f"-s {name}={value}" for name, value in terms.settings.items())
        raise UsageError(f"{file}: settings are given to the workers, as in sharc fleet work … {given}")
    for name in ("budget", "keep", "notify"):
        if getattr(terms, name):
            raise UsageError(f"{file}: {name} is a collection's; a fleet has none, leave it out")
    for site in terms.sites:
        if site.every:
            raise UsageError(f"{file}: every of {site.site}: a fleet captures once; leave it out")
    return terms.sites


def _seeds(file: Path, arguments: dict[str, str]) -> list[SiteTerms]:
    try:
        urls = seeds_of_file(str(file))
    except ValueError as error:
        raise UsageError(f"{file} {error}") from error
    scope = read_arguments({"scope": arguments.get("scope", "host")})["scope"]
    sites: dict[str, list[str]] = {}
    for url in urls:
        sites.setdefault(site_of(url, scope), []).append(url)
    return [SiteTerms(site, site, tuple(urls)) for site, urls in sites.items()]


def bounds(requests: str | None, size: str | None, until: str | None) -> dict[str, float]:
    """The bounds of a fleet's budget that were given. Raises :class:`~sharc_crawler.errors.UsageError`."""
    given = {name: text for name, text in (("max_requests", requests), ("max_bytes", size)) if text is not None}
    read = read_arguments(given)
    found = {
        what: float(read[name]) for what, name in (("requests", "max_requests"), ("bytes", "max_bytes")) if name in read
    }
    if until is not None:
        found["until"] = 0.0 if until == "0" else instant(until, "--until")
    return found
