"""Put a claim (:mod:`sharc_crawler.evidence.claim`) into words, with its grounds and its limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sharc_crawler.evidence.claim import UNSEEN, Limit, Statement
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import RARE
from sharc_crawler.instants import second, unix
from sharc_crawler.plural import agreeing, counted
from sharc_crawler.report.words import span

Claim = Mapping[str, Any]

UNBORNE = "the WARC files do not support the verdicts on them"  #: part of a refuted claim's sentence
_UNDECIDED = "could not be judged: no lastmod decides, or for the reason listed with it. Not counted as coherent."
_UNSEEN = "could not be judged, each for the reason that is listed with it: not counted as coherent."


def in_words(claim: Claim) -> dict[str, Any]:
    """The claim for a report: ``sentence``, ``statement`` and ``code``, ``grounds`` (with words), ``limits``."""
    statement = _STATEMENTS[Statement(claim["statement"])](claim) + _on_word(claim) + _unasked(claim)
    grounds = [{**ground, "words": Evidence(ground["evidence"]).ground} for ground in claim["grounds"]]
    listed = ", ".join(f"{ground['pages']:,} {ground['words']}" for ground in grounds)
    gaps = [gap for ground in grounds if (gap := Evidence(ground["evidence"]).gap)]
    return {
        "sentence": f"{statement}: {listed}." if listed else f"{statement}.",
        "statement": statement,
        "code": claim["statement"],
        "grounds": grounds,
        "limits": [*gaps, *(_LIMITS[Limit(limit["code"])](limit) for limit in claim["limits"])],
    }


def sentence(claim: Claim) -> str:
    """The claim with its grounds, in one sentence."""
    words: str = in_words(claim)["sentence"]
    return words


def _on_word(claim: Claim) -> str:
    stated = sum(ground["pages"] for ground in claim["grounds"] if Evidence(ground["evidence"]).stated)
    if not stated:
        return ""
    from sharc_crawler.report.servers_word import on_word  # only where something is claimed on the server's word

    return on_word(claim, stated)


def _unasked(claim: Claim) -> str:
    """The clause on pages that were not requested, or whose answers were not recorded from the wire."""
    pages = sum(limit["pages"] for limit in claim["limits"] if limit["code"] == Limit.NOT_ASKED)
    unseen = f"; {UNSEEN}" if {"code": Limit.UNSEEN} in claim["limits"] else ""
    return (f"; {counted(pages, 'page', 'were')} not asked for" if pages else "") + unseen


# -- statements --------------------------------------------------------------------------------------------------------


def _together(claim: Claim) -> str:
    at = _instant(claim)
    if claim["captured"] == 1:
        return f"The only {_captured(claim)}page was in this state at {at}"
    return (
        f"{_number(claim)} {'was in this state' if claim['coherent'] == 1 else 'were in this state together'} at {at}"
    )


def _none_shown(claim: Claim) -> str:
    return f"Of {counted(claim['captured'], 'page')}, none can be shown to have been in this state at {_instant(claim)}"


def _by_part(claim: Claim) -> str:
    parts = counted(claim["parts"], "part")
    return (
        f"{_number(claim)} were in one state together with their part of the site, in {parts}, each at its own instant"
    )


def _once(claim: Claim) -> str:
    return f"{_were_captured(claim)}, once each: single visits reduce blur, but show nothing about coherence"


def _unreached(why: str) -> Callable[[Claim], str]:
    def words(claim: Claim) -> str:
        number = claim["captured"]
        they = "they were in one state together" if number > 1 else "it stayed as it is"
        return f"{_were_captured(claim)}, but the reference instant {why}: nothing shows that {they}"

    return words


def _refuted(claim: Claim) -> str:
    return f"{_were_captured(claim)}, but {UNBORNE}: nothing is claimed"


def _were_captured(claim: Claim) -> str:
    number = claim["captured"]
    return f"{counted(number, 'page')} {agreeing(number, 'were')} captured"


def _instant(claim: Claim) -> str:
    return second(unix(claim["reference"]))


def _number(claim: Claim) -> str:
    """How many of the captured pages are coherent."""
    captured, coherent = claim["captured"], claim["coherent"]
    all_of_them = f"All {captured:,} {_captured(claim)}pages"
    return all_of_them if coherent == captured else f"{coherent:,} of {counted(captured, 'page')}"


def _captured(claim: Claim) -> str:
    """The word "captured" if pages are missing: "all captured pages" are then not all pages."""
    return "captured " if claim["not_captured"] else ""


_STATEMENTS: dict[Statement, Callable[[Claim], str]] = {
    Statement.TOGETHER: _together,
    Statement.TOGETHER_BY_PART: _by_part,
    Statement.NONE_SHOWN: _none_shown,
    Statement.NOT_REACHED: _unreached("has not been reached yet"),
    Statement.NEVER_REACHED: _unreached("was never reached"),
    Statement.ONCE: _once,
    Statement.REFUTED: _refuted,
    Statement.NOTHING: lambda _: "No page was captured, so there is nothing to claim",
}


# -- limits ------------------------------------------------------------------------------------------------------------


def _audited(limit: Claim) -> str:
    from sharc_crawler.report.servers_word import found  # only where there was an audit

    return found(limit)


def _liars(limit: Claim) -> str:
    words = {"lastmod": "The lastmods of", "304": "304 answers of"}[limit["of"]]
    kinds = ", ".join(one or RARE for one in limit["classes"])
    return f"{words} {kinds} were caught lying: none of them was relied on."


def _pages(words: str) -> Callable[[Claim], str]:
    return lambda limit: f"{counted(limit['pages'], 'page')} {words}"


def _interrupted(limit: Claim) -> str:
    start, end = unix(limit["from"]), unix(limit["to"])
    return f"The capture was interrupted at {second(start)} for {span(end - start)}."


_LIMITS: dict[Limit, Callable[[Claim], str]] = {
    Limit.AUDITED: _audited,
    Limit.LIARS: _liars,
    Limit.NOT_ASKED: _pages("were not requested (skip=attested): a former capture has them."),
    Limit.UNSEEN: lambda _: "Answers, their bytes and their instants are as another download handler passed them on.",
    Limit.CHANGED: _pages(
        "changed during the capture, by bytes or by the server's word, even if only in a token:"
        " the copy may belong to another state of the site."
    ),
    Limit.UNKNOWN: lambda limit: _pages(_UNDECIDED if limit["attested"] else _UNSEEN)(limit),
    Limit.NOT_CAPTURED: _pages("known to the capture led elsewhere or could not be captured: listed with reasons."),
    Limit.INTERRUPTED: _interrupted,
    Limit.APART: lambda _: "Nothing shows that pages of different parts of the site were in one state together.",
    Limit.INCOMPLETE: lambda _: "The capture is not complete: these figures are preliminary.",
}
