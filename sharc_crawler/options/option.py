"""One option: a row of the table."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from sharc_crawler.options.kinds import Text, ValueKind
from sharc_crawler.plugins import load
from sharc_crawler.strategies.base import Setting
from sharc_crawler.strategies.make import make_strategy

T = TypeVar("T")
D = TypeVar("D")  #: of the default, which is None where nothing stands for a value


@dataclass(frozen=True, kw_only=True)
class Option:
    """An option without name and default, which are those of its field in the table."""

    kind: ValueKind[Any]
    help: str  #: one sentence without full stop; Markdown
    argument: bool  #: whether it can be given as ``-a name=value``
    setting: str | None  #: name of the setting; empty: ``SHARC_NAME``; None: it has none
    section: str = ""  #: of the page of arguments, if this row begins one
    shown: str = ""  #: the default in words, if its value does not say it
    profile: Any = None  #: the default of `scrapy crawl site`, if our profile sets another one
    needs: str = ""  #: the argument that it requires: ``mode=instant``, or ``ranker=`` for any value
    never: str = ""  #: the argument that excludes it


def argument(kind: ValueKind[T], default: D, help: str, **more: Any) -> T | D:  # noqa: A002 - as the table's column
    """A row that only ``-a name=value`` can set, for one crawl."""
    return _row(default, Option(kind=kind, help=help, argument=True, setting=None, **more))


def setting(kind: ValueKind[T], default: D, help: str, **more: Any) -> T | D:  # noqa: A002
    """A row that only the setting ``SHARC_NAME`` can set, for a project."""
    return _row(default, Option(kind=kind, help=help, argument=False, setting="", **more))


def both(kind: ValueKind[T], default: D, help: str, setting: str = "", **more: Any) -> T | D:  # noqa: A002
    """A setting that ``-a name=value`` overrides for one crawl."""
    return _row(default, Option(kind=kind, help=help, argument=True, setting=setting, **more))


def _row(default: D, option: Option) -> D:
    return field(default=default, metadata={"option": option})


# -- kinds of values that another room reads: plug-ins, files, a folder of objects -------------------------------------

# They are read once to be checked, and again where they are used. What few crawls need is loaded for those only.


def plugin(port: str, form: str = "name") -> Text:
    """The name of a plug-in of a port."""
    return Text(form, lambda name: load(port, name))


def _masks(name: str) -> object:
    from sharc_crawler.changes.masks import load_masks

    return load_masks(Path(name))


def _key(name: str) -> object:
    from sharc_crawler.certificate.identities import read_identity

    return read_identity(Path(name), stamped=True)  # whether it must be is checked later


def _objects(url: str) -> object:
    from sharc_crawler.archive.objects import ObjectFolder

    return ObjectFolder(url)


def _division(name: str) -> object:
    from sharc_crawler.subsites.make import make_division

    return make_division(name)


STRATEGY = Text("name", lambda spec: make_strategy(spec, Setting()))
WRITER = Text("name", lambda name: import_module("sharc_crawler.archive.base").check_writer(name))
RATES = Text("names, separated by commas", lambda spec: import_module("sharc_crawler.rates.guarded").tried_out(spec))
UPDATES = plugin("updates", "`digest`, `link-addition`, `pdf-link`, `fingerprint`")
DIVISION = Text("`path`, `sitemap`, `links`", _division)
COOKIES = Text("file", lambda name: import_module("sharc_crawler.login").read_cookies(name))
STATE = Text("file", lambda name: import_module("sharc_crawler.login").read_state(name))
NETRC = Text("file", lambda name: import_module("sharc_crawler.login").read_netrc(name))
MASKS, KEY = (Text("file", check) for check in (_masks, _key))
OBJECTS = Text("URL, as `s3://bucket/folder`", _objects)
