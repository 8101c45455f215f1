"""| Verifies a collection's package: the file itself, and each WACZ file with those that it refers to."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, cast

from sharc_crawler.archive.cdxj import IndexEntry, index_lines
from sharc_crawler.archive.wacz import MULTI, NO_ZIP, PACKAGE, SEAL, WACZ
from sharc_crawler.archive.wacz_check import UNREADABLE, altered
from sharc_crawler.certificate.fixity import pages_name
from sharc_crawler.certificate.material import PageEntries, text_lines
from sharc_crawler.certificate.sealing import Trust, check_seals
from sharc_crawler.certificate.sources import open_source
from sharc_crawler.certificate.verify import NOBODY, Verification
from sharc_crawler.certificate.witness import Finding
from sharc_crawler.collection.packaging import described
from sharc_crawler.collection.referring import Referring, taken_by
from sharc_crawler.collection.verifying import verified
from sharc_crawler.errors import DataError
from sharc_crawler.instants import second, unix
from sharc_crawler.report.package_check import INDEX, SOFTWARE
from sharc_crawler.report.unsealed import GIVEN

_NAME = re.compile(r"(?P<site>[^/\\\0]+)-(?P<moment>\d{14})\.wacz")
_FIELDS = "profile", "resources", "title", "description", "created", "wacz_version", "software"  #: in our order


def holds_packages(path: Path) -> bool:
    """Whether the file contains WACZ files."""
    try:
        with zipfile.ZipFile(path) as package:
            return any(name.endswith(WACZ) for name in package.namelist())
    except NO_ZIP:
        return False  # reported when it is opened


def verify_package(
    path: Path, progress: Callable[[int], None] = lambda _: None, trust: Trust = NOBODY
) -> tuple[Verification, list[str]]:
    """The findings over all parts, and the parts without a certificate.

    The parts are extracted to a temporary folder, which takes as much room as the file. ``progress`` gets the bytes as
    they are read.
    """
    every, without = Verification(source=str(path), unsealed=[GIVEN]), list[str]()
    every.findings += [Finding(what, file) for file, what in altered(path, progress)]
    with TemporaryDirectory(prefix="sharc-verify-") as place, zipfile.ZipFile(path) as package:
        parts = list(_taken_out(package, Path(place), every.findings))
        by_time = sorted(parts, key=lambda one: _named(one.name)["moment"])
        referring = _Packaged(by_time)
        documents: dict[str, Mapping[str, Any]] = {}
        for part in by_time:
            try:
                former = referring.former(part)
                documents[part.name] = _document(part)
                if documents[part.name]:
                    every.add(part.name, _renamed(verified(part, former, progress, trust)))
                else:
                    without.append(f"{part.name}: it holds no certificate")
            except (DataError, *UNREADABLE, KeyError, TypeError, AttributeError) as error:
                every.findings.append(Finding(str(error), part.name))
        every.findings += _names([part.name for part in parts], documents)
        every.findings += _about(package, parts, documents, referring)
        every.seals.add(path.name, check_seals({}, {}, _read(package, SEAL), trust))
    every.findings += every.seals.findings
    return every, without


def _renamed(found: Verification) -> Verification:
    """The verification with folder names only, as parts lie in a temporary folder."""
    for one in found.provisional:
        one["folder"] = Path(one["folder"]).name
    return found


def _taken_out(package: zipfile.ZipFile, place: Path, findings: list[Finding]) -> Iterator[Path]:
    """Extract the parts in order; anything else is a finding."""
    for info in package.infolist():
        name = info.filename
        if name in (PACKAGE, SEAL):
            continue
        if not _NAME.fullmatch(name) or (place / name).exists():
            findings.append(Finding("it is no WACZ file of a capture, or there twice", name))
            continue
        try:
            with package.open(info) as stored, (place / name).open("wb") as out:
                shutil.copyfileobj(stored, out)
        except UNREADABLE:
            continue  # reported already
        yield place / name


def _named(name: str) -> dict[str, str]:
    found = _NAME.fullmatch(name)
    assert found, "others were left out"
    return found.groupdict()


def _document(part: Path) -> Mapping[str, Any]:
    """A part's certificate; empty: none."""
    certificates = open_source(part).certificates
    document: dict[str, Any] = json.loads(next(iter(certificates.values()))) if certificates else {}
    return document


def _names(names: Sequence[str], documents: Mapping[str, Mapping[str, Any]]) -> Iterator[Finding]:
    """Findings where parts are not grouped by site and named in the order of their beginnings."""
    sites = [_named(name)["site"] for name in names]
    if [site for at, site in enumerate(sites) if site not in sites[:at]] != [
        site for at, site in enumerate(sites) if at == 0 or site != sites[at - 1]
    ]:
        yield Finding("the captures of a site do not lie together", PACKAGE)
    last = dict[str, tuple[str, str]]()
    seen = set[str]()
    for name in names:
        document = documents.get(name)
        if not document:
            continue
        site, moment = _named(name)["site"], _named(name)["moment"]
        began = datetime.fromtimestamp(unix(document["capture"]["started"]), UTC).strftime("%Y%m%d%H%M%S.%f")
        if moment > began or (moment, began) <= last.get(site, ("", "")) or began <= last.get(site, ("", ""))[1]:
            yield Finding(f"it began at {document['capture']['started']}, its name is of another time", name)
        if document["digest"] in seen:
            yield Finding("its certificate is that of another part", name)
        seen.add(document["digest"])
        last[site] = moment, began


def _about(
    package: zipfile.ZipFile, parts: Sequence[Path], documents: Mapping[str, Mapping[str, Any]], referring: _Packaged
) -> Iterator[Finding]:
    """Findings where the description of the whole disagrees with its parts."""
    try:
        about = json.loads(package.read(PACKAGE))
        if (about["profile"], *about) != (MULTI, *_FIELDS):
            yield Finding("its fields are not those of a collection's package, in our order", PACKAGE)
        needing = [part.name for part in parts if part in referring.needing]
        sites = {_named(part.name)["site"] for part in parts}
        if not f" {about['description']}".endswith(f" {described(len(parts), len(sites), needing)}"):
            yield Finding("its description does not say what it holds", PACKAGE)
        ended = [document["capture"]["ended"] for document in documents.values() if document]
        if ended and about["created"] < second(max(map(unix, ended))):
            yield Finding(f"it is said to be of {about['created']}, its captures ended later", PACKAGE)
        if not SOFTWARE.fullmatch(about["software"]):
            yield Finding(f"it is said to be made by {about['software']!r}", PACKAGE)
    except (*UNREADABLE, KeyError, TypeError, AttributeError) as error:
        yield Finding(f"it cannot be read: {error!r}", PACKAGE)


def _read(package: zipfile.ZipFile, name: str) -> bytes | None:
    try:
        return package.read(name)
    except (KeyError, *UNREADABLE):
        return None  # reported already


class _Packaged(Referring):
    """References between parts, from the indexes in them."""

    def _entries(self, folder: Path) -> Iterator[IndexEntry]:
        with zipfile.ZipFile(folder) as package, package.open(INDEX) as stored, gzip.open(stored) as lines:
            yield from index_lines(line.decode() for line in text_lines(cast("IO[bytes]", lines)))

    def _opened(self, folder: Path, file: str) -> IO[bytes]:
        return open_source(folder).warcs[file]()

    def _taken(self, folder: Path) -> set[tuple[str, str]]:
        source = open_source(folder)
        found = set[tuple[str, str]]()
        for name, text in source.certificates.items():
            if (stored := source.pages.get(pages_name(name))) is not None:
                found |= taken_by(json.loads(text), PageEntries(stored))
        return found
