"""Sentences about claims on the server's word: how far an audit bounds them, and what a confirmation leaves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sharc_crawler.evidence.claim import Limit
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.instants import second, unix
from sharc_crawler.model import Verdict
from sharc_crawler.plural import counted
from sharc_crawler.report.claim import Claim, sentence

LITTLE = 0.2  #: an audit says little if more than this share of the claims may be wrong
TELLING = 30.0  #: pages to audit so that at most a tenth may be wrong, if none of them had changed


def on_word(claim: Claim, stated: int) -> str:
    """The clause on the server's word within a statement, which is often quoted without its limits."""
    audit = _audit(claim)
    if audit is None or audit.get("whole"):
        unbounded = "" if audit else ", and no audit says how many of these may be wrong"
        return f"; for {stated:,} of them that is the server's word{unbounded}"
    if audit["bound"] < audit["claimed"]:
        bound = f"and at most {audit['bound']:,} of these may be wrong ({audit['percent']}% confidence)"
    elif any(audit["unshown"].values()):
        bound = "and the audit does not show how many of these may be wrong"
    else:
        few = f"and too few others were audited ({audit['audited']:,}) to say how many of these may be wrong"
        bound = few if audit["audited"] else "of which none was audited"
    if not audit.get("data"):
        return f"; for {_claimed(audit)} that is the server's word, {bound}"
    # Several pages may use the same data: each of them rests on the server's word.
    return f"; for {counted(stated, 'page')} that is the server's word on {_claimed(audit)}, {bound}"


def found(limit: Claim) -> str:
    """The sentences on an audit's result among a claim's limits."""
    audit = "An audit of the whole site" if limit.get("whole") else "An audit"
    told = f"{audit} downloaded {_audited(limit)} again: {limit['changed']:,} had changed,"
    told += f" {limit['lies']} without the server's saying so."
    told = f"{told}{_unshown(limit)} {_bound(limit)}"
    if not limit["unaudited"]:
        return told
    return f"{told} {_unaudited(limit)}."


_UNSHOWN = {
    "since": "{:,} changed, by the server's word alone after the reference instant",
    "alike": "{:,} had other bytes with the same content",
    "lost": "no answer for {:,} showed whether anything had changed",
}


def _unshown(limit: Claim) -> str:
    """The sentence on sampled pages that show nothing."""
    numbers = {why: number for why, number in limit["unshown"].items() if number}
    whys = "; ".join(_UNSHOWN[why].format(number) for why, number in numbers.items())
    return f" Of {counted(sum(numbers.values()), _noun(limit))} the sample shows nothing: {whys}." if numbers else ""


def _unaudited(limit: Claim) -> str:
    number, noun = limit["unaudited"], _noun(limit)
    return (
        f"For {number:,} of these the audit shows nothing: no {noun} of their folder and file type was found unchanged"
    )


def _bound(limit: Claim) -> str:
    claimed = f"{_claimed(limit)} claimed on the server's word alone"
    if limit["bound"] >= limit["claimed"] and any(limit["unshown"].values()):
        return f"So any number of the {claimed} may be wrong."
    if limit["bound"] >= limit["claimed"]:
        return f"Too few were audited to say how many of the {claimed} may be wrong."
    more = "" if limit.get("whole") else " A larger audit= narrows that."
    return f"With {limit['percent']}% confidence at most {limit['bound']:,} of the {claimed} are wrong.{more}"


def _claimed(limit: Claim) -> str:
    """How many pages and pieces of data are claimed on the server's word without an audit of their own."""
    data = limit.get("data", 0)
    pages = limit["claimed"] - data
    told = [counted(pages, "page")] if pages or not data else []
    return " and ".join([*told, counted(data, "piece") + " of data"] if data else told)


def _audited(limit: Claim) -> str:
    return counted(limit["audited"], _noun(limit))


def _noun(limit: Claim) -> str:
    """What was audited: pages, or pages and data."""
    return "URL" if limit.get("data") else "page"


def bounded(claim: Claim) -> str:
    """An audit's result in one line; empty if nothing is claimed on the server's word."""
    audit = _audit(claim)
    if audit is None:
        return ""
    had = f"{audit['changed']:,}" if audit["changed"] else "none"
    told = f": {had} of them had changed" if audit["audited"] else ""
    left = f". {_unaudited(audit)}" if audit["unaudited"] else ""
    return f"{_audited(audit)} downloaded again{told}.{_unshown(audit)} {_bound(audit)[:-1]}{left}"


def _audit(claim: Claim) -> Claim | None:
    return next((limit for limit in claim["limits"] if limit["code"] == Limit.AUDITED), None)


def larger(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Next step: a larger audit, if this one says little and the server did not prevent it."""
    audit = report["audit"]
    claimed = audit.get("claimed", 0)
    little = claimed and audit["bound"] > LITTLE * claimed
    if little and not any(audit["unshown"].values()) and "spider" not in report["settings"]:
        few = f"{audit['audited']:,} were audited, which is too few to say much. Audit more of them."
        noun = "URL" if audit.get("data") else "page"
        words = f"Beside the {counted(claimed, noun)} claimed on the server's word alone, {few}"
        yield words, f"-a audit={min(1.0, math.ceil(10 * TELLING / claimed) / 10):g}"


def confirmed(confirmation: Mapping[str, Any]) -> Iterator[str]:
    """What a confirmation says of a claim, in lines."""
    left = [one for one in confirmation["pages"] if one["evidence"] == Evidence.PROVISIONAL]
    lost = sum(one["verdict"] != Verdict.COHERENT for one in confirmation["pages"])
    read = second(unix(confirmation["read"]["to"]))
    yield f"confirmed by the sitemaps of {read}: {counted(confirmation['confirmed'], 'page')}"
    if lost:
        yield f"no longer claimed: {counted(lost, 'page')}, changed before the reference instant as they now say"
    if left:
        yield f"still provisional: {counted(len(left), 'page')}, since they no longer cover the time before it"
    yield f"so {sentence(confirmation['capture']['claim'])}"
    yield f"digest {confirmation['digest']}"


def standing_claims(certified: Iterable[Claim], confirmation: Mapping[str, Any] | None) -> list[str]:
    """The sentences that a package's description must have: the certified claims, and what a confirmation says."""
    later = [*confirmed(confirmation)][:-1] if confirmation else []
    return [*map(sentence, certified), *(f"{line[0].upper()}{line[1:].rstrip('.')}." for line in later)]
