"""Signed by the owner of a domain, at a time that an authority stamped; neither can be altered."""

from __future__ import annotations

import json
import re
import shutil
import time
from base64 import b64decode, b64encode
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner
from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from sharc_crawler import extras
from sharc_crawler.archive.wacz import PACKAGE, SEAL
from sharc_crawler.certificate import identities, sealing, timestamps
from sharc_crawler.certificate.canonical import DIGEST
from sharc_crawler.certificate.signatures import read_signer
from sharc_crawler.certificate.verify import Trust, verify
from sharc_crawler.cli import main
from sharc_crawler.errors import UsageError
from sharc_crawler.report.package_check import not_of_it
from sharc_crawler.report.packaging import PackageSeal, package
from sharc_crawler.report.write import write
from tests.certificate.domain_owner import DomainOwner
from tests.certificate.made import certified
from tests.certificate.test_sealing import key_file, parts_of, with_parts
from tests.certificate.time_authority import TimeAuthority, serving

DOMAIN = "archive.example"


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return TimeAuthority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def owner(tmp_path_factory):
    return DomainOwner(tmp_path_factory.mktemp("owner"))


@pytest.fixture(scope="module")
def roots(owner, authority, tmp_path_factory):
    """A file of all whom one trusts."""
    path = tmp_path_factory.mktemp("roots") / "roots.pem"
    path.write_bytes(owner.root.read_bytes() + authority.root.read_bytes())
    return path


@pytest.fixture(scope="module")
def sealed(tmp_path_factory, owner, authority):
    folder = tmp_path_factory.mktemp("sealed")
    facts = certified(folder / "capture")
    write([facts], folder / "capture")
    sealing.sign(folder / "capture", owner.key, authority.stamp)
    seal = PackageSeal(owner.key, authority.stamp)
    return folder / "capture", package(folder / "capture", [facts], folder / "capture.wacz", seal=seal)


@pytest.fixture
def capture(sealed, tmp_path):
    return shutil.copytree(sealed[0], tmp_path / "capture")


def found(path, **trust):
    return [str(finding) for finding in [*verify(path, trust=Trust(**trust)).findings, *not_of_it(path)]]


@pytest.mark.slow
def test_a_folder_and_a_package_say_which_domain_signed_them_and_when(sealed, roots):
    for path, name in ((sealed[0], "signature.json"), (sealed[1], "signature.json"), (sealed[1], SEAL)):
        result = verify(path, trust=Trust(None, None))
        assert result.findings == []
        assert "nobody here vouches for the certificate of archive.example" in result.seals.domains[name].doubt
        seals = verify(path, trust=Trust(DOMAIN, roots)).seals
        assert [str(one) for one in seals.findings] == ["certificate.json: it has no time stamp"]
        assert (seals.domains[name].domain, seals.domains[name].doubt) == (DOMAIN, "")
        assert seals.domains[name].authority == "CN=authority"
    assert not [*not_of_it(sealed[1])]


@pytest.mark.slow
def test_the_command_says_so_too(sealed, roots, owner, authority, tmp_path):
    folder = shutil.copytree(sealed[0], tmp_path / "capture")
    sealing.stamp(folder, authority.stamp)
    given = ["verify", str(folder), "--authority", str(roots), "--signer"]
    for signer in (DOMAIN, DOMAIN.upper(), str(owner.key), read_signer(str(owner.key), owner.key)):
        said = CliRunner().invoke(main, [*given, signer])
        assert (said.exit_code, f"signed by {DOMAIN} at 20" in said.output) == (0, True), said.output
    said = CliRunner().invoke(main, [*given, "other.example"])
    assert (said.exit_code, "not by other.example" in said.output) == (3, True)
    said = CliRunner().invoke(main, ["verify", str(folder)])
    assert (said.exit_code, "not checked: signature.json, by the key sha256:" in said.output) == (0, True)
    said = CliRunner().invoke(main, ["verify", str(folder), "--signer", DOMAIN])
    assert (said.exit_code, "nobody here vouches" in said.output) == (3, True), "a domain that nobody vouches for"
    assert f"signature.json: it names {DOMAIN} as its signer, but nobody" in said.output
    assert f"not by {DOMAIN}" not in said.output


