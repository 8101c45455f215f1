"""| ``collection=DIR``: the arguments that follow from it for one crawl, as if they had been typed."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

from sharc_crawler.collection.folder import CAPTURES, Collection, check_new, is_over
from sharc_crawler.collection.terms import FILE, MASKS, OF_CAPTURES, CollectionTerms, SiteTerms
from sharc_crawler.errors import UsageError
from sharc_crawler.model import Instant
from sharc_crawler.options.reading import read_arguments


def followed(given: Mapping[str, str], now: Instant) -> tuple[dict[str, str], Mapping[str, str]]:
    """The arguments of a crawl into a collection, and the settings from the collection.

    Typed arguments take precedence, then the site's in ``collection.yaml``, then the defaults. The folder is that of
    the site's last capture if it is unfinished, else a new one. Raises :class:`~sharc_crawler.errors.SharcError`.
    """
    folder = Path(given["collection"])
    typed = {name: value for name, value in given.items() if name != "collection"}
    for name in ("output", "history", "masks", "seeds", "mode", "ranker"):
        goes_on = (name, typed.get(name)) == ("mode", "continuous")
        within = name == "output" and name in typed and Path(typed[name]).is_relative_to(folder / CAPTURES)
        if name in typed and not (within or goes_on):
            own = f", or say masks: auto in {FILE}, or lay it into {MASKS}/NAME.json" if name == "masks" else ""
            raise UsageError(f"{name}={typed[name]!r} cannot be given with collection=: leave out one of them{own}")
    try:
        collection = Collection(folder) if Collection.is_in(folder) else None
    except PermissionError as error:
        why = f"cannot be read ({error.strerror}): name another, or have its owner let you read it"
        raise UsageError(f"collection={str(folder)!r} {why}") from error
    if collection is None:
        check_new(folder)
        if "url" not in typed:
            raise UsageError(f"collection={str(folder)!r} is no collection yet{_near(folder)}; to begin one, give url=")
    site = _site(collection.terms if collection else CollectionTerms(), typed, folder)
    held = collection or Collection(folder, CollectionTerms())
    arguments = {"dedup": "site", **site.arguments, **typed, "url": ",".join(site.urls)}
    arguments |= {"collection": str(folder), "history": str(held.history)}
    arguments.setdefault("output", str(output_of(held, site.name, now)))
    if masks := held.masks(site.name):
        arguments["masks"] = str(masks)
    return arguments, held.terms.settings


def begin(given: Mapping[str, str]) -> list[str]:
    """Make the collection if it is missing; returns messages for the user."""
    folder = Path(given["collection"])
    typed = {name: value for name, value in given.items() if name != "collection"}
    if not Collection.is_in(folder):
        urls = read_arguments({"url": typed["url"]})["url"]
        own = {name: value for name, value in typed.items() if name in OF_CAPTURES}
        Collection.begin(folder, CollectionTerms().of_urls(urls, own))
    collection = Collection(folder)
    site, lines = _site(collection.terms, typed, folder), list[str]()
    if site not in collection.terms.sites:
        lines.append(f"{typed['url']} does not stand in {folder / FILE}: it is captured into the collection this once")
    if site.takes_masks:
        from sharc_crawler.collection.taken_masks import take_masks  # only on request

        lines += filter(None, [take_masks(collection, site.name)])
    return lines


def output_of(collection: Collection, name: str, now: Instant) -> Path:
    """The folder of a site's next capture: that of the last one if it is unfinished."""
    last = collection.last(name)
    return collection.capture_folder(name, now) if last is None or is_over(last.folder) else last.folder


def _site(terms: CollectionTerms, typed: Mapping[str, str], folder: Path) -> SiteTerms:
    """The site that is meant: by name, by its URLs, or the only one."""
    if "url" not in typed:
        if len(terms.sites) == 1:
            return terms.sites[0]
        names = ", ".join(site.name for site in terms.sites)
        has = f"has several sites: say which with url= ({names})" if names else f"has no site in {FILE}: give url="
        raise UsageError(f"collection={str(folder)!r} {has}")
    named = next((site for site in terms.sites if typed["url"] in (site.name, site.site)), None)
    own = {name: value for name, value in typed.items() if name in OF_CAPTURES}
    return named or terms.of_urls(read_arguments({"url": typed["url"]})["url"], own)


def _near(folder: Path) -> str:
    """A suggestion of a collection with a similar name, as a part of a sentence."""
    beside = [sibling.name for sibling in folder.parent.glob("*") if Collection.is_in(sibling)]
    near = get_close_matches(folder.name, beside, n=1)
    return f"; did you mean {str(folder.with_name(near[0]))!r}?" if near else ""
