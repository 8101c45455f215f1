"""One line for an existing project: ``ADDONS = {"sharc_crawler.live.addon.SharcAddon": 500}``.

Installs the scheduler, the middlewares, the wire tap and the reporting extension, each at add-on priority: what the
project sets itself stays.
"""

from __future__ import annotations

import logging
from importlib import import_module

from scrapy import version_info
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings, default_settings

from sharc_crawler.errors import UsageError
from sharc_crawler.live.failures.exit_codes import without_tracebacks
from sharc_crawler.live.setup.operator import user_agent
from sharc_crawler.live.versions import require_scrapy
from sharc_crawler.live.wire.addresses import SETTING, AddressRules

logger = logging.getLogger(__name__)

RESOLVER = "sharc_crawler.live.wire.names.DualStackResolver"
HANDLER = "sharc_crawler.live.wire.handler.WireTapHandler"
ORIGINS = "sharc_crawler.live.project.resuming.OriginMiddleware"  #: imported in projects only
SETTINGS = {
    "SCHEDULER": "sharc_crawler.live.scheduler.SharcScheduler",
    # the decision is made before any jitter
    **({"DOWNLOAD_DELAY_JITTER": 0} if version_info >= (2, 19) else {"RANDOMIZE_DOWNLOAD_DELAY": False}),
}
SCHEDULERS = (SETTINGS["SCHEDULER"], "sharc_crawler.live.fleet.spider.FleetScheduler")
ABOVE_THE_PROJECT = SETTINGS_PRIORITIES["spider"] - 1  #: below the settings of a spider and ``-s``, which stay
#: components of Scrapy that take up to 0.1 s to import, and the setting without which they do nothing
IDLE = {
    ("EXTENSIONS_BASE", "scrapy.extensions.telnet.TelnetConsole"): "TELNETCONSOLE_ENABLED",
    ("EXTENSIONS_BASE", "scrapy.extensions.remote_control.RemoteControl"): "REMOTE_CONTROL_ENABLED",
    ("DOWNLOADER_MIDDLEWARES_BASE", "scrapy.downloadermiddlewares.cookies.CookiesMiddleware"): "COOKIES_ENABLED",
}


class SharcAddon:
    """Makes any project's crawl a SHARC crawl."""

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Scrapy calls this before the reactor runs: choose a resolver for IPv4 and IPv6."""
        given = settings.getpriority("TWISTED_DNS_RESOLVER") or 0
        copied = given < ABOVE_THE_PROJECT and settings["TWISTED_DNS_RESOLVER"] == default_settings.TWISTED_DNS_RESOLVER
        settings.set("TWISTED_DNS_RESOLVER", RESOLVER, given if copied and given else "addon")

    def update_settings(self, settings: BaseSettings) -> None:
        """Scrapy calls this before the crawl's components are built."""
        without_tracebacks()
        require_scrapy()
        AddressRules.of(settings.getlist(SETTING))  # checked here, as Scrapy logs errors of handlers twice
        for name, value in SETTINGS.items():
            settings.set(name, value, "addon")  # Scrapy keeps what has a higher priority
        given = settings.getpriority("SCHEDULER") or 0
        if given < ABOVE_THE_PROJECT and settings["SCHEDULER"] == default_settings.SCHEDULER:  # a copied default
            settings.set("SCHEDULER", SETTINGS["SCHEDULER"], given)
        if settings["SCHEDULER"] not in SCHEDULERS:
            from sharc_crawler.guides import guide  # only if there are two

            raise UsageError(
                f"SCHEDULER={settings['SCHEDULER']!r} and the add-on sharc_crawler.live.addon.SharcAddon are two"
                " schedulers, of which one can order the requests: leave one of them out (for an archive under another"
                f" scheduler, see ArchiveMiddleware in {guide('drop-in')})"
            )
        if operator := settings.get("SHARC_OPERATOR"):
            settings.set("USER_AGENT", user_agent(operator), ABOVE_THE_PROJECT)
        for (setting, component), enabled in IDLE.items():
            if not settings.getbool(enabled):
                settings[setting].pop(component, None)
        if settings.getpriority("TWISTED_DNS_RESOLVER") and "CachingThreaded" in str(settings["TWISTED_DNS_RESOLVER"]):
            logger.warning(
                "TWISTED_DNS_RESOLVER=%r knows IPv4 alone: hosts with IPv6 addresses alone count as not there. Leave"
                " the setting out: then hosts are looked up in both families",
                settings["TWISTED_DNS_RESOLVER"],
            )
        own = settings.getdict("DOWNLOAD_HANDLERS")
        for scheme in ("http", "https"):
            settings["DOWNLOAD_HANDLERS"].set(scheme, own.get(scheme, HANDLER), "addon")
        if settings.getbool("ROBOTSTXT_OBEY"):
            import_module("sharc_crawler.live.project.robots").install(settings)  # only in projects
        _install_components(settings)


def _install_components(settings: BaseSettings) -> None:
    """Install ours; their modules are imported only now that Scrapy's version was checked."""
    from sharc_crawler.live.extension import CaptureExtension
    from sharc_crawler.live.middlewares import ArchiveMiddleware

    settings.setdefault_in_component_priority_dict("DOWNLOADER_MIDDLEWARES", ArchiveMiddleware, 990)
    theirs = dict(settings["SPIDER_MIDDLEWARES"])
    if theirs.setdefault(ORIGINS, 10) is None:  # off for capture spiders, but Scrapy imports it anyway
        del theirs[ORIGINS]
    settings.set("SPIDER_MIDDLEWARES", theirs, settings.getpriority("SPIDER_MIDDLEWARES") or 0)
    settings.setdefault_in_component_priority_dict("EXTENSIONS", CaptureExtension, 500)
