"""``collection.yaml``: the sites of a collection, and how each is captured.

Every value in it is text, as on a command line: ``off`` stays ``off``. Errors name the place.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

import yaml

from sharc_crawler.addresses.scope import ScopeKind, site_of
from sharc_crawler.archive.warc_names import safe_name
from sharc_crawler.errors import DataError, UsageError, nearest
from sharc_crawler.guides import guide
from sharc_crawler.model import Seconds
from sharc_crawler.options.kinds import Duration, ValueKind, Whole
from sharc_crawler.options.reading import ARGUMENTS, read_arguments, read_settings
from sharc_crawler.options.table import NEWS, SEEDS
from sharc_crawler.storage.gathered import COLLECTION

T = TypeVar("T")
Every = float | Literal["auto"] | None
FILE, MASKS = COLLECTION, "masks"
#: arguments that the collection decides, or that are for one crawl
NOT_HERE = frozenset(
    ("url", "seeds", "collection", "output", "objects", "history", "masks", "dry_run", "resume", "control")
)
OF_CAPTURES = tuple(
    name for name, row in ARGUMENTS.items() if name not in NOT_HERE and row.section not in (SEEDS, NEWS)
)
_TOP = ("title", "settings", "defaults", "sites", "budget", "notify", "keep")
_SITE = ("url", "name", "every", "masks")
AUTO: Literal["auto"] = "auto"
DAY = 86_400.0
#: rules for keeping captures: the period of which each keeps the first one; ``all``: every one
PERIODS = {"all": 0.0, "daily": DAY, "weekly": 7 * DAY, "monthly": 30 * DAY, "yearly": 365 * DAY}


@dataclass(frozen=True, slots=True)
class SiteTerms:
    """A site of a collection."""

    name: str  #: of the folder of its captures
    site: str  #: as in captures, reports and history
    urls: tuple[str, ...]  #: its seeds
    arguments: Mapping[str, str] = field(default_factory=dict)  #: of its captures
    every: Every = None  #: seconds between captures; ``auto``: planned; None: never by itself
    takes_masks: bool = False  #: ``masks: auto``: learned masks apply to the next capture without review


@dataclass(frozen=True, slots=True)
class CollectionTerms:
    """The content of a collection's file."""

    title: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)  #: ``SHARC_…``, for each crawl
    defaults: SiteTerms = SiteTerms("", "", ())  #: for each site
    sites: tuple[SiteTerms, ...] = ()
    budget: int | None = None  #: requests a day, over all sites with ``every: auto``
    keep: Mapping[str, float] = field(default_factory=dict)  #: which captures are kept: rule → maximum age
    notify: str = ""  #: a command or http(s) address to notify of sites that need a person

    def named(self, text: str) -> SiteTerms:
        """The site by name or URL; raises UsageError with the nearest."""
        bare = text.rpartition("://")[2].rstrip("/").lower().removeprefix("www.")
        for site in self.sites:
            if text in (site.name, site.site, *site.urls) or bare == site.site:
                return site
        raise UsageError(f"site={text!r} is not in the collection{nearest(text, [site.name for site in self.sites])}")

    def of_urls(self, urls: tuple[str, ...], own: Mapping[str, str] | None = None) -> SiteTerms:
        """The site of these seeds: one of the collection, else a new one on its terms, with arguments ``own``."""
        for one in self.sites:
            if one.site == _site(urls, one.arguments.get("scope", "host"), "url"):
                return one
        arguments = {**self.defaults.arguments, **(own or {})}
        site = _site(urls, arguments.get("scope", "host"), "url")
        return SiteTerms(safe_name(site), site, urls, arguments, takes_masks=self.defaults.takes_masks)


def read_terms(folder: Path) -> CollectionTerms:
    """The content of a collection's file.

    Raises :class:`~sharc_crawler.errors.UsageError` for a wrong value, with its place and the nearest name, and
    :class:`~sharc_crawler.errors.DataError` for an unreadable file.
    """
    path = folder / FILE
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise UsageError(f"{str(folder)!r} is no collection: it has no {FILE}. {_way_to_one(folder)}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 ({error}): save it as that") from error
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error}") from error
    return parse_terms(text, str(path))


def _way_to_one(folder: Path) -> str:
    around = next((parent for parent in folder.resolve().parents if (parent / FILE).is_file()), None)
    if around is not None:
        return f"It lies in the collection {around}"
    return f"`sharc start` begins one; `sharc collection add {folder}-kept {folder}` makes one of a capture's folder"


