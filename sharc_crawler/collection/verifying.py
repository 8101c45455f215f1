"""| Verifies all certificates of a collection, each from its own WARC files and those that it refers to."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from sharc_crawler.archive.wacz import WACZ
from sharc_crawler.certificate.canonical import DIGEST
from sharc_crawler.certificate.fixity import NAME as CERTIFICATE
from sharc_crawler.certificate.names import is_certified
from sharc_crawler.certificate.sealing import Trust
from sharc_crawler.certificate.strays import around
from sharc_crawler.certificate.verify import NOBODY, Verification, total_size, verify, why_none
from sharc_crawler.certificate.witness import Finding
from sharc_crawler.collection.certifying import CERTIFICATES, check_at
from sharc_crawler.collection.damage import in_former, referred
from sharc_crawler.collection.folder import ADDING, CAPTURES, REMOVING, Collection, package_path
from sharc_crawler.collection.overview import INDEX, overview
from sharc_crawler.collection.page import PAGE, render
from sharc_crawler.collection.referring import Referring
from sharc_crawler.errors import MALFORMED, DataError
from sharc_crawler.plural import agreeing, counted
from sharc_crawler.report.package_check import not_of_it
from sharc_crawler.report.unsealed import author_of, unsealed
from sharc_crawler.report.write import to_json

_WAY_OUT = "mount it there in place of the link, or move the whole collection, whose own folder may be a link"
#: files of a collection that no certificate covers: settings, histories, logs
_OWN = re.compile(
    r"collection\.yaml|masks|logs|captures|certificates|(history|texts)\.db.*|index\.(json|html)|(keep|distrusted)\.json"
    r"|\..*|.*\.wacz"
)


def verify_collection(
    collection: Collection, progress: Callable[[int], None] = lambda _: None, trust: Trust = NOBODY
) -> tuple[Verification, list[str]]:
    """The findings over all captures, and why some have no certificate.

    Certificates for other instants (:mod:`.certifying`) are made again. A needed payload that no capture of the
    collection holds is a finding. ``progress`` gets the bytes as they are read.
    """
    every, without = Verification(source=str(collection.folder)), list[str]()
    captures = sorted(collection.captures(), key=lambda one: one.time)
    referring = Referring([one.folder for one in captures])
    for capture in captures:
        name = capture.folder.relative_to(collection.folder).as_posix()
        try:
            former = referring.former(capture.folder)
            if is_certified(capture.folder):
                found = verified(capture.folder, former, progress, trust)
                every.findings += _take_former_findings(found, capture.folder, former, collection.folder)
                every.add(name, found)
            else:
                without.append(f"{name}: {why_none(capture.folder)}")
        except (DataError, OSError, ValueError, KeyError) as error:
            every.findings.append(Finding(str(error), name))
    for index in referring.unread:
        shown = index.relative_to(collection.folder).as_posix()
        every.findings.append(
            Finding("the index is missing, or cannot be read: search and replay find nothing there", shown)
        )
    every.unsealed += unsealed_beside(collection)
    every.findings += _stray_files(collection)
    every.findings += _out_of_order(collection)
    for document, findings in check_at(collection):
        every.findings += findings
        if not findings:
            every.captures.append(f"{document['name']} at {document['reference']['instant']}")
            every.claims.append(document["claim"])
            every.sites.append("")
            every.digests.append(document[DIGEST])
    return every, without


def _take_former_findings(found: Verification, folder: Path, former: list[Path], root: Path) -> list[Finding]:
    """Take findings about former captures' files out of a capture's findings, and return them.

    A finding that the former capture's own certificate reveals, and that this one does not refer to, is reported there.
    """
    holders = in_former(folder, former, found.findings)
    named = referred(folder, former) if holders else set()
    taken = []
    for place, holder in holders.items():
        one, shown, by = found.findings[place], *(path.relative_to(root).as_posix() for path in (holder, folder))
        refers = (one.file, one.offset) in named
        if refers or not is_certified(holder):
            what = f"{one.what}; {by} refers to it" if refers else one.what
            taken.append(replace(one, file=f"{shown}/{one.file}", what=what))
    found.findings = [one for place, one in enumerate(found.findings) if place not in holders]
    return taken


def package_of(collection: Collection) -> Path | None:
    """The collection's own package, under the folder's present or former name; None: there is none."""
    found = [path for path in collection.folder.glob(f"*{WACZ}") if path.is_file()]
    path = package_path(collection)
    return path if path in found else found[0] if len(found) == 1 else None


def _stray_files(collection: Collection) -> Iterator[Finding]:
    """Findings for files beside the captures that might be mistaken for a part of one."""
    halves = (half for end in (ADDING, REMOVING) for half in collection.folder.glob(f"{CAPTURES}/*/.*{end}"))
    apart = {collection.folder / CERTIFICATES, *(capture.folder for capture in collection.captures()), *halves}
    own = package_of(collection)
    for finding in around(collection.folder, apart):
        if (finding.file or "").split("/")[0] == CAPTURES and (collection.folder / str(finding.file)).is_symlink():
            yield replace(finding, what=f"{finding.what}; {_WAY_OUT}")
        elif own is None or finding.file != own.name or own.is_symlink():
            yield finding


def unsealed_beside(collection: Collection) -> Iterator[str]:
    """Files that no certificate covers, and an index that disagrees with the captures."""
    captures = collection.folder / CAPTURES
    for file in (*collection.folder.iterdir(), *captures.glob("*"), *captures.glob("*/*")):
        name = file.relative_to(collection.folder).as_posix()
        if not (_OWN.fullmatch(name) or (file.is_dir() and file.parent != collection.folder)):
            yield name
    yield from _index(collection)


def _index(collection: Collection) -> Iterator[str]:
    """The index files that disagree with the captures."""
    index, page = collection.folder / INDEX, collection.folder / PAGE
    try:
        found = json.loads(index.read_text(encoding="utf-8"))
        shown = "".join(render(found)) if page.exists() else ""
        stated = {entry.pop("folder"): entry for site in found["sites"] for entry in site["captures"]}
    except FileNotFoundError:
        yield from [PAGE] if page.exists() else []
        return
    except (OSError, *MALFORMED):
        yield INDEX
        return
    made = json.loads(to_json(overview(collection, anew=True)))
    remade = {entry.pop("folder"): entry for site in made["sites"] for entry in site["captures"]}
    left = {"stamp"} if (ours := author_of(found) is None) else {"stamp", "statement"}  # other versions differ there
    other = any(_without(left, entry) != _without(left, remade.get(name, {})) for name, entry in stated.items())
    if other or (ours and _frame(found) != _frame(made)):
        yield INDEX
    if page.exists() and ours and page.read_text(encoding="utf-8") != shown:
        yield PAGE


def _frame(index: dict[str, Any]) -> tuple[Any, ...]:
    """The part of an index outside of its captures and settings."""
    return index["format"], index["version"], [*index], {(*site,) for site in index["sites"]}


def _without(left: set[str], entry: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name not in left}


def _out_of_order(collection: Collection) -> Iterator[Finding]:
    """Findings where folders are not in the order of their captures' beginnings, or a capture is there twice."""
    seen = set[str]()
    for name in collection.names():
        last = ""
        for capture in collection.captures(name):
            try:
                document = json.loads((capture.folder / CERTIFICATE).read_bytes())
                began, digest = document["capture"]["started"], document[DIGEST]
            except (OSError, *MALFORMED):
                continue  # it has none, or an invalid one, which was reported
            shown = capture.folder.relative_to(collection.folder).as_posix()
            if digest in seen:
                yield Finding("its certificate is that of another capture", shown)
            seen.add(digest)
            if began < last:
                yield Finding(f"it began at {began}, before the capture whose folder comes before it", shown)
            last = max(last, began)


def size_of(collection: Collection) -> int:
    """The bytes that the verification of a collection reads."""
    return sum(total_size(capture.folder) for capture in collection.captures() if is_certified(capture.folder))


def verified(folder: Path, former: list[Path], progress: Callable[[int], None], trust: Trust) -> Verification:
    """A capture's verification, with the former captures that it refers to."""
    found = verify(folder, former, progress, trust)
    found.findings += not_of_it(folder)
    found.unsealed = unsealed(folder)
    if found.elsewhere:
        lost = (
            f"{counted(found.elsewhere, 'payload')} that it refers to"
            f" {agreeing(found.elsewhere, 'are')} in no capture of the collection"
        )
        found.findings.insert(0, Finding(lost))
        found.elsewhere = 0  # no other capture is left to look in
    return found
