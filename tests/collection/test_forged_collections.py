"""A collection altered, without its digests and with them: captures, what lies beside, certificates at T."""

from __future__ import annotations

import json
import shutil
import zipfile
from dataclasses import replace

import pytest
from click.testing import CliRunner

from sharc_crawler.certificate.canonical import DIGEST, to_text
from sharc_crawler.certificate.fixity import fixity, pages_name
from sharc_crawler.certificate.writing import certify
from sharc_crawler.cli import main
from sharc_crawler.collection.certifying import CERTIFICATES, certify_at, sealed
from sharc_crawler.collection.folder import CAPTURES, Collection
from sharc_crawler.collection.overview import INDEX
from sharc_crawler.collection.page import PAGE, write_overview
from sharc_crawler.collection.terms import FILE
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.model import Slot, Verdict
from sharc_crawler.report.write import write
from sharc_crawler.storage.sqlite import SqliteStore
from tests.certificate.forging import entry, forge
from tests.certificate.made import SITE, START, Maker, said
from tests.certificate.test_strays import WARC, linked, put, records_of

NAME = "example.org"
TEXTS = {"steady": ("a",) * 3, "edited": ("a", "b", "b"), "to-and-fro": ("a", "b", "a")}
DAYS = 0, 1000, 2000


def _captured(folder, number) -> None:
    """One capture of three pages, each visited and revisited."""
    folder.mkdir(parents=True)
    SqliteStore(folder).close()
    maker = Maker(folder, run=f"run{number}")
    maker.now += DAYS[number]
    visits = {name: maker.visit(name, said(f"{name} {texts[number]}"), Slot.FIRST) for name, texts in TEXTS.items()}
    reference = maker.now + 1.2
    for name, texts in TEXTS.items():
        again = maker.visit(name, said(f"{name} {texts[number]}"), Slot.SECOND)
        maker.add(name, Verdict.COHERENT, Evidence.BYTES, visits[name], again)
    facts = replace(maker.facts(reference), started=START + DAYS[number])
    write([facts], folder)
    assert not certify([facts], folder)[0].findings


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forged") / "kept"
    folder.mkdir()
    (folder / FILE).write_text(f"sites: ['{SITE}']\n")
    collection = Collection(folder)
    for number, day in enumerate(DAYS):
        _captured(collection.capture_folder(NAME, START + day), number)
    certify_at(collection, START + DAYS[1] - 100)
    return folder


@pytest.fixture
def kept(original, tmp_path):
    return shutil.copytree(original, tmp_path / "kept")


def captures(folder):
    return sorted((folder / CAPTURES / NAME).iterdir())


def of_an_instant(folder):
    (path,) = (folder / CERTIFICATES).glob("*.json")
    return path


def pages_of(folder):
    return of_an_instant(folder).with_name(pages_name(of_an_instant(folder).name))


def emptied(folder):
    shutil.rmtree(folder)
    return folder


def swapped(folder) -> None:
    first, second, _ = captures(folder)
    first.rename(folder / "away")
    second.rename(first)
    (folder / "away").rename(second)


def stated(folder, **changes) -> None:
    """The certificate for the instant says something else, and its digest is made anew."""
    path = of_an_instant(folder)
    document = json.loads(path.read_text()) | changes
    document.pop(DIGEST)
    pages = document.pop("pages")
    path.write_text(to_text(sealed(document, pages)))


def other_lines(folder) -> None:
    path = pages_of(folder)
    path.write_text(path.read_text().replace('"changed"', '"coherent"'))
    stated(folder, pages=json.loads(of_an_instant(folder).read_text())["pages"] | fixity(path))


def renamed(folder) -> None:
    """It names another instant."""
    path, pages = of_an_instant(folder), pages_of(folder)
    name = f"{NAME}-2020-01-01T000000.000000Z.json"
    pages.rename(pages.with_name(pages_name(name)))
    path.rename(path.with_name(name))


def passed_over(folder) -> None:
    """Made of the captures around the second one, which shows that a page was edited."""
    _, second, third = captures(folder)
    away = second.with_name("away")
    second.rename(away)
    for path in (pages_of(folder), of_an_instant(folder)):
        path.unlink()
    certify_at(Collection(folder), START + DAYS[1] + 100)
    away.rename(second)
    assert third.exists()


