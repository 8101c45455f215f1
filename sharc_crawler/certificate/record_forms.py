"""The form of the records that hold exchanges: those of another form were not written by a crawl of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.archive.records import FORMER_TYPE, FORMER_UNPACKED, HTTP_REQUEST, HTTP_RESPONSE, PROFILE
from sharc_crawler.changes.http import parse_response

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sharc_crawler.archive.members import Record

_TYPES = {"response": HTTP_RESPONSE, "revisit": HTTP_RESPONSE, "request": HTTP_REQUEST}
_COMMON = {"WARC-Type", "WARC-Record-ID", "WARC-Date", "WARC-Target-URI", "WARC-IP-Address", "Sharc-Normalised"} | {
    "WARC-Warcinfo-ID",
    "WARC-Block-Digest",
    "Content-Type",
    "Content-Length",
}
_REFERS = {"WARC-Profile", "WARC-Refers-To-Target-URI", "WARC-Refers-To-Date", "WARC-Refers-To"}
_FIELDS = {
    "response": _COMMON | {"WARC-Payload-Digest", "WARC-Truncated"},
    "revisit": _COMMON | _REFERS | {"WARC-Payload-Digest", "WARC-Truncated", FORMER_TYPE, FORMER_UNPACKED},
    "request": _COMMON | {"WARC-Concurrent-To"},
}
_SAME_PAYLOAD, _SERVERS_WORD = f"{PROFILE}identical-payload-digest", f"{PROFILE}server-not-modified"


def misformed(record: Record) -> Iterator[str]:
    """What is wrong with a record of an answer or a request; others are passed over.

    >>> from sharc_crawler.archive.members import Record
    >>> list(misformed(Record(0, 9, (("WARC-Type", "request"), ("Content-Type", HTTP_REQUEST)), b"GET /")))
    ['its block has no digest']
    """
    if record.kind not in _TYPES:
        return
    if more := [name for name, _ in record.fields if name not in _FIELDS[record.kind]]:
        yield f"{', '.join(more)}: no field of a {record.kind} record of ours"
    if record.block and record.get("WARC-Block-Digest") is None:
        yield "its block has no digest"
    if record.block and record.get("Content-Type") != _TYPES[record.kind]:
        yield f"its Content-Type is {record.get('Content-Type')}, that of a {record.kind} is {_TYPES[record.kind]}"
    if record.kind == "response" and record.get("WARC-Payload-Digest") is None:
        yield "its payload has no digest"
    if record.kind == "revisit":
        yield from _misformed_revisit(record)


def _misformed_revisit(record: Record) -> Iterator[str]:
    """A revisit of an equal payload has the new headers and no body; one of a 304 has no block."""
    profile = record.get("WARC-Profile")
    if profile not in (_SAME_PAYLOAD, _SERVERS_WORD):
        yield f"it is a revisit of the profile {profile}"
    elif profile == _SERVERS_WORD:
        if record.block:
            yield "a revisit for a 304 has no block; what was answered is noted beside it"
    else:
        message = parse_response(record.block)
        if message is None or len(message.head) < len(record.block):
            yield "a revisit for an equal payload has headers, and nothing else"
        if record.get("WARC-Truncated") != "length":
            yield "a revisit for an equal payload is one that was cut to its headers"
