"""Choose a capture's mode by its spec and strategy, and load that mode only."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from sharc_crawler.errors import UsageError
from sharc_crawler.frontier.modes.base import Untested
from sharc_crawler.frontier.modes.two_visits import TwoVisits

if TYPE_CHECKING:
    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.frontier.modes.base import Mode
    from sharc_crawler.frontier.parts import Parts
    from sharc_crawler.strategies.base import Strategy


def make_mode(ledger: Ledger, capture: SiteCapture, strategy: Strategy, parts: Parts) -> Mode:
    """Make the mode; raise :class:`UsageError` as :func:`check` does."""
    spec = capture.spec
    tests = _tests(ledger, capture, parts)
    check(strategy, spec.subsites, spec.mode)
    if spec.mode == "instant":
        from sharc_crawler.frontier.modes.instant import Instantly

        return Instantly(ledger, capture, compares=strategy.revisits)
    if spec.mode == "survey":
        from sharc_crawler.frontier.modes.by_lastmods import Surveyed

        return Surveyed(ledger, capture, parts.history(spec), tests, parts.aside)
    if spec.mode == "continuous":
        from sharc_crawler.frontier.modes.continuous import Continuously

        return Continuously(ledger, capture, tests)
    if strategy.attests:
        from sharc_crawler.frontier.modes.by_lastmods import ByLastmods

        seen = parts.seen and partial(parts.seen, spec)
        return ByLastmods(ledger, capture, parts.history(spec), tests, parts.aside, seen)
    if spec.subsites:
        from sharc_crawler.frontier.modes.subsites import Subsites

        return Subsites(ledger, capture, lambda: parts.links(spec), tests)
    return TwoVisits(ledger, capture, tests, compares=strategy.revisits)


def _tests(ledger: Ledger, capture: SiteCapture, parts: Parts) -> Untested:
    """Make the tests of the capture's rates by what the archive last saw, if there is an archive."""
    if (seen := parts.seen) is None:
        return Untested()
    from sharc_crawler.frontier.modes.rate_tests import RateTests

    return RateTests(capture, ledger.pages, partial(seen, capture.spec), partial(parts.history, capture.spec))


def check(strategy: Strategy, subsites: str, mode: str = "capture") -> None:
    """Check that the strategy suits subsites and mode: both need visits and revisits around a T.

    Raises :class:`~sharc_crawler.errors.UsageError` if it does not.
    """
    if mode == "continuous" and (subsites or strategy.attests or not strategy.revisits):
        why = f"subsites={subsites!r} has several" if subsites else "the strategy makes single visits"
        raise UsageError(f"mode='continuous' ends with one T, visits before it and revisits after it, and {why}")
    if subsites and (strategy.attests or not strategy.revisits):
        why = "has one T for the whole site" if strategy.attests else "makes single visits"
        raise UsageError(
            f"subsites={subsites!r} needs visits and revisits around a reference instant for each part, and the"
            f" strategy {why}; use sharc-selective, or leave subsites= out"
        )
