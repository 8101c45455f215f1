"""No false claim of a site that does all that a server can do: its own log of the truth is the judge."""

from __future__ import annotations

import threading

from benchmarks.bench_hostile import false_claims
from benchmarks.hostile_site import KINDS, SILENT, HostileSite
from sharc_crawler.certificate.verify import verify


def test_a_hostile_site_is_not_wrongly_claimed_and_its_capture_verifies(crawl):
    with HostileSite(seed=5, count=2, every=4.0) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        done = crawl(url=site.url, delay="0.01", sitemap="off", strategy="sharc-selective")
        site.shutdown()
    assert done.code == 0, done.err
    capture = done.capture
    claimed, false = false_claims(site, capture)
    word = ("validator: ", "weak-validator: ")  # the server's, which audits check
    told = sum(number for name, number in false.items() if name.startswith(word))
    shown = {name.partition(": ")[2] for name in false if not name.startswith(word)}
    assert shown <= SILENT, false
    assert told <= (capture["audit"] or {"bound": 0})["bound"], "two pages of a kind: the audit's sample may miss it"
    assert claimed.total() > 5, claimed  # fewer where a busy machine takes longer than pages stay
    assert len({page["url"].split("/")[3] for page in capture["pages"]}) > len(KINDS)
    assert verify(done.folder).findings == []
    _asks_for_the_origin_s_answer(site)


def _asks_for_the_origin_s_answer(site: HostileSite) -> None:
    """On the wire: revisits, and they alone, are to be answered by the origin (RFC 9111, 5.2.1.4 and 5.4)."""
    revisited = 0
    for (_, _, first), *others in site.log.values():
        assert not {"cache-control", "pragma", "if-none-match", "if-modified-since"} & first.keys()
        for _, _, headers in others[-1:]:
            if "cache-control" in headers:
                revisited += 1
                assert (headers["cache-control"], headers["pragma"]) == ("no-cache", "no-cache")
    assert revisited > len(KINDS)
    (*_, (_, _, headers)) = site.log["/still/0.html"]
    assert headers.get("if-none-match", '"1"') == '"1"'
