"""What Prometheus is told of a fleet, and the rules that make alarms of it."""

from __future__ import annotations

import re
import urllib.request
from pathlib import Path

import pytest
import yaml

from sharc_crawler.errors import StoreUnavailable, UsageError
from sharc_crawler.fleet.ledger import Pulse, SiteState
from sharc_crawler.fleet.opening import open_fleet
from tests.fleet.ledger_means import site_order, step_of

metrics = pytest.importorskip("sharc_crawler.fleet.metrics", reason="pip install 'sharc-crawler[fleet]'")
RULES = Path(__file__).resolve().parents[2] / "deploy/fleet/alerts.yml"


@pytest.fixture
def ledger(tmp_path):
    ledger = open_fleet(f"sqlite:{tmp_path / 'fleet.db'}", make=True)
    yield ledger
    ledger.close()


def told(text):
    return {name: float(value) for name, value in re.findall(r"^(sharc_\S+) (\S+)$", text, re.MULTILINE)}


def test_sums_and_workers_are_told_as_the_ledger_has_them(ledger):
    ledger.add([site_order("a"), site_order("b"), site_order("c")])
    first, second = ledger.claim("w1", 2, 60.0)
    ledger.step([step_of(first, 1, pages=7, visits=3, size=900), step_of(second, 1, pages=1)], 60.0)
    ledger.renew(Pulse("w1", {first.site: first.epoch, second.site: second.epoch}, 600, 4, -3600.0), 60.0)
    ledger.release(second.site, second.epoch, SiteState.DONE)
    found = told(metrics.text(ledger))
    assert found["sharc_fleet_up"] == 1
    assert found['sharc_fleet_sites{state="held"}'] == 1
    assert found['sharc_fleet_sites{state="done"}'] == 1
    assert found['sharc_fleet_sites{state="waiting"}'] == 1
    assert found['sharc_fleet_sites{state="failed"}'] == 0
    assert (found["sharc_fleet_pages"], found["sharc_fleet_visits"]) == (8, 3)
    assert found["sharc_fleet_received_bytes"] == 900
    assert found["sharc_fleet_superseded_steps_total"] == 4
    assert found["sharc_fleet_takeovers_total"] == 0
    assert found['sharc_fleet_worker_room{worker="w1"}'] == 600
    assert found['sharc_fleet_worker_clock_skew_seconds{worker="w1"}'] == -3600


def test_a_takeover_is_counted(ledger):
    ledger.add([site_order("a")])
    ledger.claim("w1", 1, -1.0)  # it has run out already
    assert ledger.claim("w2", 1, 60.0)[0].former == "w1"
    assert told(metrics.text(ledger))["sharc_fleet_takeovers_total"] == 1


def test_a_ledger_that_does_not_answer_is_told_as_such():
    class Away:
        def status(self):
            raise StoreUnavailable("the network is cut")

    assert told(metrics.text(Away())) == {"sharc_fleet_up": 0}


def test_it_is_served(ledger):
    server = metrics.serve(ledger, "127.0.0.1", 0)
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/metrics", timeout=120) as answer:
            assert answer.headers["Content-Type"].startswith("text/plain")
            assert b"sharc_fleet_up 1.0" in answer.read()
        with pytest.raises(UsageError, match="--listen"):
            metrics.serve(ledger, "127.0.0.1", server.server_port)
    finally:
        server.shutdown()
        server.server_close()


def test_rules_name_metrics_that_there_are(ledger):
    ledger.add([site_order("a")])
    ledger.claim("w1", 1, 60.0)
    ledger.bound({"requests": 9})
    ledger.renew(Pulse("w1", {"a": 1}, 600), 60.0)
    there = {name.partition("{")[0] for name in told(metrics.text(ledger))}
    (group,) = yaml.safe_load(RULES.read_text())["groups"]
    for rule in group["rules"]:
        named = set(re.findall(r"\bsharc_\w+", rule["expr"]))
        assert named, rule["alert"]
        assert named <= there, rule["alert"]
        assert rule["annotations"]["summary"]
