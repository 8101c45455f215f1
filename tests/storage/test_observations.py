from __future__ import annotations

import math
import sqlite3
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.errors import DataError, StoreUnavailable, UsageError
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.model import Change, Document, Kind, Result, Url
from sharc_crawler.observation import Linked, Observation
from sharc_crawler.rates.history import CHANGED, UNCHANGED, UNKNOWN
from sharc_crawler.storage import columns, schema
from sharc_crawler.storage.observations import ObservationStore


def seen(url: str, time: float, change: Change = Change.UNKNOWN, site: str = "s", **more: object) -> Observation:
    values = {"result": Result.OK, **more}
    return Observation(site, Url(url), time, change=change, **values)


@pytest.fixture
def store(tmp_path: Path):
    with ObservationStore(tmp_path / "history.sqlite") as store:
        yield store


observations = st.builds(
    Observation,
    site=st.sampled_from(["a", "b"]),
    url=st.sampled_from([Url("u"), Url("v"), Url("ü'\"%")]),
    time=st.integers(0, 30).map(float),
    result=st.sampled_from(Result),
    change=st.sampled_from(Change),
    evidence=st.sampled_from(Evidence),
    digest=st.none() | st.sampled_from(["sha1:A", "sha1:B"]),
    fingerprint=st.none() | st.just("f"),
    etag=st.none() | st.just('W/"1"'),
    last_modified=st.none() | st.just(5.5),
    lastmod=st.none() | st.just(-1.0),
    lastmod_precision=st.sampled_from([0.0, 86400.0]),
    kind=st.sampled_from(Kind),
    media_type=st.none() | st.sampled_from(["text/html", "application/pdf"]),
    document=st.none() | st.builds(Document, *[st.integers(0, 3)] * 3, by_script=st.just(False), words=st.none()),
)


@pytest.mark.slow
@given(st.lists(observations, max_size=40), st.integers(0, 40))
def test_reads_back_what_was_appended_first(batch: list[Observation], cut: int):
    with ObservationStore(":memory:") as store:
        added = store.append(batch[:cut]) + store.append(batch[cut:])
        first = {}
        for one in batch:
            first.setdefault((one.site, one.url, one.time), one)
        back = [one for site in store.sites() for one in store.observations(site)]
    assert added == len(first)
    assert sorted(map(repr, back)) == sorted(map(repr, first.values()))


def test_survives_closing(tmp_path: Path):
    path = tmp_path / "history.sqlite"
    with ObservationStore(path) as store:
        store.append([seen("u", 1.0)])
    with ObservationStore(path) as store:
        assert store.append([seen("u", 1.0), seen("u", 2.0)]) == 1
        assert store.urls("s") == ["u"]


