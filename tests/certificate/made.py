"""A small capture with every kind of page: real WARC files, and the facts that a crawl would have stored."""

from __future__ import annotations

import gzip
from dataclasses import replace
from typing import TYPE_CHECKING

from sharc_crawler.archive.members import records
from sharc_crawler.archive.options import Original, WarcOptions
from sharc_crawler.archive.warc import WarcWriter
from sharc_crawler.archive.warc_names import series_of
from sharc_crawler.certificate.writing import certify, seal
from sharc_crawler.changes.http import parse_response
from sharc_crawler.evidence.facts import CaptureFacts, PageFacts, SubsiteFacts, VisitFacts
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.model import Kind, Result, Slot, Url, Verdict
from tests.archive.readback import INFO, OK, page

if TYPE_CHECKING:
    from pathlib import Path

SITE = "http://example.org/"
START = 1_795_000_000.25
T = START + 100
SAME = b'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\n\r\n'
ASKED = b'GET /x HTTP/1.1\r\nHost: example.org\r\nIf-None-Match: "1"\r\n\r\n'
REASONS = {
    Verdict.COHERENT: Reason.EQUAL_BYTES,
    Verdict.CHANGED: Reason.OTHER_BYTES,
    Verdict.UNKNOWN: Reason.SECOND_FAILED,
}


def said(text: str, head: bytes = b"") -> bytes:
    body = text.encode()
    return OK + b"Content-Type: text/html\r\nContent-Length: %d\r\n" % len(body) + head + b"\r\n" + body


def zipped(mtime: int) -> bytes:
    body = gzip.compress(b"packed", mtime=mtime)
    return OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body) + body


class Maker:
    """Writes exchanges and remembers what a crawl would have."""

    def __init__(self, folder: Path, site: str = "example.org", run: str = "run1", **options) -> None:
        self.out = WarcWriter(folder, site, run, INFO, WarcOptions(**options))
        self.now = START
        self.pages: list[PageFacts] = []

    def visit(self, name: str, response: bytes, slot: Slot, result=Result.OK, original=None, **other) -> VisitFacts:
        self.now += 1.5
        exchange = page(url=other.pop("url", SITE + name), response=response, started=self.now, **other)
        ref = self.out.write_revisit(exchange, original) if original else self.out.write(exchange)
        status = int(response[9:12]) if response else None
        whole = result not in (Result.FAILED, Result.NOT_MODIFIED) and not exchange.truncated
        digest = parse_response(response).digest if whole and response else None
        return VisitFacts(
            slot, result, self.now, self.now + 1, status, digest, warc=f"{ref.file}:{ref.offset}", error=exchange.error
        )

    def add(
        self, name: str, verdict=None, evidence=None, visit=None, revisit=None, kind=Kind.PAGE, reason="", former=()
    ) -> None:
        words = reason or REASONS.get(verdict, "")
        self.pages.append(
            PageFacts(Url(SITE + name), kind, "seed", 0, 0.0, "prior",
                      visit=visit, revisit=revisit, verdict=verdict, evidence=evidence, reason=words,
                      former=former)
        )  # fmt: skip

    def facts(self, reference: float, started: float = START, strategy: str = "sharc-selective") -> CaptureFacts:
        """Of a capture that is over."""
        self.out.close()
        warcs = {visit.warc.rpartition(":")[0] for page in self.pages for visit in (page.visit, page.revisit) if visit}
        return CaptureFacts(
            site="example.org", seeds=(SITE,), strategy=strategy, started=started, ended=self.now + 1,
            reference=reference, pages=tuple(self.pages), warcs=tuple(sorted(warcs)),
        )  # fmt: skip


