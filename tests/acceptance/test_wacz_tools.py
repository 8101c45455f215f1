"""Our files in the hands of others: py-wacz's and FastWARC's checks, and ReplayWeb.page's viewer in a browser.

    python3 -m venv /tmp/wacz && /tmp/wacz/bin/pip install wacz fastwarc authsign
    SHARC_WACZ_TOOL=/tmp/wacz/bin python -m pytest tests/acceptance/test_wacz_tools.py

What is not there is skipped.
"""

from __future__ import annotations

import json
import os
import subprocess
import zipfile
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256

from sharc_crawler.archive.replay import moment
from sharc_crawler.archive.wacz import SEAL
from sharc_crawler.collection.packaging import package_collection
from sharc_crawler.demo import LivingSite, serve
from sharc_crawler.instants import unix
from sharc_crawler.report.packaging import PackageSeal, package
from sharc_crawler.report.write import write
from tests.acceptance.browser import browser
from tests.acceptance.viewer import in_viewer, viewing
from tests.certificate.domain_owner import DomainOwner
from tests.certificate.made import SITE, certified
from tests.certificate.test_sealing import key_file
from tests.certificate.time_authority import TimeAuthority
from tests.collection.conftest import collected  # noqa: F401
from tests.report.by_hand import load_facts

TOOL = Path(os.environ.get("SHARC_WACZ_TOOL") or Path(__file__).parents[2] / ".venv-wacz/bin") / "wacz"
#: the text of all frames and shadow trees below a node
TEXT = """(function text(node) {
  if (node.nodeType === Node.TEXT_NODE) return node.nodeValue;
  const frame = node.tagName === 'IFRAME' && node.contentDocument ? [node.contentDocument.documentElement] : [];
  return [...frame, ...(node.shadowRoot ? node.shadowRoot.childNodes : []), ...node.childNodes].map(text).join(' ');
})(document.documentElement)"""


@pytest.fixture(scope="module")
def made(run_crawl, tmp_path_factory):
    """A capture of the living site, its folder and its WACZ file."""
    folder = tmp_path_factory.mktemp("wacz")
    with serve(LivingSite(seed=7, pages=30, slow=0.05)) as server:
        done = run_crawl(folder, url=server.url, delay="0.02")
        assert done.code == 0, done.err
        return server.url, done.folder, package(done.folder, load_facts(done.folder))


@pytest.mark.long
@pytest.mark.skipif(not TOOL.is_file(), reason="py-wacz is not installed; set SHARC_WACZ_TOOL to its bin folder")
def test_py_wacz_calls_it_valid(made):
    done = validated(made[2])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Validation succeeded" in done.stdout


@pytest.fixture(scope="module")
def signed(tmp_path_factory):
    """Packages of one capture: signed by a key, and by the key of a domain."""
    folder = tmp_path_factory.mktemp("signed")
    facts = certified(folder / "capture")
    write([facts], folder / "capture")
    owner, authority = DomainOwner(folder / "owner"), TimeAuthority(folder / "authority")
    seals = {"key": PackageSeal(key_file(folder / "key.pem")), "domain": PackageSeal(owner.key, authority.stamp)}
    return {
        name: package(folder / "capture", [facts], folder / f"{name}.wacz", seal=seal) for name, seal in seals.items()
    }


