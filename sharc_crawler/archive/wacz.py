"""Write WACZ 1.1.1: WARC files, index, pages and more in one file for viewers.

See https://specs.webrecorder.net/wacz/1.1.1/. Files are stored uncompressed, so that any part can be read in place.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path, PurePosixPath
from tempfile import TemporaryFile
from typing import IO, Any

from sharc_crawler.archive.drafts import Drafts
from sharc_crawler.archive.zipnum import merged, write_zipnum
from sharc_crawler.errors import DataError
from sharc_crawler.model import Instant

VERSION = "1.1.1"
PACKAGE, SEAL = "datapackage.json", "datapackage-digest.json"
WACZ = ".wacz"
SINGLE, MULTI = "data-package", "multi-wacz-package"  #: profiles
SIGNED = "signedData"  #: field with the signature in :data:`SEAL`
#: raised by opening a file that is no zip file, or of a later version
NO_ZIP = (zipfile.BadZipFile, NotImplementedError)
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class About:
    """The description of a WACZ file."""

    title: str
    description: str
    created: Instant
    software: str
    main_url: str | None = None
    main_date: str | None = None

    def fields(self) -> dict[str, Any]:
        """The fields of ``datapackage.json``."""
        created = datetime.fromtimestamp(self.created, UTC)
        known = {
            "title": self.title,
            "description": self.description,
            "created": f"{created:%Y-%m-%dT%H:%M:%SZ}",
            "wacz_version": VERSION,
            "software": self.software,
            "mainPageUrl": self.main_url,
            "mainPageDate": self.main_date,
        }
        return {name: value for name, value in known.items() if value is not None}


@dataclass(slots=True)
class Contents:
    """The contents of a WACZ file."""

    warcs: Sequence[Path]
    indexes: Sequence[Path]
    pages: Iterable[Mapping[str, Any]]  #: ``url``, ``ts`` and more
    more: Mapping[str, Path] = field(default_factory=dict)  #: name in the package → file
    stated: Mapping[Path, str] = field(default_factory=dict)  #: certified WARC file → SHA-256


def write_wacz(
    path: Path,
    contents: Contents,
    about: About,
    progress: Callable[[int], None] = lambda _: None,
    sign: Callable[[str], dict[str, str]] | None = None,
) -> Path:
    """Write a WACZ file, whole or not at all; ``progress`` is given the number of bytes as they are copied.

    ``sign`` makes the signature (``signedData``) of its digest. Raises :class:`~sharc_crawler.errors.DataError` for a
    WARC file with another digest than stated.
    """
    with _drafted(path) as package:
        _Writer(package, about.created, progress).write(contents, about, sign)
    return path


def write_multi_wacz(
    path: Path,
    parts: Iterable[tuple[str, Path]],
    about: About,
    progress: Callable[[int], None] = lambda _: None,
    sign: Callable[[str], dict[str, str]] | None = None,
) -> Path:
    """Write a WACZ file of WACZ files, whole or not at all; each part is copied before the next is requested."""
    with _drafted(path) as package:
        writer = _Writer(package, about.created, progress)
        for name, part in parts:
            writer.file(name, part)
        writer.close(MULTI, about, sign)
    return path


@contextmanager
def _drafted(path: Path) -> Iterator[zipfile.ZipFile]:
    with Drafts() as drafts, drafts.open(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as package:
        yield package


class _Writer:
    def __init__(self, package: zipfile.ZipFile, created: Instant, progress: Callable[[int], None]) -> None:
        self._package = package
        self._progress = progress
        self._date = zip_date(created)
        self._resources: list[dict[str, Any]] = []

    def write(self, contents: Contents, about: About, sign: Callable[[str], dict[str, str]] | None) -> None:
        for warc in contents.warcs:
            made = self.file(f"archive/{warc.name}", warc)
            if made != contents.stated.get(warc, made):
                raise DataError(f"{warc} is not as it was certified (sharc verify {warc.parent} says more)")
        with TemporaryFile() as data:
            blocks = write_zipnum(merged(contents.indexes), data)
            self._add("indexes/index.cdx.gz", data)
        self._add("indexes/index.idx", io.BytesIO(blocks.encode()))
        with TemporaryFile() as data:
            data.writelines(line.encode("utf-8", "replace") for line in page_lines(contents.pages))
            self._add("pages/pages.jsonl", data)
        for name, source in contents.more.items():
            self.file(name, source)
        self.close(SINGLE, about, sign)

    def close(self, profile: str, about: About, sign: Callable[[str], dict[str, str]] | None) -> None:
        """Write the description of all files, and its seal."""
        head = {"profile": profile, "resources": self._resources, **about.fields()}
        text = json.dumps(head, indent=2, ensure_ascii=False).encode()
        self._add(PACKAGE, io.BytesIO(text))
        seal: dict[str, Any] = {"path": PACKAGE, "hash": f"sha256:{hashlib.sha256(text).hexdigest()}"}
        if sign is not None:
            seal[SIGNED] = sign(seal["hash"])
        self._add(SEAL, io.BytesIO(json.dumps(seal, indent=2).encode()))

    def file(self, name: str, source: Path) -> str:
        """Copy a file; returns its SHA-256."""
        with source.open("rb") as stream:
            return self._add(name, stream)

    def _add(self, name: str, stream: IO[bytes]) -> str:
        info = zipfile.ZipInfo(name, self._date)
        info.file_size = stream.seek(0, io.SEEK_END)  # needed in advance: above 2 GiB, zip files need wider fields
        made, length = hashlib.sha256(), 0
        stream.seek(0)
        with self._package.open(info, "w") as into:
            while block := stream.read(_BLOCK):
                into.write(block)
                made.update(block)
                length += len(block)
                self._progress(len(block))
        self._resources.append(listed(name, f"sha256:{made.hexdigest()}", length))
        return made.hexdigest()


def listed(name: str, sha256: str, length: int) -> dict[str, Any]:
    """The entry of a file in a package's description.

    JSON Lines are declared as text. Otherwise validators of data packages read them as tables, and object to columns
    that are mostly empty.
    """
    kind = {"format": "txt"} if name.endswith(".jsonl") else {}
    return {"name": slug(name), "path": name, "hash": sha256, "bytes": length, **kind}


def page_lines(pages: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """The lines of the list of pages, with their ends."""
    head = {"format": "json-pages-1.0", "id": "pages", "title": "Pages"}
    return (json.dumps(line, ensure_ascii=False) + "\n" for line in chain([head], pages))


def zip_date(created: Instant) -> tuple[int, int, int, int, int, int]:
    """The date of all files in a package; zip files have no dates before 1980, and only even seconds.

    >>> zip_date(1_795_000_001.5)
    (2026, 11, 18, 11, 6, 40)
    """
    when = max(datetime.fromtimestamp(created, UTC), datetime(1980, 1, 1, tzinfo=UTC))
    return when.year, when.month, when.day, when.hour, when.minute, when.second // 2 * 2


def slug(name: str) -> str:
    """A resource's name, in lower case as data packages require."""
    return re.sub(r"[^a-z0-9._-]+", "-", PurePosixPath(name).name.lower())
