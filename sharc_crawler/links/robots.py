"""robots.txt by RFC 9309: what an answer (or none) means. Its rules: :mod:`~sharc_crawler.links.robots_rules`.

Its bytes become text where documents are read (:mod:`~sharc_crawler.links.robots_text`).
"""

from __future__ import annotations

from sharc_crawler.model import Outcome, Result, Seconds

MAX_AGE: Seconds = 86_400.0  #: RFC 9309, 2.4: rules are read again after a day
MAX_REDIRECTS = 5  #: RFC 9309, 2.3.1.2
ALLOW_ALL = ""
_BY_PROXY = 407
DISALLOW_ALL = "User-agent: *\nDisallow: /"


def rules_text(outcome: Outcome) -> str:
    """What a finished fetch of robots.txt comes to (RFC 9309, 2.3.1): its text, or all allowed, or nothing.

    2xx: the text. 4xx, or more redirects than are followed: everything is allowed. 5xx, 304, 407 (a proxy's, not the
    host's) or no answer: nothing is.
    """
    if outcome.result is Result.OK:
        return outcome.robots or ALLOW_ALL
    return DISALLOW_ALL if missing(outcome) else ALLOW_ALL


def leads_on(outcome: Outcome, hops: int) -> bool:
    """Whether the rules are to be read elsewhere, after so many redirects."""
    return outcome.result is Result.REDIRECTED and bool(outcome.location) and hops < MAX_REDIRECTS


def missing(outcome: Outcome) -> str:
    """Why there are no rules to obey, so that nothing may be fetched; empty: there are, or all may."""
    unasked = outcome.result is Result.REFUSED and outcome.status is None  # it redirects to an address that is closed
    if outcome.result not in (Result.FAILED, Result.NOT_MODIFIED) and not unasked:  # a 304 was never asked for
        return ""
    asked = f", Retry-After: {outcome.retry_after:.0f} s" if outcome.retry_after else ""
    why = f"{outcome.error or f'status {outcome.status}'}{wants_password(outcome.status)}"
    return f"could not be had ({why}{asked})"


def wants_password(status: int | None) -> str:
    """What a status of a proxy asks for."""
    return ": the proxy wants a user and a password" if status == _BY_PROXY else ""


class Rules:
    """What one host allows one agent: all, where it has no robots.txt."""

    delay: Seconds = 0.0  #: between two requests
    sitemaps: tuple[str, ...] = ()

    def allows(self, url: str) -> bool:  # noqa: ARG002
        """May this agent fetch the URL?"""
        return True


def rules_of(text: str, agent: str, base: str) -> Rules:
    """The rules of a robots.txt that lies at ``base``."""
    if not text:
        return Rules()
    from sharc_crawler.links.robots_rules import RobotsRules  # many sites have none

    return RobotsRules(text, agent, base)