def make(folder: Path, **options) -> CaptureFacts:
    """Write the WARC files; returns the facts of a complete capture."""
    maker = Maker(folder, **options)
    first, second = Slot.FIRST, Slot.SECOND
    names = ("equal", "modest", "changed", "broken", "cut", "vanished", "style.css")
    visits = {name: maker.visit(name, said(f"the page {name}", b'ETag: "1"\r\n'), first) for name in names}
    moved = maker.visit("moved", b"HTTP/1.1 301 M\r\nLocation: /equal\r\n\r\n", first, Result.REDIRECTED)
    gone = maker.visit("gone", b"HTTP/1.1 404 N\r\nContent-Length: 0\r\n\r\n", first, Result.GONE)
    dead = maker.visit("dead", b"", first, Result.FAILED, error="reset", url="http://EXAMPLE.org.:80/dead?utm_id=1")
    maker.now = T - 1.5
    apex = maker.visit("apex", said("the apex"), Slot.ONLY)
    coherent, changed, unknown = Verdict
    maker.add("apex", coherent, Evidence.INSTANT, apex, reason=Reason.REFERENCE_DOWNLOAD)
    again = maker.visit("equal", said("the page equal", b"Date: later\r\n"), second)
    maker.add("equal", coherent, Evidence.BYTES, visits["equal"], again)
    original = Original(SITE + "modest", visits["modest"].started, visits["modest"].digest)
    modest = maker.visit("modest", SAME, second, Result.NOT_MODIFIED, original, request=ASKED)
    maker.add("modest", coherent, Evidence.VALIDATOR, visits["modest"], modest, reason=Reason.NOT_MODIFIED)
    maker.add("changed", changed, Evidence.BYTES, visits["changed"], maker.visit("changed", said("news"), second))
    broken = maker.visit("broken", b"", second, Result.FAILED, error="reset")
    maker.add("broken", unknown, Evidence.NONE, visits["broken"], broken)
    cut = maker.visit("cut", said("the pa"), second, Result.FAILED, truncated="disconnect", error="DataLoss")
    maker.add("cut", unknown, Evidence.NONE, visits["cut"], cut)
    vanished = maker.visit("vanished", b"HTTP/1.1 410 G\r\nContent-Length: 0\r\n\r\n", second, Result.GONE)
    maker.add(
        "vanished",
        changed,
        Evidence.BYTES,
        visits["vanished"],
        vanished,
        reason=Reason.OTHER_ANSWER,
    )
    style = maker.visit("style.css", said("the page style.css"), second)
    maker.add("style.css", coherent, Evidence.BYTES, visits["style.css"], style, Kind.RESOURCE)
    # a server that packs on the fly: other bytes, the same content
    packed = [maker.visit("packed", zipped(mtime), slot) for mtime, slot in ((1, first), (2, second))]
    maker.add("packed", coherent, Evidence.BYTES, *packed, Kind.RESOURCE, Reason.EQUAL_UNPACKED)
    maker.add("moved", visit=moved, reason=Reason.REDIRECTED.of("http://example.org/equal"))
    maker.add("gone", visit=gone, reason=Reason.GONE.of(404))
    maker.add("dead", visit=dead, reason=Reason.FAILED.of("reset"))
    maker.add("private", reason=Reason.REFUSED.of("robots.txt disallows it"))
    return replace(
        maker.facts(T), settings={"delay": 0.05, "run": "run1"}, software={"sharc-crawler": "test"},
        interruptions=((START + 30.1234567, START + 40.7654321),),
    )  # fmt: skip


def divided(folder: Path) -> CaptureFacts:
    """The same capture as if the site had been captured in two parts, each around its own T; certified."""
    facts = make(folder)
    parts = (
        SubsiteFacts("docs", T, facts.started, T + 1, 0.95),
        SubsiteFacts("news", T + 0.25, T + 1, facts.ended, 0.5),
    )
    news = {SITE + name for name in ("equal", "changed", "dead")}
    pages = tuple(replace(page, subsite="news" if page.url in news else "docs") for page in facts.pages)
    facts = replace(facts, reference=None, subsites=parts, pages=pages)
    certify([facts], folder)
    return facts


def looked_again(folder: Path) -> CaptureFacts:
    """Pages visited again before T: ``anew`` had changed, ``away`` did not answer; certified."""
    folder.mkdir(exist_ok=True)
    maker = Maker(folder)
    first, second, failed = Slot.FIRST, Slot.SECOND, Result.FAILED
    old, away, other = (maker.visit(name, said(f"old {name}"), first) for name in ("anew", "away", "other"))
    new = maker.visit("anew", said("new"), first)
    silent = maker.visit("away", b"", first, failed, error="reset")
    back = maker.visit("back", said("here"), first)
    gone = maker.visit("back", b"HTTP/1.1 404 N\r\nContent-Length: 0\r\n\r\n", first, Result.GONE)
    reference = maker.now + 1
    coherent, shown = Verdict.COHERENT, Evidence.BYTES
    maker.add("anew", coherent, shown, new, maker.visit("anew", said("new"), second), former=(old,))
    maker.add("away", coherent, shown, away, maker.visit("away", said("old away"), second), former=(silent,))
    again = maker.visit("back", said("here"), second)
    why = Reason.OTHER_ANSWER.of("content before, gone after")
    maker.add("back", Verdict.CHANGED, shown, back, again, reason=why, former=(gone,))
    maker.add("other", coherent, shown, other, maker.visit("other", said("old other"), second))
    facts = maker.facts(reference)
    certify([facts], folder)
    return facts


