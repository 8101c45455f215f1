"""Who sealed a certificate, and when: signed by a key, stamped by an authority, and neither can be altered."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import zipfile
from base64 import b64decode, b64encode
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from sharc_crawler import extras
from sharc_crawler.archive.wacz import PACKAGE, SEAL
from sharc_crawler.certificate import sealing, timestamps
from sharc_crawler.certificate.canonical import DIGEST
from sharc_crawler.certificate.names import is_signed
from sharc_crawler.certificate.signatures import read_key, read_signer
from sharc_crawler.certificate.verify import Trust, verify
from sharc_crawler.certificate.withdrawal import withdraw
from sharc_crawler.cli import main
from sharc_crawler.errors import DataError, UsageError
from sharc_crawler.instants import unix
from sharc_crawler.report.package_check import not_of_it
from sharc_crawler.report.packaging import PackageSeal, package
from sharc_crawler.report.write import write
from tests.certificate.made import certified
from tests.certificate.time_authority import TimeAuthority


def key_file(path, curve=ec.SECP384R1):
    form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    path.write_bytes(ec.generate_private_key(curve()).private_bytes(*form))
    return path


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return TimeAuthority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def sealed(tmp_path_factory, authority):
    folder = tmp_path_factory.mktemp("sealed")
    key = key_file(folder / "key.pem")
    capture = folder / "capture"
    facts = certified(capture)
    write([facts], capture)
    sealing.sign(capture, key)
    sealing.stamp(capture, authority.stamp)
    return capture, key, package(capture, [facts], folder / "capture.wacz", seal=PackageSeal(key))


@pytest.fixture
def capture(sealed, tmp_path):
    return shutil.copytree(sealed[0], tmp_path / "capture")


def found(path, **trust):
    return [str(finding) for finding in verify(path, trust=Trust(**trust)).findings]


def test_a_sealed_capture_says_by_whom_and_when_as_folder_and_as_package(sealed, authority):
    folder, key, wacz = sealed
    signer = read_signer(str(key), key)
    for path in (folder, wacz):
        result = verify(path, trust=Trust(signer, authority.root))
        assert (result.findings, result.seals.signed["signature.json"]) == ([], signer)
        stamped = result.seals.stamped["timestamp.tsr"]
        assert (stamped["authority"], stamped["checked"]) == ("CN=authority", True)
    assert not [*not_of_it(wacz)]
    assert result.seals.signed[SEAL] == signer
    said = CliRunner().invoke(main, ["verify", str(wacz), "--signer", str(key), "--authority", str(authority.root)])
    assert (said.exit_code, f"signed by the key {signer}" in said.output) == (0, True), said.output
    assert "says CN=authority" in said.output
    assert f"sharc: {key} is the private key itself" in said.stderr
    assert f"openssl pkey -in {key} -pubout -out public.pem" in said.stderr
    for public in (signer, str(_public(key, folder.parent))):
        said = CliRunner().invoke(main, ["verify", str(wacz), "--signer", public])
        assert (said.exit_code, said.stderr) == (0, "")


def _public(key, folder):
    """A private key's public half, in a file of its own."""
    pem = read_key(key).public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (folder / "public.pem").write_bytes(pem)
    return folder / "public.pem"


def test_openssl_checks_signature_and_time_stamp_too(sealed, authority, tmp_path):
    folder, key, _ = sealed
    digest = json.loads((folder / "certificate.json").read_bytes())[DIGEST]
    (tmp_path / "digest").write_text(digest)
    given = ["-data", tmp_path / "digest", "-in", folder / "timestamp.tsr", "-CAfile", authority.root]
    subprocess.run(["openssl", "ts", "-verify", *given], check=True, capture_output=True, timeout=280)
    public = read_key(key).public_key()
    spki = public.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    assert b64encode(spki).decode() == json.loads((folder / "signature.json").read_bytes())["publicKey"]


def test_nobody_known_vouches_for_an_authority_of_ones_own(sealed, tmp_path):
    result = verify(sealed[0])
    assert (result.findings, result.seals.stamped["timestamp.tsr"]["checked"]) == ([], False)
    said = CliRunner().invoke(main, ["verify", str(sealed[0])])
    assert "not checked: timestamp.tsr" in said.output
    assert "existed at" not in said.output
    other = TimeAuthority(tmp_path / "other", "other")
    (said,) = found(sealed[0], authority=other.root)
    assert said.endswith("no authority that was named vouches for it: unable to get local issuer certificate")


