"""What a site says of itself before any page is fetched: robots.txt and sitemaps.

A survey is a crawl that visits nothing, with a crawl's addresses, delays and retries. ``sharc confirm`` uses one to
read sitemaps once more, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Self

from scrapy.crawler import Crawler, CrawlerProcess
from scrapy.utils.project import get_project_settings

from sharc_crawler.addresses.software import named, together
from sharc_crawler.errors import DataError, SharcError, UsageError
from sharc_crawler.frontier.modes.by_lastmods import Surveyed
from sharc_crawler.frontier.trying_again import forbidden
from sharc_crawler.live.beginning import session_of
from sharc_crawler.live.config import Config
from sharc_crawler.live.failures.exit_codes import EXIT_CODE, INTERRUPTED
from sharc_crawler.live.spiders.site import SiteSpider
from sharc_crawler.model import Kind, Seconds

if TYPE_CHECKING:
    from scrapy.settings import Settings
    from twisted.python.failure import Failure

    from sharc_crawler.live.session import Session
    from sharc_crawler.state.spec import CaptureSpec

PROFILE = "sharc_crawler.live.profile"
ADDON = "sharc_crawler.live.addon.SharcAddon"
LOOKED_AT = 5_000  #: addresses from which the site's software is guessed
AUTO = "auto"  #: the default of ``sitemap``


class SurveyStoppedError(SharcError):
    """Ctrl-C or SIGTERM ended the reading of the sitemaps."""

    exit_code = 130


class NoPagesError(DataError):
    """A site that names no pages. ``why``; ``closed``: robots.txt could not be had, so nothing may be fetched."""

    def __init__(self, url: str, why: str, *, closed: bool) -> None:
        super().__init__(f"{url} names no pages to plan with ({why}); give a sitemap, a history or a former report")
        self.why, self.closed = why, closed


@dataclass(frozen=True, slots=True)
class Survey:
    """The pages with which a capture would begin, one entry per page."""

    urls: list[str]
    rates: list[float]  #: changes per second
    shapes: list[float]  #: of the rates' Gamma posteriors; inf: point estimates
    guessed: int  #: pages whose rates are guesses
    attested: list[bool]  #: whether sitemaps credibly say when the page last changed
    step: Seconds  #: between two requests to the slowest host, by settings and robots.txt
    asked: Seconds  #: of it, what robots.txt asks for
    refused: int  #: pages that robots.txt closes; not among the above
    notes: tuple[str, ...]  #: for readers


class RereadingSpider(SiteSpider):
    """Reads robots.txt and sitemaps, and archives them."""

    name = "rereading"

    def capture_specs(self, config: Config) -> list[CaptureSpec]:
        """The same captures, but without visits."""
        return [replace(spec, mode="survey") for spec in super().capture_specs(config)]


class SurveySpider(RereadingSpider):
    """Reads robots.txt and sitemaps, and archives nothing."""

    name = "survey"

    @classmethod
    def from_crawler(cls, crawler: Crawler, *_: Any, **given: Any) -> Self:
        """Take the arguments of a site crawl."""
        spider = super().from_crawler(crawler, **given)
        crawler.settings.set("SHARC_OUTPUT", None, "cmdline")
        crawler.settings.set("SHARC_WARC", False, "cmdline")  # noqa: FBT003 - a setting
        return spider


def survey(arguments: dict[str, str], chosen: Sequence[str] = ()) -> Survey:
    """Ask a site for its robots.txt and its sitemaps; once per process (Twisted's reactor cannot be started again).

    ``arguments``: those of ``scrapy crawl site``, such as ``{"url": "https://www.example.org/"}``. ``chosen``:
    settings, as ``NAME=value``. Raises UsageError for what cannot be used, DataError where the site names no pages.
    """
    session = session_of(_crawled(SurveySpider, arguments, chosen, "the site could not be asked"))
    if not session.sites.done:
        raise SurveyStoppedError(f"{arguments['url']}: stopped before its sitemaps were read")
    return _survey_of(arguments["url"], session)


def read_again(capture: Mapping[str, object], folder: Path, chosen: Sequence[str] = ()) -> None:
    """Have the sitemaps of a certificate's ``capture`` read into a folder; once per process, as any crawl.

    ``chosen``: settings, as ``NAME=value``. Raises :class:`~sharc_crawler.errors.SharcError` where that fails.
    """
    seeds, before = capture["seeds"], capture["settings"]
    assert isinstance(seeds, list), "by the schema"
    assert isinstance(before, dict), "by the schema"
    arguments = {"url": ",".join(seeds), "output": str(folder), "scope": str(before["scope"]), "history": ""}
    arguments["rates"] = "sitemap"  # the order does not matter here, so nothing is learned
    arguments |= {name: str(before[name]) for name in ("delay", "sitemap") if before.get(name, AUTO) != AUTO}
    chosen = ["SHARC_MIN_FREE=0", *chosen]  # it stores little, so a full disk should not stop it
    crawler = _crawled(RereadingSpider, arguments, chosen, "the sitemaps could not be read again")
    if crawler.stats.get_value(EXIT_CODE, INTERRUPTED) == INTERRUPTED or not session_of(crawler).sites.done:
        raise SurveyStoppedError(
            f"{', '.join(seeds)}: stopped before the sitemaps were read again; the same command begins anew"
        )


def _crawled(spider: type[SiteSpider], arguments: dict[str, str], chosen: Sequence[str], failed: str) -> Crawler:
    """Run a crawl with this spider, after checking its settings."""
    settings = capture_settings(chosen)
    checked = settings.copy()
    spider.prepare(checked, arguments)
    Config.from_settings(checked)
    process = CrawlerProcess(settings)
    crawler = process.create_crawler(spider)
    failures: list[Failure] = []
    process.crawl(crawler, **arguments).addErrback(failures.append)
    process.start()
    for failure in failures:
        if failure.check(SharcError, OSError):  # its message says what is wrong
            failure.raiseException()
        failure.printTraceback()
    if process.bootstrap_failed:
        raise SharcError(f"{arguments['url'].replace(',', ', ')}: {failed}")
    return crawler


def capture_settings(chosen: Sequence[str]) -> Settings:
    """The settings of a capture project, if this is one, else of our profile; with the chosen ones on top."""
    settings = get_project_settings()
    if ADDON not in settings.getdict("ADDONS"):
        settings.setmodule(PROFILE, "project")
    for text in chosen:
        name, separator, value = text.partition("=")
        if not separator:
            raise UsageError(f"setting {text!r} is not of the form NAME=value")
        settings.set(name, value, "cmdline")
    return settings


def _survey_of(url: str, session: Session) -> Survey:
    (frontier,) = session.sites
    capture, pages, hosts = frontier.capture, frontier.pages, frontier.ledger.hosts
    known = [page for page in range(len(pages)) if pages.kinds[page] is Kind.PAGE]
    open_ = [page for page in known if hosts[pages.hosts[page]].allows(pages.urls[page])]
    if len(open_) <= len(capture.spec.seeds):
        refusals = {forbidden(hosts[pages.hosts[page]]) for page in known if page not in open_}
        why = "; ".join(capture.notes + [text for text in refusals if not any(text in note for note in capture.notes)])
        raise NoPagesError(url, why, closed=all(hosts[pages.hosts[page]].missing for page in known))
    assert isinstance(capture.mode, Surveyed), "what the spider asked for"
    attested = capture.mode.attestable(open_, session.clock.now())
    return Survey(
        [pages.urls[page] for page in open_],
        [pages.rates[page] for page in open_],
        [pages.shapes[page] for page in open_],
        sum(pages.guessed[page] for page in open_),
        attested,
        max(host.delay for host in hosts),
        max(host.rules.delay if host.rules else 0.0 for host in hosts),
        len(known) - len(open_),
        (*capture.mode.attestations.objections(), *capture.notes, *_software(pages.urls, capture.spec.exclude)),
    )


def _software(urls: Iterable[str], given: Sequence[str]) -> Iterator[str]:
    """A note on the site's software, if addresses show it, and on how to exclude what it generates."""
    software = named(islice(urls, LOOKED_AT))
    if software is not None and software.exclude not in given:
        exclude = quote(together(given, software))
        yield (
            f"this looks like {software.name}, which links to {software.what}, too. Without them:"
            f" -a exclude={exclude} (in collection.yaml: exclude)"
        )
