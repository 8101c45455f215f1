"""Confirm a provisional certificate: read the sitemaps again after the site's lag, and see which claims still stand.

The certificate is not changed. ``confirmation/`` in the capture's folder holds the WARC files of the later reading and
``confirmation.json``. The folder is made under another name and renamed when it is complete. An interruption therefore
leaves the capture either provisional or confirmed, and both verify.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from sharc_crawler.addresses.urls import canonical
from sharc_crawler.archive.documents import document_file
from sharc_crawler.archive.drafts import Drafts
from sharc_crawler.archive.files import SUFFIX, sync_folder
from sharc_crawler.archive.warc_names import index_path, series_of
from sharc_crawler.certificate.canonical import DIGEST, KEPT_IN, digest, kept, to_text
from sharc_crawler.certificate.canonical import canonical as as_text
from sharc_crawler.certificate.examining import Again, lag_of
from sharc_crawler.certificate.fixity import NAME as CERTIFICATE
from sharc_crawler.certificate.fixity import fixity, fixity_of
from sharc_crawler.certificate.judging import Judge, servers_word
from sharc_crawler.certificate.material import Material
from sharc_crawler.certificate.names import CONFIRMATION, CONFIRMED, CONFIRMING
from sharc_crawler.certificate.references import missing
from sharc_crawler.certificate.sources import open_source
from sharc_crawler.certificate.witness import Finding, Witness, ingest
from sharc_crawler.certificate.writing import MEDIA_TYPE, about
from sharc_crawler.changes.http import REDIRECTS, target
from sharc_crawler.errors import MALFORMED, DataError, UsageError
from sharc_crawler.evidence.facts import PageFacts
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.lag import seen
from sharc_crawler.evidence.lastmods import Lastmod
from sharc_crawler.evidence.worded import code
from sharc_crawler.instants import iso, unix
from sharc_crawler.locks import lock
from sharc_crawler.model import Instant, Seconds, Verdict

Document = Mapping[str, Any]

FORMAT, VERSION = "sharc-confirmation", 1
_ANSWERED = (200, 404, 410)
_LAST = unix("9999-12-31T23:59:59Z")
_FOR_GOOD = (Evidence.ATTESTED, Evidence.FORMER)


class Unconfirmed(NamedTuple):
    """What a certificate leaves to be confirmed."""

    pages: int  #: number of pages claimed provisionally
    due: Instant  #: from when on a reading of the sitemaps counts


def outlook(document: Document) -> Unconfirmed | None:
    """How many pages a certificate claims provisionally, and when they can be confirmed; None: no such page.

    >>> claim = {"grounds": [{"evidence": "provisional", "pages": 7}]}
    >>> outlook({"capture": {"claim": claim, "ended": "1970-01-01T00:01:00Z", "audit": {"lag": 30}}})
    Unconfirmed(pages=7, due=90.0)
    """
    grounds = document["capture"]["claim"]["grounds"]
    pages = sum(one["pages"] for one in grounds if one["evidence"] == Evidence.PROVISIONAL)
    return Unconfirmed(pages, min(unix(document["capture"]["ended"]) + lag_of(document), _LAST)) if pages else None


def waits(folder: Path) -> Unconfirmed | None:
    """As :func:`outlook`, for a capture's folder; None also if it was confirmed already."""
    document = None if (folder / CONFIRMATION).exists() else certificate_of(folder)
    try:
        return outlook(document) if document else None
    except MALFORMED:  # no certificate: `sharc verify` says so
        return None


def certificate_of(folder: Path) -> dict[str, Any] | None:
    """The certificate of a folder with a single capture; None: there is none that can be read."""
    try:
        return dict(json.loads((folder / CERTIFICATE).read_bytes()))
    except (OSError, *MALFORMED):
        return None


def confirmation_of(folder: Path) -> dict[str, Any] | None:
    """The content of ``confirmation.json`` in a capture's folder, if it has one."""
    try:
        return dict(json.loads((folder / CONFIRMATION / CONFIRMED).read_bytes()))
    except FileNotFoundError:
        return None
    except (OSError, *MALFORMED) as error:
        raise DataError(f"{folder / CONFIRMATION / CONFIRMED} cannot be read as a confirmation: {error!r}") from error


