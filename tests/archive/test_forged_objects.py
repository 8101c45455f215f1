"""A capture and its former one, altered in the object store where they lie: fetched, none of it verifies."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from sharc_crawler.archive.delivery import deliver, fetch
from sharc_crawler.archive.objects import ObjectFolder
from sharc_crawler.certificate.confirming import confirm, confirmation_of
from sharc_crawler.certificate.verify import verify
from sharc_crawler.cli import main
from sharc_crawler.errors import DataError
from sharc_crawler.report.write import write
from tests.certificate.made import certified, unchanged_twin
from tests.certificate.provisional import TOLD, later, provisional

PART = ".part-000000000000"
WARC, INDEX = "example.org-20261118110641-00000-run1.warc.gz", "example.org-20261118110641-00000-run1.cdxj"
SEAL, PAGES = "example.org-20261118110834-00001-run1.warc.gz", "certificate-pages.jsonl"


def gone(name):
    return lambda objects: objects.remove([name])


def swap(name, old, new):
    def swapped(objects):
        data = objects.get(name)
        assert old in data
        objects.put(name, data.replace(old, new, 1))

    return swapped


def bit(name, share=0.5):
    def flipped(objects):
        data = bytearray(objects.get(name))
        data[int(len(data) * share)] ^= 4
        objects.put(name, bytes(data))

    return flipped


def half(name):
    return lambda objects: objects.put(name, objects.get(name)[: objects.names()[name] // 2])


def copied(name, new):
    return lambda objects: objects.put(new, objects.get(name))


def in_parts(change):
    """The WARC file is said not to be finished."""

    def parted(objects):
        data = objects.get(WARC)
        objects.remove([WARC])
        for start, part in change(data).items():
            objects.put(f"{WARC}.part-{start:012d}", part)

    return parted


def part_alone(name, data):
    def parted(objects):
        objects.remove([name])
        objects.put(name + PART, data)

    return parted


ALTERED = {
    "a bit of a WARC file": bit(WARC),
    "a bit of the certificate's": bit(SEAL),
    "half a WARC file": half(WARC),
    "a WARC file gone": gone(WARC),
    "the certificate's gone": gone(SEAL),
    "a WARC file in place of the other": copied(SEAL, WARC),
    "another page in the index": swap(INDEX, b"/equal", b"/other"),
    "a line less in the index": lambda o: o.put(INDEX, o.get(INDEX).split(b"\n", 1)[1]),
    "the certificate gone": gone("certificate.json"),
    "another claim": swap("certificate.json", b'"coherent": 3', b'"coherent": 4'),
    "another verdict": swap(PAGES, b'"verdict":"changed"', b'"verdict":"coherent"'),
    "no pages": gone(PAGES),
    "a page less": lambda o: o.put(PAGES, o.get(PAGES).split(b"\n", 1)[1]),
    "another verdict in the report": swap("report-pages.jsonl", b'"changed"', b'"coherent"'),
    "another headline": swap("report.html", b"3 of 7", b"7 of 7"),
    "a WARC file more": copied(WARC, "more.warc.gz"),
    "one of another name": copied(WARC, "picture.png"),
    "one that is hidden": copied(WARC, ".more.warc.gz"),
    "one in a folder": copied(WARC, "sub/more.WARC.GZ"),
    "one that is being written": copied(WARC, "more.warc.gz.open"),
    "one of parts": copied(WARC, f"more.warc.gz{PART}"),
    "one of no part": copied(WARC, "more.warc.gz.part-one"),
    "a certificate more": copied("certificate.json", "certificate-more.json"),
    "a signature": lambda o: o.put("signature.json", b'{"hash": "sha256:0"}'),
    "parts that end early": in_parts(lambda data: {0: data[: len(data) // 2]}),
    "parts that hold more": in_parts(lambda data: {0: data, len(data): data}),
    "parts with a bit more": in_parts(lambda data: {0: data[:2000] + bytes([data[2000] ^ 4]) + data[2001:]}),
    "parts that overlap": in_parts(lambda data: {0: data, 5: b"zzzzz"}),
    "parts with a gap": in_parts(lambda data: {0: data[:900], 1000: data[1000:]}),
    "parts in each other's place": in_parts(lambda data: {0: data[900:], len(data) - 900: data[:900]}),
    "a part put again, shorter": in_parts(lambda data: {0: data[:900], 800: data[850:]}),
    "a part behind a gap": in_parts(lambda data: {0: data[: len(data) // 2], len(data): data}),
    "a part of the index": part_alone(INDEX, b"x"),
    "a part of the certificate": part_alone("certificate.json", b"{}"),
}  # fmt: skip


@pytest.fixture(scope="module")
def capture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("capture")
    write([certified(folder)], folder)
    return folder


def verified(folder, *former):
    words = [word for one in former for word in ("--former", str(one))]
    return CliRunner().invoke(main, ["verify", str(folder), *words])


@pytest.mark.slow
@pytest.mark.matrix
@pytest.mark.parametrize("case", ALTERED)
def test_an_alteration_in_the_store_is_found(capture, server, tmp_path, case):
    objects = ObjectFolder(server.url(f"altered/{list(ALTERED).index(case)}"))
    deliver(capture, objects)
    ALTERED[case](objects)
    fetch(objects, tmp_path / "back")
    assert verified(tmp_path / "back").exit_code == 3


@pytest.mark.slow
def test_what_was_delivered_holds_finished_or_in_parts(capture, server, tmp_path):
    objects = ObjectFolder(server.url("delivered"))
    deliver(capture, objects)
    fetch(objects, tmp_path / "back")
    assert verified(tmp_path / "back").exit_code == 0
    in_parts(lambda data: {0: data[:1000], 1000: data[1000:]})(objects)
    fetch(objects, tmp_path / "parts")
    assert verified(tmp_path / "parts").exit_code == 0


@pytest.mark.slow
def test_a_capture_confirmed_later_is_confirmed_in_the_store_too(server, tmp_path):
    folder, url = tmp_path / "capture", server.url("confirmed")
    provisional(folder)
    deliver(folder, ObjectFolder(url))
    confirm(folder, later(TOLD))
    other = ObjectFolder(server.url("another"))
    other.put("certificate.json", b"{}")
    done = CliRunner().invoke(main, ["confirm", str(folder), "--objects", other.url])
    assert (done.exit_code, "is not that of" in done.output) == (2, True), done.output
    assert other.names().keys() == {"certificate.json"}
    assert CliRunner().invoke(main, ["confirm", str(folder), "--objects", url]).exit_code == 0
    fetch(ObjectFolder(url), tmp_path / "back")
    found = verify(tmp_path / "back")
    assert (found.findings, found.confirmations) == ([], [confirmation_of(folder)])


def test_no_object_gets_out_of_the_folder(tmp_path):
    objects = ObjectFolder("memory://leads/out")
    objects.put("report.json", b"{}")
    for name in ("../escaped", "in/../../escaped", f"../escaped.warc.gz{PART}"):
        objects.put(name, b"out")
        with pytest.raises(DataError, match="leads out of it: nothing is fetched"):
            fetch(objects, tmp_path / "back")
        objects.remove([name])
    fetch(objects, tmp_path / "back")
    assert [path.name for path in tmp_path.rglob("*")] == ["back", "report.json"]


def warc_of(objects):
    return next(name for name in objects.names() if name.endswith(".warc.gz"))


def in_new(objects):
    return ObjectFolder(objects.url.replace("/former", "/new"))


FORMER = {
    "a bit": lambda o: bit(warc_of(o))(o),
    "a bit near its end": lambda o: bit(warc_of(o), 0.95)(o),
    "half of it": lambda o: half(warc_of(o))(o),
    "gone": lambda o: o.remove([warc_of(o)]),
    "only a part": lambda o: part_alone(warc_of(o), b"x")(o),
    "the new one in its place": lambda o: o.put(warc_of(o), in_new(o).get(warc_of(in_new(o)))),
}


@pytest.mark.matrix
@pytest.mark.parametrize("case", FORMER)
def test_an_altered_former_capture_is_found(server, tmp_path, case):
    unchanged_twin(tmp_path / "made", tmp_path / "before")
    store = server.url(f"collection/{list(FORMER).index(case)}")
    former, new = ObjectFolder(f"{store}/former"), ObjectFolder(f"{store}/new")
    deliver(tmp_path / "before", former)
    deliver(tmp_path / "made", new)
    for name, objects in (("new", new), ("former", former)):
        fetch(objects, tmp_path / name)
    assert verified(tmp_path / "new", tmp_path / "former").exit_code == 0
    FORMER[case](former)
    fetch(former, tmp_path / "altered")
    assert verified(tmp_path / "new", tmp_path / "altered").exit_code == 3