def altered_json(**changes):
    def change(folder):
        path = folder / "signature.json"
        path.write_text(sealing.to_signature(json.loads(path.read_bytes()) | changes))

    return change


def of(folder):
    return json.loads((folder / "signature.json").read_bytes())


def without(name):
    def change(folder):
        data = of(folder)
        data.pop(name)
        (folder / "signature.json").write_text(sealing.to_signature(data))

    return change


def resigned(folder, owner, authority):
    """By the owner of another domain of that name, whom nobody vouches for."""
    (folder / "signature.json").unlink()
    sealing.sign(folder, owner.key, authority.stamp)


def last_flipped(name):
    def change(folder):
        data = bytearray(b64decode(of(folder)[name]))
        data[-1] ^= 1
        altered_json(**{name: b64encode(data).decode()})(folder)

    return change


def in_chain(change):
    return lambda folder: altered_json(domainCert=change(of(folder)["domainCert"].split("\n\n")))(folder)


ALTERATIONS = {
    "another domain": altered_json(domain="other.example"),
    "a domain in capitals": altered_json(domain=DOMAIN.upper()),
    "no domain": altered_json(domain=""),
    "another hash": altered_json(hash="sha256:" + "0" * 64),
    "another day": altered_json(created="2020-01-01T00:00:00Z"),
    "a day that is none": altered_json(created="today"),
    "a signature cut short": last_flipped("signature"),
    "no signature": altered_json(signature=""),
    "a stamp that was altered": last_flipped("timeSignature"),
    "no stamp": altered_json(timeSignature=""),
    "another certificate of the stamp": altered_json(timestampCert=""),
    "no certificate": altered_json(domainCert=""),
    "a chain without its first": in_chain(lambda parts: "\n\n".join(parts[1:])),
    "a chain the other way round": in_chain(lambda parts: "\n\n".join([parts[1].rstrip("\n"), parts[0] + "\n"])),
    "text in the chain": in_chain(lambda parts: "verified by a court\n" + "\n\n".join(parts)),
    "a number": altered_json(version=1),
    "a key beside": altered_json(publicKey="AAAA"),
    "a crossed certificate": altered_json(crossSignedCert="AAAA"),
    **{f"without {name}": without(name) for name in ("hash", "domain", "domainCert", "timeSignature", "created")},
}


@pytest.mark.matrix(3)
@pytest.mark.slow
@pytest.mark.parametrize("name", ALTERATIONS)
def test_a_signature_by_a_domain_cannot_be_altered(capture, roots, name):
    assert found(capture) == []
    ALTERATIONS[name](capture)
    if name != "a stamp that was altered":  # it is told that nobody vouches for it
        assert found(capture), "whomever one trusts"
    assert [one for one in found(capture, signer=DOMAIN, authority=roots) if "no time stamp" not in one]


def test_another_owner_of_the_name_is_nobody(capture, owner, authority, roots, tmp_path):
    resigned(capture, DomainOwner(tmp_path / "forger"), authority)
    assert found(capture) == []
    assert any(
        "names archive.example as its signer, but" in one for one in found(capture, signer=DOMAIN, authority=roots)
    )


def test_another_authority_is_nobody(capture, owner, tmp_path, roots):
    resigned(capture, owner, TimeAuthority(tmp_path / "other", "other"))
    assert any("vouches for CN=other" in one for one in found(capture, signer=DOMAIN, authority=roots))


def test_a_stamp_of_another_signature_is_none(capture, authority):
    answer = timestamps.stamp("another", authority.stamp, 0.0)
    altered_json(timeSignature=b64encode(answer).decode())(capture)
    assert any("it is of " in one for one in found(capture))