def test_a_stamp_of_an_instant_before_the_capture_s_end_or_after_today_is_none(authority, monkeypatch):
    document = {DIGEST: "sha256:1", "capture": {"ended": "2026-11-18T11:08:20Z"}}
    answer = timestamps.stamp("sha256:1", authority.stamp, 0.0)

    def findings(ended):
        documents = {"certificate.json": {**document, "capture": {"ended": ended}}}
        return sealing.check_seals({"timestamp.tsr": answer}, documents, None, Trust(authority=authority.root)).findings

    assert findings("2026-11-18T11:08:20Z") == []
    assert (
        "what it stamped was made by 2096-01-01T00:00:00Z: one of the two clocks is wrong"
        in findings("2096-01-01")[0].what
    )
    with pytest.raises(DataError, match="clocks is wrong"):
        timestamps.stamp("sha256:1", authority.stamp, unix("2096-01-01T00:00:00Z"))
    monkeypatch.setattr(timestamps, "time", SimpleNamespace(time=lambda: unix("2026-11-18T12:00:00Z")))
    assert "and here it is 2026-11-18T12:00:00Z: one of" in findings("2026-11-18T11:08:20Z")[0].what


def test_clocks_may_differ_by_ten_minutes(authority, monkeypatch):
    answer = timestamps.stamp("sha256:1", authority.stamp, 0.0)
    stamped = unix(timestamps.check_stamp(answer, "sha256:1", (), 0.0, named=False).instant)
    since = [timestamps.is_stamp(answer, "sha256:1", stamped + later) for later in (0.0, 600.0, 600.5)]
    assert since == [True, True, False]
    for earlier, possible in ((600.0, True), (600.5, False)):
        monkeypatch.setattr(timestamps, "time", SimpleNamespace(time=lambda by=earlier: stamped - by))
        assert timestamps.is_stamp(answer, "sha256:1", 0.0) is possible


def test_a_stamp_by_a_certificate_that_is_over_is_refused_and_replaced(capture, authority, tmp_path):
    over = TimeAuthority(tmp_path / "over", "over", days=-1)
    (capture / "timestamp.tsr").unlink()
    with pytest.raises(DataError, match=r"the certificate of CN=over is valid from .* to "):
        sealing.stamp(capture, over.stamp)
    digest, answers = json.loads((capture / "certificate.json").read_bytes())[DIGEST], []
    with pytest.raises(DataError):
        timestamps.stamp(digest, lambda query: answers.append(over.stamp(query)) or answers[0], 0.0)
    (capture / "timestamp.tsr").write_bytes(answers[0])
    (finding,) = found(capture)
    assert "the certificate of CN=over is valid from" in finding
    assert sealing.stamp(capture, authority.stamp) == [capture / "timestamp.tsr"]
    assert found(capture, authority=authority.root) == []
    assert sealing.stamp(capture, over.stamp) == [], "it is stamped"


def altered_json(path, **changes):
    path.write_text(sealing.to_signature(json.loads(path.read_bytes()) | changes))


def other_signature(folder, tmp_path):
    shutil.rmtree(tmp_path / "again", ignore_errors=True)
    (folder / "signature.json").unlink()
    sealing.sign(folder, key_file(tmp_path / "forger.pem"))


def flipped(path, at):
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