def test_more_than_one_batch(store: ObservationStore, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sharc_crawler.storage.observations.BATCH", 3)
    assert store.append(seen(f"u{i % 4}", float(i)) for i in range(10)) == 10
    assert store.urls("s") == ["u0", "u1", "u2", "u3"]


def test_a_batch_is_added_whole_or_not_at_all(store: ObservationStore):
    with pytest.raises(StoreUnavailable):
        store.append([seen("u", 1.0), seen("v", math.nan)])
    assert store.urls("s") == []


def test_size_counts_living_pages(store: ObservationStore, monkeypatch: pytest.MonkeyPatch):
    store.append(
        [
            seen("alive", 1.0),
            seen("gone", 1.0),
            seen("gone", 2.0, result=Result.GONE),
            seen("failed-later", 1.0),
            seen("failed-later", 2.0, result=Result.FAILED),
            seen("moved", 1.0, result=Result.REDIRECTED),
            seen("image", 1.0, kind=Kind.RESOURCE),
            seen("elsewhere", 1.0, site="t"),
        ]
    )
    assert store.size("s") == 2
    assert store.size("nowhere") == 0
    monkeypatch.setattr(store, "pages", None)  # they are counted, not listed: there may be millions
    assert store.size("s") == 2


def test_histories_in_columns(store: ObservationStore):
    store.append(
        [
            seen("u", 10.0, lastmod=3.0, lastmod_precision=1.0),
            seen("u", 17.0, Change.UNCHANGED),
            seen("u", 18.0, result=Result.FAILED),
            seen("u", 20.0, Change.CHANGED, last_modified=19.5),
            seen("v", 11.0),
        ]
    )
    history = store.histories("s")
    assert history.urls == ["u", "v"]
    assert history.first().tolist() == [10.0, 11.0]
    assert history.changed.tolist() == [UNKNOWN, UNCHANGED, CHANGED, UNKNOWN]
    np.testing.assert_array_equal(history.latest(history.lastmods), [3.0, np.nan])
    np.testing.assert_array_equal(history.latest(history.modified), [19.5, np.nan])
    intervals = history.histories()
    assert intervals.offsets.tolist() == [0, 2, 2]
    assert intervals.lengths.tolist() == [7.0, 3.0]
    assert intervals.ends.tolist() == [17.0, 20.0]
    assert history.before(12.0).histories().offsets.tolist() == [0, 0, 0]
    np.testing.assert_array_equal(history.before(10.5).first(), [10.0, np.nan])
    np.testing.assert_array_equal(history.last_change(), [20.0, np.nan])
    np.testing.assert_array_equal(history.earliest_lastmod(), [3.0, np.nan])


def test_unknown_changes_are_decided_by_digests(store: ObservationStore):
    digests = ["A", "A", "B", None, "B", None, "A"]
    results = [Result.OK] * 5 + [Result.NOT_MODIFIED, Result.OK]
    rows = zip(digests, results, strict=True)
    store.append(seen("u", float(i), digest=d, result=r) for i, (d, r) in enumerate(rows))
    bits = store.histories("s").changed.tolist()
    assert bits == [UNKNOWN, UNCHANGED, CHANGED, UNKNOWN, UNKNOWN, UNCHANGED, CHANGED]


def test_a_change_is_one_of_content(store: ObservationStore):
    """Other bytes beside an equal fingerprint: a nonce; what is not there has no content."""
    told = [("A", "f"), ("B", "f"), (None, None), ("C", "f"), ("D", "g"), ("E", None), ("F", "g"), ("F", "g")]
    results = [Result.OK, Result.OK, Result.NOT_MODIFIED, *[Result.OK] * 4, Result.GONE]
    store.append(
        seen("u", float(i), Change.CHANGED if i else Change.UNKNOWN, digest=d, fingerprint=f, result=result)
        for i, ((d, f), result) in enumerate(zip(told, results, strict=True))
        if i != 2
    )
    store.append([seen("u", 2.0, Change.UNCHANGED, result=Result.NOT_MODIFIED)])
    bits = store.histories("s").changed.tolist()
    assert bits == [UNKNOWN, UNCHANGED, UNCHANGED, UNCHANGED, CHANGED, CHANGED, CHANGED, CHANGED]
    assert [one.change for one in store.observations("s")][3] is Change.CHANGED  # what is stored is by bytes


@pytest.mark.parametrize("batch", [1, 2, 5, 100])
def test_a_history_is_the_same_however_many_rows_are_read_at_a_time(
    store: ObservationStore, monkeypatch: pytest.MonkeyPatch, batch: int
):
    monkeypatch.setattr(columns, "BATCH", batch)
    store.append(seen(url, float(time), digest=digest) for url in "abc" for time, digest in enumerate("AABB"))
    store.append([seen("d", 0.0, result=Result.NOT_MODIFIED), seen("d", 1.0, Change.CHANGED, lastmod=0.5)])
    history = store.histories("s")
    assert history.urls == list("abcd")
    assert history.offsets.tolist() == [0, 4, 8, 12, 14]
    assert history.changed.tolist() == [UNKNOWN, UNCHANGED, CHANGED, UNCHANGED] * 3 + [UNKNOWN, CHANGED]
    assert history.times.tolist() == [0.0, 1.0, 2.0, 3.0] * 3 + [0.0, 1.0]
    assert history.latest_lastmods()[0][3] == 0.5


def test_a_304_first_tells_nothing_of_the_url_before(store: ObservationStore):
    store.append([seen("a", 0.0, digest="A"), seen("b", 0.0, result=Result.NOT_MODIFIED), seen("b", 1.0, digest="A")])
    assert store.histories("s").changed.tolist() == [UNKNOWN] * 3


def test_pages_are_those_that_last_showed_content_as_such(store: ObservationStore):
    gone = [seen("a", 1.0), seen("a", 2.0, result=Result.GONE)]
    image, page = seen("b", 1.0, kind=Kind.RESOURCE), seen("c", 3.0, result=Result.NOT_MODIFIED)
    refused, back = [seen("e", 1.0), seen("e", 2.0, result=Result.REFUSED)], [*gone, seen("a", 3.0)]
    store.append([*gone, image, page, seen("d", 1.0, result=Result.FAILED), *refused])
    assert store.pages("s") == ["c", "e"]
    store.append(back)
    assert store.pages("s") == ["a", "c", "e"]
    assert store.pages("nowhere") == []


def test_nothing_known(store: ObservationStore):
    history = store.histories("nowhere")
    assert len(history) == 0 == len(history.histories())
    assert len(history.before(0.0).latest(history.lastmods)) == 0


def test_latest_is_what_the_next_capture_compares_with(store: ObservationStore):
    content = seen("u", 2.0, digest="sha1:B", etag='"b"')
    store.append([seen("u", 1.0, digest="sha1:A"), content, seen("u", 3.0, result=Result.FAILED)])
    assert store.latest("s") == {"u": content}


def test_what_one_url_showed_last(store: ObservationStore):
    shown = seen("u", 2.0, digest="packed", decoded="content", fingerprint="f")
    gone = replace(seen("u", 3.0), result=Result.GONE)
    store.append([seen("u", 1.0, digest="old"), shown, gone, seen("v", 4.0, digest="other")])
    assert store.shown("s", "u", 9.0) == (2.0, "content", "f")
    assert store.shown("s", "u", 2.0) == (1.0, "old", None)
    assert store.shown("s", "w", 9.0) is None
    assert store.shown("t", "u", 9.0) is None


def test_a_document_is_described_by_its_last_content(store: ObservationStore):
    first = seen("u", 1.0, media_type="text/html", document=Document(1, 2, 3))
    store.append([first, seen("u", 2.0, result=Result.NOT_MODIFIED), seen("v", 1.0, result=Result.GONE)])
    assert store.documents("s") == {"u": first}
    assert store.latest("s")[Url("u")].document is None


def _append_many(path: Path, worker: int) -> int:
    with ObservationStore(path) as store:
        return sum(store.append(seen(f"u{i}", float(turn)) for i in range(50)) for turn in range(worker, worker + 5))


@pytest.mark.slow
def test_processes_share_a_file(tmp_path: Path):
    path = tmp_path / "history.sqlite"
    with get_context("spawn").Pool(2) as pool:
        added = pool.starmap(_append_many, [(path, 0), (path, 3)])
    with ObservationStore(path) as store:
        assert sum(added) == 50 * 8 == sum(1 for _ in store.observations("s"))
        assert len(store.urls("s")) == 50


def test_threads_may_open_a_new_file_at_once(tmp_path: Path):
    path = tmp_path / "history.sqlite"
    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(lambda i: _append_many(path, i), [0, 5, 10, 15])) == [250] * 4


