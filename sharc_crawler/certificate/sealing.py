"""Sign and time-stamp certificates, in files beside them, and check such files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sharc_crawler import __version__, extras
from sharc_crawler.archive.drafts import replace_file
from sharc_crawler.archive.wacz import SEAL, SIGNED
from sharc_crawler.certificate.canonical import DIGEST
from sharc_crawler.certificate.names import CERTIFICATES, CONFIRMATION, CONFIRMED, signature_name, timestamp_name
from sharc_crawler.certificate.witness import Finding
from sharc_crawler.errors import MALFORMED, DataError, UsageError
from sharc_crawler.instants import unix

if TYPE_CHECKING:
    from sharc_crawler.certificate.domains import DomainSeal
    from sharc_crawler.certificate.identities import Ask, Identity
    from sharc_crawler.certificate.timestamps import Stamp
    from sharc_crawler.model import Instant

    Document = Mapping[str, Any]

_SIGNATURE = {"hash", "signature", "publicKey"}
#: fields of a package's ``signedData``, which signs its digest
_SIGNED_DATA = {*_SIGNATURE, "created", "software", "version"}
_DOMAIN = "domain"  #: a field that only signatures of domains have


@dataclass(frozen=True, slots=True)
class Trust:
    """Whom the verifier trusts: a signer, given by a key's fingerprint or a domain, and a file of authorities.

    If there is a file, time stamps must come from the authorities in it. For domains, its certificates are trusted in
    addition to those that this machine trusts.
    """

    signer: str | None = None
    authority: Path | None = None


@dataclass(slots=True)
class Seals:
    """Checked signatures and time stamps."""

    signed: dict[str, str] = field(default_factory=dict)  #: file → fingerprint of the signer
    domains: dict[str, DomainSeal] = field(default_factory=dict)  #: file → its signature by a domain
    stamped: dict[str, dict[str, Any]] = field(default_factory=dict)  #: file → instant, authority, checked
    findings: list[Finding] = field(default_factory=list)

    def add(self, folder: str, other: Seals) -> None:
        """Add those of an inner folder, whose name is put before their files' names."""
        self.signed |= {f"{folder}/{file}": signer for file, signer in other.signed.items()}
        self.domains |= {f"{folder}/{file}": seal for file, seal in other.domains.items()}
        self.stamped |= {f"{folder}/{file}": stamp for file, stamp in other.stamped.items()}
        self.findings += [replace(one, file=f"{folder}/{one.file}") for one in other.findings]


def sign(folder: Path, key: Path, ask: Ask | None = None) -> list[Path]:
    """Sign those certificates and confirmations of a folder that are not signed; returns the files written.

    An invalid signature is replaced. ``ask``: as in :func:`stamp`; the key of a domain needs it. Raises
    :class:`~sharc_crawler.errors.SharcError` for a key that cannot be used, if no authority answers, or if another key
    has signed.
    """
    from sharc_crawler.certificate.identities import read_identity

    identity = read_identity(key, stamped=ask is not None)
    written = []
    for path, document in _documents(folder):
        signature = path.with_name(signature_name(path.name))
        if not (signature.exists() and _is_signed(signature, document[DIGEST], identity)):
            said = about(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}") if identity.chain else {}
            replace_file(signature, to_signature(identity.sign(document[DIGEST], said, ask)))
            written.append(signature)
    return written


def _is_signed(signature: Path, digest: str, identity: Identity) -> bool:
    """Is there a valid signature? One by a domain is not checked here, but when it is verified."""
    from sharc_crawler.certificate.signatures import check_signature, fingerprint, public_der

    stored = signature.read_bytes()
    data = _parsed(stored)
    if _DOMAIN in data:
        return True
    signer, wrong = check_signature(data, digest)
    if wrong or to_signature(data).encode() != stored:
        return False
    if signer != (own := fingerprint(public_der(identity.key.public_key()))):
        raise UsageError(f"{signature} is by the key {signer}, not by {own}: move it away to sign by the other")
    return True


def about(created: str) -> dict[str, str]:
    """The fields of a signature that say when and by which software it was made."""
    own = __version__
    return {"created": created, "software": f"sharc-crawler {own}", "version": own}


def stamp(folder: Path, ask: Ask) -> list[Path]:
    """Time-stamp those certificates and confirmations of a folder that are not stamped; returns the files written.

    ``ask`` sends a query to the authority. An invalid stamp is replaced. Raises
    :class:`~sharc_crawler.errors.SharcError` if the authority does not answer with a time stamp.
    """
    from sharc_crawler.certificate import timestamps

    written = []
    for path, document in _documents(folder):
        stamped, digest, since = path.with_name(timestamp_name(path.name)), document[DIGEST], _since(document)
        if not (stamped.exists() and timestamps.is_stamp(stamped.read_bytes(), digest, since)):
            replace_file(stamped, timestamps.stamp(digest, ask, since))
            written.append(stamped)
    return written


def _since(document: Document) -> Instant:
    """When the last of what a certificate or a confirmation states had happened: no time stamp is older."""
    return unix(document["capture"]["ended"] if "read" not in document else document["read"]["to"])


def to_signature(data: Mapping[str, str]) -> str:
    """The text of a signature's file."""
    return json.dumps(data, indent=1) + "\n"


