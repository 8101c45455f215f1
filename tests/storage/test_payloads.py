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