def parse_terms(text: str, where: str = FILE) -> CollectionTerms:
    r"""The terms in the text of ``collection.yaml``.

    >>> found = parse_terms("defaults: {delay: 2}\nsites: [https://a.example/, {url: https://b.example/, delay: 5}]")
    >>> [(one.name, dict(one.arguments)) for one in found.sites]
    [('a.example', {'delay': '2'}), ('b.example', {'delay': '5'})]
    >>> parse_terms("sites: [{url: https://a.example/, stratgy: bfs}]")
    Traceback (most recent call last):
    sharc_crawler.errors.UsageError: collection.yaml: sites[1].stratgy is not known; did you mean 'strategy'? ...
    """
    try:
        found = _load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise DataError(f"{where} is no YAML: {' '.join(str(error).split())}") from error
    if not found:
        raise UsageError(f"{where} is empty: name its sites in it, as 'sites: [https://www.example.org/]'")
    top = _mapping(found, where)
    _known(top, _TOP, f"{where}: ")
    settings = {name: _text(value, f"{where}: settings.{name}") for name, value in _part(top, "settings", where)}
    _checked(f"{where}: settings", read_settings, settings)
    if odd := next((name for name in settings if not name.startswith("SHARC_")), None):
        raise UsageError(
            f"{where}: settings.{odd} cannot be given here: only settings named SHARC_… ({guide('settings')})"
        )
    defaults = _default_terms(dict(_part(top, "defaults", where)), f"{where}: defaults")
    sites = _sites(top.get("sites", []), defaults, where)
    title = _text(top.get("title", ""), f"{where}: title")
    notify = _text(top.get("notify", ""), f"{where}: notify")
    return CollectionTerms(title, settings, defaults, sites, _budget(top, where), _keep(top, where), notify)


def first_terms(site: SiteTerms, settings: Mapping[str, str] | None = None) -> str:
    """The text of a new collection's file: its first site, and settings of each crawl.

    >>> print(first_terms(SiteTerms("a.example", "a.example", ("https://a.example/",), {"delay": "2"})), end="")
    # A collection of sharc-crawler; docs/collection.md says what can stand here.
    sites:
    - url: https://a.example/
      delay: '2'
    """
    entry = {"url": site.urls[0] if len(site.urls) == 1 else list(site.urls), **site.arguments}
    begun = "# A collection of sharc-crawler; docs/collection.md says what can stand here.\n"
    top = {**({"settings": dict(settings)} if settings else {}), "sites": [entry]}
    return f"{begun}{yaml.safe_dump(top, sort_keys=False, allow_unicode=True)}"