def _documents(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    certificates = [path for path in sorted(folder.iterdir()) if CERTIFICATES.fullmatch(path.name)]
    confirmation = folder / CONFIRMATION / CONFIRMED
    for path in [*certificates, *([confirmation] if confirmation.exists() else [])]:
        yield path, json.loads(path.read_bytes())


def check_seals(
    beside: Mapping[str, bytes], documents: Mapping[str, Document], package: bytes | None, trust: Trust
) -> Seals:
    """Check signatures and time stamps.

    Parameters
    ----------
    beside: the files of signatures and time stamps, by name
    documents: certificates, by name
    package: a WACZ file's ``datapackage-digest.json``

    Raises :class:`~sharc_crawler.errors.UsageError` if a library is missing.

    """
    seals = Seals()
    data = _parsed(package)
    if any(not name.endswith(".json") for name in beside):
        extras.check("a time stamp", "rfc3161_client")
    owners = {made(name): name for name in documents for made in (signature_name, timestamp_name)}
    seals.findings += [Finding("it belongs to no certificate", name) for name in sorted(beside.keys() - owners.keys())]
    for name, document in documents.items():
        _signature(signature_name(name), beside, document, trust, seals)
        _timestamp(timestamp_name(name), beside, document, trust, seals)
    if SIGNED in data:
        _signed_data(data, trust, seals)
    seals.findings += _expected(documents, trust, seals)
    return seals


def _parsed(package: bytes | None) -> dict[str, Any]:
    """A JSON object; empty if it cannot be read, which is a finding elsewhere."""
    try:
        data = json.loads(package or b"{}")
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _signature(name: str, beside: Mapping[str, bytes], document: Document, trust: Trust, seals: Seals) -> None:
    if name not in beside:
        return
    try:
        data = json.loads(beside[name])
        if not _of_form(data, _SIGNATURE) or to_signature(data).encode() != beside[name]:
            seals.findings.append(Finding("it is not written as sharc writes it", name))
    except MALFORMED:
        seals.findings.append(Finding("it is no signature", name))
    else:
        _signed(name, data, document[DIGEST], trust, seals)


def _of_form(data: Mapping[str, Any], of_key: Set[str]) -> bool:
    if _DOMAIN not in data:
        return data.keys() == of_key
    extras.check("a signature of a domain", "rfc3161_client")
    from sharc_crawler.certificate.domains import FIELDS

    return data.keys() == FIELDS and all(isinstance(value, str) for value in data.values())


def _signed(name: str, data: Mapping[str, Any], digest: str, trust: Trust, seals: Seals) -> None:
    from sharc_crawler.certificate.signatures import check_signature

    if _DOMAIN in data:
        _signed_by_domain(name, data, digest, trust, seals)
        return
    signer, wrong = check_signature(data, digest)
    if wrong:
        seals.findings.append(Finding(wrong, name))
    else:
        seals.signed[name] = signer


def _signed_by_domain(name: str, data: Mapping[str, Any], digest: str, trust: Trust, seals: Seals) -> None:
    from sharc_crawler.certificate.domains import check_domain
    from sharc_crawler.certificate.timestamps import read_roots, roots_of_system

    own, named = roots_of_system(), read_roots(trust.authority) if trust.authority else []
    try:
        found = check_domain(data, digest, [*own, *named], named or own)
    except DataError as error:
        seals.findings.append(Finding(str(error), name))
    else:
        seals.domains[name], seals.signed[name] = found, found.key


def _signed_data(data: Mapping[str, Any], trust: Trust, seals: Seals) -> None:
    """Check a package's own signature; its digest was compared with its description before."""
    signed = data[SIGNED]
    if not isinstance(signed, dict) or not _of_form(signed, _SIGNED_DATA):
        seals.findings.append(Finding("its signedData is not as wacz-auth has that of a key, or of a domain", SEAL))
        return
    _signed(SEAL, signed, str(data.get("hash")), trust, seals)


def _timestamp(name: str, beside: Mapping[str, bytes], document: Document, trust: Trust, seals: Seals) -> None:
    if name not in beside:
        return
    from sharc_crawler.certificate.timestamps import check_stamp, read_roots, roots_of_system

    roots = read_roots(trust.authority) if trust.authority else roots_of_system()
    try:
        named = trust.authority is not None
        found: Stamp = check_stamp(beside[name], document[DIGEST], roots, _since(document), named=named)
    except (DataError, KeyError, TypeError, ValueError) as error:  # a certificate may not be by its schema
        seals.findings.append(Finding(f"it is no time stamp of the certificate: {error}", name))
    else:
        seals.stamped[name] = found._asdict()


def _expected(documents: Mapping[str, Document], trust: Trust, seals: Seals) -> Iterator[Finding]:
    """Certificates without the signer or the authority that the verifier named."""
    wrong = {file.file for file in seals.findings}
    for name in documents:
        own, time = signature_name(name), timestamp_name(name)
        if trust.signer and own not in seals.signed and own not in wrong:
            yield Finding("it is not signed", name)
        if trust.authority and time not in seals.stamped and time not in wrong:
            yield Finding("it has no time stamp", name)
    for name, signer in seals.signed.items():
        known = seals.domains.get(name)
        if trust.signer in (None, signer) or (known and (known.domain, known.doubt) == (trust.signer, "")):
            continue
        if known and known.domain == trust.signer:
            yield Finding(f"it names {known.domain} as its signer, but {known.doubt}", name)
        else:
            who = f"{known.domain} ({known.doubt or signer})" if known else signer
            yield Finding(f"it is signed by {who}, not by {trust.signer}", name)
