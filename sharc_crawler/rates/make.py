"""Make rate sources from their names and options, as users write them: ``captures,predictor:model=model.json``."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sharc_crawler import plugins
from sharc_crawler.errors import SharcError, UsageError, unknown_name
from sharc_crawler.rates.base import RateSource


def make_sources(spec: str, offers: Mapping[str, Callable[[], object]], also: Iterable[str] = ()) -> list[RateSource]:
    """Make several sources, separated by commas, in the order of asking."""
    return [make_source(part, offers, also) for part in spec.split(",")]


def make_source(spec: str, offers: Mapping[str, Callable[[], object]], also: Iterable[str] = ()) -> RateSource:
    """Make the source ``NAME`` or ``NAME:option=value:option=value``.

    Its factory gets the options, and those ``offers`` for which it has an argument of that name. ``also``: further
    names that the caller knows, for the error about an unknown name. Raises :class:`~sharc_crawler.errors.UsageError`
    for an unknown name or option.

    >>> from sharc_crawler.model import Sighting
    >>> make_source("constant:rate=2.5", {}).rates([Sighting("http://h/")], now=0.0)[0].rate
    2.5
    """
    name, *texts = re.split(r":(?=\w+=)", spec.strip())
    known = {*also, *plugins.names("rates")}
    if "." not in name and name not in known:
        raise unknown_name("rates", name, known)
    factory = plugins.load("rates", name)
    wanted = inspect.signature(factory).parameters
    arguments = {argument: make() for argument, make in offers.items() if argument in wanted}
    for text in texts:
        option, _, value = text.partition("=")
        if option not in wanted:
            raise unknown_name(f"option of rates={name}", option, wanted)
        arguments[option] = _value(value)
    try:
        source: RateSource = factory(**arguments)
    except SharcError:
        raise
    except Exception as error:
        raise UsageError(f"rates={spec!r} does not make a source of rates: {type(error).__name__}: {error}") from error
    return source


def _value(text: str) -> Any:
    """Return a number if the text is one."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