def twins(folder: Path) -> CaptureFacts:
    """Two pages of one content, stored once; of each the server says that it has not changed; certified."""
    folder.mkdir(exist_ok=True)
    maker = Maker(folder)
    names = ("one", "two", "third")
    texts = dict.fromkeys(names, "the same") | {"third": "another"}
    visits = {name: maker.visit(name, said(texts[name], b'ETag: "1"\r\n'), Slot.FIRST) for name in names}
    reference = maker.now + 1
    for name, visit in visits.items():
        original = Original(SITE + name, visit.started, visit.digest)
        same = maker.visit(name, SAME, Slot.SECOND, Result.NOT_MODIFIED, original, request=ASKED)
        maker.add(name, Verdict.COHERENT, Evidence.VALIDATOR, visit, same, reason=Reason.NOT_MODIFIED)
    facts = maker.facts(reference)
    certify([facts], folder)
    return facts


def unchanged_twin(folder: Path, former: Path) -> None:
    """``two`` is as a former capture has it, says a 304; ``one``, which is sent, has the same content."""
    text = said("the same", b'Content-Type: text/html\r\nETag: "1"\r\n')
    folder.mkdir()
    before, maker = Maker(former, run="run0"), Maker(folder, dedup="site")
    old = before.visit("two", text, Slot.FIRST)
    before.out.close()
    maker.now = before.now + 1_000
    one = maker.visit("one", text, Slot.FIRST)
    held = Original(f"{SITE}two", old.started, old.digest, _first_record(former), "text/html")
    two = replace(maker.visit("two", SAME, Slot.FIRST, original=held, request=ASKED), digest=old.digest)
    reference = maker.now + 1
    for name, visit in (("one", one), ("two", two)):
        original = Original(SITE + name, visit.started, visit.digest)
        again = maker.visit(name, SAME, Slot.SECOND, Result.NOT_MODIFIED, original, request=ASKED)
        maker.add(name, Verdict.COHERENT, Evidence.VALIDATOR, visit, again, reason=Reason.NOT_MODIFIED)
    facts = maker.facts(reference, started=one.started - 1)
    certify([facts], folder)


def _first_record(folder: Path) -> str | None:
    (warc,) = folder.glob("*.warc.gz")
    with warc.open("rb") as stream:
        return next(record.get("WARC-Record-ID") for record in records(stream) if record.kind == "response")


SITEMAP = "<urlset><url><loc>http://example.org/told</loc><lastmod>{}</lastmod></url></urlset>"


def attested(folder: Path, lastmod: str = "2026-11-18T10:00:01Z") -> CaptureFacts:
    """A capture of one page, claimed on the word of a sitemap that was read at T."""
    folder.mkdir(exist_ok=True)
    maker = Maker(folder)
    told = maker.visit("told", said("told", b"Date: Wed, 18 Nov 2026 11:06:41 GMT\r\n"), Slot.ONLY)
    maker.visit("sitemap.xml", said(SITEMAP.format(lastmod)), Slot.ONLY)
    reason = Reason.LASTMOD_BEFORE_VISIT
    maker.add("told", Verdict.COHERENT, Evidence.ATTESTED, told, reason=reason)
    facts = maker.facts(maker.now, strategy="sharc-attested")
    seal(series_of(facts.warcs[0]), [(facts, folder / "certificate.json")], folder)  # be it true or not
    return facts


def certified(folder: Path, **options) -> CaptureFacts:
    """A complete capture with its certificate."""
    folder.mkdir(exist_ok=True)
    facts = make(folder, **options)
    certify([facts], folder)
    return facts


def incomplete(facts: CaptureFacts) -> CaptureFacts:
    return replace(facts, ended=None)
