"""Settings that were copied whole, as tests of a project do it, hold Scrapy's defaults at the project's priority."""

from __future__ import annotations

import pytest
from scrapy.settings import Settings

from sharc_crawler.errors import UsageError
from sharc_crawler.live.addon import RESOLVER, SETTINGS, SharcAddon


def test_scrapys_scheduler_among_copied_settings_is_nobodys_choice():
    settings = Settings(dict(Settings({"BOT_NAME": "mine"})))
    assert settings.getpriority("SCHEDULER") == settings.getpriority("BOT_NAME")
    SharcAddon().update_settings(settings)
    assert settings["SCHEDULER"] == SETTINGS["SCHEDULER"]


def test_scrapys_resolver_among_copied_settings_is_nobodys_choice():
    settings = Settings(dict(Settings({"BOT_NAME": "mine"})))
    SharcAddon.update_pre_crawler_settings(settings)
    assert settings["TWISTED_DNS_RESOLVER"] == RESOLVER


def test_a_resolver_that_knows_ipv4_alone_is_told(caplog):
    settings = Settings()
    settings.set("TWISTED_DNS_RESOLVER", settings["TWISTED_DNS_RESOLVER"], "cmdline")
    SharcAddon.update_pre_crawler_settings(settings)
    SharcAddon().update_settings(settings)
    assert "IPv6 addresses alone" in caplog.text


def test_on_the_command_line_it_is_one():
    settings = Settings()
    settings.set("SCHEDULER", settings["SCHEDULER"], "cmdline")
    with pytest.raises(UsageError, match="two schedulers"):
        SharcAddon().update_settings(settings)
