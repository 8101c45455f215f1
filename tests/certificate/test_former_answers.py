"""Pages that were not asked for, since a sitemap says that they have not changed: a former capture has answers."""

from __future__ import annotations

import shutil
from dataclasses import replace
from email.utils import formatdate
from typing import TYPE_CHECKING

import pytest

from sharc_crawler.archive.options import Original
from sharc_crawler.archive.warc_names import series_of
from sharc_crawler.certificate.verify import verify
from sharc_crawler.certificate.writing import seal
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.instants import iso, unix
from sharc_crawler.model import Result, Slot, Verdict
from tests.certificate.forging import entry, forge
from tests.certificate.made import ASKED, SAME, SITE, SITEMAP, Maker, said

if TYPE_CHECKING:
    from pathlib import Path

DAY = 86_400.0
CHANGED = "2026-11-10T10:00:01Z"


def head(now: float, changed: str = CHANGED, more: bytes = b"") -> bytes:
    """Of an answer that is made at an instant, of a page that was last changed at another."""
    date, modified = (formatdate(one, usegmt=True).encode() for one in (now, unix(changed)))
    return b"Date: %s\r\nLast-Modified: %s\r\n%s" % (date, modified, more)


def captures(
    base: Path, lastmod: str = CHANGED, more: bytes = b"", of: str = "told", *, asked: bool = False
) -> tuple[Path, Path]:
    """A former capture of two pages, and one that took the first from there, be that true or not.

    ``of``: which one's answer it took; ``asked``: and claims it by a 304.
    """
    former, folder = base / "former", base / "capture"
    former.mkdir()
    folder.mkdir()
    before, maker = Maker(former, run="run0"), Maker(folder)
    answers = {
        name: before.visit(name, said(name, head(before.now + 1.5, more=more)), Slot.ONLY) for name in ("told", "other")
    }
    before.out.close()
    maker.now += DAY
    front = maker.visit("", said("front", head(maker.now + 1.5)), Slot.ONLY)
    maker.visit("sitemap.xml", said(SITEMAP.format(lastmod)), Slot.ONLY)
    words = float(int(answers[of].started)), unix(CHANGED)
    taken = replace(answers[of], attempts=0, said=words)
    if asked:
        original = Original(f"{SITE}told", taken.started, taken.digest)
        again = maker.visit("told", SAME, Slot.SECOND, Result.NOT_MODIFIED, original, request=ASKED)
        maker.add("told", Verdict.COHERENT, Evidence.VALIDATOR, taken, again, reason=Reason.NOT_MODIFIED)
    else:
        maker.add("told", Verdict.COHERENT, Evidence.FORMER, taken, reason=Reason.LASTMOD_BEFORE_VISIT)
    maker.add("", Verdict.UNKNOWN, Evidence.NONE, front, reason=Reason.NEVER_REVISITED)
    facts = maker.facts(maker.now, started=maker.now - 10, strategy="sharc-attested")
    facts = replace(facts, warcs=tuple(one for one in facts.warcs if "run1" in one))
    seal(series_of(facts.warcs[0]), [(facts, folder / "certificate.json")], folder)
    return folder, former


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    return captures(tmp_path_factory.mktemp("former"))


@pytest.fixture
def folder(originals, tmp_path):
    return shutil.copytree(originals[0], tmp_path / "capture")


def found(folder: Path, *former: Path) -> str:
    return "\n".join(map(str, verify(folder, list(former)).findings))


def test_it_holds_with_the_former_capture_and_without(originals):
    folder, former = originals
    alone, together = verify(folder), verify(folder, [former])
    assert (alone.findings, together.findings) == ([], [])
    assert (alone.elsewhere, together.elsewhere) == (1, 0)


ANOTHER = "told: the former capture's answer that it refers to is another one"


@pytest.mark.parametrize(
    "change",
    [
        {"digest": "sha1:" + "A" * 32},
        {"server": {"date": iso(unix("2026-11-18T11:06:40Z"))}},
        {"server": {"modified": iso(unix("2026-11-10T10:00:00Z"))}},
        {"server": {"modified": None}},
    ],
    ids=str,
)
def test_what_is_stated_of_a_former_answer_is_held_against_it(folder, originals, change):
    def altered(document: dict) -> None:
        visit = entry(document, "told")["visit"]
        visit |= {**change, "server": {**visit["server"], **change.get("server", {})}}

    forge(folder, altered)
    assert ANOTHER in found(folder, originals[1])


def test_another_page_s_answer_is_none(tmp_path):
    """It is in the same former capture, and as stated."""
    folder, former = captures(tmp_path, of="other")
    assert verify(folder).findings == []
    assert ANOTHER in found(folder, former)


def test_a_304_to_a_page_that_was_not_asked_for_before_shows_nothing(tmp_path):
    folder, former = captures(tmp_path, more=b'ETag: "1"\r\n', asked=True)
    assert "told: reason is 'unasked-304' by the records" in found(folder, former)


@pytest.mark.parametrize("more", [b"Age: 5\r\n", b"ETag: 1\r\n"])
def test_what_a_cache_sent_stands_for_nothing(tmp_path, more):
    folder, former = captures(tmp_path, more=more)
    assert (ANOTHER in found(folder, former)) is more.startswith(b"Age")


@pytest.mark.parametrize(
    ("lastmod", "verdict"), [("2026-11-18T11:06:30Z", ""), ("2026-11-18T12:00:00Z", "unknown"), ("2026", "unknown")]
)
def test_what_a_sitemap_dates_after_the_former_answer_is_not_claimed(tmp_path, lastmod, verdict):
    folder, former = captures(tmp_path, lastmod=lastmod)
    for given in ((), (former,)):
        said = found(folder, *given)
        assert (f"told: verdict is '{verdict}' by the records, stated is 'coherent'" in said) is bool(verdict), said


@pytest.mark.parametrize("ends", [False, True])
def test_a_sitemap_that_is_read_at_the_first_or_last_instant_is_the_capture_s(tmp_path, ends):
    maker = Maker(tmp_path)
    page = maker.visit("told", said("told"), Slot.ONLY) if ends else None
    sitemap = maker.visit("sitemap.xml", said(SITEMAP.format(CHANGED)), Slot.ONLY)
    maker.add(
        "told",
        Verdict.UNKNOWN,
        Evidence.NONE,
        page or maker.visit("told", said("told"), Slot.ONLY),
        reason=Reason.NEVER_REVISITED,
    )
    facts = maker.facts(sitemap.started, started=page.started if page else sitemap.started)
    facts = replace(facts, ended=sitemap.started if ends else facts.ended)
    seal(series_of(facts.warcs[0]), [(facts, tmp_path / "certificate.json")], tmp_path)
    assert found(tmp_path) == ""
