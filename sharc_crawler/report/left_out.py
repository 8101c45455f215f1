"""Sentences about pages and links left out: by the budget, ``limit`` and ``hops``, or not followed for other reasons.

Reasons that differ only in places and numbers are summed up in one.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from shlex import quote
from typing import Any

from sharc_crawler.addresses import orders
from sharc_crawler.addresses.scope import MOST_LISTED
from sharc_crawler.addresses.software import of_note
from sharc_crawler.evidence.facts import CaptureFacts
from sharc_crawler.evidence.worded import in_words
from sharc_crawler.frontier.admission import MOST, OVER_LIMIT, TOO_FAR
from sharc_crawler.frontier.capture import PREFIX
from sharc_crawler.model import HowMade, Kind
from sharc_crawler.plural import agreeing, counted
from sharc_crawler.report.marks import ORDERS

#: what each bound counts, or why it exists
_COUNTS = {
    "limit=": "limit counts pages, but not their revisits or embedded files",
    "hops=": "hops limits links in a row, which may have no end",
    "max_requests=": "max_requests counts all requests: pages, revisits, embedded files, robots.txt, sitemaps",
}


def left_by(facts: CaptureFacts) -> str:
    """How many pages and URLs were left out by the budget, ``limit`` and ``hops``, and what to do; empty if none."""
    pages, files, links = _left(facts, of_pages=True), _left(facts, of_pages=False), dict(left_urls(facts))
    told, bounds = [], sorted({*pages, *files})
    if bounds:
        left, embedded = pages.total(), files.total()
        parts = [counted(left, "more page")] * bool(left) + [counted(embedded, "embedded file")] * bool(embedded)
        told.append(f"{' and '.join(parts)} {agreeing(left + embedded, 'were')} left by {' and '.join(bounds)}")
    if links:
        number = sum(links.values())
        more = "more than " * (len(facts.outside) >= MOST_LISTED)
        urls = f"{more}{counted(number, 'URL')} and what only {agreeing(number, 'they')} {agreeing(number, 'lead')} to"
        told.append(f"{urls} were not followed for {' and '.join(links)}")
    bounds += links
    one = "a larger one" if len(bounds) == 1 else "larger ones"
    counts = "".join(f". {words}" for bound, words in _COUNTS.items() if bound in " ".join(bounds))
    them = "it" if pages.total() + files.total() + sum(links.values()) == 1 else "them"
    whole = f"The site was not captured whole: {', and '.join(told)}"
    return f"{whole}{counts}. A new capture with {one} would take {them}, too" if told else ""


def beyond(facts: CaptureFacts) -> str:
    """How many URLs were left out by ``limit`` and ``hops``, for the line of pages; empty if none."""
    number = sum(dict(left_urls(facts)).values())
    return f", {counted(number, 'URL')} not followed" if number else ""


def wider(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """A next step for each of these two bounds that left something out: double it."""
    for name, bound in re.findall(r"\b(limit|hops)=(\d+)", report["left_by_budget"]):
        words = f"{name}={bound} left out a part of the site. Capture it again in another folder, with more."
        yield words, f"-a {name}={2 * int(bound)}"


def _left(facts: CaptureFacts, *, of_pages: bool) -> Counter[str]:
    """How many pages, or other files, the budget left out, by its bound."""
    left: Counter[str] = Counter()
    for (kind, reason), number in facts.figures.missing.items():
        if (kind is Kind.PAGE) is of_pages and (bound := bound_that_left(reason)):
            left[bound] += number
    return left


def bound_that_left(reason: str) -> str:
    """The bound of the budget in a reason; empty: it names none."""
    why = in_words(reason)
    return why.removeprefix(PREFIX).partition(" ")[0] if why.startswith(PREFIX) else ""


def left_urls(facts: CaptureFacts) -> Iterator[tuple[str, int]]:
    """How many distinct URLs ``limit`` and ``hops`` left out, as far as they are listed."""
    listed, full = Counter(row.reason for row in facts.outside), len(facts.outside) >= MOST_LISTED
    for name, reason in (("limit", OVER_LIMIT), ("hops", TOO_FAR)):
        bound = facts.settings.get(name) or MOST * (name == "limit")
        if facts.skipped.get(reason.format(bound)) and (number := listed[reason.format(bound)] or int(full)):
            yield f"{name}={bound}", number


# -- what was not followed ---------------------------------------------------------------------------------------------


FEW = 3  #: more reasons or notes alike are summed up in one
_PLACE = re.compile(r"\d[\d,]* pages? (with something made up in|of) (\S+) had \d[\d,]* contents?")
_PROBE = re.compile(r"(?<=a page that cannot exist )\((http\S+)\)")


def notes_on_links(skipped: Mapping[str, int]) -> Iterator[HowMade]:
    """A note for each reason why links were not followed; many alike share one. report.json has each.

    >>> why = "looks like a trap: 20 pages of /{}/*/print had 1 content (traps=0 takes them)"
    >>> [str(note) for note in notes_on_links({why.format(number): 5 for number in range(9)})]
    ['links not followed, looks like a trap: 20 pages of /0/*/print had 1 content, and so in 8 other places (traps=0 ...
    """
    alike = defaultdict(list)
    for why, number in sorted(skipped.items()):
        alike[_PLACE.sub("", why)].append((why, number))
    for reasons in alike.values():
        if len(reasons) > FEW:
            reasons = [_together(reasons)]
        for why, number in reasons:
            yield HowMade(f"links not followed, {why}: named {counted(number, 'time')}")


def _together(reasons: Sequence[tuple[str, int]]) -> tuple[str, int]:
    most = max(reasons, key=lambda one: one[1])[0]
    words = _PLACE.sub(lambda found: f"{found[0]}, and so in {len(reasons) - 1:,} other places", most)
    return words, sum(number for _, number in reasons)


def probed(notes: Sequence[str]) -> list[str]:
    """The notes of a capture; those that differ only in the folder that was probed for an error page share one."""
    alike = defaultdict(list)
    for note in notes:
        alike[_PROBE.sub("", note)].append(note)
    return [note for group in alike.values() for note in (group if len(group) <= FEW else [_of_all(group)])]


def _of_all(notes: Sequence[str]) -> HowMade:
    more = counted(len(notes) - 1, "other folder")
    return HowMade(_PROBE.sub(lambda found: f"({found[1]}, and so in {more})", notes[0]))


def exclusions(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The words of a step, and what is to be given, for each kind that a note tells of and nothing excludes."""
    given = str(report["settings"].get("exclude") or "")
    ended = report["times"]["ended"] is not None
    way = (
        "A new capture leaves them out" if ended else "The same command resumes without them (what was captured stays)"
    )
    for what, exclude in _kinds(report["notes"]):
        if exclude not in given:
            yield (
                f"{what}. {way}, with this beside it.",
                f"-a exclude={quote('|'.join(filter(None, (given, exclude))))}",
            )


def _kinds(notes: Iterable[str]) -> Iterator[tuple[str, str]]:
    """What such addresses are, and an expression for them."""
    for note in notes:
        if software := of_note(note):
            yield f"Many addresses are of the making of {software.name} ({software.what})", software.exclude
        elif ORDERS in note:
            yield f"Addresses look {ORDERS} (to fill a cart, to vote, to delete)", orders.ORDERS
