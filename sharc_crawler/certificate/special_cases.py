"""Special cases of judging, which a plain capture does not load: answers that rely on former downloads, repeated visits
before T, data fetched by scripts, payloads stored under another content coding.
"""

from __future__ import annotations

from email.utils import formatdate
from typing import TYPE_CHECKING

from sharc_crawler.addresses.urls import canonical
from sharc_crawler.bodies.coding import undone_by, unpacked
from sharc_crawler.certificate.named_sitemaps import answered
from sharc_crawler.certificate.witness import Finding
from sharc_crawler.changes.http import HttpResponse, http_date
from sharc_crawler.changes.packed import as_sent, digest_unpacked
from sharc_crawler.evidence.data import DataState, redirected, with_data
from sharc_crawler.evidence.headers import header_bytes, header_text, of_headers
from sharc_crawler.evidence.validators import confirmed
from sharc_crawler.instants import maybe_iso, unix
from sharc_crawler.model import Judgement, Outcome, Result, Slot, Validators

if TYPE_CHECKING:
    from sharc_crawler.certificate.judging import Entry, Judge
    from sharc_crawler.certificate.witness import Moment, RecordedExchange

_NOT_MODIFIED = 304


def taken(judge: Judge, entry: Entry, stated: Entry) -> Outcome:
    """The answer of a former capture that a page was taken from without a request; as stated if it is not at hand."""
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
    """A visit that was answered 304: by the server's word it shows what a former capture holds."""
    held = judge.witness.of(holder) or judge.former.of(holder)
    own, started, sent = of_headers(message.headers), unix(exchange.date), _sent(exchange)
    if held is None:
        judge.elsewhere += not exchange.closed
    elif held.message is None or not _bears_out(held, held.message, exchange, sent):
        what = f"its 304 refers to {' of '.join(reversed(holder))}, which does not support it"
        judge.findings.append(Finding(what, exchange.file, exchange.offset, exchange.uri))
    kind = of_headers([(b"Content-Type", header_bytes(exchange.media_type or ""))])
    own |= {"media_type": kind["media_type"], "charset": kind["charset"]}
    own["validators"] = confirmed(sent, own["validators"])
    ok = Result.OK
    return Outcome(ok, started, started, status=message.status, digest=exchange.digest, decoded=exchange.decoded, **own)


def was_asked(judge: Judge, entry: Entry) -> bool:
    """Did the revisit's request carry a validator from the visit's answer?"""
    visit, revisit = (judge.exchange(entry[part]) for part in ("visit", "revisit"))
    if visit is None or revisit is None or visit.message is None:
        return False
    brought, asked = of_headers(visit.message.headers)["validators"], _sent(revisit)
    if visit.message.status == _NOT_MODIFIED:  # the server confirmed the validators of its request
        brought = confirmed(_sent(visit), brought)
    return _share(asked, brought)


def _sent(exchange: RecordedExchange) -> Validators:
    """The validators in a request."""
    lines = (line.partition(b":")[::2] for line in exchange.request.split(b"\r\n")[1:])
    sent = {name.strip().lower(): header_text(value) for name, value in lines}
    return Validators(sent.get(b"if-none-match"), sent.get(b"if-modified-since"))


def _share(one: Validators, other: Validators) -> bool:
    """Do both have the same ETag or the same Last-Modified?"""
    pairs = (one.etag, other.etag), (one.last_modified, other.last_modified)
    return any(mine is not None and theirs is not None and mine.lower() == theirs.lower() for mine, theirs in pairs)


def _bears_out(held: RecordedExchange, answer: HttpResponse, exchange: RecordedExchange, sent: Validators) -> bool:
    """Does the answer that a 304 refers to have the stated payload, media type and validators?"""
    unpacked = exchange.decoded in (None, held.decoded)
    same = held.kind == "response" and held.digest == exchange.digest and unpacked
    kind = header_text(answer.header(b"content-type"))
    return same and kind == exchange.media_type and _share(sent, of_headers(answer.headers)["validators"])


def check_former_visits(judge: Judge, entry: Entry) -> None:
    """Check visits before T that a later one replaced: the page's visit must be the last that brought content."""
    visit, reference = entry["visit"], judge.references.get(entry["subsite"])
    for stated in entry["former"]:
        outcome = judge.download(entry, stated, "former visit")
        brought = outcome is not None and outcome.result is Result.OK
        if visit is None or visit["result"] != Result.OK.value or "verdict" not in entry:
            judge.find(stated, entry, "it has a former visit, and no later one that brought content")
        elif brought and stated["date"] >= visit["date"]:
            judge.find(stated, entry, f"a former visit brought content after its visit of {visit['date']}")
        if stated["slot"] == Slot.SECOND.value or (reference is not None and stated["date"] > reference):
            judge.find(stated, entry, f"a former visit was not made before T={reference}")
        if stated["attempts"] != 1:
            judge.find(stated, entry, f"a former visit took {stated['attempts']} attempts: each is listed by itself")


def data_state(judge: Judge, entry: Entry) -> DataState | None:
    """The stated state of data that scripts fetched; ``None``: it was not captured."""
    visit = entry["visit"]
    led = redirected(Result(visit["result"]), visit["status"]) if visit else None
    judgement = judge.stated(entry) if "verdict" in entry else led
    return DataState(judgement, judge.references.get(entry["subsite"])) if judgement else None


def judged_with(judge: Judge, entry: Entry, own: Judgement) -> Judgement:
    """Judge a page together with the data that its scripts fetched."""
    listed = [url for url in entry["data"] if url in judge.data]
    if len(listed) < len(entry["data"]):
        judge.find(entry["visit"], entry, "data of it is not listed")
    return with_data(own, judge.references.get(entry["subsite"]), listed, judge.data)[0]


def digest_anew(judge: Judge, exchange: RecordedExchange, holder: RecordedExchange) -> str | None:
    """The digest of the holder's payload, unpacked by this exchange's content coding."""
    message: HttpResponse | None = exchange.message
    if message is None or holder.message is None:
        return holder.decoded
    codings = message.values(b"content-encoding")
    if undone_by(codings) == undone_by(holder.message.values(b"content-encoding")):
        return holder.decoded
    stored = answered(holder, judge.witness, judge.warcs) if holder.file in judge.warcs else None
    if stored is None:  # in a former capture, whose files were read before
        return exchange.decoded or (as_sent(codings, holder.digest) if holder.digest else None)
    return digest_unpacked(message, unpacked(stored.payload, codings), holder.digest)