def called(*words, **given):
    """A program of another environment."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL"))}
    return subprocess.run(words, capture_output=True, text=True, env=environment, timeout=280, check=False, **given)


def validated(wacz):
    return called(TOOL, "validate", "-f", wacz)


@pytest.mark.skipif(not TOOL.is_file(), reason="py-wacz is not installed; set SHARC_WACZ_TOOL to its bin folder")
@pytest.mark.parametrize("by", ["key", pytest.param("domain", marks=pytest.mark.long)])
def test_py_wacz_calls_a_signed_package_valid(signed, by):
    done = validated(signed[by])
    assert (done.returncode, "Has signature" in done.stdout) == (0, True), done.stdout + done.stderr


AUTHSIGN = """
import json, sys
from authsign.patch_rfc3161ng import apply_patch
from authsign.verifier import Verifier
apply_patch()
found = Verifier(sys.argv[1])(json.load(sys.stdin))
print(found.observer)
"""


@pytest.mark.skipif(not any(TOOL.parent.glob("../lib/*/site-packages/authsign")), reason="authsign is not by py-wacz")
def test_authsign_verifies_the_signature_of_a_domain(signed, tmp_path):
    """Webrecorder's own verifier, which trusts the ends of both chains."""
    with zipfile.ZipFile(signed["domain"]) as parts:
        data = json.loads(parts.read(SEAL))["signedData"]

    def root(name):
        return [x509.load_pem_x509_certificates(data[name].encode())[-1].fingerprint(SHA256()).hex()]

    roots = {"domain_cert_roots": root("domainCert"), "timestamp_cert_roots": root("timestampCert")}
    (tmp_path / "roots.yaml").write_text(json.dumps(roots))

    def verified():
        done = called(TOOL.parent / "python", "-c", AUTHSIGN, tmp_path / "roots.yaml", input=json.dumps(data))
        return done.stdout.split()[-1] if done.returncode == 0 else done.stderr

    assert verified() == "archive.example"
    data["hash"] = data["hash"][:-1] + ("1" if data["hash"].endswith("0") else "0")
    assert "in __call__" in verified(), "it refuses by an assertion"


@pytest.mark.skipif(not (TOOL.parent / "fastwarc").is_file(), reason="fastwarc is not beside py-wacz")
def test_fastwarc_finds_every_digest_right(made):
    """A reader of WARC files that shares no code with ours or with warcio."""
    for warc in sorted(made[1].glob("*.warc.gz")):
        done = subprocess.run(
            [TOOL.parent / "fastwarc", "check", warc], capture_output=True, text=True, timeout=280, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "(0 failed)" in done.stderr + done.stdout


#: what the viewer says of hashes and signature
VERIFIED = """(function seek(node) {
  if (node.collInfo && node.collInfo.verify) return JSON.stringify(node.collInfo.verify);
  const inner = [...(node.shadowRoot ? node.shadowRoot.children : []), ...(node.children || [])];
  if (node.contentDocument) inner.push(node.contentDocument.documentElement);
  for (const one of inner) { const found = seek(one); if (found) return found; }
  return '';
})(document.documentElement)"""


def shown(wacz, static, place, url, stamp, expected, script=TEXT):
    """The text of a page in ReplayWeb.page, or what a script finds, once what is expected stands there."""
    with viewing(wacz, static, place) as page, browser(place / "profile") as tab:
        tab.open(page(url, stamp))
        tab.wait_for(f"{TEXT}.includes('{expected}')")
        (place / "viewer.png").write_bytes(tab.picture())
        return tab.wait_for(script)


@pytest.mark.long
@in_viewer
def test_replayweb_page_shows_it(made, static, tmp_path):
    url, _, wacz = made
    assert "Home" in shown(wacz, static, tmp_path, url, "", "Edition ")


@in_viewer
def test_replayweb_page_shows_a_collection_with_payloads_of_former_captures(collected, static, tmp_path):  # noqa: F811
    wacz = package_collection(collected.collection, tmp_path / "kept.wacz")
    newest = [json.loads(line) for line in (collected.folders[1] / "certificate-pages.jsonl").open()]
    (tides,) = (page["visit"] for page in newest if page["url"].endswith("tides.html"))
    stamp = moment(unix(tides["date"]))
    text = shown(wacz, static, tmp_path, tides["uri"], stamp, "old lighthouse")
    assert f'wbinfo.request_ts = "{stamp}"' in text


@pytest.mark.long
@in_viewer
@pytest.mark.parametrize("by", ["key", pytest.param("domain", marks=pytest.mark.long)])
def test_replayweb_page_says_who_signed(signed, by, static, tmp_path):
    """Two hashes it never compares, of any package's index and list of pages; it counts these as invalid."""
    verified = json.loads(shown(signed[by], static, tmp_path, f"{SITE}equal", "", "the page equal", VERIFIED))
    assert (verified["numInvalid"], verified["numValid"]) == (2, 1)
    assert ("domain" in verified, "publicKey" in verified) == (by == "domain", True)
