"""What is claimed on the server's word, and how far an audit bounds it, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.evidence.claim import Limit
from sharc_crawler.plural import agreeing, counted

if TYPE_CHECKING:
    from sharc_crawler.report.claim import Claim


def on_word(claim: Claim, stated: int) -> str:
    """What a statement owes to the server's word, and how far an audit bounds that: it is quoted without its limits."""
    audit = _audit(claim)
    if audit is None or audit.get("whole"):
        unbounded = "" if audit else ", which no audit bounds"
        return f"; for {stated:,} of them that is the server's word{unbounded}"
    if audit["bound"] < audit["claimed"]:
        bound = f"and at most {audit['bound']:,} of these may be wrong ({audit['percent']}% confidence)"
    elif any(audit["unshown"].values()):
        bound = "which its audit does not bound"
    else:
        bound = "of which too few were audited" if audit["audited"] else "of which none was audited"
    return f"; for {_claimed(audit)} that is the server's word, {bound}"


def found(limit: Claim) -> str:
    """What an audit found, as a limit of a claim."""
    audit = "An audit of the whole site" if limit.get("whole") else "An audit"
    told = f"{audit} downloaded {counted(limit['audited'], 'page')} again: {limit['changed']} had changed,"
    told += f" {limit['lies']} without the server's saying so."
    told = f"{told}{_unshown(limit)} {_bound(limit)}"
    if not limit["unaudited"]:
        return told
    return f"{told} {_unaudited(limit)}."


_UNSHOWN = {
    "since": "{:,} changed, by the server's word alone after the reference instant",
    "lost": "of {:,} no answer showed whether they had changed",
}


def _unshown(limit: Claim) -> str:
    """Pages that were drawn are told, whatever became of them."""
    numbers = {why: number for why, number in limit["unshown"].items() if number}
    whys = "; ".join(_UNSHOWN[why].format(number) for why, number in numbers.items())
    return f" Of {counted(sum(numbers.values()), 'page')} the sample shows nothing: {whys}." if numbers else ""


def _unaudited(limit: Claim) -> str:
    number = limit["unaudited"]
    return f"For {number:,} of these, no page of {agreeing(number, 'their')} kind (folder and file type) was confirmed"


def _bound(limit: Claim) -> str:
    claimed = f"{_claimed(limit)} claimed on the server's word"
    if limit["bound"] >= limit["claimed"] and any(limit["unshown"].values()):
        return f"So nothing bounds how many of the {claimed} are wrong."
    if limit["bound"] >= limit["claimed"]:
        return f"Too few were audited to bound how many of the {claimed} are wrong."
    return f"With {limit['percent']}% confidence at most {limit['bound']:,} of the {claimed} are wrong."


def _claimed(limit: Claim) -> str:
    return f"{limit['claimed']:,} pages and data" if limit.get("data") else counted(limit["claimed"], "page")


def bounded(claim: Claim) -> str:
    """What an audit found, in one line; empty where nothing is claimed on the server's word."""
    audit = _audit(claim)
    if audit is None:
        return ""
    had = f"{audit['changed']:,}" if audit["changed"] else "none"
    told = f": {had} of them had changed" if audit["audited"] else ""
    left = f". {_unaudited(audit)}" if audit["unaudited"] else ""
    return f"{counted(audit['audited'], 'page')} downloaded again{told}.{_unshown(audit)} {_bound(audit)[:-1]}{left}"


def _audit(claim: Claim) -> Claim | None:
    return next((limit for limit in claim["limits"] if limit["code"] == Limit.AUDITED), None)
