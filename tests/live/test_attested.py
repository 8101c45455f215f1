"""Captures on the server's word over loopback, against the living site's own log of changes."""

from __future__ import annotations

import signal
from dataclasses import replace
from datetime import datetime

import pytest

from sharc_crawler.certificate.verify import verify
from sharc_crawler.demo import LivingSite, serve
from sharc_crawler.model import Change
from sharc_crawler.storage.observations import ObservationStore
from tests.live.conftest import captures_of
from tests.live.test_interruptions import start, stop_after


def instant(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def claims(site: LivingSite, capture: dict, base: str) -> dict[str, list[tuple[str, bool]]]:
    """By verdict, the evidence of each page, and whether one of its downloads really shows its state at T.

    A change while a download ran, or in the very moment of T, may be either side: downloads are taken by their end
    before T, by their start after it.
    """
    reference = instant(capture["times"]["reference"])
    found: dict[str, list[tuple[str, bool]]] = {"coherent": [], "changed": [], "unknown": []}
    for page in capture["pages"]:
        if page["kind"] != "page" or page["verdict"] is None:
            continue
        path = page["url"].removeprefix(base)
        looks = [page[name] for name in ("visit", "revisit") if page[name]]
        spans = [
            (instant(look["ended"]), reference)
            if instant(look["ended"]) <= reference
            else (reference, instant(look["started"]))
            for look in looks
        ]
        true = any(not len(site.changes(path, *span)) for span in spans)
        found[page["verdict"]].append((page["evidence"], true))
    return found


@pytest.mark.long
@pytest.mark.parametrize("visits", [1, pytest.param(2, marks=pytest.mark.long)])
def test_an_honest_site_is_never_wrongly_claimed(crawl, tmp_path, visits):
    site = LivingSite(seed=3, pages=60, scale=6000.0, slow=0.05)
    history = tmp_path / "archive.sqlite"
    with serve(site) as server:
        done = crawl(url=server.url, strategy=f"sharc-attested:visits={visits}", delay="0.02", history=str(history))
        assert done.code == 0, done.err
        found = claims(site, done.capture, server.url.rstrip("/"))
        asked = [request for request in server.log if request.target == "/sitemap.xml"]
    assert all(true for _, true in found["coherent"])
    evidence = [name for name, _ in found["coherent"]]
    assert visits == 2 or evidence.count("provisional") > 20  # of two visits the second shows more than the word
    audit = done.capture["audit"]
    assert audit["provisional"] == evidence.count("provisional")
    told = evidence.count("validator")  # one bound over lastmods and 304s
    assert audit["claimed"] == audit["provisional"] + evidence.count("attested") + told
    assert audit["lag"] == 86_400
    assert audit["lies"] == 0 == sum(one["caught"] for one in audit["strata"])
    assert len(asked) == 3, "at the start, at T, at the end"
    assert verify(done.folder).findings == []
    assert not done.capture["resources"]["unknown"], "what is embedded is looked at on both sides of T, too"
    assert done.capture["coherence"]["complete"]["coherent"] > done.capture["coherence"]["coherent"] / 2
    with ObservationStore(history) as store:
        name = server.url.split("/")[2]
        assert {one.change for one in store.observations(name)} >= {Change.UNCHANGED, Change.UNKNOWN}


class Nonces(LivingSite):
    """Every answer carries a nonce of its own."""

    def respond(self, method, target, headers, now):
        answer = super().respond(method, target, headers, now)
        if b"</body>" not in answer.body:
            return answer
        body = answer.body.replace(b"</body>", f"<script nonce='{now!r}'></script></body>".encode())
        kept = [(name, value) for name, value in answer.headers if name not in ("Content-Length", "ETag")]
        return replace(answer, body=body, headers=(*kept, ("Content-Length", str(len(body)))))


@pytest.mark.long
def test_a_nonce_makes_no_lie_of_an_honest_lastmod(crawl):
    site = Nonces(seed=3, pages=30, scale=300.0, slow=0.05)
    with serve(site) as server:
        done = crawl(url=server.url, strategy="sharc-attested", delay="0.02", audit="1", lag="0")
        assert done.code == 0, done.err
        found = claims(site, done.capture, server.url.rstrip("/"))
    audit = done.capture["audit"]
    differ = sum(
        bool(page["visit"] and page["revisit"] and page["visit"]["digest"] != page["revisit"]["digest"])
        for page in done.capture["pages"]
    )
    assert differ > audit["changed"] + 10
    assert audit["lies"] == 0
    assert audit["unshown"]["alike"] > 10, "nor is it proof: a nonce is what we hold to be one"
    assert not any(name == "attested" for name, _ in found["coherent"])
    assert all(true for _, true in found["coherent"])
    assert verify(done.folder).findings == []


def test_liars_are_caught_by_the_audit_and_said_in_the_report(crawl):
    site = LivingSite(seed=3, pages=60, scale=100_000.0, slow=0.05, lying=0.5)
    with serve(site) as server:
        done = crawl(url=server.url, strategy="sharc-attested", delay="0.02", audit="1", lag="0")
        assert done.code == 0, done.err
        found = claims(site, done.capture, server.url.rstrip("/"))
    audit = done.capture["audit"]
    assert audit["lies"] > 0
    assert not any(one["claimed"] for one in audit["strata"] if one["caught"])
    wrong = sum(not true for name, true in found["coherent"] if name == "attested")
    assert wrong <= audit["bound"] <= audit["claimed"]
    assert all(true for name, true in found["coherent"] if name == "bytes")
    said = any("caught lying" in text for text in done.capture["claim"]["limits"])
    assert said == bool(audit["claimed"]), "it is said where something is claimed on the server's word"


@pytest.mark.long
def test_killed_on_either_side_of_t(tmp_path):
    site = LivingSite(seed=4, pages=40, scale=3000.0, slow=0.05)
    folder = tmp_path / "capture"
    with serve(site) as server:
        for requests in (25, 30):
            process = start(folder, server.url, strategy="sharc-attested", audit="0.2", lag="0")
            stop_after(process, server, requests, signal.SIGKILL)
            process.communicate(timeout=280)
        process = start(folder, server.url, strategy="sharc-attested", audit="0.2", lag="0")
        out, _ = process.communicate(timeout=280)
        assert (process.returncode, "certificate.json" in out) == (0, True), out
    (capture,) = captures_of(folder)
    found = claims(site, capture, server.url.rstrip("/"))
    assert all(true for _, true in found["coherent"])
    assert [name for name, _ in found["coherent"]].count("attested") > 10
    assert verify(folder).findings == []
