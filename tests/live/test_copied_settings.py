"""Settings that were copied whole, as tests of a project do it, hold Scrapy's defaults at the project's priority."""

from __future__ import annotations

import pytest
from scrapy.settings import Settings

from sharc_crawler.errors import UsageError
from sharc_crawler.live.addon import SETTINGS, SharcAddon


def test_scrapys_scheduler_among_copied_settings_is_nobodys_choice():
    settings = Settings(dict(Settings({"BOT_NAME": "mine"})))
    assert settings.getpriority("SCHEDULER") == settings.getpriority("BOT_NAME")
    SharcAddon().update_settings(settings)
    assert settings["SCHEDULER"] == SETTINGS["SCHEDULER"]


def test_on_the_command_line_it_is_one():
    settings = Settings()
    settings.set("SCHEDULER", settings["SCHEDULER"], "cmdline")
    with pytest.raises(UsageError, match="two schedulers"):
        SharcAddon().update_settings(settings)
