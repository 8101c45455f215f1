"""A capture whose claims are provisional, and the later reading of its sitemap."""

from __future__ import annotations

from dataclasses import replace
from email.utils import formatdate
from typing import TYPE_CHECKING

from sharc_crawler.archive.warc_names import series_of
from sharc_crawler.certificate.verify import verify
from sharc_crawler.certificate.writing import seal
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.instants import iso
from sharc_crawler.model import Result, Slot, Verdict
from tests.certificate.made import SITE, START, Maker, said

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from sharc_crawler.evidence.facts import CaptureFacts, VisitFacts

LAG = 1000
NAMES = ("still", "late", "after")
OLD = dict.fromkeys(NAMES, START - 5000)
COUNTS = {"claimed": 3, "provisional": 3, "lag": LAG, "audited": 0, "changed": 0, "lies": 0, "unaudited": 3, "bound": 3}
COUNTS |= {"unshown": {"since": 0, "lost": 0}}
AUDIT = {"of": "lastmod", "share": 0.0, **COUNTS, "confidence": 0.95, "strata": [], "classes": []}


def sitemap(lastmods: dict[str, float], date: float | None = None) -> bytes:
    rows = "".join(f"<url><loc>{SITE}{name}</loc><lastmod>{iso(at)}</lastmod></url>" for name, at in lastmods.items())
    head = b"" if date is None else b"Date: %s\r\n" % formatdate(date, usegmt=True).encode()
    return said(f"<urlset>{rows}</urlset>", head)


def dated(maker: Maker, name: str, title: str, slot: Slot) -> VisitFacts:
    """A download of a page with that title, whose server told the time."""
    date = formatdate(maker.now + 1.5, usegmt=True).encode()
    return maker.visit(name, said(f"<title>{title}</title>", b"Date: %s\r\n" % date), slot)


def provisional(folder: Path, led: str = "", others: Mapping[str, Iterable[str]] = {}) -> CaptureFacts:
    """Three pages, claimed by a sitemap that was read at T; ``led``: a redirect leads to it.

    ``others``: further sitemaps, and which pages they date.
    """
    folder.mkdir(exist_ok=True)
    maker = Maker(folder)
    for name in NAMES:
        maker.now += 10
        date = formatdate(maker.now + 1.5, usegmt=True).encode()
        visit = maker.visit(name, said(name, b"Date: %s\r\n" % date), Slot.ONLY)
        maker.add(name, Verdict.COHERENT, Evidence.PROVISIONAL, visit, reason=Reason.LASTMOD_BEFORE_VISIT)
    maker.now += 100
    if others:
        maker.visit("robots.txt", said("".join(f"Sitemap: {SITE}{place}\n" for place in others)), Slot.FIRST)
    for place, names in others.items():
        maker.visit(place, sitemap({name: OLD[name] for name in names}, date=maker.now), Slot.FIRST)
    _read(maker, Slot.SECOND, OLD, maker.now, led)
    facts = replace(maker.facts(maker.now, strategy="sharc-attested"), audit=AUDIT)
    seal(series_of(facts.warcs[0]), [(facts, folder / "certificate.json")], folder)
    assert verify(folder).findings == []
    return facts


def later(
    lastmods: dict[str, float],
    after: float = LAG + 500,
    made: float | None = None,
    led: str = "",
    others: Mapping[str, Iterable[str]] = {},
):
    """Reads such a sitemap, so long after the capture's beginning; ``made``: its Date, if that is not of then.

    ``led``: a redirect leads to it. ``others``: as in :func:`provisional`, with the dates of then.
    """

    def read(_: object, folder: Path) -> None:
        folder.mkdir()
        maker = Maker(folder, run="later")
        maker.now += after
        _read(maker, Slot.FIRST, lastmods, made or maker.now + 1.5, led)
        for place, names in others.items():
            maker.visit(place, sitemap({name: OLD[name] for name in names}, maker.now + 1.5), Slot.FIRST)
        maker.out.close()

    return read


def _read(maker: Maker, slot: Slot, lastmods: dict[str, float], date: float, led: str) -> None:
    if led:
        maker.visit("sitemap.xml", MOVED % led.encode(), slot, Result.REDIRECTED)
    maker.visit(led or "sitemap.xml", sitemap(lastmods, date), slot)


MOVED = b"HTTP/1.1 301 Moved Permanently\r\nLocation: /%s\r\nContent-Length: 0\r\n\r\n"
TOLD = {"still": OLD["still"], "late": START + 60, "after": START + 400}