def test_refuses_what_is_no_store(tmp_path: Path):
    path = tmp_path / "other.sqlite"
    path.write_bytes(b"no database at all" * 100)
    with pytest.raises(DataError, match=r"history='.*other.sqlite'.*not a database"):
        ObservationStore(path)
    foreign = tmp_path / "foreign.sqlite"
    with sqlite3.connect(foreign) as db:
        db.execute("CREATE TABLE things (x)")
    with pytest.raises(DataError, match="another program's"):
        ObservationStore(foreign)
    with pytest.raises(DataError, match="cannot be opened"):
        ObservationStore(tmp_path / "missing" / "history.sqlite")


def test_says_why_no_store_can_be_made(tmp_path: Path):
    """Because of its place, or of what is in the file."""
    (tmp_path / "empty").touch()
    for place, reading, why in (
        ("", False, f"it is a folder; name a file, as {tmp_path / 'history.db'}"),
        ("missing/history.db", False, "its folder does not exist; make it first"),
        ("empty", True, "it is empty"),
    ):
        with pytest.raises(DataError) as caught:
            ObservationStore(tmp_path / place, reading=reading)
        assert str(caught.value).partition(" store: ")[2].startswith(why)


def test_refuses_a_newer_version(tmp_path: Path):
    path = tmp_path / "history.sqlite"
    ObservationStore(path).close()
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(DataError, match="schema version 99"):
        ObservationStore(path)


