"""| Reads options from arguments and settings; errors name them as the user wrote them."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from sharc_crawler.errors import UsageError
from sharc_crawler.options.kinds import Real, ValueKind
from sharc_crawler.options.option import Option
from sharc_crawler.options.table import Options

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class OptionRow:
    """A row of the table, with its names."""

    field: str  #: of :class:`~sharc_crawler.options.table.Options`
    default: Any
    option: Option
    section: str  #: of the page of arguments

    @property
    def name(self) -> str:
        """The name of the argument."""
        return self.field.removesuffix("_")

    @property
    def setting(self) -> str | None:
        """The name of the setting; None: it has none."""
        named = self.option.setting
        return f"SHARC_{self.name.upper()}" if named == "" else named


def _rows() -> Iterator[OptionRow]:
    section = ""
    for field in fields(Options):
        option: Option = field.metadata["option"]
        section = option.section or section
        yield OptionRow(field.name, field.default, option, section)


ROWS = tuple(_rows())
ARGUMENTS = {row.name: row for row in ROWS if row.option.argument}
SETTINGS = {row.setting: row for row in ROWS if row.setting}


def read_arguments(given: Mapping[str, str]) -> dict[str, Any]:
    """The values of the given arguments, by field; raises UsageError.

    >>> read_arguments({"max_bytes": "1.5G", "for": "2h", "mode": "instant"})
    {'max_bytes': 1500000000, 'for_': 7200.0, 'mode': 'instant'}
    >>> read_arguments({"strat": "bfs"})
    Traceback (most recent call last):
    sharc_crawler.errors.UsageError: argument 'strat' is not known; did you mean 'strategy'? All are in ...
    """
    for name in given:
        if name not in ARGUMENTS:
            from sharc_crawler.options import unknown  # most names are known

            raise UsageError(f"argument {name!r} is not known{unknown.argument(name)}")
    for name, value in given.items():
        _together(name, value, given)
    return {ARGUMENTS[name].field: checked(ARGUMENTS[name].option.kind, name, value) for name, value in given.items()}


def read_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The values of our settings that are set (neither None nor ""), by field; raises UsageError.

    >>> read_settings({"SHARC_MAX_BYTES": "20G", "DOWNLOAD_DELAY": 2, "BOT_NAME": "x"})
    {'max_bytes': 20000000000, 'delay': 2.0}
    """
    check_names(settings)
    found = ((row, name, settings.get(name)) for name, row in SETTINGS.items())
    return {row.field: checked(_kind(row, name), name, value) for row, name, value in found if value not in (None, "")}


def check_names(settings: Mapping[str, Any]) -> None:
    """Raise UsageError for the first unknown setting of ours."""
    for name in settings:
        if str(name).startswith("SHARC_") and name not in SETTINGS:
            from sharc_crawler.options import unknown  # most names are known

            raise UsageError(f"{name} is no setting{unknown.setting(str(name))}")


def tell_unread(settings: Mapping[str, Any]) -> None:
    """Warn of our settings in the environment, which is not read for them."""
    for name in SETTINGS:
        if name in os.environ and settings.get(name) in (None, "") and name.startswith("SHARC_"):
            logger.warning("%s of the environment is not read: settings are given as -s %s=…", name, name)


def read_setting(settings: Mapping[str, Any], name: str) -> Any:
    """Read one setting, while others may still change; None: it is not set.

    >>> read_setting({"SHARC_MAX_BYTES": "20G", "SHARC_STRATEGY": "no such"}, "SHARC_MAX_BYTES")
    20000000000
    """
    return read_settings({name: settings.get(name)}).get(SETTINGS[name].field)


def _kind(row: OptionRow, setting: str) -> ValueKind[Any]:
    """The kind of a setting. Scrapy reads its own settings, too, so these have no units."""
    return row.option.kind if setting.startswith("SHARC_") else Real()


def checked(kind: ValueKind[Any], name: str, value: object) -> Any:
    """Read a value; raises UsageError with the name and the value."""
    try:
        return kind.read(value)
    except ValueError as error:
        raise UsageError(f"{name}={value!r} {error}") from error
    except UsageError as error:
        if str(error).startswith(f"{name}="):
            raise
        # a plug-in does not know the option's name
        as_argument = f"{name.removeprefix('SHARC_').removeprefix('--').lower()}="
        if str(error).startswith(as_argument):
            raise UsageError(f"{name}={str(error).removeprefix(as_argument)}") from error
        raise UsageError(f"{name}={value!r}: {error}") from error


def _together(name: str, value: str, given: Mapping[str, str]) -> None:
    """Refuse an argument without the one that it requires, or with one that excludes it."""
    option = ARGUMENTS[name].option
    if option.needs and not _has(given, option.needs):
        way = option.needs.replace("|", " or ") if not option.needs.endswith("=") else f"{option.needs}NAME"
        raise UsageError(f"{name}={value!r} is only for -a {way}: add that, or leave it out")
    if option.never and _has(given, option.never):
        raise UsageError(f"{name}={value!r} is for whole captures, not for {option.never}: leave it out")


def _has(given: Mapping[str, str], condition: str) -> bool:
    name, _, value = condition.partition("=")
    return name in given and (not value or given[name] in value.split("|"))
