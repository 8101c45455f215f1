from __future__ import annotations

import pytest

from sharc_crawler.storage.observations import ObservationStore
from sharc_crawler.storage.payloads import StoredPayload

PLAIN = StoredPayload("sha1:A", False, "http://a.org/", 1000.123456, "<urn:uuid:1>")
CHUNKED = StoredPayload("sha1:A", True, "http://a.org/c", 2000.5, "<urn:uuid:2>")


def test_a_payload_is_found_by_site_digest_and_framing(tmp_path):
    with ObservationStore(tmp_path / "history") as store:
        store.keep_payloads("a.org", [PLAIN, CHUNKED])
    with ObservationStore(tmp_path / "history") as store:
        assert store.payload("a.org", "sha1:A", chunked=False) == PLAIN
        assert store.payload("a.org", "sha1:A", chunked=True) == CHUNKED
        assert store.payload("a.org", "sha1:B", chunked=False) is None
        assert store.payload("b.org", "sha1:A", chunked=False) is None


def test_the_first_record_stays_the_one_referred_to(tmp_path):
    with ObservationStore(tmp_path / "history") as store:
        store.keep_payloads("a.org", [PLAIN])
        store.keep_payloads("a.org", [PLAIN._replace(url="http://a.org/later", time=9.0)])
        assert store.payload("a.org", "sha1:A", chunked=False) == PLAIN


def test_payloads_are_kept_all_or_none(tmp_path):
    def cut_off():
        yield PLAIN
        raise OSError("the index ends")

    with ObservationStore(tmp_path / "history") as store:
        with pytest.raises(OSError, match="ends"):
            store.keep_payloads("a.org", cut_off())
        assert store.payload("a.org", "sha1:A", chunked=False) is None


def test_what_a_removed_capture_held_is_referred_to_no_more(tmp_path):
    with ObservationStore(tmp_path / "history") as store:
        store.keep_payloads("a.org", [PLAIN, CHUNKED])
        store.forget_payloads("a.org", 500.0, 1500.0)
        assert store.payload("a.org", "sha1:A", chunked=False) is None
        assert store.payload("a.org", "sha1:A", chunked=True) == CHUNKED


@pytest.mark.parametrize("value", ["time = time + 1", "url = 'x'", "record = x'00'", "time = 'x'", "chunked = 1"])
def test_a_row_that_is_not_as_it_was_written_is_known_and_dropped(tmp_path, value):
    with ObservationStore(tmp_path / "history") as store:
        store.keep_payloads("a.org", [PLAIN])
        store._db.execute(f"UPDATE payload SET {value}")
        chunked = value.startswith("chunked")
        held = store.payload("a.org", "sha1:A", chunked=chunked)
        assert held.sound is False
        store.drop_payload(held)
        assert store.payload("a.org", "sha1:A", chunked=chunked) is None


def test_a_row_of_a_former_version_has_no_checksum(tmp_path):
    with ObservationStore(tmp_path / "history") as store:
        store.keep_payloads("a.org", [PLAIN])
        store._db.execute("ALTER TABLE payload DROP COLUMN checksum")
        store._db.execute("PRAGMA user_version = 1")
    with ObservationStore(tmp_path / "history") as store:
        assert store.payload("a.org", "sha1:A", chunked=False) == PLAIN._replace(sound=None)