def test_migrates_an_older_version_and_keeps_its_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "history.sqlite"
    with ObservationStore(path) as store:
        store.append([seen("u", 1.0)])
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, "ALTER TABLE site ADD COLUMN note TEXT"))
    with ObservationStore(path) as store:
        assert store.urls("s") == ["u"]
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (len(schema.MIGRATIONS),)
        assert db.execute("SELECT note FROM site").fetchall() == [(None,)]


def test_links_between_known_pages_as_last_seen(store: ObservationStore):
    u, v, w, nowhere = map(Url, ["u", "v", "w", "nowhere"])
    store.append([seen(url, 1.0) for url in (u, v, w)])
    first = [Linked(u, 1.0, (v, nowhere, w, v)), Linked(v, 1.0, (u,)), Linked(nowhere, 1.0, (u,))]
    assert store.append_links("s", first) == 2
    assert list(store.links("s")) == [(u, v), (u, w), (v, u)]
    assert store.append_links("s", first) == 0, "again, as after a crash"
    assert store.append_links("s", [Linked(u, 2.0, (v, w)), Linked(v, 2.0, (w,))]) == 1, "only what is new is kept"
    assert list(store.links("s")) == [(u, v), (u, w), (v, w)]
    assert list(store.links("t")) == []


def test_where_nothing_is_linked_no_address_is_read(store: ObservationStore):
    store.append([seen("u", 1.0), seen("v", 1.0)])
    asked: list[str] = []
    store._db.set_trace_callback(asked.append)
    assert not store.links("s")
    assert not any("SELECT id, url" in query for query in asked)
    store.append_links("s", [Linked(Url("u"), 1.0, (Url("v"),))])
    assert store.links("s").urls == ["u", "v"]
    assert any("SELECT id, url" in query for query in asked)


def test_links_are_added_whole_or_not_at_all(store: ObservationStore):
    u, v = map(Url, "uv")
    store.append([seen(url, 1.0) for url in (u, v)])

    def broken():
        yield Linked(u, 1.0, (v,))
        raise RuntimeError("the crawl ends here")

    with pytest.raises(RuntimeError):
        store.append_links("s", broken())
    assert list(store.links("s")) == []
    assert store.append_links("s", [Linked(v, 1.0, (u,))]) == 1, "and nothing is left open"


def test_a_site_is_found_as_people_write_it(store: ObservationStore):
    store.append([seen("http://www.a.org/", 0.0, site="www.a.org"), seen("http://b.org/", 0.0, site="b.org")])
    for text in ("www.a.org", "a.org", "https://www.a.org/x", "http://A.org"):
        assert store.site_named(text) == "www.a.org"
    assert store.site_named("www.b.org") == "b.org"
    with pytest.raises(UsageError, match=r"site.*'c\.org'"):
        store.site_named("c.org")


