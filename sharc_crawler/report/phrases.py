"""Put the figures of a report into words."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from sharc_crawler.model import Rate
from sharc_crawler.plural import agreeing, counted
from sharc_crawler.rates.base import NO_CHANGE, PRIOR
from sharc_crawler.report.words import every, short

HELD = "if the change rates hold"  #: condition of an expectation, or of blur
_URL = re.compile(r"https?://\S+")


def kept_content(totals: Mapping[str, Any]) -> str:
    """How many pages kept their content, if more than are coherent (``coherence`` of a report); else empty.

    >>> kept_content({"captured": 40, "coherent": 1, "same_content": 39, "by_masks": 4})
    '40 of 40 pages kept their content (1 coherent, 4 but for what this capture learned to ignore)'
    """
    if not totals["same_content"]:
        return ""
    kept = totals["coherent"] + totals["same_content"]
    its = agreeing(totals["captured"], "their")
    how = f"{totals['coherent']:,} coherent"
    how += f", {totals['by_masks']:,} but for what this capture learned to ignore" if totals["by_masks"] else ""
    return f"{kept:,} of {counted(totals['captured'], 'page')} kept {its} content ({how})"


def few(changes: float) -> str:
    """An average number of changes, never rounded down to none.

    >>> few(1.23456), few(0.0029), few(2.9e-06), few(0)
    ('1.235', '0.003', '< 0.001', '0.000')
    """
    return f"{changes:.3f}" if changes >= 0.001 or changes == 0 else "< 0.001"


def blurred(blur: Mapping[str, Any]) -> str:
    """Average blur, with its deviation if rates are not guesses.

    >>> blurred({"stochastic_average": 0.0881, "deviation": 0.0442, "guessed": 0, "pages": 9})
    '0.088 ± 0.044'
    """
    average, deviation = few(blur["stochastic_average"]), blur["deviation"]
    return f"{average} ± {few(deviation)}" if deviation and deviation >= 0.001 and not guessed(blur) else average


def figure(value: object) -> str:
    """A setting or statistic for readers: whole numbers in full, others to three digits.

    >>> figure(600.0), figure(0.0021456), figure(None), figure(["a", "b"]), figure(True)
    ('600', '0.00215', '–', 'a, b', 'yes')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        return f"{value:,.0f}" if value == int(value) else f"{value:.3g}"
    if isinstance(value, list):
        return ", ".join(map(figure, value))
    return "–" if value in (None, "") else short(str(value), 400)


def guessed(found: Mapping[str, Any] | None) -> bool:
    """Are the rates of most of these pages guesses?"""
    return found is not None and bool(2 * found["guessed"] > found["pages"])


def often(rate: Rate | None, source: str) -> str:
    """How often a page changes, if known.

    >>> often(1 / 720, "sitemap"), often(1 / 720, "unchanged"), often(1 / 720, "prior")
    ('every 12 min', 'no change seen', 'not known')
    """
    return {PRIOR: "not known", NO_CHANGE: "no change seen"}.get(source) or every(rate)


def changing(rate: Rate | None, source: str) -> str:
    """How often a page changes, as a clause with its verb.

    >>> changing(1 / 720, "sitemap"), changing(0.0, "sitemap"), changing(1 / 720, "prior")
    ('changes every 12 min on average', 'is not expected to change', 'nothing tells how often it changes')
    """
    if source in (PRIOR, NO_CHANGE):
        return "nothing tells how often it changes" if source == PRIOR else "was not seen to change"
    return f"changes {every(rate)} on average" if rate else "is not expected to change"


def sources(numbers: Mapping[str, int]) -> str:
    """The sources of rates, with the number of pages each.

    >>> sources({"history": 11, "unchanged": 5, "prior": 1029})
    'history (11), a history without change (5), a guess (1,029)'
    """
    named = {PRIOR: "a guess", NO_CHANGE: "a history without change"}
    return ", ".join(f"{named.get(name) or short(name)} ({number:,})" for name, number in numbers.items())


def founded(page: Mapping[str, Any]) -> bool:
    """Does the page's rate rest on its own changes, rather than on those of other pages?"""
    return page["rate_source"] not in (PRIOR, NO_CHANGE)


def chance(page: Mapping[str, Any]) -> float | None:
    """The chance that a page stayed the same; None if its rate is a guess."""
    return None if page["rate_source"] == PRIOR else page["survival"]


def unfounded(found: Mapping[str, Any]) -> str:
    """Why no expectation, or blur, is given.

    >>> unfounded({"pages": 9, "guessed": 9})
    'no figure: nothing was known beforehand about how often 9 of 9 pages change'
    >>> unfounded({"pages": 1, "guessed": 1})
    'no figure: nothing was known beforehand about how often 1 of 1 page changes'
    """
    of_all = f"{found['guessed']:,} of {counted(found['pages'], 'page', 'change')}"
    return f"no figure: nothing was known beforehand about how often {of_all}"


def whole(text: str, limit: int = 600) -> str:
    """A sentence of ours with untrusted parts, safe to show: long URLs are shortened, and so is a long sentence.

    >>> whole("http://h/a is read")
    'http://h/a is read'
    >>> whole("it is read: " + "word " * 20, 20)
    'it is read: word wo…'
    """
    text = _URL.sub(lambda url: short(url[0], 120), text)
    return short(text if len(text) <= limit else f"{text[: limit - 1]}…", limit)


def plain(value: object) -> Any:
    """A value for JSON: what it cannot hold becomes text, and numbers that are not finite become None.

    >>> plain({"delay": 0.5, "until": float("inf"), "scope": (1, "host"), "path": 1j})
    {'delay': 0.5, 'until': None, 'scope': [1, 'host'], 'path': '1j'}
    """
    if isinstance(value, dict):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)
