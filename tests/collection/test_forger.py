"""What a forger would try who knows docs/certificate.md alone: on a collection, and on its package."""

from __future__ import annotations

import gzip
import io
import json
import re
import shutil
import zipfile
from hashlib import sha256

import pytest

from sharc_crawler.archive.wacz import PACKAGE, SEAL
from sharc_crawler.collection.certifying import CERTIFICATES
from sharc_crawler.collection.folder import CAPTURES, Collection
from sharc_crawler.collection.page import write_overview
from tests.certificate.test_strays import put
from tests.collection.test_forged_collections import (  # noqa: F401 - a fixture
    NAME,
    captures,
    digests,
    kept,
    of_an_instant,
    original,
    pages_of,
    verified,
)
from tests.collection.test_packaging import packaged  # noqa: F401 - a fixture

pytestmark = pytest.mark.long


def files_of(path):
    with zipfile.ZipFile(path) as package:
        return {name: package.read(name) for name in package.namelist()}


def zipped(files, compression=zipfile.ZIP_STORED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as package:
        for name, data in files.items():
            package.writestr(name, data)
    return out.getvalue()


def relisted(files):
    """The package's description has the digests of what is in it, and its own is made anew."""
    others = {name: data for name, data in files.items() if name not in (PACKAGE, SEAL)}
    listed = [
        {
            "name": name.rpartition("/")[2],
            "path": name,
            "hash": f"sha256:{sha256(data).hexdigest()}",
            "bytes": len(data),
        }
        for name, data in others.items()
    ]
    said(files, resources=listed)
    files[SEAL] = json.dumps({"path": PACKAGE, "hash": f"sha256:{sha256(files[PACKAGE]).hexdigest()}"}).encode()
    return files


def parts(files):
    return [name for name in files if name.endswith(".wacz")]


def said(files, **fields) -> None:
    files[PACKAGE] = json.dumps(json.loads(files[PACKAGE]) | fields, indent=2, ensure_ascii=False).encode()


def text_of(files) -> str:
    return json.loads(files[PACKAGE])["description"]


def renamed(files, old: str, new: str) -> None:
    items = [(new if name == old else name, data) for name, data in files.items()]
    files.clear()
    files.update(items)


def at_another_time(files, place: int, moment: str) -> None:
    renamed(files, parts(files)[place], re.sub(r"\d{14}", moment, parts(files)[place]))


def changed_places(files) -> None:
    one, other = parts(files)
    files[one], files[other] = files[other], files[one]


def gone(files, place: int) -> None:
    files.pop(parts(files)[place])
    said(files, description=text_of(files).replace("2 captures", "1 capture"))


def within(change):
    """The first capture's package is another one, listed anew."""

    def made(files) -> None:
        inner = files_of(io.BytesIO(files[parts(files)[0]]))
        change(inner)
        files[parts(files)[0]] = zipped(relisted(inner))

    return made


def other(name: str, old: bytes, new: bytes):
    def change(files) -> None:
        found = next(one for one in files if re.search(name, one))
        data = gzip.decompress(files[found]) if found.endswith(".gz") else files[found]
        assert old in data
        files[found] = gzip.compress(data.replace(old, new)) if found.endswith(".gz") else data.replace(old, new)

    return within(change)


def without(prefix: str):
    return within(lambda files: [files.pop(name) for name in [*files] if name.startswith(prefix)])


def more_claimed(files) -> None:
    name = "certificate/certificate.json"
    document = json.loads(files[name])
    document["capture"]["totals"]["coherent"] += 1
    rest = {field: value for field, value in document.items() if field not in ("digest", "kept_in")}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    files[name] = json.dumps(document | {"digest": f"sha256:{sha256(text.encode()).hexdigest()}"}).encode()


PACKAGES = {
    "parts change places": changed_places,
    "a part twice": lambda f: f.update({re.sub(r"\d{14}", "20290101000000", parts(f)[0]): f[parts(f)[0]]}),
    "a part is called later": lambda f: at_another_time(f, 1, "20290101000000"),
    "a part is called older": lambda f: at_another_time(f, 0, "20011118110639"),
    "a part of another site": lambda f: renamed(f, parts(f)[1], f"www.example.com-{parts(f)[1][-19:]}"),
    "the first is gone": lambda f: gone(f, 0),
    "the last is gone": lambda f: gone(f, 1),
    "a description before ours": lambda f: said(f, description=f"Confirmed by a court.{text_of(f)}"),
    "a description after ours": lambda f: said(f, description=f"{text_of(f)} Confirmed by a court."),
    "made earlier": lambda f: said(f, created="2020-01-01T00:00:00Z"),
    "made by others": lambda f: said(f, software="forger 1.0"),
    "a further field": lambda f: said(f, confirmed="by a court"),
    "a readme": lambda f: f.update({"README.html": b"<h1>All of it is true"}),
    "a WARC file": lambda f: f.update({"archive/x.warc.gz": b"WARC/1.1"}),
    "a list of pages": lambda f: f.update({"pages/pages.jsonl": b'{"format": "json-pages-1.0"}\n'}),
    "a part's payload": other(r"00000.*warc\.gz", b"<title>", b"<TITLE>"),
    "a part's index": other(r"index\.cdx\.gz", b"html", b"htm1"),
    "a part's titles": other(r"pages\.jsonl$", b'"title": "', b'"title": "Confirmed '),
    "a part's report": other(r"report/data\.json", b'"coherent": ', b'"coherent": 1'),
    "a part's page": other(r"report/report\.html", b"</body>", b"<p>Confirmed by a court.</body>"),
    "a part's description": within(lambda f: said(f, title="Confirmed by a court")),
    "a part claims more": within(more_claimed),
    "a part without certificate": without("certificate/"),
    "a part without report": without("report/"),
    "a part that is confirmed": within(lambda f: f.update({"confirmation/confirmation.json": b"{}"})),
}
WHOLE = {
    "compressed": lambda path: path.write_bytes(zipped(files_of(path), zipfile.ZIP_DEFLATED)),
    "something before it": lambda path: path.write_bytes(b"<html>forged" + path.read_bytes()),
    "something after it": lambda path: path.write_bytes(path.read_bytes() + b"<html>forged"),
    "not listed": lambda path: path.write_bytes(zipped(files_of(path) | {parts(files_of(path))[0]: b"x"})),
    "no digest": lambda path: path.write_bytes(zipped({n: d for n, d in files_of(path).items() if n != SEAL})),
    "no description": lambda path: path.write_bytes(zipped({n: d for n, d in files_of(path).items() if n != PACKAGE})),
}


@pytest.mark.parametrize("case", [*PACKAGES, *WHOLE])
def test_a_package_that_was_forged_is_found_with_and_without_digests(packaged, tmp_path, case):  # noqa: F811
    path = shutil.copy(packaged[0], tmp_path / "all.wacz")
    files = files_of(path)
    own = json.loads(files[SEAL])["hash"]
    certified = [
        json.loads(files_of(io.BytesIO(files[part]))["certificate/certificate.json"])["digest"] for part in parts(files)
    ]
    if case in WHOLE:
        WHOLE[case](path)
    else:
        PACKAGES[case](files)
        path.write_bytes(zipped(relisted(files)))
    assert [verified(path, noted).exit_code for noted in ([], [own], certified)] == [3, 3, 3]


def as_a_new_one(folder) -> None:
    shutil.copytree(captures(folder)[0], captures(folder)[0].with_name("20290101T000000Z"))


def reports_changed_places(folder) -> None:
    one, two = (captures(folder)[place] / "report.json" for place in (0, 1))
    (text, again) = one.read_bytes(), two.read_bytes()
    one.write_bytes(again)
    two.write_bytes(text)


def of_another(folder) -> None:
    for file in captures(folder)[0].glob("*.warc.gz"):
        shutil.copy(file, captures(folder)[1])


COLLECTIONS = {
    "an old capture as a new one": as_a_new_one,
    "a middle capture is gone": lambda f: shutil.rmtree(captures(f)[1]),
    "a capture of another site": lambda f: shutil.move(
        captures(f)[1], f / CAPTURES / "b.example" / captures(f)[1].name
    ),
    "reports change places": reports_changed_places,
    "a WARC file of another capture": of_another,
    "an index is gone": lambda f: next(captures(f)[0].glob("*.cdxj")).unlink(),
    "a certificate is gone": lambda f: (captures(f)[0] / "certificate.json").unlink(),
    "the one at an instant is gone": lambda f: of_an_instant(f).unlink(),
    "the one at an instant, copied": lambda f: shutil.copy(of_an_instant(f), f / CERTIFICATES / "b-2026-11-18T12.json"),
    "its verdicts": lambda f: pages_of(f).write_text(pages_of(f).read_text().replace("changed", "coherent")),
    "a signature of nobody": lambda f: put(captures(f)[0], "signature.json", b'{"hash": "x", "signature": "AA=="}'),
    "a hidden WARC file": lambda f: put(f, ".hidden/a.warc", b"WARC/1.1\r\n"),
}
TOLD = {
    "the last capture is gone": lambda f: shutil.rmtree(captures(f)[2]),
    "a capture is called later": lambda f: captures(f)[2].rename(captures(f)[2].with_name("20290101T000000Z")),
    "a text in a capture": lambda f: put(captures(f)[0], "readme.txt", b"Confirmed by a court."),
    "what was withdrawn": lambda f: put(captures(f)[0], ".withdrawn/confirmation.json", b"{}"),
    "a page": lambda f: put(f, "news.html", b"Confirmed by a court."),
}


@pytest.mark.parametrize("case", [*COLLECTIONS, *TOLD])
def test_a_collection_that_was_forged_is_found_or_told_and_found_with_its_digests(kept, case):  # noqa: F811
    write_overview(Collection(kept))
    noted = digests(kept)
    (kept / CAPTURES / "b.example").mkdir()
    (COLLECTIONS | TOLD)[case](kept)
    done = verified(kept)
    assert (done.exit_code, "not certified: " in done.output) == ((0, True) if case in TOLD else (3, False)), (
        done.output
    )
    assert verified(kept, noted).exit_code == 3
