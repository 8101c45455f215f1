"""Real crawls into a collection's folder."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner

from sharc_crawler.certificate.verify import verify
from sharc_crawler.cli import main
from sharc_crawler.collection.crawl_arguments import followed
from sharc_crawler.collection.folder import Collection, is_over
from sharc_crawler.collection.terms import FILE
from sharc_crawler.collection.verifying import verify_collection
from sharc_crawler.demo import LivingSite, serve
from sharc_crawler.errors import UsageError
from sharc_crawler.storage.observations import ObservationStore
from tests.live import warm


def into(base, **arguments):
    """``scrapy crawl site -a collection=…``, to its end."""
    words = warm.site_words("SHARC_BACK_OFF=0.2", **{"collection": str(base / "kept"), "delay": "0", **arguments})
    return warm.finished(words, base, timeout=280)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A collection with two captures of a site; the site still runs."""
    base = tmp_path_factory.mktemp("collection")
    with serve(LivingSite(seed=6, pages=20, scale=1.0, slow=0.02)) as server:
        first = into(base, url=server.url)
        second = into(base)
        assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
        assert "run the same command. It learns from this capture.\n" in second.stdout
        yield Collection(base / "kept"), server.url


@pytest.mark.slow
def test_output_history_and_dedup_follow_from_it(kept):
    collection, url = kept
    first, second = collection.captures()
    assert [site.urls for site in collection.terms.sites] == [(url,)]
    assert is_over(first.folder) and is_over(second.folder)
    assert verify(second.folder).elsewhere > 10, "its payloads are in the first"
    assert verify(second.folder, [first.folder]).findings == []
    with ObservationStore(collection.history) as history:
        assert len(history.sites()) == 1


@pytest.mark.long
def test_what_was_cut_off_goes_on(tmp_path):
    with serve(LivingSite(seed=6, pages=60, scale=1.0, slow=0.05)) as server:
        words = warm.site_words("SHARC_BACK_OFF=0.2", collection=str(tmp_path / "kept"), delay="0.1", url=server.url)
        running = warm.Scrapy(words, tmp_path)
        collection = _begun(tmp_path / "kept")
        (cut,) = collection.captures()
        while len(server.log) < 20 and running.poll() is None:
            time.sleep(0.01)
        running.send_signal(signal.SIGKILL)
        running.wait(240)
        assert not is_over(cut.folder)
        done = into(tmp_path)
    assert done.returncode == 0, done.stderr
    *_, following, command = done.stdout.splitlines()
    assert (
        following == "To capture the site again in its collection, run the same command. It learns from this capture."
    )
    assert command.startswith("Next: sharc verify ")
    assert [one.folder for one in collection.captures()] == [cut.folder]
    assert is_over(cut.folder)


def _begun(folder):
    """The collection, once a capture of it has begun."""
    for _ in range(400):
        if Collection.is_in(folder) and any(Collection(folder).captures()):
            return Collection(folder)
        time.sleep(0.05)
    raise AssertionError("nothing has begun")