def package(folder, name: str) -> None:
    with zipfile.ZipFile(folder / name, "w") as made:
        made.writestr("archive/forged.warc.gz", WARC)


ALTERATIONS = {
    "captures swapped": (swapped, "before the capture whose folder comes before it"),
    "a capture there twice, as another site's": (
        lambda f: shutil.copytree(captures(f)[0], f / CAPTURES / "other.org" / captures(f)[0].name),
        "its certificate is that of another capture",
    ),
    "a capture removed": (lambda f: shutil.rmtree(captures(f)[0]), "are not there, or have no certificate"),
    "a capture in place of another": (
        lambda f: shutil.copytree(captures(f)[0], captures(f)[1], dirs_exist_ok=True), "is in no certificate",
    ),
    "a capture whole in place of another": (
        lambda f: shutil.copytree(captures(f)[2], emptied(captures(f)[1])),
        "have another certificate by now",
    ),
    "a capture with no name": (lambda f: captures(f)[1].rename(f / CAPTURES / NAME / "old"), "a WARC file beside"),
    "a capture under another site": (
        lambda f: captures(f)[1].rename(f / CAPTURES / captures(f)[1].name), "a WARC file beside",
    ),
    "a capture that is a link": (
        lambda f: (captures(f)[1].rename(f.parent / "x"), captures(f)[1].with_name("20990101T000000Z").symlink_to(f)),
        "",
    ),
    "a capture altered": (
        lambda f: forge(captures(f)[1], lambda d: entry(d, "edited").update(verdict="changed")),
        "verdict is 'coherent' by the records",
    ),
    "a certificate altered": (
        lambda f: forge(captures(f)[0], lambda d: d["capture"].update(notes=["x"])), "another certificate by now",
    ),
    "a certificate of another capture": (
        lambda f: shutil.copy(captures(f)[0] / "certificate.json", captures(f)[1]), "",
    ),
    "a WARC file in the collection": (lambda f: put(f, "forged.warc.gz", WARC), "forged.warc.gz: a WARC file beside"),
    "one beside the captures": (
        lambda f: put(f, f"{CAPTURES}/{NAME}/forged.warc.gz", WARC), "forged.warc.gz: a WARC file beside",
    ),
    "one among the certificates": (
        lambda f: put(f, f"{CERTIFICATES}/forged.warc.gz", WARC), "it belongs to no certificate",
    ),
    "one in a capture": (
        lambda f: put(captures(f)[0], "forged-1.warc.gz", records_of(SITE + "x", "2026-11-18T11:08:20.250000Z")),
        "this file is in no certificate",
    ),
    "one under another name": (lambda f: put(f, "logs/crawl.log", b"WARC/1.1\r\n"), "a WARC file beside"),
    "an index in the collection": (lambda f: put(f, "all.cdxj", b"x"), "an index of no WARC file"),
    "a package beside its own": (
        lambda f: [package(f, name) for name in (f"{f.name}.wacz", "all.wacz")], "a package of another",
    ),
    "one that is none": (
        lambda f: (package(f, f"{f.name}.wacz"), put(f, "all.wacz", b"x")), "a package that is no zip file",
    ),
    "a certificate in the collection": (
        lambda f: shutil.copy(captures(f)[0] / "certificate.json", f), "a certificate in a place of none",
    ),
    "a report beside": (lambda f: put(f, f"{CAPTURES}/report (1).json", b"{}"), "a document beside"),
    "another claim at the instant": (lambda f: stated(f, claim={"statement": "once"}), "not what the captures show"),
    "another instant": (
        lambda f: stated(f, reference={"instant": "2020-01-01T00:00:00.000000Z"}), "around its instant are none",
    ),
    "other totals at the instant": (lambda f: stated(f, totals={"known": 99}), "it is not what the captures show"),
    "other lines at the instant": (other_lines, "are not what the captures show"),
    "lines that are missing": (lambda f: pages_of(f).unlink(), "it cannot be read as a certificate"),
    "its name is of another instant": (renamed, "it is not what the captures show"),
    "a capture passed over": (passed_over, "the captures around its instant are"),
    "captures that are not there": (
        lambda f: stated(f, captures=[{"name": "captures/x/20990101T000000Z", "digest": "sha256:0"}]), "are not there",
    ),
    "another site": (lambda f: stated(f, name="other.example"), "are not there"),
    "further lines": (lambda f: put(f, f"{CERTIFICATES}/old-pages.jsonl", b"{}"), "it belongs to no certificate"),
    "a certificate that is a link": (lambda f: linked(of_an_instant(f)), "a link where a file belongs"),
    "no JSON": (lambda f: of_an_instant(f).write_text("{"), "it cannot be read as a certificate"),
}  # fmt: skip