def updated_by(confirmation: Document | None) -> Callable[[Document], Document]:
    """A function that updates a certificate's page by the confirmation, if there is one.

    >>> page = {"url": "u", "verdict": "coherent", "evidence": "provisional"}
    >>> lost = {"url": "u", "verdict": "changed", "evidence": "attested"}
    >>> [updated_by({"pages": pages})(page) == {**page, **left} for pages, left in (([lost], lost), ([], {}))]
    [True, False]
    >>> updated_by({"pages": []})(page)["evidence"]
    'attested'
    >>> updated_by({"pages": []})({**page, "visit": {"attempts": 0}})["evidence"]
    'former'
    """
    if confirmation is None:
        return lambda entry: entry
    open_ = {one["url"]: one for one in confirmation["pages"]}

    def page(entry: Document) -> Document:
        if entry.get("evidence") != Evidence.PROVISIONAL:
            return {**entry, **open_.get(entry["url"], {})}
        taken = not (entry.get("visit") or {}).get("attempts", 1)
        for_good = Evidence.FORMER if taken and entry.get("revisit") is None else Evidence.ATTESTED
        return {**entry, **open_.get(entry["url"], {"evidence": for_good.value})}

    return page


def confirm(folder: Path, read: Callable[[Document, Path], None]) -> dict[str, Any]:
    """Confirm a capture that :func:`waits`; returns the confirmation.

    ``read`` downloads the sitemaps of a certificate's ``capture`` into a folder. Raises
    :class:`~sharc_crawler.errors.SharcError` if they confirm nothing; the folder is then as before.
    """
    document = certificate_of(folder)
    assert document is not None, "it waits"
    with _held(folder / CONFIRMING) as place:
        if (folder / CONFIRMATION).exists():
            raise UsageError(f"{folder} was confirmed by another process meanwhile: sharc verify says whether it holds")
        read(document["capture"], place / "reading")
        made_in = place / CONFIRMATION
        made_in.mkdir()
        for path in (place / "reading").glob(f"*{SUFFIX}"):
            for part in (path, index_path(path)):
                part.rename(made_in / part.name)
        made = _write(folder, document, made_in)
        sync_folder(made_in)
        made_in.rename(folder / CONFIRMATION)
        sync_folder(folder)
    return made


@contextmanager
def _held(place: Path) -> Iterator[Path]:
    """Hold an empty folder for this process alone; what a killed process left in it is removed."""
    place.mkdir(exist_ok=True)
    descriptor = os.open(place, os.O_RDONLY)
    try:
        if not lock(descriptor) or not os.fstat(descriptor).st_nlink:  # the other process has removed it since
            raise UsageError(f"{place.parent} is being confirmed by another process: leave it to that one")
        for left in place.iterdir():
            shutil.rmtree(left)
        try:
            yield place
        finally:
            shutil.rmtree(place)
    finally:
        os.close(descriptor)


def _write(folder: Path, document: Document, later: Path) -> dict[str, Any]:
    """Confirm by the sitemaps in the WARC files of ``later``, and write the confirmation beside them."""
    source, read = open_source(folder), open_source(later)
    witness = ingest(read.warcs)
    lost = list(_unread(witness))
    if lost:
        raise DataError(f"{lost[0]} could not be read: nothing is confirmed; try again")
    made = _made(document, source, ingest(source.warcs), read, witness)
    if not made["confirmed"] and all(one["evidence"] == Evidence.PROVISIONAL for one in made["pages"]):
        due = min(unix(document["capture"]["ended"]) + made["lag"], _LAST)
        why = f"; they are believed to have told all by {iso(due)}"
        if unix(made["read"]["from"]) > due:
            why = ": they say that its pages have changed since, or name none of them any more; or are other"
            why += " sitemaps than then, or copies of what was read before, by their Age or Date"
        raise DataError(f"the sitemaps confirm nothing yet{why}")
    files = sorted(later.glob(f"*{SUFFIX}"))
    made = {**made, "files": [{"name": path.name, **fixity(path)} for path in files]}
    made[DIGEST] = digest(made)
    series = series_of(files[0].name)
    assert series is not None, "a crawl wrote it"
    site, info = about(later, series)
    told = unix(made["read"]["to"])
    with Drafts() as drafts:
        with document_file(later, site, series[1], info, told, drafts) as out:
            ref = out.write(f"urn:sharc-confirmation:{site}", told, kept(made), MEDIA_TYPE)
        made[KEPT_IN] = {"file": ref.file, "offset": ref.offset, **fixity(drafts.of(later / ref.file))}
        with drafts.open(later / CONFIRMED) as file:
            file.write(to_text(made).encode("utf-8", "replace"))
    return made


def _unread(later: Witness) -> Iterator[str]:
    """URLs that were requested, but neither answered nor redirected to another requested URL."""
    asked = {canonical(one.uri) for one in later}
    for one in later:
        status, place = one.message.status if one.message else None, None
        if one.message and status in REDIRECTS:
            place = target(one.uri, one.message.header(b"location"))
        if status not in _ANSWERED and (place is None or canonical(place) not in asked):
            yield one.uri