class _Loader(yaml.BaseLoader):  # type: ignore[misc]  # it comes without types
    """Reads scalars as text, and refuses repeated keys."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(None, None, "a name must be one word", key.start_mark)
            if key.value in seen:
                raise yaml.constructor.ConstructorError(None, None, f"{key.value!r} is given twice", key.start_mark)
            seen.add(key.value)
        made: dict[Any, Any] = super().construct_mapping(node, deep)
        return made


def _load(text: str) -> object:
    return yaml.load(text, _Loader)  # noqa: S506 - plain texts, lists and mappings


def _sites(found: object, defaults: SiteTerms, where: str) -> tuple[SiteTerms, ...]:
    if not isinstance(found, list):
        raise UsageError(f"{where}: sites must be a list, each with its url")
    sites = [_site_terms(one, defaults, f"{where}: sites[{place}]") for place, one in enumerate(found, 1)]
    for what in ("name", "site"):
        names = [getattr(site, what) for site in sites]
        if twice := next((name for place, name in enumerate(names) if name in names[:place]), None):
            raise UsageError(f"{where}: two sites have the {what} {twice!r}; give one of them another, or join them")
    return tuple(sites)


def _site_terms(found: object, defaults: SiteTerms, place: str) -> SiteTerms:
    given = {"url": found} if isinstance(found, str) else dict(_mapping(found, place))
    _known(given, (*_SITE, *OF_CAPTURES), f"{place}.")
    arguments = {**defaults.arguments, **_arguments(given, place)}
    urls = _urls(given, place)
    site = _site(urls, arguments.get("scope", "host"), f"{place}.url")
    name = _text(given.get("name", safe_name(site)), f"{place}.name")
    if name != safe_name(name):
        raise UsageError(f"{place}.name={name!r} is no name of a folder; letters, digits, dots and hyphens are")
    every = _every(given, place) if "every" in given else defaults.every
    takes_masks = _takes_masks(given, place) if "masks" in given else defaults.takes_masks
    return SiteTerms(name, site, urls, arguments, every, takes_masks)


def _default_terms(given: dict[str, Any], place: str) -> SiteTerms:
    _known(given, (*OF_CAPTURES, "every", "masks"), f"{place}.")
    return SiteTerms("", "", (), _arguments(given, place), _every(given, place), _takes_masks(given, place))


def _takes_masks(given: Mapping[str, Any], place: str) -> bool:
    text = _text(given.get("masks", "off"), f"{place}.masks")
    if text not in (AUTO, "off"):
        raise UsageError(
            f"{place}.masks={text!r} is neither auto nor off; masks of your own lie in {MASKS}/NAME.json, beside {FILE}"
        )
    return text == AUTO


def _every(given: Mapping[str, Any], place: str) -> Every:
    text = _text(given.get("every", "off"), f"{place}.every")
    if text == AUTO:
        return AUTO
    if PERIODS.get(text):
        return PERIODS[text]
    if text.isdecimal():
        raise UsageError(f"{place}.every={text!r} has no unit; write it as {text}d (days), {text}h, {text}m or {text}s")
    seconds: float = _read(Duration(1.0), text, f"{place}.every") if text != "off" else 0.0
    return seconds or None


def _budget(top: Mapping[str, Any], where: str) -> int | None:
    return _read(Whole(1), _text(top["budget"], f"{where}: budget"), f"{where}: budget") if "budget" in top else None


def _keep(top: Mapping[str, Any], where: str) -> dict[str, float]:
    place, given = f"{where}: keep", dict(_part(top, "keep", where))
    _known(given, tuple(PERIODS), f"{place}.")
    texts = {name: _text(value, f"{place}.{name}") for name, value in given.items()}
    return {name: math.inf if text == "always" else _age(text, f"{place}.{name}") for name, text in texts.items()}


def _age(text: str, place: str) -> Seconds:
    """An age with a unit: a bare number would be seconds, and remove nearly all captures."""
    if text.isdecimal() and text != "0":
        raise UsageError(f"{place}={text!r} has no unit; write it as {text}d, or always")
    return _read(Duration(), text, place)


def _read(kind: ValueKind[T], text: str, place: str) -> T:
    try:
        return kind.read(text)
    except ValueError as error:
        raise UsageError(f"{place}={text!r} {error}") from error


def _arguments(given: Mapping[str, Any], place: str) -> dict[str, str]:
    arguments = {name: _text(value, f"{place}.{name}") for name, value in given.items() if name in OF_CAPTURES}
    _checked(place, read_arguments, arguments)
    return arguments


def _urls(given: Mapping[str, Any], place: str) -> tuple[str, ...]:
    named = given.get("url") or []
    texts = named if isinstance(named, list) else [named]
    if not texts:
        raise UsageError(f"{place} has no url")
    found = (_checked(place, read_arguments, {"url": _text(text, f"{place}.url")})["url"] for text in texts)
    return tuple(dict.fromkeys(url for urls in found for url in urls))


def _site(urls: tuple[str, ...], scope: str, place: str) -> str:
    names = dict.fromkeys(site_of(url, cast("ScopeKind", scope)) for url in urls)
    if len(names) != 1:
        raise UsageError(f"{place} names {len(names)} sites ({', '.join(names)}): a collection captures each by itself")
    return next(iter(names))


def _part(top: Mapping[str, Any], name: str, where: str) -> list[tuple[str, Any]]:
    return list(_mapping(top.get(name) or {}, f"{where}: {name}").items())


def _mapping(found: object, place: str) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise UsageError(f"{place} must be names with values, as 'delay: 2'")
    return found


def _text(found: object, place: str) -> str:
    if not isinstance(found, str):
        raise UsageError(f"{place} must be one value")
    return found


def _known(given: Mapping[str, object], allowed: tuple[str, ...], place: str) -> None:
    for name in given:
        if name not in allowed:
            raise UsageError(f"{place}{name} is not known{nearest(str(name), allowed)}")


def _checked(place: str, read: Any, values: Mapping[str, str]) -> Any:
    try:
        return read(values)
    except UsageError as error:
        raise UsageError(f"{place}: {error}") from error
