"""Payloads that lie with an answer which said that they are packed in another way: unpacked anew."""

from __future__ import annotations

from sharc_crawler.bodies.coding import undone_by, unpacked
from sharc_crawler.certificate.judging import Judge
from sharc_crawler.certificate.named_sitemaps import answered
from sharc_crawler.certificate.witness import RecordedExchange
from sharc_crawler.changes.http import HttpResponse
from sharc_crawler.changes.packed import as_sent, digest_unpacked


def digest_anew(judge: Judge, exchange: RecordedExchange, holder: RecordedExchange) -> str | None:
    """The digest of what the holder's payload holds, packed as this exchange says."""
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
