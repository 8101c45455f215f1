"""Names of the files beside a certificate: signature, time stamp, pages, confirmation."""

from __future__ import annotations

import re
from pathlib import Path

CERTIFICATES = re.compile(r"certificate(?:-[A-Za-z0-9.-]+)?\.json")
SIGNATURES = re.compile(r"signature(?:-[A-Za-z0-9.-]+)?\.json")
TIMESTAMPS = re.compile(r"timestamp(?:-[A-Za-z0-9.-]+)?\.tsr")
PAGES = re.compile(r"certificate(?:-[A-Za-z0-9.-]+)?-pages\.jsonl")
CONFIRMATION = "confirmation"  #: folder in a capture's, with the sitemaps read later
CONFIRMED = "confirmation.json"  #: in that folder
CONFIRMING = ".confirming"  #: folder in which a confirmation is made; the next attempt clears it
_SEALED = re.compile("certificate|confirmation")  #: beginnings of the names of files that are signed and stamped


def signature_name(document: str) -> str:
    """The file of the signature of a certificate or a confirmation.

    >>> signature_name("certificate-certificates.org.json"), signature_name(CONFIRMED)
    ('signature-certificates.org.json', 'signature.json')
    """
    return _SEALED.sub("signature", document, count=1)


def timestamp_name(document: str) -> str:
    """The file of the time stamp of a certificate or a confirmation.

    >>> timestamp_name("certificate-certificates.org.json"), timestamp_name("certificate.json")
    ('timestamp-certificates.org.tsr', 'timestamp.tsr')
    """
    return f"{_SEALED.sub('timestamp', document, count=1).removesuffix('.json')}.tsr"


def is_certificate(name: str) -> bool:
    """Is it the file of a certificate, its pages, a signature or a time stamp?"""
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
