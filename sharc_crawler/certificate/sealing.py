"""Who sealed a certificate, and when: a signature and a time stamp in files beside it, and what these show."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sharc_crawler import extras
from sharc_crawler.archive.files import replace_file
from sharc_crawler.archive.wacz import SEAL, SIGNED
from sharc_crawler.certificate.canonical import DIGEST
from sharc_crawler.certificate.fixity import CERTIFICATES, signature_name, timestamp_name
from sharc_crawler.certificate.witness import Finding
from sharc_crawler.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from sharc_crawler.certificate.timestamps import Stamp

    Document = Mapping[str, Any]

_SIGNATURE = {"hash", "signature", "publicKey"}
#: of a package, whose digest is signed by its own ``signedData``
_SIGNED_DATA = {*_SIGNATURE, "created", "software", "version"}


@dataclass(frozen=True, slots=True)
class Trust:
    """Whom who verifies knows: the fingerprint of a signer, a file of time stamp authorities."""

    signer: str | None = None
    authority: Path | None = None


@dataclass(slots=True)
class Seals:
    """What signatures and time stamps show."""

    signed: dict[str, str] = field(default_factory=dict)  #: file → fingerprint of the signer
    stamped: dict[str, dict[str, Any]] = field(default_factory=dict)  #: file → instant, authority, checked
    findings: list[Finding] = field(default_factory=list)


def sign(folder: Path, key: Path) -> list[Path]:
    """Sign the certificates of a folder that are not signed; the files that were written.

    Raises :class:`~sharc_crawler.errors.UsageError` for a key that is none.
    """
    from sharc_crawler.certificate.signatures import read_key, signed

    loaded = read_key(key)
    written = []
    for path, document in _certificates(folder):
        signature = folder / signature_name(path.name)
        if not signature.exists():
            replace_file(signature, to_signature(signed(loaded, document[DIGEST])))
            written.append(signature)
    return written


def stamp(folder: Path, ask: Callable[[bytes], bytes]) -> list[Path]:
    """Have the certificates of a folder stamped that are not, by the authority that ``ask`` sends a query to.

    Raises :class:`~sharc_crawler.errors.SharcError` where it does not answer with a time stamp.
    """
    from sharc_crawler.certificate import timestamps

    written = []
    for path, document in _certificates(folder):
        stamped = folder / timestamp_name(path.name)
        if not stamped.exists():
            replace_file(stamped, timestamps.stamp(document[DIGEST], ask))
            written.append(stamped)
    return written


def to_signature(data: Mapping[str, str]) -> str:
    """A signature as its file has it."""
    return json.dumps(data, indent=1) + "\n"


def _certificates(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    for path in sorted(folder.iterdir()):
        if CERTIFICATES.fullmatch(path.name):
            yield path, json.loads(path.read_bytes())


def check_seals(
    beside: Mapping[str, bytes], documents: Mapping[str, Document], package: bytes | None, trust: Trust
) -> Seals:
    """What signatures and time stamps show.

    Parameters
    ----------
    beside: the files of signatures and time stamps, by name
    documents: certificates, by name
    package: a WACZ file's ``datapackage-digest.json``

    Raises :class:`~sharc_crawler.errors.UsageError` where a library is missing.

    """
    seals = Seals()
    data = _parsed(package)
    if any(not name.endswith(".json") for name in beside):
        extras.check("a time stamp", "rfc3161_client")
    owners = {made(name): name for name in documents for made in (signature_name, timestamp_name)}
    seals.findings += [Finding("it belongs to no certificate", name) for name in sorted(beside.keys() - owners.keys())]
    for name, document in documents.items():
        _signature(signature_name(name), beside, document, seals)
        _timestamp(timestamp_name(name), beside, document, trust, seals)
    if SIGNED in data:
        _signed_data(data, seals)
    seals.findings += _expected(documents, trust, seals)
    return seals


def _parsed(package: bytes | None) -> dict[str, Any]:
    """What cannot be read is found with the package's other files."""
    try:
        data = json.loads(package or b"{}")
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


def _signature(name: str, beside: Mapping[str, bytes], document: Document, seals: Seals) -> None:
    if name not in beside:
        return
    try:
        data = json.loads(beside[name])
        if data.keys() != _SIGNATURE or to_signature(data).encode() != beside[name]:
            seals.findings.append(Finding("it is not written as sharc writes it", name))
    except (ValueError, AttributeError):
        seals.findings.append(Finding("it is no signature", name))
    else:
        _signed(name, data, document[DIGEST], seals)


def _signed(name: str, data: Mapping[str, Any], digest: str, seals: Seals) -> None:
    from sharc_crawler.certificate.signatures import check_signature

    signer, wrong = check_signature(data, digest)
    if wrong:
        seals.findings.append(Finding(wrong, name))
    else:
        seals.signed[name] = signer


def _signed_data(data: Mapping[str, Any], seals: Seals) -> None:
    """The digest of the package is that of its description, as was seen before."""
    signed = data[SIGNED]
    if not isinstance(signed, dict) or signed.keys() != _SIGNED_DATA:
        seals.findings.append(Finding("its signedData is not as wacz-auth has that of a key", SEAL))
        return
    _signed(SEAL, signed, str(data.get("hash")), seals)


def _timestamp(name: str, beside: Mapping[str, bytes], document: Document, trust: Trust, seals: Seals) -> None:
    if name not in beside:
        return
    from sharc_crawler.certificate.timestamps import check_stamp, read_roots, roots_of_system

    roots = read_roots(trust.authority) if trust.authority else roots_of_system()
    try:
        found: Stamp = check_stamp(beside[name], document[DIGEST], roots, named=trust.authority is not None)
    except DataError as error:
        seals.findings.append(Finding(f"it is no time stamp of the certificate: {error}", name))
    else:
        seals.stamped[name] = found._asdict()


def _expected(documents: Mapping[str, Document], trust: Trust, seals: Seals) -> Iterator[Finding]:
    """Who names a signer or an authority expects them at each certificate."""
    wrong = {file.file for file in seals.findings}
    for name in documents:
        own, time = signature_name(name), timestamp_name(name)
        if trust.signer and own not in seals.signed and own not in wrong:
            yield Finding("it is not signed", name)
        if trust.authority and time not in seals.stamped and time not in wrong:
            yield Finding("it has no time stamp", name)
    for name, signer in seals.signed.items():
        if trust.signer not in (None, signer):
            yield Finding(f"it is signed by {signer}, not by {trust.signer}", name)
