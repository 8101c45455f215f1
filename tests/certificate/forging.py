"""A certificate and its WARC files altered, and covered up everywhere."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from typing import TYPE_CHECKING

from sharc_crawler.archive.members import Record, records
from sharc_crawler.archive.records import member
from sharc_crawler.archive.warc_names import index_path
from sharc_crawler.certificate.canonical import DIGEST, KEPT_IN, digest, kept, to_text
from sharc_crawler.certificate.fixity import fixity
from sharc_crawler.certificate.material import write_entries
from sharc_crawler.certificate.verify import verify
from sharc_crawler.changes.digest import labelled_digest
from tests.certificate.made import SITE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def findings(folder: Path) -> str:
    return "\n".join(map(str, verify(folder).findings))


def whole(folder: Path) -> dict:
    """A certificate with its pages and what was not captured."""
    document = json.loads((folder / "certificate.json").read_text())
    entries = [json.loads(line) for line in (folder / "certificate-pages.jsonl").read_text().splitlines()]
    captured = [entry for entry in entries if "verdict" in entry]
    return {**document, "pages": captured, "not_captured": [entry for entry in entries if "verdict" not in entry]}


def forge(folder: Path, change: Callable[[dict], object]) -> None:
    """Alter the certificate and cover it up everywhere: its digest, its record, the digest of the record's file."""
    path = folder / "certificate.json"
    document = whole(folder)
    change(document)
    place = document[KEPT_IN]
    pages = io.BytesIO()
    entries = [*document["pages"], *document.pop("not_captured")]
    document["pages"] = write_entries(pages, "certificate-pages.jsonl", entries)
    (folder / "certificate-pages.jsonl").write_bytes(pages.getvalue())
    document[DIGEST] = digest(document)

    def forged(record: Record) -> object:
        is_pages = (record.get("WARC-Target-URI") or "").endswith(":pages")
        return (record.fields, pages.getvalue() if is_pages else kept(document)) if record.kind == "metadata" else None

    rewrite(folder / place["file"], forged)
    with (folder / place["file"]).open("rb") as stream:
        offset = [record.offset for record in records(stream)][-1]
    document[KEPT_IN] = {**place, "offset": offset, **fixity(folder / place["file"])}
    path.write_text(to_text(document))


def rewrite(warc: Path, change: Callable[[Record], object]) -> None:
    """Write a WARC file anew; ``change`` gives other fields and block of a record, ``()`` drops it, None keeps it."""
    with warc.open("rb") as stream:
        old = [record for record in records(stream) if isinstance(record, Record)]
    parts = []
    for record in old:
        changed = change(record)
        fields, block = (record.fields, record.block) if changed is None else changed or (None, b"")
        if fields is not None:
            own = {"content-length", "warc-block-digest"}
            kept_fields = [(name, value) for name, value in fields if name.lower() not in own]
            parts.append(member([*kept_fields, ("WARC-Block-Digest", labelled_digest(block))], block, 6))
    warc.write_bytes(b"".join(parts))


def forge_warc(folder: Path, change: Callable[[Record], object]) -> None:
    """Alter records and cover it up in the certificate's digests of files."""
    (warc,) = folder.glob("*-00000-*.warc.gz")
    rewrite(warc, change)
    index_path(warc).unlink()
    forge(folder, lambda document: document["files"][0].update(fixity(warc)))


def entry(document: dict, name: str) -> dict:
    return next(page for page in (*document["pages"], *document["not_captured"]) if page["url"] == SITE + name)


def is_page(record: Record, name: str, kind: str = "response") -> bool:
    return record.kind == kind and record.get("WARC-Target-URI") == SITE + name


def repacked(wacz: Path, to: Path, changes: dict, more: dict | None = None) -> Path:
    """Write a package with other parts, and make all digests of it anew."""
    with zipfile.ZipFile(wacz) as old:
        parts = {info.filename: old.read(info) for info in old.infolist()}
    for name, change in changes.items():
        parts[name] = change(parts[name])
    parts |= more or {}
    about = json.loads(parts.pop("datapackage.json"))
    parts.pop("datapackage-digest.json")
    listed = [
        {
            "name": name.rpartition("/")[2].lower(),
            "path": name,
            "hash": f"sha256:{hashlib.sha256(data).hexdigest()}",
            "bytes": len(data),
        }
        for name, data in parts.items()
    ]
    text = json.dumps({**about, "resources": listed}, indent=2, ensure_ascii=False).encode()
    seal = {"path": "datapackage.json", "hash": f"sha256:{hashlib.sha256(text).hexdigest()}"}
    parts |= {"datapackage.json": text, "datapackage-digest.json": json.dumps(seal, indent=2).encode()}
    with zipfile.ZipFile(to, "w") as new, zipfile.ZipFile(wacz) as old:
        for name, data in parts.items():
            new.writestr(zipfile.ZipInfo(name, old.infolist()[0].date_time), data)
    return to


def swap(old: bytes, new: bytes):
    def change(data: bytes) -> bytes:
        assert old in data
        return data.replace(old, new)

    return change
