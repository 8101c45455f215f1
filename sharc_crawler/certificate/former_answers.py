"""Answers that stand for what a former download brought: 304s, and pages that were not asked for."""

from __future__ import annotations

from email.utils import formatdate
from typing import TYPE_CHECKING

from sharc_crawler.addresses.urls import canonical
from sharc_crawler.certificate.witness import Finding
from sharc_crawler.changes.http import HttpResponse, http_date
from sharc_crawler.evidence.headers import header_bytes, header_text, of_headers
from sharc_crawler.evidence.validators import confirmed
from sharc_crawler.instants import maybe_iso, unix
from sharc_crawler.model import Outcome, Result, Validators

if TYPE_CHECKING:
    from sharc_crawler.certificate.judging import Entry, Judge
    from sharc_crawler.certificate.witness import Moment, RecordedExchange

_NOT_MODIFIED = 304


def taken(judge: Judge, entry: Entry, stated: Entry) -> Outcome:
    """What was not asked for: an answer in a former capture, as far as that is at hand as stated."""
    said, digest = stated["server"], stated["digest"]
    exchange = judge.former_of(stated)
    if exchange is None:
        judge.elsewhere += 1
        modified = said["modified"] and formatdate(unix(said["modified"]), usegmt=True)
        started, told = unix(stated["date"]), Validators(None, modified)
        date = unix(said["date"])
        return Outcome(Result.OK, started, started, stated["status"], digest, date=date, validators=told)
    outcome = judge.outcome(exchange, Result.OK)
    modified = http_date(outcome.validators.last_modified)
    held = exchange.kind == "response" and outcome.result is Result.OK and outcome.age is None
    same = (exchange.date, outcome.digest, maybe_iso(outcome.date), maybe_iso(modified)) == (
        stated["date"], digest, said["date"], said["modified"],
    )  # fmt: skip
    if not (held and same and canonical(exchange.uri) == canonical(stated["uri"])):
        judge.find(stated, entry, "the former capture's answer that it refers to is another one")
    return outcome


def unchanged(judge: Judge, exchange: RecordedExchange, message: HttpResponse, holder: Moment) -> Outcome:
    """A visit that was answered 304: it shows what a former capture holds, by the server's word."""
    held = judge.witness.of(holder) or judge.former.of(holder)
    own, started, sent = of_headers(message.headers), unix(exchange.date), _sent(exchange)
    if held is None:
        judge.elsewhere += not exchange.closed
    elif held.message is None or not _bears_out(held, held.message, exchange, sent):
        what = f"its 304 refers to {' of '.join(reversed(holder))}, which does not bear it out"
        judge.findings.append(Finding(what, exchange.file, exchange.offset, exchange.uri))
    kind = of_headers([(b"Content-Type", header_bytes(exchange.media_type or ""))])
    own |= {"media_type": kind["media_type"], "charset": kind["charset"]}
    own["validators"] = confirmed(sent, own["validators"])
    ok = Result.OK
    return Outcome(ok, started, started, status=message.status, digest=exchange.digest, decoded=exchange.decoded, **own)


def was_asked(judge: Judge, entry: Entry) -> bool:
    """Whether the revisit's request carried a validator that the visit had brought."""
    visit, revisit = (judge.exchange(entry[part]) for part in ("visit", "revisit"))
    if visit is None or revisit is None or visit.message is None:
        return False
    brought, asked = of_headers(visit.message.headers)["validators"], _sent(revisit)
    if visit.message.status == _NOT_MODIFIED:  # what was asked by holds, by the server's word
        brought = confirmed(_sent(visit), brought)
    return _share(asked, brought)


def _sent(exchange: RecordedExchange) -> Validators:
    """What a request was conditional on."""
    lines = (line.partition(b":")[::2] for line in exchange.request.split(b"\r\n")[1:])
    sent = {name.strip().lower(): header_text(value) for name, value in lines}
    return Validators(sent.get(b"if-none-match"), sent.get(b"if-modified-since"))


def _share(one: Validators, other: Validators) -> bool:
    """Whether both have the same ETag or the same Last-Modified."""
    pairs = (one.etag, other.etag), (one.last_modified, other.last_modified)
    return any(mine is not None and theirs is not None and mine.lower() == theirs.lower() for mine, theirs in pairs)


def _bears_out(held: RecordedExchange, answer: HttpResponse, exchange: RecordedExchange, sent: Validators) -> bool:
    """Does the answer that a 304 refers to have the payload, the type and the validators that are said of it?"""
    unpacked = exchange.decoded in (None, held.decoded)
    same = held.kind == "response" and held.digest == exchange.digest and unpacked
    kind = header_text(answer.header(b"content-type"))
    return same and kind == exchange.media_type and _share(sent, of_headers(answer.headers)["validators"])