@pytest.mark.slow
def test_a_capture_made_elsewhere_is_taken_in(kept, tmp_path):
    collection, _ = kept
    first = next(collection.captures())
    other = tmp_path / "other"
    done = CliRunner().invoke(main, ["collection", "add", str(other), str(first.folder)])
    assert done.exit_code == 0, done.output
    (copied,) = Collection(other).captures()
    assert verify(copied.folder).findings == []
    with ObservationStore(collection.history) as one, ObservationStore(other / "history.db") as two:
        (site,) = two.sites()
        assert two.latest(site).keys() == one.latest(site).keys()
        held = next(entry for entry in two.latest(site).values() if entry.digest)
        assert any(two.payload(site, held.digest, chunked=chunked) for chunked in (False, True))
    again = CliRunner().invoke(main, ["collection", "add", str(other), str(first.folder)])
    assert again.exit_code == 2
    assert "is in the collection already" in again.output
    warc = next(iter(sorted(copied.folder.glob("*.warc.gz"))))
    data = bytearray(warc.read_bytes())
    data[len(data) // 2] ^= 4
    warc.write_bytes(data)
    damaged = CliRunner().invoke(main, ["collection", "add", str(tmp_path / "third"), str(copied.folder)])
    assert damaged.exit_code == 3
    assert "is not as it was certified" in damaged.output
    assert not (tmp_path / "third").exists()


def test_of_a_crawl_of_several_sites_that_has_none_of_their_folders_nothing_is_added(tmp_path):
    (tmp_path / "sites.json").write_text('{"folders": {"a.example": "a", "b.example": "b"}}')
    done = CliRunner().invoke(main, ["collection", "add", str(tmp_path / "other"), str(tmp_path)])
    assert done.exit_code == 2
    assert "is no collection: it has no collection.yaml" in done.stderr


@pytest.mark.slow
def test_adding_that_was_killed_goes_on_by_the_same_command(kept, tmp_path, monkeypatch):
    first, second = (one.folder for one in kept[0].captures())
    other = tmp_path / "other"
    command = ["collection", "add", str(other), str(first), str(second)]
    assert CliRunner().invoke(main, command[:-1]).exit_code == 0  # so far it came
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    assert f"capture='{first}' is in the collection already: " in done.stderr
    assert len(list(Collection(other).captures())) == 2
    assert CliRunner().invoke(main, command).exit_code == 2, "nothing is left to do"
    monkeypatch.setattr("sharc_crawler.collection.adding.safe_name", lambda _: "one")  # begun in one second
    monkeypatch.setattr(Collection, "capture_folder", lambda self, *_: self.folder / "captures" / "one" / "1")
    command[2] = str(tmp_path / "third")
    done = CliRunner().invoke(main, command)
    assert (done.exit_code, done.stderr.count("is in the collection already")) == (2, 1), "it is another one"


@pytest.mark.slow
def test_where_it_is_not_known_what_a_copy_lacks_it_is_copied_all_the_same(kept, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    first, other = next(kept[0].captures()), tmp_path / "other"
    monkeypatch.setattr("sharc_crawler.cli.collection.lost_payloads", full)
    done = CliRunner().invoke(main, ["collection", "add", str(other), str(first.folder)])
    assert (done.exit_code, f"sharc verify {other} tells" in done.output) == (3, True), done.output
    assert len(list(Collection(other).captures())) == 1


@pytest.mark.slow
def test_no_capture_becomes_a_collection_by_what_is_added_to_it(kept, tmp_path):
    first, others = next(kept[0].captures()).folder, tmp_path / "others"
    capture = shutil.copytree(first, tmp_path / "capture")
    others.mkdir()
    (others / "notes.txt").touch()
    before = sorted(tmp_path.rglob("*"))
    for folder, why in {
        capture: "holds other things and no collection.yaml", others: "holds other things and no collection.yaml",
        first: "lies in the capture", first / "new": "lies in the capture",
    }.items():  # fmt: skip
        done = CliRunner().invoke(main, ["collection", "add", str(folder), str(first)])
        assert (done.exit_code, why in done.output) == (2, True), done.output
    assert sorted(tmp_path.rglob("*")) == before
    assert not (first / "captures").exists()


@pytest.mark.slow
def test_a_capture_that_the_history_cannot_learn_of_is_not_taken_in_until_it_can(kept, tmp_path):
    first, other = next(kept[0].captures()), tmp_path / "other"
    command = ["collection", "add", str(other), str(first.folder)]
    other.mkdir()
    (other / "collection.yaml").write_text("sites: [https://another.example/]")
    (other / "history.db").write_bytes(b"garbage" * 999)
    done = CliRunner().invoke(main, command)
    assert (done.exit_code, "cannot be opened" in done.output) == (3, True)
    assert list(Collection(other).captures()) == []
    (other / "history.db").unlink()
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    with ObservationStore(other / "history.db") as history:
        assert len(list(history.sites())) == 1


@pytest.mark.slow
def test_what_a_server_says_is_as_it_was_is_looked_for_where_it_lies_of_two_that_hold_it(tmp_path, static):
    """One capture was crawled into the collection, one was added; visits refer to this, revisits to that."""
    site, kept, other = (tmp_path / name for name in ("site", "kept", "other"))
    site.mkdir()
    (site / "index.html").write_text("".join(f"<a href={page}.html>{page}</a>" for page in range(3)))
    for page in range(3):
        (site / f"{page}.html").write_text(f"<title>{page}</title>")
    with static(site) as url:
        for number, place in enumerate(({"collection": kept}, {"output": other}, {"collection": kept})):
            time.sleep(1.1 * bool(number))  # captures are named by the second
            (site / "2.html").write_text(f"<title>edition {number}</title>")  # at T it is asked for in full
            words = warm.site_words(**place, url=url, strategy="bfs", delay="0", sitemap="off", audit="0")
            assert warm.finished(words, tmp_path, timeout=280).returncode == 0
            if "output" in place:
                done = CliRunner().invoke(main, ["collection", "add", str(kept), str(other)])
                assert done.exit_code == 0, done.output
    found, _ = verify_collection(Collection(kept))
    assert [str(one) for one in found.findings] == []


#: ``sharc collection add``, killed when the history has learned and the copy has no place yet
KILLED = """
import os, signal, sys
from pathlib import Path
from sharc_crawler.cli import main
rename = Path.rename
def killed(self, target):
    if self.name.endswith(".adding"):
        os.kill(os.getpid(), signal.SIGKILL)
    return rename(self, target)
Path.rename = killed
main()
"""


@pytest.mark.slow
def test_a_capture_whose_adding_was_killed_is_named_and_the_same_command_adds_it(kept, tmp_path):
    first, other = next(kept[0].captures()), tmp_path / "other"
    command = ["collection", "add", str(other), str(first.folder)]
    killed = subprocess.run([sys.executable, "-c", KILLED, *command], check=False, capture_output=True, timeout=280)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    (half,) = other.glob("captures/*/.*.adding")
    assert list(Collection(other).captures()) == []
    crawled = warm.finished(warm.site_words(collection=str(other), delay="0", limit="3"), tmp_path, timeout=280)
    assert crawled.returncode == 0, crawled.stderr
    assert f"{half}: `sharc collection add` ended before the capture was there" in crawled.stderr
    assert "is damaged" not in crawled.stderr
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    assert not half.exists()
    assert len(list(Collection(other).captures())) == 2


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({}, "is no collection yet; to begin one, give url="),
        ({"url": "http://127.0.0.1:9/", "output": "elsewhere"}, "output='elsewhere' cannot be given with collection="),
        ({"url": "http://127.0.0.1:9/", "history": "x"}, "history='x' cannot be given with collection="),
        ({"url": "http://127.0.0.1:9/", "collection": "."}, "collection='.' holds other things"),
        ({"url": "http://127.0.0.1:9/", "collection": "mine/new"}, "collection='mine/new' cannot be made: Not a dir"),
    ],
)
def test_what_cannot_be_followed_is_told_before_anything_is_made(tmp_path, arguments, error):
    (tmp_path / "mine").touch()
    done = into(tmp_path, **arguments)
    assert (done.returncode, error in done.stderr) == (2, True), done.stderr
    assert [path.name for path in tmp_path.iterdir() if path.name != ".scrapy"] == ["mine"]


def test_of_several_sites_one_is_named(tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / FILE).write_text("sites: [https://a.example/, https://b.example/]")
    done = into(tmp_path, dry_run="1")
    assert done.returncode == 2
    assert "has several sites: say which with url= (a.example, b.example)" in done.stderr
    (tmp_path / "kept" / FILE).write_text("sites: [https://a.example/, http://127.0.0.1:9/]")
    for name in ("127.0.0.1:9", "http://127.0.0.1:9"):  # as tables show it, and a URL
        arguments, _ = followed({"collection": str(tmp_path / "kept"), "url": name}, 0.0)
        assert arguments["url"] == "http://127.0.0.1:9/"
    with pytest.raises(UsageError, match=r"is no collection yet; did you mean '.*/kept'\?"):
        followed({"collection": str(tmp_path / "kep")}, 0.0)
