"""Make the WARC records of an exchange: what was received, what was sent, and notes."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING

from sharc_crawler.archive.records import (
    CONTROL,
    FORMER_TYPE,
    FORMER_UNPACKED,
    HTTP_REQUEST,
    HTTP_RESPONSE,
    PROFILE,
    WARC_FIELDS,
    Draft,
    Fields,
    named_fields,
    target_uri,
)
from sharc_crawler.changes.packed import digest_unpacked
from sharc_crawler.instants import iso

if TYPE_CHECKING:
    from sharc_crawler.archive.options import Original
    from sharc_crawler.bodies.spool import Octets
    from sharc_crawler.changes.http import HttpResponse
    from sharc_crawler.model import Exchange


def common_fields(exchange: Exchange) -> Fields:
    """The fields that all records of an exchange share."""
    fields = [("WARC-Date", iso(exchange.started)), ("WARC-Target-URI", target_uri(exchange.url))]
    if exchange.ip:
        fields.append(("WARC-IP-Address", exchange.ip))
    if exchange.normalised:
        fields.append(("Sharc-Normalised", exchange.normalised))
    return fields


def response(exchange: Exchange, message: HttpResponse) -> Draft:
    """A response record with the final response, byte for byte."""
    fields = [("WARC-Payload-Digest", message.digest)]
    if exchange.truncated:
        fields.append(("WARC-Truncated", exchange.truncated))
    return Draft("response", fields, message.raw, HTTP_RESPONSE, start=message.start)


def identical(message: HttpResponse, original: Original) -> Draft:
    """A revisit record for a payload that is stored already: the new headers without the body (WARC/1.1, 6.7.2).

    If the payload lies in a former capture, it also states what a judgement needs, as that may not be at hand.
    """
    fields = [*_refers("identical-payload-digest", original), ("WARC-Payload-Digest", message.digest)]
    if original.elsewhere and (unpacked := digest_unpacked(message)):
        fields.append((FORMER_UNPACKED, unpacked))
    return Draft("revisit", [*fields, ("WARC-Truncated", "length")], message.head, HTTP_RESPONSE)


def not_modified(original: Original, *, former: bool = False) -> Draft:
    """A revisit record for a 304 (WARC/1.1, 6.7.3); ``former``: the validators were those of a former capture.

    Its block is empty: with the 304's headers in it, replay tools show a bare 304 instead of the page. For a former
    capture it also states what a judgement needs, as that may not be at hand.
    """
    fields = _refers("server-not-modified", original)
    if former:
        fields.append(("WARC-Payload-Digest", original.digest or ""))
        said = ((FORMER_TYPE, original.media_type), (FORMER_UNPACKED, original.decoded))
        fields += [(name, value) for name, value in said if value]
    return Draft("revisit", fields, b"", HTTP_RESPONSE)


def _refers(profile: str, original: Original) -> Fields:
    fields = [
        ("WARC-Profile", PROFILE + profile),
        ("WARC-Refers-To-Target-URI", target_uri(original.url)),
        ("WARC-Refers-To-Date", iso(original.date)),
    ]
    return [*fields, ("WARC-Refers-To", original.record)] if original.record else fields


def failure(exchange: Exchange) -> Draft:
    """A metadata record for an exchange without a response: the error, and what had been received."""
    notes = [("error", escaped(exchange.error or "no response")), ("ended", iso(exchange.ended))]
    return _notes(notes + _base64("received-base64", exchange.response) + _counted(exchange.before))


def companions(exchange: Exchange, main: Draft, message: HttpResponse | None = None) -> list[Draft]:
    """The records beside an exchange's main one: its request, and its notes if there are any."""
    with_main = ("WARC-Concurrent-To", main.record_id)
    drafts = []
    if exchange.request:
        drafts.append(Draft("request", [with_main], exchange.request, HTTP_REQUEST))
    notes = _remarks(exchange, main, message) if message else []
    if notes:
        drafts.append(_notes(notes, with_main))
    return drafts


def _remarks(exchange: Exchange, main: Draft, message: HttpResponse) -> Fields:
    """Notes: what was received, or happened, and is not in the main record."""
    unkept = b"" if main.block else message.message
    notes = _base64("interim-responses-base64", message.interim) + _base64("http-response-base64", unkept)
    notes += _base64("surplus-base64", exchange.surplus) + _counted(exchange.before)
    return notes + ([("error", escaped(exchange.error))] if exchange.error else [])


def _counted(before: int) -> Fields:
    return [("sent-before", str(before))] if before else []


def _base64(name: str, data: Octets) -> Fields:
    return [(name, b64encode(data).decode())] if data else []


def _notes(notes: Fields, *fields: tuple[str, str]) -> Draft:
    return Draft("metadata", list(fields), named_fields(notes), WARC_FIELDS)


def escaped(text: str) -> str:
    r"""Text with escaped control characters, as a field needs it.

    >>> escaped("reset\r\nby peer")
    'reset\\x0d\\x0aby peer'
    """
    return CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", text)
