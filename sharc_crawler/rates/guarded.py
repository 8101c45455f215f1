"""Check the answers of plug-in rate sources, and blame them for their faults."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from sharc_crawler.errors import DataError, UsageError
from sharc_crawler.model import Instant, RateEstimate, Sighting
from sharc_crawler.plugin_faults import fault, tried
from sharc_crawler.plural import counted
from sharc_crawler.rates.base import RateSource
from sharc_crawler.rates.make import make_sources

Rates = Callable[[Sequence[Sighting], Instant], Sequence[RateEstimate | None]]

NAMED = "SHARC_RATES: "
MOST = 1e6  #: maximum rate, changes per second: its square must not overflow


def checked(source: RateSource) -> Rates:
    """Wrap a source's ``rates``: raise :class:`~sharc_crawler.errors.DataError` if it fails or answers wrongly.

    >>> class Short:
    ...     def rates(self, sightings, now): return []
    >>> checked(Short())(["a page"], 0.0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    sharc_crawler.errors.DataError: SHARC_RATES: the rate source Short gave 0 answers for 1 page. That is a fault ...
    """
    who = f"{NAMED}the rate source {type(source).__qualname__}"

    def rates(sightings: Sequence[Sighting], now: Instant) -> Sequence[RateEstimate | None]:
        found = tried(who, lambda: source.rates(list(sightings), now))
        if not (hasattr(found, "__len__") and hasattr(found, "__getitem__")):
            raise fault(who, f"answered with {type(found).__name__}, not a sequence of RateEstimate or None")
        if (given := tried(who, lambda: len(found))) != len(sightings):
            raise fault(who, f"gave {given:,} answers for {counted(len(sightings), 'page')}")
        return [None if estimate is None else _plain(who, estimate) for estimate in found]

    return rates


def tried_out(spec: str) -> Sequence[RateSource]:
    """Make the sources of a setting, and try each plug-in with a made-up page.

    Raises :class:`~sharc_crawler.errors.UsageError` if a plug-in fails.
    """
    sources = make_sources(spec, {})
    for name, source in zip(spec.split(","), sources, strict=True):
        if not type(source).__module__.startswith("sharc_crawler."):
            try:
                checked(source)([Sighting("http://site.example/")], 0.0)
            except DataError as error:
                why = str(error).removeprefix(NAMED)
                named = f"rates={name.strip()!r}"
                raise UsageError(f"{named} is no source of rates: {why}: mend it, or leave it out") from error
    return sources


def _plain(who: str, given: object) -> RateEstimate:
    """Return an estimate with Python's own numbers: stores and reports cannot keep those of other libraries."""
    if isinstance(given, RateEstimate) and isinstance(given.source, str) and given.source.isprintable():
        rate, source, shape, observations, spread = given
        with suppress(TypeError, ValueError, OverflowError):  # not numbers
            plain = RateEstimate(float(rate), str(source), float(shape), int(observations), float(spread))
            texts = any(isinstance(number, str) for number in (rate, shape, observations, spread))
            bounded = 0 <= plain.rate <= MOST and 0 <= plain.spread <= MOST
            if bounded and plain.shape > 0 and plain.observations >= 0 and not texts:
                return plain
    raise fault(who, f"gave {given!r:.300}, not RateEstimate(rate, source) or None: rates are 0 to {MOST:.0e}")
