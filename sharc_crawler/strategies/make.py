"""Make a strategy from its name and options, as users write them: ``bfs``, ``bfs:revisits=fifo``."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable

from sharc_crawler import plugins
from sharc_crawler.errors import UsageError, nearest
from sharc_crawler.strategies.base import Setting, Strategy

_DECIMAL = re.compile(r"\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_load = functools.cache(plugins.load)  # entry points are read from disk


def make_strategy(spec: str, setting: Setting) -> Strategy:
    """Make the strategy ``NAME`` or ``NAME:option=value:option=value`` for one capture.

    Options are the keyword arguments of the strategy's constructor after ``setting``; numbers are converted.
    Raises :class:`~sharc_crawler.errors.UsageError` for an unknown name, option or value.

    >>> from sharc_crawler.strategies.base import Setting
    >>> make_strategy("bfs:revisits=none", Setting()).revisits
    False
    """
    name, *texts = spec.split(":")
    factory = _load("strategy", name)
    allowed = _options(factory)
    options: dict[str, str | float] = {}
    for text in texts:
        option, separator, value = text.partition("=")
        if not separator:
            raise UsageError(f"strategy={spec!r}: {text!r} is not of the form option=value")
        if option not in allowed:
            raise UsageError(f"strategy={spec!r}: option {option!r} is not known{nearest(option, allowed)}")
        options[option] = int(value) if value.isdecimal() else float(value) if _DECIMAL.fullmatch(value) else value
    try:
        strategy = factory(setting, **options)
    except UsageError:
        raise
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise UsageError(f"strategy={spec!r} does not make a sharc_crawler Strategy: {why}") from error
    if not isinstance(strategy, Strategy):
        raise UsageError(f"strategy={name!r} is a {type(strategy).__name__}, not a sharc_crawler Strategy")
    if not hasattr(strategy, "setting"):
        raise UsageError(f"strategy={name!r} has no setting: let its __init__ call super().__init__(setting)")
    return strategy


@functools.cache
def _options(factory: Callable[..., Strategy]) -> list[str]:
    """Return the constructor's options; cached, as a process may capture thousands of sites."""
    return list(inspect.signature(factory).parameters)[1:]
