"""Records forged, and all that states them made anew: order, members, requests, notes, fields, copies at one moment."""

from __future__ import annotations

import gzip
import json
import shutil
import zlib
from base64 import b64encode
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from sharc_crawler.archive.members import Record, records
from sharc_crawler.archive.records import WARC_FIELDS, member
from sharc_crawler.archive.warc_names import index_path
from sharc_crawler.certificate.canonical import DIGEST
from sharc_crawler.certificate.fixity import fixity
from sharc_crawler.certificate.verify import verify
from sharc_crawler.certificate.writing import certify
from sharc_crawler.changes.digest import labelled_digest
from sharc_crawler.cli import main
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.model import Slot, Verdict
from sharc_crawler.report.package_check import not_of_it
from sharc_crawler.report.write import write
from tests.certificate.forging import entry, findings, forge, forge_warc, is_page, whole
from tests.certificate.made import SITE, Maker, make, said
from tests.certificate.test_strays import data_warc, records_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    Fields = list[tuple[str, str]]

MAIN = ("response", "revisit")
OTHER_HEAD = b"http-response-base64: " + b64encode(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n") + b"\r\n"


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forged") / "capture"
    folder.mkdir()
    facts = make(folder)
    write([facts], folder)
    certify([facts], folder)
    return folder


def read(folder: Path) -> list[Record]:
    with data_warc(folder).open("rb") as stream:
        return [one for one in records(stream) if isinstance(one, Record)]


def members(folder: Path) -> list[bytes]:
    data = data_warc(folder).read_bytes()
    return [data[one.offset : one.end] for one in read(folder)]


def made_of(folder: Path, parts: Iterable[bytes]) -> None:
    """The WARC file is of these members; the certificate states where its records lie by now."""
    warc = data_warc(folder)
    before = {one.offset: one.get("WARC-Record-ID") for one in read(folder)}
    warc.write_bytes(b"".join(parts))
    index_path(warc).unlink(missing_ok=True)
    now: dict[str | None, int] = {}
    for one in read(folder):
        now.setdefault(one.get("WARC-Record-ID"), one.offset)

    def moved(document: dict) -> None:
        for page in (*document["pages"], *document["not_captured"]):
            for stated in (page.get("visit"), page.get("revisit"), *page.get("former", ())):
                if stated and stated["file"] == warc.name:
                    stated["offset"] = now.get(before[stated["offset"]], stated["offset"])
        document["files"][0].update(fixity(warc))

    forge(folder, moved)


def packed(fields: Iterable[tuple[str, str]], block: bytes) -> bytes:
    """Of such a record, its length and its block's digest made anew."""
    own = [(n, labelled_digest(block) if n == "WARC-Block-Digest" and v else v) for n, v in fields]
    return member([(name, value) for name, value in own if name.lower() != "content-length"], block, 6)


def altered(name: str, kind: str = "response", fields=list, block=bytes):
    """A record of a page has other fields, or another block."""

    def alter(folder: Path) -> None:
        made_of(
            folder,
            (
                packed(fields(one.fields), block(one.block))
                if is_page(one, name, kind)
                else packed(one.fields, one.block)
                for one in read(folder)
            ),
        )

    return alter


def with_field(name: str, value: str) -> Callable[[Fields], Fields]:
    def fields(given: Fields) -> Fields:
        return [*((n, v) for n, v in given if n != name), (name, value)]

    return fields


of_content = with_field("Sharc-Unpacked-Digest", "sha1:" + "A" * 32)


def without(name: str) -> Callable[[Fields], Fields]:
    return lambda given: [(n, v) for n, v in given if n != name]


def headed(line: bytes):
    """The second answer says that it is a copy of long ago; the verdict stays."""
    return altered("equal", "revisit", block=lambda block: block.replace(b"Date: later", line))


def joined(folder: Path) -> None:
    first, second, third, *rest = members(folder)
    text = b"".join(zlib.decompressobj(31).decompress(one) for one in (second, third))
    made_of(folder, [first, gzip.compress(text, mtime=0), *rest])


def parted(folder: Path) -> None:
    first, second, *rest = members(folder)
    text = zlib.decompressobj(31).decompress(second)
    made_of(folder, [first, *(gzip.compress(half, mtime=0) for half in (text[:100], text[100:])), *rest])


def between(data: bytes):
    def alter(folder: Path) -> None:
        parts = members(folder)
        made_of(folder, [*parts[:4], data, *parts[4:]])

    return alter


def behind(data: bytes):
    return lambda folder: made_of(folder, [*members(folder), data])


def swapped(folder: Path) -> None:
    """Two exchanges in the other order."""
    parts, kinds = members(folder), [one.kind for one in read(folder)]
    _, first, second, third, *_ = (place for place, kind in enumerate(kinds) if kind in MAIN)
    made_of(folder, [*parts[:first], *parts[second:third], *parts[first:second], *parts[third:]])


def request_first(folder: Path) -> None:
    parts, place = members(folder), [one.kind for one in read(folder)].index("request")
    made_of(folder, [*parts[: place - 1], parts[place], parts[place - 1], *parts[place + 1 :]])


def at_one_moment(place: int | None):
    """Another answer for the URL and the time of a visit."""

    def alter(folder: Path) -> None:
        visit, parts = entry(whole(folder), "equal")["visit"], members(folder)
        forged = records_of(visit["uri"], visit["date"])
        made_of(folder, [*parts[:place], forged, *(parts[place:] if place else [])])

    return alter


def with_its_exchange(name: str, kind: str, more: Callable[[Record], Iterable[bytes]]):
    """Further records behind one of a page."""

    def alter(folder: Path) -> None:
        parts = []
        for one in read(folder):
            parts.append(packed(one.fields, one.block))
            parts += more(one) if is_page(one, name, kind) else ()
        made_of(folder, parts)

    return alter


def again(one: Record) -> Iterable[bytes]:
    """The same request, under another name."""
    yield packed(with_field("WARC-Record-ID", "<urn:uuid:77>")([*one.fields]), one.block)


def noted(text: bytes) -> Callable[[Record], Iterable[bytes]]:
    def note(one: Record) -> Iterable[bytes]:
        shared = ("WARC-Target-URI", "WARC-Date", "WARC-IP-Address")
        fields = [("WARC-Type", "metadata"), ("WARC-Record-ID", "<urn:uuid:78>")]
        fields += [(name, value) for name in shared if (value := one.get(name))]
        fields += [("WARC-Concurrent-To", one.get("WARC-Record-ID") or ""), ("Content-Type", WARC_FIELDS)]
        yield packed([*fields, ("WARC-Block-Digest", "x")], text)

    return note


def aged_but_noted(folder: Path) -> None:
    """The note tells of an answer without the age."""
    headed(b"Age: 99999")(folder)
    with_its_exchange("equal", "revisit", noted(OTHER_HEAD))(folder)


def record_of(folder: Path, name: str) -> str:
    return next(one.get("WARC-Record-ID") or "" for one in read(folder) if is_page(one, name))


def refers_to_another(folder: Path) -> None:
    altered("equal", "revisit", fields=with_field("WARC-Refers-To", record_of(folder, "changed")))(folder)


def dated(name: str, change: Callable[[str], str]) -> Callable[[Fields], Fields]:
    return lambda given: [(n, change(v) if n == name else v) for n, v in given]


PROFILE = "http://netpreserve.org/warc/1.1/revisit/"
UNKNOWN = "equal: verdict is 'unknown' by the records, stated is 'coherent'"
ALTERATIONS = {
    # members
    "two records in one member": (joined, "not of the length that it states"),
    "a record in two members": (parted, "no whole record here"),
    "zeros behind": (behind(bytes(10)), "no whole record here"),
    "zeros between": (between(bytes(512)), "no whole record here"),
    "an empty member between": (between(gzip.compress(b"", mtime=0)), "no whole record here"),
    "a member of text behind": (behind(gzip.compress(b"forged", mtime=0)), "no whole record here"),
    "a record that is not packed": (behind(b"WARC/1.1\r\nWARC-Type: response\r\n\r\n"), "no whole record here"),
    # exchanges
    "a request before its answer": (request_first, "the record that it belongs to is missing"),
    "another answer of one moment": (at_one_moment(None), "another answer of its URL and instant"),
    "another answer of one moment, first": (at_one_moment(1), "another answer of its URL and instant"),
    "a second request": (with_its_exchange("modest", "request", again), "a second request"),
    "a second request of an answer": (with_its_exchange("equal", "request", again), "a second request"),
    "a note of another answer": (with_its_exchange("changed", "response", noted(OTHER_HEAD)), "its answer is noted"),
    "a note of a younger answer": (aged_but_noted, "its answer is noted"),
    "a second note": (with_its_exchange("modest", "revisit", noted(b"x: y\r\n")), "a second metadata record of one"),
    "a body in a revisit record": (
        altered("equal", "revisit", block=lambda block: block + b"forged"), "has headers, and nothing else",
    ),
    "a whole answer in the revisit of a 304": (
        altered("modest", "revisit", block=lambda _: b"HTTP/1.1 304 N\r\n\r\nforged"), "for a 304 has no block",
    ),
    # headers, however they are written
    "an age in two lines": (headed(b"Age:\r\n 99999"), UNKNOWN),
    "an age in other letters": (headed(b"aGE: 99999"), UNKNOWN),
    "an age with a blank": (headed(b"Age : 99999"), UNKNOWN),
    "an age behind a bare line feed": (headed(b"X: y\nAge: 99999"), UNKNOWN),
    "an age behind a tab": (headed(b"Age:\t99999"), UNKNOWN),
    "two ages": (headed(b"Age: 0\r\nAge: 99999"), UNKNOWN),
    "a copy by no standard": (headed(b"X-Cache: HIT"), UNKNOWN),
    "chunks that are none": (
        altered("changed", block=lambda block: block.replace(b"Content-L", b"Transfer-Encoding: chunked\r\nContent-L")),
        "its payload is not what its digest says",
    ),
    "another answer behind the body": (
        altered("changed", block=lambda block: block + b"HTTP/1.1 200 OK\r\n\r\nforged"), "its payload is not what its",
    ),
    # fields
    "another record referred to": (refers_to_another, "it refers to the record"),
    "a reference in another zone": (
        altered("equal", "revisit", fields=dated("WARC-Refers-To-Date", lambda v: f"{v[:-1]}+00:00")), "it refers to",
    ),
    "a reference to the second": (
        altered("equal", "revisit", fields=dated("WARC-Refers-To-Date", lambda v: f"{v[:19]}Z")), "it refers to",
    ),
    "a date to the second": (altered("changed", fields=dated("WARC-Date", lambda v: f"{v[:19]}Z")), "its WARC-Date is"),
    "the profile of a 304": (
        altered("equal", "revisit", fields=with_field("WARC-Profile", f"{PROFILE}server-not-modified")),
        "it is a revisit of kind 'server-not-modified'",
    ),
    "a profile of one's own": (
        altered("equal", "revisit", fields=with_field("WARC-Profile", "x")), "a revisit of the profile x",
    ),
    "no profile": (altered("equal", "revisit", fields=without("WARC-Profile")), "a revisit of the profile None"),
    "no payload digest of a revisit": (altered("equal", "revisit", fields=without("WARC-Payload-Digest")), "equal"),
    "no payload digest": (altered("equal", fields=without("WARC-Payload-Digest")), "its payload has no digest"),
    "a digest under another name": (
        altered("equal", fields=dated("WARC-Payload-Digest", lambda v: v.replace("sha1", "SHA1"))),
        "its payload is not what its digest says",
    ),
    "no block digest": (altered("equal", fields=without("WARC-Block-Digest")), "its block has no digest"),
    "no block digest of a request": (altered("equal", "request", fields=without("WARC-Block-Digest")), "has no digest"),
    "an answer said to be a request": (
        altered("equal", fields=with_field("Content-Type", "application/http;msgtype=request")), "its Content-Type is",
    ),
    "an answer said to be text": (altered("equal", fields=with_field("Content-Type", "text/html")), "its Content-Type"),
    "a segment": (altered("equal", fields=with_field("WARC-Segment-Number", "1")), "no field of a response record"),
    "a revisit that was cut": (
        altered("equal", "revisit", fields=with_field("WARC-Truncated", "time")), "is one that was cut to its headers",
    ),
    "another content of what is stored": (altered("equal", "revisit", fields=of_content), "it refers to"),
    "another content of what is packed otherwise": (
        altered("equal", "revisit", of_content, lambda block: block.replace(b"Date: later", b"Content-Encoding: gzip")),
        "it refers to",
    ),
    "a field of nobody": (altered("equal", fields=with_field("X-Verified", "by a court")), "X-Verified: no field of a"),
}  # fmt: skip

#: nothing rests on them, and nothing else is shown: listed in docs/certificate.md
OUT_OF_REACH = {
    "exchanges in another order": swapped,
    "an interim answer before": altered("changed", block=lambda block: b'HTTP/1.1 103 X\r\nETag: "9"\r\n\r\n' + block),
    "a version of the protocol": altered("changed", block=lambda block: block.replace(b"HTTP/1.1", b"HTTP/9.9", 1)),
    "white space in a field": altered("changed", fields=dated("WARC-Target-URI", lambda v: f"{v} ")),
}


def found(folder: Path) -> str:
    return "\n".join(map(str, [*verify(folder).findings, *not_of_it(folder)]))


@pytest.mark.slow
def test_records_written_anew_without_a_change_hold(original, tmp_path):
    folder = shutil.copytree(original, tmp_path / "capture")
    altered("none")(folder)
    assert found(folder) == ""


@pytest.mark.matrix(3)
@pytest.mark.slow
@pytest.mark.parametrize("case", ALTERATIONS)
def test_a_forged_record_is_found(original, tmp_path, case):
    folder = shutil.copytree(original, tmp_path / "capture")
    alter, expected = ALTERATIONS[case]
    alter(folder)
    assert expected in found(folder)


@pytest.mark.slow
@pytest.mark.parametrize("case", OUT_OF_REACH)
def test_what_nothing_rests_on_is_found_where_the_digest_was_noted(original, tmp_path, case):
    folder = shutil.copytree(original, tmp_path / "capture")
    noted = ["verify", str(folder), "--digest", json.loads((folder / "certificate.json").read_text())[DIGEST]]
    assert CliRunner().invoke(main, noted).exit_code == 0
    OUT_OF_REACH[case](folder)
    assert found(folder) == ""
    assert CliRunner().invoke(main, noted).exit_code == 3


def rows(change: Callable[[list[str]], list[str]]):
    """Another index beside the same records."""

    def alter(folder: Path) -> None:
        path = index_path(data_warc(folder))
        lines = path.read_text().splitlines()
        other = change([*lines])
        assert other != lines
        path.write_text("".join(f"{line}\n" for line in other))

    return alter


def replaced(name: str, old: str, new: str) -> Callable[[list[str]], list[str]]:
    return lambda lines: [line.replace(old, new) if f'{SITE}{name}"' in line else line for line in lines]


def redirected(lines: list[str]) -> list[str]:
    """The row of one page leads to the record of another."""
    here, there = (next(line for line in lines if f'{SITE}{name}"' in line) for name in ("equal", "changed"))
    key, stamp, text = here.split(" ", 2)
    place = {name: json.loads(there.split(" ", 2)[2])[name] for name in ("offset", "length")}
    return [f"{key} {stamp} {json.dumps(json.loads(text) | place)}" if line == here else line for line in lines]


INDEXES = {
    "a row led to another record": redirected,
    "a row of another time": lambda lines: [line.replace(" 20261118", " 20200118", 1) for line in lines],
    "a row of another status": replaced("gone", '"404"', '"200"'),
    "a row of another type": replaced("changed", "text/html", "text/plain"),
    "a row of another page": replaced("equal", "/equal", "/changed"),
    "a row of another digest": replaced("changed", "sha1:", "sha1:A"),
    "a row more": lambda lines: sorted([*lines, lines[2].replace(")/", ")/x", 1)]),
}


@pytest.mark.parametrize("case", INDEXES)
def test_a_forged_index_is_found(original, tmp_path, case):
    folder = shutil.copytree(original, tmp_path / "capture")
    rows(INDEXES[case])(folder)
    assert "the index is not" in found(folder)


@pytest.mark.slow
@pytest.mark.parametrize("year", ["1999", "2030"])
def test_a_robots_txt_of_another_time_is_found_where_its_server_says_none(tmp_path, year):
    maker = Maker(tmp_path)
    maker.visit("robots.txt", said("User-agent: *"), Slot.ONLY)
    visit = maker.visit("apex", said("the apex"), Slot.ONLY)
    maker.add("apex", Verdict.COHERENT, Evidence.INSTANT, visit, reason=Reason.REFERENCE_DOWNLOAD)
    certify([maker.facts(visit.started)], tmp_path)
    assert findings(tmp_path) == ""

    def dated(record):
        if record.get("WARC-Target-URI") != SITE + "robots.txt":
            return None
        then = [(name, year + value[4:] if name == "WARC-Date" else value) for name, value in record.fields]
        return then, record.block

    forge_warc(tmp_path, dated)
    assert "robots.txt: it is not between start and end" in findings(tmp_path)