ALTERATIONS = {
    "signature of another key": other_signature,
    "signature is gone": lambda folder, _: (folder / "signature.json").unlink(),
    "stamp is gone": lambda folder, _: (folder / "timestamp.tsr").unlink(),
    "another hash": lambda folder, _: altered_json(folder / "signature.json", hash="sha256:" + "0" * 64),
    "a signature of zeros": lambda folder, _: altered_json(
        folder / "signature.json", signature=b64encode(bytes(96)).decode()
    ),
    "more in the signature": lambda folder, _: altered_json(folder / "signature.json", created="2020-01-01T00:00:00Z"),
    "a blank in it": lambda folder, _: (folder / "signature.json").write_bytes(
        (folder / "signature.json").read_bytes() + b" "
    ),
    "no signature": lambda folder, _: (folder / "signature.json").write_text("[]"),
    "stamp cut": lambda folder, _: (folder / "timestamp.tsr").write_bytes(
        (folder / "timestamp.tsr").read_bytes()[:-20]
    ),
    "stamp's imprint": lambda folder, _: flipped(
        folder / "timestamp.tsr", (folder / "timestamp.tsr").read_bytes().index(b"\x04\x20") + 5
    ),
    "stamp's last byte": lambda folder, _: flipped(folder / "timestamp.tsr", -1),
    "a signature of no certificate": lambda folder, _: shutil.copy(
        folder / "signature.json", folder / "signature-other.json"
    ),
    "a stamp of no certificate": lambda folder, _: shutil.copy(
        folder / "timestamp.tsr", folder / "timestamp-other.tsr"
    ),
}


@pytest.mark.matrix(3)
@pytest.mark.parametrize("name", ALTERATIONS)
def test_signature_and_stamp_cannot_be_altered(capture, sealed, authority, tmp_path, name):
    ALTERATIONS[name](capture, tmp_path)
    signer = read_signer(str(sealed[1]), sealed[1])
    assert found(capture, signer=signer, authority=authority.root)


def with_parts(wacz, to, parts):
    """The package with some of its files replaced, and nothing else."""
    with zipfile.ZipFile(wacz) as old, zipfile.ZipFile(to, "w") as new:
        for info in old.infolist():
            new.writestr(zipfile.ZipInfo(info.filename, info.date_time), parts.get(info.filename, old.read(info)))
    return to


def parts_of(wacz, *names):
    with zipfile.ZipFile(wacz) as package_file:
        return [json.loads(package_file.read(name)) for name in names]


def test_the_way_a_package_is_altered_here_alone_is_no_finding(sealed, tmp_path):
    assert verify(with_parts(sealed[2], tmp_path / "same.wacz", {})).findings == []


@pytest.mark.matrix
@pytest.mark.parametrize("field", ["signature", "publicKey", "created", "software", "version", "hash", "more", "gone"])
def test_a_package_s_signature_cannot_be_altered(sealed, tmp_path, field):
    (seal,) = parts_of(sealed[2], SEAL)
    data = seal["signedData"]
    if field == "gone":
        data.pop("publicKey")
    elif field == "signature":
        data[field] = b64encode(bytes([b64decode(data[field])[0] ^ 1]) + b64decode(data[field])[1:]).decode()
    else:
        data[field] = "2020-01-01T00:00:00Z"
    copy = with_parts(sealed[2], tmp_path / "copy.wacz", {SEAL: json.dumps(seal, indent=2).encode()})
    assert [*verify(copy).findings, *not_of_it(copy)]


def test_a_package_that_was_changed_has_no_signature_any_more(sealed, tmp_path):
    about, seal = parts_of(sealed[2], PACKAGE, SEAL)
    about["title"] = "Another title"
    text = json.dumps(about, indent=2, ensure_ascii=False).encode()
    seal["hash"] = seal["signedData"]["hash"] = f"sha256:{hashlib.sha256(text).hexdigest()}"
    copy = with_parts(sealed[2], tmp_path / "copy.wacz", {PACKAGE: text, SEAL: json.dumps(seal, indent=2).encode()})
    assert any("not of its digest by this key" in str(one) for one in verify(copy).findings)


def test_what_is_done_is_not_done_again_and_goes_with_its_certificate(capture, sealed, authority):
    assert sealing.sign(capture, sealed[1]) == []
    assert sealing.stamp(capture, authority.stamp) == []
    withdraw(capture, "example.org")
    assert not [*capture.glob("signature*"), *capture.glob("timestamp*")]


@pytest.mark.parametrize("alter", ["torn", "reformatted", "of something else", "a list", "empty"])
def test_what_is_no_signature_is_replaced(capture, sealed, alter):
    path = capture / "signature.json"
    data = json.loads(whole := path.read_text())
    path.write_text(
        {
            "torn": whole[:100],
            "reformatted": json.dumps(data),
            "of something else": sealing.to_signature(data | {"hash": "sha256:0"}),
            "a list": "[1]",
            "empty": "",
        }[alter]
    )
    assert verify(capture).findings
    assert sealing.sign(capture, sealed[1]) == [path]
    assert verify(capture).findings == []


