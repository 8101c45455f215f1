"""One option: a row of the table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from sharc_crawler.options.kinds import ValueKind

T = TypeVar("T")
D = TypeVar("D")  #: of the default: where nothing stands for a value, it is None


@dataclass(frozen=True, kw_only=True)
class Option:
    """What is known of an option but its name and default, which are its field's in the table."""

    kind: ValueKind[Any]
    help: str  #: one sentence without its full stop; Markdown
    argument: bool  #: can be given as ``-a name=value``
    setting: str | None  #: name of the setting; empty: ``SHARC_NAME``; None: it has none
    section: str = ""  #: of the page of arguments, that this row begins
    shown: str = ""  #: the default in words, where its value does not say it
    profile: Any = None  #: the default of `scrapy crawl site`, where the profile has another one
    needs: str = ""  #: the argument that it is for, as ``mode=instant``, or ``ranker=`` for any value of that
    never: str = ""  #: the argument that it cannot be given with


def argument(kind: ValueKind[T], default: D, help: str, **more: Any) -> T | D:  # noqa: A002 - as the table's column
    """A row: of one crawl, given as ``-a name=value``."""
    return _row(default, Option(kind=kind, help=help, argument=True, setting=None, **more))


def setting(kind: ValueKind[T], default: D, help: str, **more: Any) -> T | D:  # noqa: A002
    """A row: of a project, the setting ``SHARC_NAME``."""
    return _row(default, Option(kind=kind, help=help, argument=False, setting="", **more))


def both(kind: ValueKind[T], default: D, help: str, setting: str = "", **more: Any) -> T | D:  # noqa: A002
    """A row: a setting that ``-a name=value`` overrides for one crawl."""
    return _row(default, Option(kind=kind, help=help, argument=True, setting=setting, **more))


def _row(default: D, option: Option) -> D:
    row: D = field(default=default, metadata={"option": option})
    return row
