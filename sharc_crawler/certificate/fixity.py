"""Names, sizes and digests of the files that a certificate is of."""

from __future__ import annotations

import hashlib
import re
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NAME = "certificate.json"
CERTIFICATES = re.compile(r"certificate(?:-[A-Za-z0-9.-]+)?\.json")
SIGNATURES = re.compile(r"signature(?:-[A-Za-z0-9.-]+)?\.json")
TIMESTAMPS = re.compile(r"timestamp(?:-[A-Za-z0-9.-]+)?\.tsr")
PAGES = re.compile(r"certificate(?:-[A-Za-z0-9.-]+)?-pages\.jsonl")
CONFIRMATION = "confirmation"  #: folder within a capture's, with the sitemaps as they were read later
CONFIRMED = "confirmation.json"  #: in that folder
CONFIRMING = ".confirming"  #: where that is made; whoever confirms next makes it anew
WITHDRAWN = ".withdrawn"  #: where confirmations lie whose certificate was withdrawn
_SEALED = re.compile("certificate|confirmation")  #: how the names of what is signed and stamped begin
REPORTS = re.compile(r"report\.json|report-pages\.jsonl|report[^/]*\.html")  #: files of a folder's report
ASIDE = re.compile(r"learned-masks\.json|[^/]+\.warc\.gz\.damaged(-\d+)?|\.withdrawn/.+")
_BLOCK = 1 << 20


def pages_name(certificate: str) -> str:
    """The file of a certificate's pages.

    >>> pages_name("certificate-example.org.json")
    'certificate-example.org-pages.jsonl'
    """
    return f"{certificate.removesuffix('.json')}-pages.jsonl"


def signature_name(document: str) -> str:
    """The file of the signature of a certificate or a confirmation.

    >>> signature_name("certificate-example.org.json"), signature_name(CONFIRMED)
    ('signature-example.org.json', 'signature.json')
    """
    return _SEALED.sub("signature", document, count=1)


def timestamp_name(document: str) -> str:
    """The file of its time stamp.

    >>> timestamp_name("certificate.json")
    'timestamp.tsr'
    """
    return f"{_SEALED.sub('timestamp', document, count=1).removesuffix('.json')}.tsr"


def fixity(path: Path) -> dict[str, Any]:
    """Size and SHA-256 of a file."""
    with path.open("rb") as stream:
        return fixity_of(stream)


def fixity_of(stream: IO[bytes], progress: Callable[[int], None] = lambda _: None) -> dict[str, Any]:
    """Size and SHA-256 of what a stream holds from here on; ``progress`` is given the bytes as they are read."""
    made, size = hashlib.sha256(), 0
    while block := stream.read(_BLOCK):
        made.update(block)
        size += len(block)
        progress(len(block))
    return {"bytes": size, "sha256": made.hexdigest()}


def reports(folder: Path) -> list[dict[str, Any]]:
    """The files of a folder's report, and :data:`ASIDE` (masks, what was set aside), as a certificate has them."""
    there = ((path.relative_to(folder).as_posix(), path) for path in sorted(folder.rglob("*")))
    stated = ((name, path) for name, path in there if REPORTS.fullmatch(name) or ASIDE.fullmatch(name))
    return [{"name": name, **fixity(path)} for name, path in stated if path.is_file()]


def is_certificate(name: str) -> bool:
    """Is it the file of a certificate, of its pages, or of what seals it?"""
    return bool(CERTIFICATES.fullmatch(name) or PAGES.fullmatch(name)) or is_seal(name)


def is_certified(folder: Path) -> bool:
    """Does a certificate lie in a capture's folder?"""
    return any(CERTIFICATES.fullmatch(path.name) for path in folder.iterdir())


def is_signed(folder: Path) -> bool:
    """Does a signature lie in a folder?"""
    return any(SIGNATURES.fullmatch(path.name) for path in folder.iterdir())


def is_seal(name: str) -> bool:
    """Is it the file of a signature or a time stamp?"""
    return bool(SIGNATURES.fullmatch(name) or TIMESTAMPS.fullmatch(name))