def check_confirmation(source: Material, document: Document, witness: Witness) -> tuple[dict[str, Any], list[Finding]]:
    """A capture's confirmation, and where it differs from one made again from the WARC files.

    ``witness``: the records of the capture itself.
    """
    read, name = source.later, f"{CONFIRMATION}/{CONFIRMED}"
    if read is None or read.confirmation is None:
        return {}, [Finding("it is missing", name)]
    try:
        stated = dict(json.loads(read.confirmation, parse_float=str))
        later = ingest(read.warcs)
        found = [replace(one, file=f"{CONFIRMATION}/{one.file}") for one in (*later.findings, *missing(later))]
        if read.confirmation != to_text(stated).encode():
            found.append(Finding("it is not written as sharc writes it", name))
        return stated, [*found, *_altered(stated, document, source, witness, read, later)]
    except (DataError, OSError, *MALFORMED) as error:
        return {}, [Finding(f"it cannot be read as a confirmation: {error}", name)]


def _altered(
    stated: Document, document: Document, source: Material, witness: Witness, read: Material, later: Witness
) -> Iterator[Finding]:
    name = f"{CONFIRMATION}/{CONFIRMED}"
    if stated["certificate"] != document[DIGEST]:
        yield Finding(f"it is of another certificate, {stated['certificate']}", name)
        return
    place = stated[KEPT_IN]
    named = [*stated["files"], {**place, "name": place["file"]}]
    for file in named:
        if file["name"] not in read.warcs or _fixity(read, file["name"]) != (file["bytes"], file["sha256"]):
            yield Finding("it is missing, or not as it was", f"{CONFIRMATION}/{file['name']}")
    for extra in sorted(read.warcs.keys() - {file["name"] for file in named}):
        yield Finding("the confirmation does not speak of this file", f"{CONFIRMATION}/{extra}")
    copy = later.documents.get((place["file"], place["offset"]))
    if copy is None or copy.sha256 != hashlib.sha256(kept(dict(stated))).hexdigest():
        yield Finding(
            "the confirmation in the WARC file is another one", f"{CONFIRMATION}/{place['file']}", place["offset"]
        )
    again = {**_made(document, source, witness, read, later), "files": stated["files"]}
    again[DIGEST] = digest(again)
    for part in sorted({*again, *stated} - {KEPT_IN}):
        if as_text(again.get(part)) != as_text(stated.get(part)):  # True equals 1
            yield Finding(f"{part} is not what the records show", name)


def _made(document: Document, source: Material, witness: Witness, read: Material, later: Witness) -> dict[str, Any]:
    """The confirmation by the records of capture and later reading, still without files and digest."""
    entries = source.entries(document)
    dates = [one.date for one in later if one.message and one.message.status == _ANSWERED[0]]
    if not dates:
        raise DataError("no sitemap was read again")
    word = servers_word([(witness, source.warcs)], entries, lag_of(document))
    word.read_later(later, read.warcs, document["capture"]["clocks"])
    word.lag = _lag(document, word.lastmods.values(), word.lag)
    references = {part["name"]: part["reference"]["instant"] for part in document["subsites"] if part["reference"]}
    judge = Judge(witness, Witness(), references, entries, lambda: word, source.warcs)
    again, open_, confirmed = Again(document), list[dict[str, Any]](), 0
    for entry, page in judge.pages():
        again.add(entry, page)
        judge.findings.clear()  # pages whose judgement changed have one each
        if entry.get("evidence") not in (Evidence.PROVISIONAL, *_FOR_GOOD) or entry["verdict"] != "coherent":
            continue
        stands = page.evidence in _FOR_GOOD and page.verdict is Verdict.COHERENT
        confirmed += stands and entry["evidence"] == Evidence.PROVISIONAL
        if not stands or code(page.reason) != entry["reason"]:  # by another of its downloads
            open_.append(_shown(entry["url"], page))
    capture, *parts = ({"name": stated["name"], **found} for _, stated, found in again.units())
    return {
        "format": FORMAT,
        "version": VERSION,
        "certificate": document[DIGEST],
        "lag": math.ceil(word.lag),
        "read": {"from": min(dates), "to": max(dates)},
        "confirmed": confirmed,
        "pages": open_,
        "capture": capture,
        "subsites": parts,
    }


def _lag(document: Document, lastmods: Iterable[Sequence[Lastmod]], stated: Seconds) -> Seconds:
    """Seconds by which lastmods lag: as stated, or as all readings of the sitemaps show if that is more."""
    behind = min((clock["least"] for clock in document["capture"]["clocks"].values()), default=0)
    return max([stated, *(seen(readings, behind) for readings in lastmods)])


def _shown(url: str, page: PageFacts) -> dict[str, Any]:
    assert page.verdict is not None, "it was captured"
    evidence = page.evidence or Evidence.NONE
    return {"url": url, "verdict": page.verdict.value, "evidence": evidence.value, "reason": code(page.reason)}


def _fixity(source: Material, name: str) -> tuple[int, str]:
    with source.warcs[name]() as stream:
        found = fixity_of(stream)
    return found["bytes"], found["sha256"]
