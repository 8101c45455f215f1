"""A second capture does not discover what the archive knows: real crawls of a site whose clock are its requests."""

from __future__ import annotations

from collections import Counter
from http.server import BaseHTTPRequestHandler

import pytest

from tests.live.serving import Answering, serving

SECTIONS, LEAVES, EVERY = 4, 6, 16


class Library:
    """Sections lead to leaves; they change at the 8th request and every 16th from there on, all else stands still."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.leaves = {f"/{section}/{leaf}" for section in range(SECTIONS) for leaf in range(LEAVES)}

    def text(self, path: str) -> str | None:
        self.asked[path] += 1
        if path == "/":
            return "".join(f"<a href=/{section}/>{section}</a>" for section in range(SECTIONS))
        if path in self.leaves:
            return f"leaf {path}"
        if path.count("/") == 2 and path.endswith("/"):
            links = "".join(f"<a href={leaf}>it</a>" for leaf in sorted(self.leaves) if leaf.startswith(path))
            return f"{links} <p>{(self.asked.total() + EVERY // 2) // EVERY}"
        return None


def handler(library: Library) -> type[BaseHTTPRequestHandler]:
    class Answers(Answering, BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            text = library.text(self.path)
            self.answer((text or "no such page").encode(), status=404 if text is None else 200)

    return Answers


@pytest.fixture(scope="module")
def captures(run_crawl, tmp_path_factory):
    """Three captures, a page gone and another one new after the first: their pages by path, what the site was asked."""
    folder, library, found = tmp_path_factory.mktemp("recapture"), Library(), []
    with serving(handler(library)) as url:
        for number in range(3):
            library.asked.clear()
            history, output = str(folder / "archive.sqlite"), str(folder / str(number))
            done = run_crawl(folder, url=url, delay="0", history=history, output=output, sitemap="off")
            assert done.code == 0, done.err
            pages = {"/" + one["url"].removeprefix(url): one for one in done.capture["pages"] if one["kind"] == "page"}
            found.append((pages, dict(library.asked)))
            library.leaves = library.leaves - {"/1/1"} | {"/2/new"}
    return found


def changed(pages) -> set[str]:
    return {path for path, page in pages.items() if page["verdict"] == "changed"}


@pytest.mark.long
def test_what_changes_is_kept_for_the_shortest_intervals_though_it_has_the_links(captures):
    (first, _), (second, _), _ = captures
    assert len(changed(first)) == SECTIONS - 1, "all but the last one had to be visited early, to find the leaves"
    assert not changed(second) & changed(first)


def test_all_that_the_archive_knows_is_known_from_the_first_decision_on(captures):
    (first, _), (second, _), _ = captures
    assert {second[path]["via"] for path in first.keys() - {"/"}} == {"history"}
    assert second["/2/new"]["via"].endswith("/2/")
    assert second["/2/new"]["verdict"] == "coherent"


def test_what_is_gone_costs_one_request_and_is_not_asked_for_again(captures):
    assert [asked.get("/1/1", 0) for _, asked in captures] == [2, 1, 0]