def test_links_of_another_site_are_another_sites(store: ObservationStore):
    store.append([seen("u", 1.0), seen("v", 1.0, site="t")])
    store.append_links("s", [Linked(Url("u"), 1.0, (Url("u"), Url("v")))])
    assert store.append_links("t", [Linked(Url("u"), 1.0, (Url("v"),))]) == 0
    assert list(store.links("s")) == [("u", "u")]


def test_a_migration_that_fails_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "history.sqlite"
    ObservationStore(path).close()
    version = len(schema.MIGRATIONS)
    broken = (*schema.MIGRATIONS, "ALTER TABLE site ADD COLUMN note TEXT; NONSENSE")
    monkeypatch.setattr(schema, "MIGRATIONS", broken)
    with pytest.raises(DataError):
        ObservationStore(path)
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (version,)
        assert [row[1] for row in db.execute("PRAGMA table_info(site)")] == ["id", "name"]


def test_documented_columns_are_the_files_columns(tmp_path: Path):
    text = (Path(__file__).resolve().parents[2] / "docs" / "observations.md").read_text()
    path = tmp_path / "history.sqlite"
    ObservationStore(path).close()
    with sqlite3.connect(path) as db:
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        columns = [row[1] for table in tables for row in db.execute(f"PRAGMA table_info({table})")]
        for sql in text.split("```sql")[1:]:
            assert db.execute(sql.split("```")[0]).fetchall() == []
        assert f"version {db.execute('PRAGMA user_version').fetchone()[0]}" in text
        (application,) = db.execute("PRAGMA application_id").fetchone()
        assert f"`PRAGMA application_id` is `{application:#x}`" in text
    assert all(f"**{table}**" in text for table in tables)
    assert all(f"`{column}`" in text for column in columns)


def test_observation_is_replaced_nowhere(store: ObservationStore):
    first = seen("u", 1.0, digest="sha1:A")
    store.append([first])
    store.append([replace(first, digest="sha1:B")])
    assert list(store.observations("s", "u")) == [first]


@pytest.mark.parametrize("content", [b"", b"no database at all" * 100])
def test_who_only_reads_makes_no_store_of_a_file(tmp_path: Path, content: bytes):
    path = tmp_path / "history.sqlite"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"history=.*(it is empty|not a database)"):
        ObservationStore(path, reading=True)
    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [("history.sqlite", content)]
    with pytest.raises(DataError, match="cannot be opened"):
        ObservationStore(tmp_path / "missing.sqlite", reading=True)
    assert len(list(tmp_path.iterdir())) == 1


def test_who_only_reads_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "history.sqlite"
    with ObservationStore(path) as store:
        store.append([seen("u", 1.0)])
    before = path.read_bytes()
    with ObservationStore(path, reading=True) as store:
        assert store.urls("s") == ["u"]
        with pytest.raises(StoreUnavailable, match="readonly"):
            store.append([seen("u", 2.0)])
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, "ALTER TABLE site ADD COLUMN note TEXT"))
    with ObservationStore(path, reading=True) as store:
        assert store.urls("s") == ["u"], "a former version's is read, too"
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_a_store_names_its_only_site(tmp_path: Path):
    with ObservationStore(tmp_path / "history.sqlite") as store:
        for find in (store.only_site, lambda: store.site_named("s")):
            with pytest.raises(DataError, match="holds no site yet"):
                find()
        store.append([seen("u", 1.0)])
        assert store.only_site() == "s"
        store.append([replace(seen("u", 1.0), site="t")])
        with pytest.raises(UsageError, match=r"2 sites.*--site \(s, t\)"):
            store.only_site()


def test_a_transaction_that_fails_is_over(tmp_path: Path):
    """Whoever has the connection goes on with it."""
    with sqlite3.connect(tmp_path / "x.db", isolation_level=None) as db:
        db.execute("CREATE TABLE site (name TEXT)")
        with pytest.raises(ZeroDivisionError), schema._transaction(db, "IMMEDIATE"):
            db.execute("INSERT INTO site VALUES ('a')")
            raise ZeroDivisionError
        assert not db.in_transaction
        assert db.execute("SELECT count(*) FROM site").fetchone() == (0,)


