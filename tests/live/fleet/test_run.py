"""What a worker says before it begins: settings that are not its own, addresses, its name, open files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sharc_crawler.errors import UsageError
from sharc_crawler.fleet.ledger import Pulse
from sharc_crawler.fleet.opening import open_fleet
from sharc_crawler.live import beginning
from sharc_crawler.live.config import Config
from sharc_crawler.live.fleet.keeping import SharedFolder
from sharc_crawler.live.fleet.order import check_addresses
from sharc_crawler.live.fleet.run import _warn_of_namesake, fleet_settings, run_worker
from sharc_crawler.state.spec import CaptureSpec

if TYPE_CHECKING:
    from pathlib import Path

TERM = 20.0


def test_an_object_store_is_named_by_the_output(tmp_path: Path):
    ledger = open_fleet(f"sqlite:{tmp_path / 'fleet.db'}", make=True)
    with pytest.raises(UsageError, match=r"SHARC_OBJECTS='s3://bucket/x': --output says it; leave it out"):
        run_worker(ledger, "w", str(tmp_path / "captures"), ["SHARC_OBJECTS=s3://bucket/x"], room=4, term=TERM)
    ledger.close()
    assert not (tmp_path / "captures").exists()


def test_what_has_to_be_allowed_of_a_private_site_is_named(tmp_path: Path):
    chosen = ["SHARC_OPERATOR=a@b.example", "SHARC_ALLOWED_ADDRESSES=127.0.0.0/8"]
    config = Config.from_settings(fleet_settings(chosen, SharedFolder(tmp_path), 4))
    check_addresses(CaptureSpec("127.0.0.1", ("http://127.0.0.1/",)), config)
    with pytest.raises(UsageError, match=r"\(::1\).* -s SHARC_ALLOWED_ADDRESSES=127.0.0.0/8,::1$"):
        check_addresses(CaptureSpec("localhost", ("http://localhost/",)), config)


def test_a_worker_whose_name_is_heard_of_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    caplog.set_level("INFO", "sharc_crawler.live.fleet")
    ledger = open_fleet(f"sqlite:{tmp_path / 'fleet.db'}", make=True)
    ledger.renew(Pulse("a", {}, 9), TERM)
    for name in ("a", "b"):
        _warn_of_namesake(ledger, name, TERM)
    ledger.close()
    assert caplog.text.count("event=name-taken") == 1


def test_too_few_open_files_are_said_before_anything_is_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(beginning, "left", lambda: 20)
    ledger = open_fleet(f"sqlite:{tmp_path / 'fleet.db'}", make=True)
    with pytest.raises(UsageError, match="ulimit -n"):
        run_worker(ledger, "a", str(tmp_path / "o"), ["SHARC_OPERATOR=a@b.example"], room=4, term=TERM)
    assert not (tmp_path / "o").exists()
    ledger.close()
