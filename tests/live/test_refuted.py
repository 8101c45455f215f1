"""Where the WARC files do not support the verdicts, nothing is claimed: neither at a crawl's end, nor later.

By no output: each that counts pages or tells of them goes by the report.
"""

from __future__ import annotations

import json
import sqlite3
import zipfile
from contextlib import closing

import pytest
from click.testing import CliRunner

from sharc_crawler.cli import main
from sharc_crawler.watch.tally import Watched
from sharc_crawler.watch.terminal import counts, headline
from tests.live.conftest import captures_of

FAILED, INTERRUPTED = 1, 5


@pytest.mark.slow
def test_a_reference_instant_that_no_download_bears_out_is_claimed_nowhere(tmp_path, crawl, static):
    (tmp_path / "site").mkdir()
    for name in ("index", *map(str, range(6))):
        (tmp_path / "site" / f"{name}.html").write_text("".join(f"<a href={n}.html>{n}</a>" for n in range(6)))
    with static(tmp_path / "site") as url:
        stopped = crawl(url=url, delay="0.05", settings=["CLOSESPIDER_PAGECOUNT=13"])
        assert stopped.code == INTERRUPTED, stopped.err
        with sqlite3.connect(stopped.folder / "frontier.db") as state:
            state.execute("UPDATE capture SET reference = reference - 0.2 WHERE reference > 0")
            assert state.execute("SELECT changes()").fetchone() == (1,), "stopped among the revisits"
        state.close()
        done = crawl(url=url, delay="0.05")
    assert done.code == FAILED, done.err
    assert "certificate  none: the records do not support it" in done.out
    (report,) = json.loads((done.folder / "report.json").read_text())["captures"]
    claim = report["claim"]
    assert (claim["sentence"], claim["grounds"]) == (
        "7 pages were captured, but the WARC files do not support the verdicts on them: nothing is claimed.", [],
    )  # fmt: skip
    assert "0 coherent (0 %), 0 changed, 7 unknown" in done.out, "no figure says more than the claim"
    assert "  expected" not in done.out
    assert done.out.splitlines()[-1] == f"Next: scrapy crawl site -a url={url} -a output={done.folder}-again"
    assert "nothing is claimed" in (shown := (done.folder / "report.html").read_text())
    assert "Capture the site again, in another folder." in shown
    asked = CliRunner().invoke(main, ["verify", str(done.folder)])
    assert "do not support the verdicts" in asked.stderr
    assert "was lost" not in asked.stderr
    assert not (done.folder / "certificate.json").exists()
    assert "7 pages: the WARC files do not support the verdicts" in done.out
    nothing_is_claimed(done.folder, done.out)
    again = CliRunner().invoke(main, ["report", str(done.folder)])
    assert again.exit_code == 3
    assert "do not support the verdicts" in again.output
    nothing_is_claimed(done.folder, again.output)


def nothing_is_claimed(folder, summary):
    assert "0 coherent" in summary
    assert "nothing is claimed" in (folder / "report.html").read_text()
    (capture,) = captures_of(folder)
    assert (capture["coherence"]["coherent"], capture["coherence"]["same_content"], capture["audit"]) == (0, 0, None)
    assert {page["verdict"] for page in capture["pages"]} == {"unknown"}
    (told,) = json.loads(run("report", folder, "--json"))["captures"]
    assert (told["coherence"], told["claim"]) == (capture["coherence"], capture["claim"])
    assert "no claims" in run("log", folder)
    watched = Watched(folder)
    watched.look()
    assert "nothing is claimed" in headline(watched, 0.0)
    assert "coherent" not in counts(watched)
    package = folder.parent / "refuted.wacz"
    package.unlink(missing_ok=True)
    run("package", folder, "-o", package)
    with zipfile.ZipFile(package) as file:
        assert "nothing is claimed" in json.loads(file.read("datapackage.json"))["description"]
    refused = CliRunner().invoke(main, ["verify", str(folder)])
    assert (refused.exit_code, "Everything holds" in refused.output) == (3, False)


def run(command, folder, *words):
    done = CliRunner().invoke(main, [command, str(folder), *map(str, words)])
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.slow
def test_a_report_that_is_made_again_claims_nothing_of_files_that_were_altered(tmp_path, crawl, static):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("one")
    with static(tmp_path / "site") as url:
        folder = crawl(url=url, delay="0").folder
    warc = next(folder.glob("*.warc.gz"))
    whole = warc.read_bytes()
    for altered in (whole[:-1], None):
        warc.unlink() if altered is None else warc.write_bytes(altered)
        asked = CliRunner().invoke(main, ["report", str(folder)])
        assert asked.exit_code == 3
        assert "certificate  does not hold any more (1 finding)" in asked.stdout
        assert "the report claims nothing; put back a copy that is whole" in asked.stderr
        assert "nothing is claimed" in (folder / "report.html").read_text()
        assert "Put back a copy that is whole." in (folder / "report.html").read_text()
    warc.write_bytes(whole)
    sealed = (folder / "certificate.json").read_bytes()
    (folder / "certificate.json").write_bytes(sealed[:100])
    asked = CliRunner().invoke(main, ["report", str(folder)])
    assert (asked.exit_code, "cannot be read as a certificate" in asked.stdout) == (3, True), asked.output
    (folder / "certificate.json").write_bytes(sealed)
    asked = CliRunner().invoke(main, ["report", str(folder)])
    assert (asked.exit_code, "The only page was in this state" in asked.stdout) == (0, True), asked.output
    assert "Everything holds" in run("verify", folder)


@pytest.mark.slow
def test_a_report_that_is_made_again_claims_nothing_where_the_state_says_otherwise_than_the_certificate(
    tmp_path, crawl, static
):
    (tmp_path / "site").mkdir()
    for name in ("index", "other"):
        (tmp_path / "site" / f"{name}.html").write_text(f"<a href=other.html>{name}</a>")
    with static(tmp_path / "site") as url:
        folder = crawl(url=url, delay="0").folder
    run("report", folder)  # nothing was altered
    with closing(sqlite3.connect(folder / "frontier.db")) as db, db:
        db.execute("UPDATE judgement SET verdict = 'changed' WHERE evidence = 'bytes'")
    asked = CliRunner().invoke(main, ["report", str(folder)])
    assert (asked.exit_code, "does not hold any more" in asked.stdout) == (3, True), asked.output
    assert "0 coherent" in asked.stdout
    assert "nothing is claimed" in (folder / "report.html").read_text()
    assert {page["verdict"] for page in captures_of(folder)[0]["pages"]} == {"unknown"}
