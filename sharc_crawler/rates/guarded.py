"""A source of rates from somebody else's package: what it answers is looked at, and its faults are told as its own."""

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
MOST = 1e6  #: changes a second that a page may have: figures are made of squares


def checked(source: RateSource) -> Rates:
    """Its ``rates``; raises :class:`~sharc_crawler.errors.DataError` where that fails, or answers what is none.

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
        return [None if one is None else _plain(who, one) for one in found]

    return rates


def tried_out(spec: str) -> Sequence[RateSource]:
    """The sources of a setting, each asked about a page that is made up.

    Raises :class:`~sharc_crawler.errors.UsageError` where somebody else's fails at that.
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
    """An estimate in Python's own numbers: those of other libraries (a model's, say) no store or report can keep."""
    if isinstance(given, RateEstimate) and isinstance(given.source, str) and given.source.isprintable():
        rate, source, shape, observations, spread = given
        with suppress(TypeError, ValueError, OverflowError):  # no numbers
            one = RateEstimate(float(rate), str(source), float(shape), int(observations), float(spread))
            told = any(isinstance(number, str) for number in (rate, shape, observations, spread))
            bounded = 0 <= one.rate <= MOST and 0 <= one.spread <= MOST
            if bounded and one.shape > 0 and one.observations >= 0 and not told:
                return one
    raise fault(who, f"gave {given!r:.300}, not RateEstimate(rate, source) or None: rates are 0 to {MOST:.0e}")
