"""Package a capture's folder as a WACZ file: WARC files, index, pages at both times, report, certificate."""

from __future__ import annotations

import html
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sharc_crawler import __version__
from sharc_crawler.addresses.urls import is_usual
from sharc_crawler.archive.files import OPEN, SUFFIX
from sharc_crawler.archive.members import Record, read_at
from sharc_crawler.archive.recovery import recover
from sharc_crawler.archive.wacz import About, Contents, write_wacz
from sharc_crawler.archive.warc_names import series_of
from sharc_crawler.bodies.coding import decoded
from sharc_crawler.bodies.text import as_text
from sharc_crawler.certificate.confirming import confirmation_of, updated_by
from sharc_crawler.certificate.document import entries
from sharc_crawler.certificate.names import CONFIRMATION, CONFIRMED, is_certificate, is_seal
from sharc_crawler.certificate.sealed_files import stated_files
from sharc_crawler.certificate.sealing import about as said_of_itself
from sharc_crawler.certificate.sources import open_source
from sharc_crawler.certificate.verify import document_of
from sharc_crawler.changes.http import parse_response
from sharc_crawler.errors import UsageError
from sharc_crawler.evidence.claim import claim
from sharc_crawler.evidence.headers import header_text
from sharc_crawler.instants import maybe_iso, second
from sharc_crawler.model import Kind, Result
from sharc_crawler.report.banner import COPIES, of_copy, payload
from sharc_crawler.report.html import steady
from sharc_crawler.report.servers_word import standing_claims
from sharc_crawler.report.write import DATA, PAGES
from sharc_crawler.storage.beside import forget_killed

if TYPE_CHECKING:
    from sharc_crawler.certificate.identities import Ask, Identity
    from sharc_crawler.evidence.facts import CaptureFacts, PageFacts

