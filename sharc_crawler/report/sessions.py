"""Notes on captures in a session, and on sites that ask for a log-in, cookies or consent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from sharc_crawler.evidence.facts import CaptureFacts
from sharc_crawler.guides import guide
from sharc_crawler.instants import second
from sharc_crawler.model import Kind
from sharc_crawler.plural import counted
from sharc_crawler.report.marks import ALIKE, LOCKED, MANY


def session_notes(facts: CaptureFacts, captured: int) -> Iterator[str]:
    """All these notes."""
    yield from _locked(facts, captured)
    yield from _walled(facts, captured)
    yield from _whose(facts)


def ended(facts: CaptureFacts) -> str:
    """When the first of the session's cookies expired; empty: not before the last download."""
    if not (ends := str(facts.settings.get("session_ends", ""))):
        return ""
    visits = (visit for page in facts.pages for visit in (page.visit, page.revisit) if visit)
    return ends if ends < second(facts.ended or max((one.ended for one in visits), default=0.0)) else ""


def _locked(facts: CaptureFacts, captured: int) -> Iterator[str]:
    """Pages that need a password."""
    number = facts.figures.missing[Kind.PAGE, LOCKED]
    if number > MANY * (captured + number) and "spider" not in facts.settings:
        refused = "its session was not taken" if facts.settings.get("session") else "netrc=FILE gives both"
        yield (
            f"{counted(number, 'page', 'want')} a user and a password (status 401): {refused}; where members log in by"
            f" a form, cookies=FILE has their session ({guide('capturing')}, logged in)"
        )


def _whose(facts: CaptureFacts) -> Iterator[str]:
    """The capture was made in a session: others may be shown other pages."""
    whose, vain = facts.settings.get("session"), facts.settings.get("session_cookies")
    if vain:
        yield (
            f"when the capture {'went on' if ended(facts) else 'began'}, of the cookies of its session ({whose})"
            f" {vain}: what was asked for without any is as anybody is shown it"
        )
    elif whose and (when := ended(facts)):
        yield (
            f"the session ({whose}) may have ended before the capture did: cookies of it were valid until {when}."
            " What was downloaded after that may be what anybody is shown, and what differs from before"
            " may differ for that alone: no mask is learned here"
        )
    elif whose:
        yield f"requests were made in a session ({whose}), by its cookies for them: others may be shown other pages"
    if facts.settings.get("keep_secrets"):
        yield "its secrets are in WARC requests (keep_secrets=1): end the session before you hand them on"


def _walled(facts: CaptureFacts, captured: int) -> Iterator[str]:
    """At least half of the pages redirect to one page, or to themselves with another query: a wall."""
    found = {} if "spider" in facts.settings else facts.figures.redirects  # a project may keep cookies
    leading = [(url, target) for url, (kind, _, target) in found.items() if kind is Kind.PAGE]
    back = {url for url, target in leading if target in found and target in facts.seeds}  # the wall's own pages
    ends = [(url, target.partition("?")[0]) for url, target in leading if url not in back]
    places = Counter("their own addresses" if end == url.partition("?")[0] else end for url, end in ends)
    for place, number in places.most_common(1):
        seeds = [url for url, _ in ends if url in facts.seeds]
        if (number >= ALIKE or seeds) and 2 * number >= captured + len(ends):
            who = f"{counted(number, 'page')} redirect" if number >= ALIKE else f"the seed {seeds[0]} redirects"
            have = (
                "" if facts.settings.get("session") else f"; cookies=FILE captures in a session ({guide('capturing')})"
            )
            asks = "do they" if number >= ALIKE else "does it"
            yield (
                f"{who} to {place}: {asks} want a cookie, a consent or a log-in? What lies behind is not captured,"
                f" since cookies that a server sets are not sent back{have}"
            )
