"""What the answer to a request for robots.txt means, by RFC 9309. Rules: :mod:`~sharc_crawler.links.robots_rules`.

The process that reads documents decodes its bytes (:mod:`~sharc_crawler.links.robots_text`).
"""

from __future__ import annotations

from sharc_crawler.model import Outcome, Result, Seconds

MAX_AGE: Seconds = 86_400.0  #: rules are read again after a day (RFC 9309, 2.4)
MAX_REDIRECTS = 5  #: as in RFC 9309, 2.3.1.2
ALLOW_ALL = ""
_BY_PROXY = 407
DISALLOW_ALL = "User-agent: *\nDisallow: /"


def rules_text(outcome: Outcome) -> str:
    """The rules after a finished fetch of robots.txt (RFC 9309, 2.3.1).

    2xx: its text. 4xx, or too many redirects: everything is allowed. 5xx, 304, 407 (a proxy's, not the host's) or no
    answer: nothing is.
    """
    if outcome.result is Result.OK:
        return outcome.robots or ALLOW_ALL
    return DISALLOW_ALL if missing(outcome) else ALLOW_ALL


def leads_on(outcome: Outcome, hops: int) -> bool:
    """Is there another redirect to follow, after ``hops`` redirects?"""
    return outcome.result is Result.REDIRECTED and bool(outcome.location) and hops < MAX_REDIRECTS


def missing(outcome: Outcome) -> str:
    """Why the rules are unknown, so that nothing may be fetched; empty: they are known, or everything is allowed."""
    unasked = outcome.result is Result.REFUSED and outcome.status is None  # a redirect to a forbidden address
    if outcome.result not in (Result.FAILED, Result.NOT_MODIFIED) and not unasked:  # 304 is a server's error here
        return ""
    asked = f", Retry-After: {outcome.retry_after:.0f} s" if outcome.retry_after else ""
    why = f"{outcome.error or f'status {outcome.status}'}{wants_password(outcome.status)}"
    return f"could not be read ({why}{asked})"


def wants_password(status: int | None) -> str:
    """The explanation of a proxy's status 407; else empty."""
    return ": the proxy wants a user and a password" if status == _BY_PROXY else ""


class Rules:
    """The rules of a host for one agent; these allow everything."""

    delay: Seconds = 0.0  #: between two requests
    sitemaps: tuple[str, ...] = ()

    def allows(self, url: str) -> bool:  # noqa: ARG002
        """May this agent fetch the URL?"""
        return True


def rules_of(text: str, agent: str, base: str) -> Rules:
    """The rules in a robots.txt at ``base``."""
    if not text:
        return Rules()
    from sharc_crawler.links.robots_rules import RobotsRules  # not needed by sites without rules

    return RobotsRules(text, agent, base)
