"""Kinds of values that another room reads: names of plug-ins, files, a folder of objects.

They are read once to be checked, at once, and again where they are used. What few crawls need is loaded for those only.
"""

from __future__ import annotations

from pathlib import Path

from sharc_crawler.options.kinds import Text
from sharc_crawler.plugins import load
from sharc_crawler.strategies.base import Setting
from sharc_crawler.strategies.make import make_strategy


def plugin(port: str, form: str = "name") -> Text:
    """The name of a plug-in of a port."""
    return Text(form, lambda name: load(port, name))


def _masks(name: str) -> object:
    from sharc_crawler.changes.masks import load_masks

    return load_masks(Path(name))


def _cookies(name: str) -> object:
    from sharc_crawler.login import read_cookies

    return read_cookies(name)


def _state(name: str) -> object:
    from sharc_crawler.login import read_state

    return read_state(name)


def _key(name: str) -> object:
    from sharc_crawler.certificate.identities import read_identity

    return read_identity(Path(name), stamped=True)  # whether it is: once all is known


def _objects(url: str) -> object:
    from sharc_crawler.archive.objects import ObjectFolder

    return ObjectFolder(url)


def _rates(spec: str) -> object:
    from sharc_crawler.rates.make import make_sources

    return make_sources(spec, {})


def _division(name: str) -> object:
    from sharc_crawler.subsites.make import make_division

    return make_division(name)


STRATEGY = Text("name", lambda spec: make_strategy(spec, Setting()))
RATES = Text("names, separated by commas", _rates)
UPDATES = plugin("updates", "`digest`, `link-addition`, `pdf-link`, `fingerprint`")
DIVISION = Text("`path`, `sitemap`, `links`", _division)
COOKIES, STATE, MASKS, KEY = (Text("file", check) for check in (_cookies, _state, _masks, _key))
OBJECTS = Text("URL, as `s3://bucket/folder`", _objects)
