"""The arguments of ``scrapy crawl site -a …``, checked before the first request, and the captures they ask for."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sharc_crawler.addresses.scope import ScopeKind, site_of
from sharc_crawler.errors import UsageError
from sharc_crawler.frontier.opening import check
from sharc_crawler.options.reading import ARGUMENTS, ROWS, read_arguments
from sharc_crawler.options.table import Options
from sharc_crawler.state.spec import HOPS, CaptureSpec
from sharc_crawler.strategies.base import Setting
from sharc_crawler.strategies.make import make_strategy

if TYPE_CHECKING:
    from sharc_crawler.login import Login
    from sharc_crawler.polling.terms import Terms
    from sharc_crawler.seeds.hacs.selection import SeedChoice, Selection


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments, checked."""

    options: Options  #: the arguments given, else defaults; settings are not in it
    settings: Mapping[str, Any]  #: arguments that override a setting
    urls: tuple[str, ...]  #: of ``url=`` and the seeds file
    instant: Terms | None
    choice: SeedChoice | None
    login: Login | None

    @classmethod
    def parse(cls, given: Mapping[str, str]) -> Arguments:
        """Parse the arguments behind ``-a``; raises UsageError for the first that is wrong.

        >>> Arguments.parse({"url": "https://example.org", "limit": "10"}).options.limit
        10
        """
        found = read_arguments(given)
        options = Options(**found)
        if not (options.url or options.seeds):
            raise UsageError("nothing to capture: give -a url=https://… or -a seeds=FILE")
        rows = [row for row in ARGUMENTS.values() if row.setting and row.field in found]
        return cls(
            options,
            {str(row.setting): found[row.field] for row in rows},
            urls=tuple(dict.fromkeys((*options.url, *options.seeds))),
            instant=_instant(options),
            choice=_choice(options),
            login=_login(options, given),
        )

    def chosen(self, folder: Path) -> tuple[Arguments, Selection | None]:
        """The arguments with the chosen seeds, in order; a selection in the folder is kept to. Raises SharcError."""
        if self.choice is None:
            return self, None
        from sharc_crawler.live.seeding import chosen  # loads readers of archives: only if seeds are ranked

        selection = chosen(self.choice, self.urls, folder)
        return replace(self, urls=tuple(selection.crawled())), selection

    def specs(self, strategy: str, settings: dict[str, object], config: Options) -> list[CaptureSpec]:
        """One capture per site. ``config``: the settings. Raises UsageError for a strategy that takes no parts."""
        options, kept_up = self.options, self._kept_up(strategy, config)
        sites: dict[str, list[str]] = {}
        for url in self.urls:
            sites.setdefault(site_of(url, cast("ScopeKind", options.scope)), []).append(url)
        order = {
            **_ordered(options, config),
            **kept_up,
            "strategy": strategy,
            "sitemaps": options.sitemap,
            "hops": _hops(strategy) if options.hops is None else options.hops,
            "session": options.session if self.login else "",
        }
        specs = []
        for site, urls in sites.items():
            said = {**settings, **kept_up, **(self.login.as_settings(urls, time.time()) if self.login else {})}
            specs.append(CaptureSpec(**{**order, "site": site, "seeds": tuple(urls), "settings": said}))
        if self.instant is None:
            return specs
        from sharc_crawler.live.setup.modes import as_instant  # only for instant crawls

        return [as_instant(spec, self.instant) for spec in specs]

    def _kept_up(self, strategy: str, config: Options) -> dict[str, Any]:
        """The terms of a continuous capture; raises UsageError for what cannot be captured so."""
        options, made = self.options, make_strategy(strategy, Setting())
        ours = type(made).__module__.startswith("sharc_crawler.") and config.store == "sqlite" and not options.subsites
        if not (ours and options.rates == config.rates == Options.rates) or options.include or options.exclude:
            from sharc_crawler.live.failures.watchdog import Watch  # a plug-in may never return

            Watch().begin()
        check(made, options.subsites, options.mode)
        if options.skip == "attested":
            from sharc_crawler.live.setup.checks import check_skipping  # only with validators of former captures

            check_skipping(options, strategy, attests=made.attests)
        if options.mode != "continuous":
            return {}
        from sharc_crawler.live.setup.modes import kept_up  # only for these captures

        return kept_up(options)


def _ordered(options: Options, config: Options) -> dict[str, Any]:
    """The fields of a capture's spec, from arguments, else from settings."""
    rows = [row for row in ROWS if row.field in CaptureSpec.__dataclass_fields__]
    values = {row.field: getattr(options if row.option.argument else config, row.field) for row in rows}
    return values | {row.field: values[row.field] or getattr(config, row.field) for row in rows if row.setting}


def _instant(options: Options) -> Terms | None:
    """The terms of an instant crawl; ``None``: it is none."""
    if options.mode != "instant":
        return None
    from sharc_crawler.polling.terms import Terms  # only for instant crawls

    return Terms(every=options.every, duration=options.for_, requests=options.requests)


def _login(options: Options, given: Mapping[str, str]) -> Login | None:
    """The session to use. Arguments that describe one need one."""
    files = options.cookies, options.state, options.netrc
    if not any(files):
        for name in ("session", "keep_secrets"):
            if name in given:
                way = "add one, or leave it out"
                which = "-a cookies=FILE, -a state=FILE or -a netrc=FILE"
                raise UsageError(f"{name}={given[name]!r} is only for {which}: {way}")
        return None
    if not options.session.strip():
        raise UsageError("session='' must say whose session it is, as session=reader; or leave it out")
    from sharc_crawler.login import read_login  # only with a session

    return read_login(*files, keeps_secrets=options.keep_secrets)


def _choice(options: Options) -> SeedChoice | None:
    """How seeds are chosen; ``None``: all are crawled."""
    if options.ranker is None:
        return None
    from sharc_crawler.live.seeding import choice_of  # loads rankers: only if one is named

    return choice_of(options, options.ranker)


def _hops(strategy: str) -> int:
    """The default bound on hops. In depth-first order the path to a page says nothing of its distance."""
    return 0 if strategy.partition(":")[0] == "dfs" else HOPS