def test_a_certificate_has_to_be_valid_when_it_signs(capture, owner, authority, tmp_path):
    identity = identities.read_identity(owner.key, stamped=True)
    old, between = identity.chain
    valid = datetime(2020, 1, 1, tzinfo=UTC), datetime(2021, 1, 1, tzinfo=UTC)
    own = identity.key.public_key()
    builder = x509.CertificateBuilder(between.subject, old.subject, own, 1, *valid, list(old.extensions))
    signer = load_pem_private_key((owner.key.parent / "between.key").read_bytes(), None)
    past = tmp_path / "past.pem"
    leaf = identities.to_pem([builder.sign(signer, SHA256()), between])
    past.write_text((owner.key.parent / "leaf.key").read_text() + leaf)
    (capture / "signature.json").unlink()
    sealing.sign(capture, past, authority.stamp)
    assert any("was not valid at 20" in one for one in found(capture))


@pytest.mark.parametrize("field", ["created", "software", "version", "domain", "signature", "timeSignature"])
def test_a_package_signed_by_a_domain_cannot_be_altered(sealed, tmp_path, field):
    (seal,) = parts_of(sealed[1], SEAL)
    data = seal["signedData"]
    data[field] = {"created": "2020-01-01T00:00:00Z"}.get(field, "x")
    copy = with_parts(sealed[1], tmp_path / "copy.wacz", {SEAL: json.dumps(seal, indent=2).encode()})
    assert found(copy)


def test_a_package_is_of_the_time_at_which_it_was_signed(sealed):
    about, seal = parts_of(sealed[1], PACKAGE, SEAL)
    assert about["created"] == seal["signedData"]["created"]
    assert abs(time.mktime(time.strptime(about["created"], "%Y-%m-%dT%H:%M:%SZ")) - time.time()) < 86_400 * 2


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (("leaf.pem", "between.pem"), "cannot be used"),
        (("between.key", "leaf.pem"), "of another key"),
        (("leaf.key", "leaf.pem", "root.pem"), "not issued by the certificate after it"),
        (("leaf.key", "broken"), "cannot be used"),
    ],
)
def test_a_key_of_a_domain_that_cannot_be_used_is_named(owner, tmp_path, parts, said):
    folder = owner.key.parent
    broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    texts = [broken if name == "broken" else (folder / name).read_text() for name in parts]
    (tmp_path / "key.pem").write_text("".join(texts))
    with pytest.raises(UsageError, match=rf"key '.*key\.pem' of a domain .*{said}|{said}.*"):
        identities.read_identity(tmp_path / "key.pem", stamped=True)


def test_a_domain_needs_an_authority(owner, monkeypatch):
    with pytest.raises(UsageError, match="give a time stamp authority, too"):
        identities.read_identity(owner.key, stamped=False)
    monkeypatch.setattr(extras, "installed", lambda _: False)
    with pytest.raises(UsageError, match=re.escape(extras.install("rfc3161_client"))):
        identities.read_identity(owner.key, stamped=True)


def test_a_key_alone_needs_none(tmp_path):
    assert identities.read_identity(key_file(tmp_path / "key.pem"), stamped=False).chain == ()


def test_commands_sign_by_a_domain(capture, owner, authority, roots, tmp_path):
    (capture / "signature.json").unlink()
    with serving(authority) as url:
        given = ["--sign", str(owner.key), "--timestamp", url]
        done = CliRunner().invoke(main, ["seal", str(capture), *given])
        assert (done.exit_code, "signature.json" in done.output, "timestamp.tsr" in done.output) == (0, True, True)
    said = CliRunner().invoke(main, ["verify", str(capture), "--signer", DOMAIN, "--authority", str(roots)])
    assert said.exit_code == 0, said.output
    digest = json.loads((capture / "certificate.json").read_bytes())[DIGEST]
    assert of(capture)["hash"] == digest
    done = CliRunner().invoke(main, ["seal", str(capture), "--sign", str(owner.key)])
    assert (done.exit_code, "give a time stamp authority, too" in done.output) == (2, True)