_TITLE = re.compile(r"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)
_HEAD = 1 << 16  #: bytes of a document searched for its title
SHOWS_CONTENT = (Result.OK, Result.NOT_MODIFIED)


def package(
    folder: Path,
    captures: Sequence[CaptureFacts],
    path: Path | None = None,
    progress: Callable[[int], None] = lambda _: None,
    *,
    anew: bool = False,
    title: str = "",
    description: str = "",
    seal: PackageSeal | None = None,
) -> Path:
    """Write a folder's captures as a WACZ file, by default into the folder: named after site, time and run, or for
    several captures after the folder.

    ``progress`` is given the number of bytes as they are copied; ``anew``: replace a former package; ``title``: instead
    of sites and times; ``description``: precedes the captures' claims; ``seal`` signs it. Raises
    :class:`~sharc_crawler.errors.UsageError` if there is nothing to package, it is still being written, or the file
    exists or cannot be written. The same for an unfinished capture, unless the file lies in another folder. Raises
    :class:`~sharc_crawler.errors.DataError` for a WARC file that is not as certified.
    """
    recover(folder)
    warcs = warcs_of(folder)
    indexes = _indexes_of(warcs)
    name = f"{folder.resolve().name}.wacz" if len(captures) > 1 else default_name(warcs[0].name)
    path = path or folder / name
    if path.resolve().parent == folder.resolve() and any(one.ended is None for one in captures):
        raise UsageError(
            f"{str(folder)!r} holds a capture that is not complete: {_going_on(captures)}."
            " To package it as it is, without a certificate, name a file in another folder with -o"
        )
    if path.exists() and not anew:
        raise UsageError(f"{str(path)!r} exists and is left as it is; remove it first, or name another file with -o")
    forget_killed(path.parent, path.name)
    captures = [facts for facts in captures if facts.warcs] or captures  # those that the package holds
    confirmation = confirmation_of(folder)
    contents = Contents(warcs, indexes, pages(folder, captures, confirmation), _more(folder), stated_digests(folder))
    try:
        claims = standing_claims((claim(facts) for facts in captures), confirmation)
        about = sealed_at(_about(folder, captures, title, [description, *claims]), seal)
        return write_wacz(path, contents, about, progress, signer(seal, about))
    except OSError as error:
        raise UsageError(f"{str(path)!r} cannot be written: {error.strerror or error}; name another file") from error


def _indexes_of(warcs: Iterable[Path]) -> list[Path]:
    indexes = [warc.with_name(warc.name.removesuffix(SUFFIX) + ".cdxj") for warc in warcs]
    for index in indexes:
        if not index.exists():
            raise UsageError(f"the index {index} is missing; make it with cdxj-indexer, or restore the original folder")
    return indexes


def _going_on(captures: Sequence[CaptureFacts]) -> str:
    if any("spider" in facts.settings and "resume" not in facts.settings for facts in captures):
        return "its spider began without SHARC_RESUME=True, so begin anew, in another folder, and package that"
    return "the same crawl command resumes it, then it can be packaged"


@dataclass(frozen=True, slots=True)
class PackageSeal:
    """The key that signs a package, and the time stamp authority."""

    key: Path  #: private key, with certificates if it is a domain's
    ask: Ask | None = None  #: sends a query to the authority; the key of a domain needs one

    def identity(self) -> Identity:
        """Read the key; raises :class:`~sharc_crawler.errors.UsageError` if it cannot be used."""
        from sharc_crawler.certificate.identities import read_identity  # only where one signs

        return read_identity(self.key, stamped=self.ask is not None)


def sealed_at(about: About, seal: PackageSeal | None) -> About:
    """Date a package that a domain signs to now, as its time stamp cannot be older."""
    return replace(about, created=time.time()) if seal and seal.identity().chain else about


def signer(seal: PackageSeal | None, about: About) -> Callable[[str], dict[str, str]] | None:
    """A function that makes a package's ``signedData``, with the description's date and software."""
    if seal is None:
        return None
    said = {**said_of_itself(about.fields()["created"]), "software": about.software}
    identity = seal.identity()
    return lambda digest: identity.sign(digest, said, seal.ask)


def warcs_of(folder: Path) -> list[Path]:
    """The finished WARC files of a folder, sorted by name."""
    if unfinished := next(folder.glob(f"*{SUFFIX}{OPEN}"), None):
        raise UsageError(f"{unfinished} is still being written; wait for the end of the crawl")
    warcs = sorted(folder.glob(f"*{SUFFIX}"))
    if not warcs:
        raise UsageError(f"{str(folder)!r} holds no WARC files; name a folder given as output=")
    return warcs


def default_name(warc: str) -> str:
    """The name of a package, made from the name of its first WARC file.

    >>> default_name("example.org-20261118110640-00000-r1.warc.gz")
    'example.org-20261118110640-r1.wacz'
    """
    return (
        re.sub(r"-(\d{14})-\d{5,}-", r"-\1-", warc.removesuffix(SUFFIX)) + ".wacz"
        if series_of(warc)
        else "capture.wacz"
    )


def stated_digests(folder: Path) -> dict[Path, str]:
    """The SHA-256 of WARC files by the certificates in their folder."""
    documents = (document_of(str(folder / name), text) for name, text in open_source(folder).certificates.items())
    return {folder / file["name"]: file["sha256"] for document in documents for file in stated_files(document)}


def pages(
    folder: Path, captures: Sequence[CaptureFacts], confirmation: Mapping[str, Any] | None = None
) -> Iterator[dict[str, Any]]:
    """A line for each copy of each page: its visit and its revisit."""
    stands, read = updated_by(confirmation), partial(_read, folder)
    for facts in captures:
        references = {part.name: maybe_iso(part.reference) for part in facts.subsites}
        for page, entry in zip(facts.pages, entries(facts, lambda _: None), strict=True):
            if page.kind is Kind.PAGE and page.verdict is not None and page.visit:
                reference = references.get(page.subsite, maybe_iso(facts.reference))
                copies = {when: _spelt(one, page, read) for when in COPIES if (one := entry[when])}
                yield from lines_of(stands({**entry, **copies}), reference, read)


def lines_of(
    page: Mapping[str, Any], reference: str | None, read: Callable[[str, int], object]
) -> Iterator[dict[str, Any]]:
    """The lines of a page, given as a certificate's entry; each has the verdict of its own copy.

    ``read`` gets the record at a place of a WARC file.
    """
    titles = _titles(page, read)
    for when, title in titles.items():
        one = page[when]
        if one["attempts"] and Result(one["result"]) in SHOWS_CONTENT:
            verdict, evidence = of_copy(page, when, reference)
            yield {
                "id": f"{when}-{one['file']}:{one['offset']}" if one["file"] else f"{when}-",
                "url": one["uri"],
                "ts": f"{one['date'][:23]}Z",
                "title": title or page["visit"]["uri"],
                "download": when,
                "verdict": verdict,
                "evidence": evidence,
            }


def _titles(page: Mapping[str, Any], read: Callable[[str, int], object]) -> dict[str, str | None]:
    """The title of each copy, from its own record; from the visit's if the payload is the same."""
    visit, revisit = ((one and one["attempts"] and one["file"] and one) or None for one in map(page.get, COPIES))
    titles = {"visit": title_of(read(visit["file"], visit["offset"])) if visit else None}
    if page.get("revisit"):
        same = visit is not None and payload(page, "revisit") == payload(page, "visit")
        own = None if same or not revisit else title_of(read(revisit["file"], revisit["offset"]))
        titles["revisit"] = titles["visit"] if same else own
    return titles


def _spelt(one: Mapping[str, Any], page: PageFacts, read: Callable[[str, int], object]) -> Mapping[str, Any]:
    """A download with its URL spelt as in its record and the index, where viewers look it up."""
    url = page.archived_as or page.url
    if one["file"] and not is_usual(url):  # the request may have spelt it differently
        record = read(one["file"], one["offset"])
        url = (record.get("WARC-Target-URI") if isinstance(record, Record) else None) or url
    return {**one, "uri": url}


def _read(folder: Path, file: str, offset: int) -> object:
    with (folder / file).open("rb") as stream:
        return read_at(stream, offset)


def title_of(record: object) -> str | None:
    """The title of the document in a response record."""
    message = parse_response(record.block) if isinstance(record, Record) and record.kind == "response" else None
    body = decoded(message.payload, message.values(b"content-encoding")) if message else None
    if not message or not body:
        return None
    kind = header_text(message.header(b"content-type")) or ""
    found = _TITLE.search(as_text(body[:_HEAD], kind)[1]) if "html" in kind else None
    return steady(" ".join(html.unescape(found[1]).split())) or None if found else None


def _is_shown(page: PageFacts) -> bool:
    """Is it a page whose visit the capture itself holds?"""
    return page.kind is Kind.PAGE and bool(page.verdict and page.visit and page.visit.attempts)


def _more(folder: Path) -> dict[str, Path]:
    """Report, certificates, seals and confirmation: name in the package → file.

    ``report.json`` is renamed, as validators of data packages take that name for one of their own files.
    """
    more = {f"report/{file.name}": file for file in sorted(folder.glob("report*.html"))}
    kept = {"report/data.json": folder / DATA, "report/data-pages.jsonl": folder / PAGES}
    more |= {name: file for name, file in kept.items() if file.exists()}
    found = (file for file in sorted(folder.iterdir()) if is_certificate(file.name))
    more |= {f"certificate/{file.name}": file for file in found}
    later = sorted((folder / CONFIRMATION).glob("*"))
    held = (file for file in later if file.name.endswith(SUFFIX) or file.name == CONFIRMED or is_seal(file.name))
    return more | {f"{CONFIRMATION}/{file.name}": file for file in held}


def _about(folder: Path, captures: Sequence[CaptureFacts], title: str, said: Iterable[str]) -> About:
    first = captures[0]
    shown = (
        _spelt(entry["visit"], page, partial(_read, folder))
        for page, entry in zip(first.pages, entries(first, lambda _: None), strict=True)
        if _is_shown(page)
    )
    visit = next(shown, None)
    return About(
        title=title or ", ".join(f"{facts.site} {second(facts.reference or facts.started)}" for facts in captures),
        description=" ".join(filter(None, said)),
        created=max(facts.ended or facts.started for facts in captures),
        software=f"sharc-crawler {__version__}",
        main_url=visit["uri"] if visit else first.seeds[0],
        main_date=f"{visit['date'][:23]}Z" if visit else None,
    )