def test_contents_are_what_each_url_showed_last(store: ObservationStore):
    store.append(
        [
            seen("u", 1.0, digest="sha1:A"),
            seen("u", 2.0, digest="sha1:B", decoded="sha1:C"),
            seen("u", 3.0, result=Result.GONE),
            seen("v", 1.0, digest="sha1:D"),
            seen("w", 1.0, result=Result.FAILED),
        ]
    )
    shown = store.contents("s")
    assert [shown(url) for url in ("u", "v", "w")] == ["sha1:C", "sha1:D", None]
    store.append([seen("u", 9.0, digest="sha1:E"), seen("w", 9.0, digest="sha1:F")])
    assert [shown(url) for url in ("u", "w")] == ["sha1:C", None], "as it was when it was asked for"
    assert store.contents("s")("w") == "sha1:F"
    assert store.contents("t")("u") is None


def test_links_are_added_by_the_numbers_of_urls_too(store: ObservationStore):
    store.append([seen("u", 1.0), seen("v", 1.0)])
    u, nowhere, v = store.numbers("s", ["u", "nowhere", "v"])
    assert nowhere is None
    assert store.append_numbered_links([(u, 1.0, [v, nowhere, v, u]), (None, 1.0, [u]), (v, 2.0, [])]) == 2
    assert list(store.linked("s")) == [
        Linked(Url("u"), 1.0, (Url("v"), Url("u"))),
        Linked(Url("v"), 2.0, ()),
    ]


def test_what_was_added_is_not_kept_in_memory(tmp_path: Path):
    with ObservationStore(tmp_path / "h.db") as store:
        store.append([seen("u", 1.0)])
        tracemalloc.start()
        try:
            store.append(seen(f"http://h/{number}", 1.0) for number in range(20_000))
            store.append_links("s", (Linked(Url(f"http://h/{number}"), 1.0, ()) for number in range(0, 20_000, 10)))
            held, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert held < 1_000_000  # 3 MB, where their numbers are kept


def test_another_thread_may_go_on_with_an_open_store(store: ObservationStore):
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(store.append, [seen("u", 1.0)]).result() == 1


@pytest.mark.parametrize("reading", [True, False])
def test_a_folder_is_no_history_and_a_file_in_it_is_named(tmp_path: Path, reading: bool):
    with pytest.raises(DataError, match=f"it is a folder; name a file, as {tmp_path}/history.db$"):
        ObservationStore(tmp_path, reading=reading)


def test_what_documents_linked_to_is_told_in_the_order_of_time(store: ObservationStore):
    u, v, nowhere = map(Url, ["u", "v", "nowhere"])
    store.append([seen(url, 1.0) for url in (u, v)])
    store.append([seen("u", 1.0, site="t")])
    store.append_links("s", [Linked(v, 2.0, (u,)), Linked(u, 1.0, (v, nowhere)), Linked(u, 3.0, ())])
    store.append_links("t", [Linked(u, 9.0, (u,))])
    assert list(store.linked("s")) == [Linked(u, 1.0, (v,)), Linked(v, 2.0, (u,)), Linked(u, 3.0, ())]
    assert list(store.linked("nowhere")) == []


def test_after_a_batch_that_failed_its_urls_and_types_are_new_again(store: ObservationStore):
    with pytest.raises(StoreUnavailable):
        store.append([seen("u", 1.0, media_type="text/x"), seen("v", math.nan)])
    good = [seen("v", 1.0, media_type="text/y"), seen("u", 2.0, media_type="text/x")]
    assert store.append(good) == 2
    assert sorted(store.urls("s")) == ["u", "v"]
    assert sorted(map(repr, store.observations("s"))) == sorted(map(repr, good))


def test_no_more_of_a_file_is_held_in_memory_than_a_few_megabytes(store):
    [(cache,)] = store._db.execute("PRAGMA cache_size")
    assert -10_000 < cache < 0, "KiB"
