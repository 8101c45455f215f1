"""Arguments of the spider ``site`` that a project's own spider was given by mistake."""

from __future__ import annotations

from types import CodeType, FunctionType
from typing import TYPE_CHECKING

from sharc_crawler.options.reading import ARGUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy import Spider


def stray(spider: Spider) -> list[str]:
    """A line for each ``-a NAME=value`` of ours that the spider's own code never names.

    >>> from scrapy import Spider
    >>> stray(Spider("mine", strategy="bfs", tag="x"))
    ['-a strategy=bfs is for the spider site, and has no effect on your own: give -s SHARC_STRATEGY=bfs']
    """
    given = {name: value for name, value in vars(spider).items() if name in ARGUMENTS and isinstance(value, str)}
    own = [one for one in type(spider).__mro__ if one.__module__.partition(".")[0] not in ("scrapy", "builtins")]
    named = {name for one in own for name in _named(one)} if given else set()
    return [_line(name, value) for name, value in given.items() if name not in named]


def _line(name: str, value: str) -> str:
    setting = ARGUMENTS[name].setting
    instead = f": give -s {setting}={value}" if setting else ""
    return f"-a {name}={value} is for the spider site, and has no effect on your own{instead}"


def _named(kind: type) -> Iterator[str]:
    """What the class and its methods name, as attributes, variables or texts."""
    yield from vars(kind)
    code: list[object] = [one.__code__ for one in vars(kind).values() if isinstance(one, FunctionType)]
    while code:
        one = code.pop()
        if isinstance(one, CodeType):
            yield from (*one.co_names, *one.co_varnames)
            code += one.co_consts
        elif isinstance(one, str):
            yield one