def test_what_another_key_signed_is_left_to_who_signs_now(capture, sealed, tmp_path):
    before = (capture / "signature.json").read_bytes()
    with pytest.raises(UsageError, match=r"signature\.json is by the key sha256:\w+, not by sha256:\w+: move it away"):
        sealing.sign(capture, key_file(tmp_path / "other.pem"))
    assert (capture / "signature.json").read_bytes() == before
    (capture / "signature.json").unlink()
    assert len(sealing.sign(capture, tmp_path / "other.pem")) == 1


@pytest.mark.parametrize("make", ["missing", "public", "other curve", "encrypted"])
def test_a_key_that_cannot_be_used_is_named_with_the_way_to_make_one(tmp_path, make):
    path = tmp_path / "key.pem"
    if make == "other curve":
        key_file(path, ec.SECP256R1)
    elif make == "encrypted":
        form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
        own = serialization.BestAvailableEncryption(b"secret")
        path.write_bytes(ec.generate_private_key(ec.SECP384R1()).private_bytes(*form, own))
    elif make == "public":
        path.write_text("-----BEGIN PUBLIC KEY-----\n")
    with pytest.raises(UsageError, match=r"key '.*key\.pem'.*openssl ecparam -name secp384r1"):
        read_key(path)


@pytest.mark.parametrize("answer", [b"", b"<html>", bytes.fromhex("3005300302010 2".replace(" ", ""))])
def test_an_answer_that_is_no_time_stamp_is_not_kept(capture, answer):
    (capture / "timestamp.tsr").unlink()
    with pytest.raises(DataError):
        sealing.stamp(capture, lambda _: answer)
    assert not (capture / "timestamp.tsr").exists()


def test_a_stamp_that_was_given_to_somebody_else_is_not_kept(capture, authority):
    (capture / "timestamp.tsr").unlink()
    answers = []
    certified(other := capture.parent / "other")
    sealing.stamp(other, lambda query: answers.append(authority.stamp(query)) or answers[0])
    with pytest.raises(DataError, match="another query"):
        sealing.stamp(capture, lambda _: answers[0])


def test_without_the_library_a_time_stamp_is_neither_asked_for_nor_passed_over(sealed, monkeypatch):
    monkeypatch.setattr(extras, "installed", lambda library: library != "rfc3161_client")
    said = CliRunner().invoke(main, ["verify", str(sealed[0])])
    assert (said.exit_code, extras.install("rfc3161_client") in said.output) == (2, True)
    said = CliRunner().invoke(main, ["seal", str(sealed[0]), "--timestamp", "http://127.0.0.1:1/"])
    assert (said.exit_code, extras.install("rfc3161_client") in said.output) == (2, True)


@pytest.mark.parametrize(
    ("names", "signed"),
    [
        ([], False),
        (["certificate.json", "timestamp.tsr"], False),
        (["certificate.json", "signature.json"], True),
        (["signature-example.org.json"], True),
    ],
)
def test_a_folder_in_which_a_signature_lies_is_signed(tmp_path, names, signed):
    for name in names:
        (tmp_path / name).touch()
    assert is_signed(tmp_path) is signed


@pytest.mark.parametrize(("begins", "ends", "valid"), [(0, 0, True), (1, 9, False), (-9, -1, False)])
def test_whoever_signs_a_stamp_has_a_certificate_of_that_instant_whatever_its_issuer_s_is_of(
    monkeypatch, begins, ends, valid
):
    instant = datetime(2026, 11, 18, tzinfo=UTC)

    def of(first: int, last: int) -> SimpleNamespace:
        span = {
            f"not_valid_{one}_utc": instant + timedelta(seconds=at) for one, at in (("before", first), ("after", last))
        }
        return SimpleNamespace(**span, subject=SimpleNamespace(rfc4514_string=lambda: "CN=authority"))

    monkeypatch.setattr(timestamps, "_signers", lambda _: [of(begins, ends), of(5, 6)])
    stamped = SimpleNamespace(tst_info=SimpleNamespace(gen_time=instant))
    with nullcontext() if valid else pytest.raises(DataError, match="CN=authority is valid from"):
        timestamps._can_be(stamped, instant.timestamp())