def digests(folder):
    paths = [of_an_instant(folder), *(one / "certificate.json" for one in captures(folder))]
    return [json.loads(path.read_text())[DIGEST] for path in paths]


def verified(folder, noted=()):
    return CliRunner().invoke(main, ["verify", str(folder), *(word for one in noted for word in ("--digest", one))])


@pytest.mark.slow
def test_as_it_was_made_it_holds(original):
    for noted in ((), digests(original)):
        done = verified(original, noted)
        assert done.exit_code == 0, done.output


@pytest.mark.slow
@pytest.mark.matrix
@pytest.mark.parametrize("case", ALTERATIONS)
def test_an_altered_collection_is_found_without_its_digests_and_with_them(kept, case):
    noted = digests(kept)
    alter, expected = ALTERATIONS[case]
    alter(kept)
    done = verified(kept)
    assert done.exit_code == 3, done.output
    assert expected in done.output
    assert verified(kept, noted).exit_code == 3


@pytest.mark.slow
@pytest.mark.parametrize("gone", [0, 1, 2])
def test_what_is_gone_is_missed_where_its_digest_was_noted(kept, gone):
    """A certificate for an instant, or a capture that no such certificate is of."""
    noted = digests(kept)
    pages_of(kept).unlink()
    of_an_instant(kept).unlink()
    for one in captures(kept)[3 - gone :]:
        shutil.rmtree(one)
    assert verified(kept).exit_code == 0, "less is claimed"
    done = verified(kept, noted)
    assert done.exit_code == 3
    assert done.output.count("nothing here has the digest") == 1 + gone


@pytest.mark.slow
def test_the_collection_s_own_package_is_told(kept):
    package(kept, "kept.wacz")
    done = verified(kept)
    assert "not verified: kept.wacz" in done.output


def index_says(folder, change) -> None:
    index = json.loads((folder / INDEX).read_text())
    change(index["sites"][0]["captures"][1])
    (folder / INDEX).write_text(json.dumps(index))


def index_begins(folder, change) -> None:
    index = json.loads((folder / INDEX).read_text())
    change(index)
    (folder / INDEX).write_text(json.dumps(index))


#: what the page of a collection says is told from its captures, whose digests do not speak of it
INDEXES = {
    "another sentence": lambda f: index_says(f, lambda one: one.update(statement="All were in this state")),
    "other totals": lambda f: index_says(f, lambda one: one["totals"].update(coherent=9)),
    "another instant": lambda f: index_says(f, lambda one: one.update(reference="2020-01-01T00:00:00Z")),
    "other changes": lambda f: index_says(f, lambda one: one["changes"].update(changed=9)),
    "a capture that is none": lambda f: index_says(f, lambda one: one.update(folder="captures/x/y")),
    "a word beside the captures": lambda f: index_begins(f, lambda index: index.update(confirmed="by a court")),
    "a word of a site": lambda f: index_begins(f, lambda index: index["sites"][0].update(confirmed="by a court")),
    "another form": lambda f: index_begins(f, lambda index: index.update(version=9)),
    "no JSON": lambda f: put(f, INDEX, b"{"),
    "a page of another one": lambda f: put(f, PAGE, (f / PAGE).read_bytes().replace(b"example.org", b"example.net")),
    "a page alone": lambda f: (f / INDEX).unlink(),
    "another page": lambda f: put(f, "news.html", b"Confirmed by a court."),
    "a page beside captures": lambda f: put(f, f"{CAPTURES}/{NAME}/news.html", b"Confirmed by a court."),
}


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("case", INDEXES)
def test_an_index_that_says_otherwise_is_told_and_with_the_digests_found(kept, case):
    noted = digests(kept)
    write_overview(Collection(kept))
    done = verified(kept, noted)
    assert (done.exit_code, "not certified" in done.output) == (0, False), done.output
    INDEXES[case](kept)
    done = verified(kept)
    assert (done.exit_code, "not certified: " in done.output) == (0, True), done.output
    assert verified(kept, noted).exit_code == 3
