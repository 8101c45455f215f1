"""What an argument or a setting that is not known may have been."""

from __future__ import annotations

from sharc_crawler.errors import nearest
from sharc_crawler.options.reading import ARGUMENTS, SETTINGS

_ENVIRONMENT = ("SHARC_CHROMIUM", "SHARC_DOCS", "SHARC_PYWB")  #: variables of it, which are easily taken for settings


def argument(name: str) -> str:
    """Another argument, or a setting: the end of a sentence."""
    for setting, row in SETTINGS.items():
        if name.upper() in (setting, setting.removeprefix("SHARC_")) and row.name not in ARGUMENTS:
            return f"; it is a setting: -s {setting}=VALUE"
    return nearest(name, ARGUMENTS, "arguments")


def setting(name: str) -> str:
    """Another setting, a variable of the environment, or an argument: the end of a sentence."""
    if name in _ENVIRONMENT:
        return f" but an environment variable: {name}=… scrapy crawl …, without -s"
    if (row := ARGUMENTS.get(name.removeprefix("SHARC_").lower())) is None:
        return nearest(name, SETTINGS, "settings")
    return (
        f"; did you mean {row.setting!r}?"
        if row.setting
        else f" but an argument of the spider site: -a {row.name}=VALUE"
    )
