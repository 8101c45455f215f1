"""Where redirects lead: to pages, another spelling of a page, and, from a seed, out of the scope."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace

import pytest

from sharc_crawler.addresses.known_urls import SeenUrls
from sharc_crawler.frontier.besides_links import is_file, open_moved, redirected, widen
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.model import NO_VALIDATORS, Fetch, Kind, Plan, Result, Sighting, Slot, Verdict
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from tests.frontier.conftest import World
from tests.traps.tables import ROOT, add, table

OUT = "http://elsewhere.example/"


def canonical(url: str) -> str | None:
    """Without its session; there is none of a mail's."""
    return None if url.startswith("mailto") else url.partition(";")[0]


@pytest.mark.parametrize(
    ("url", "location", "key"),
    [
        ("x;1", "y", None),
        ("x;1", "x;2", "x;2"),  # another spelling: a page of its own
        ("x;1", "x;2#part", "x;2"),
        ("x;1", "x", "x#"),  # the canonical one, which is the key of this page
        ("x;1", "x;1#part", None),  # itself
        ("other;1", "other;2", None),  # that was another page's: once
    ],
)
def test_another_spelling_of_a_page_is_one_of_its_own_once(url, location, key):
    seen = SeenUrls()
    seen.add(f"{ROOT}x", 5)
    seen.add(f"{ROOT}other", 6)
    fetch = Fetch(1, 5, "h", ROOT + url, Kind.RESOURCE, Slot.FIRST, Plan.HOPEFUL, "h", 1, NO_VALIDATORS, 0.0)
    found = redirected(canonical, SimpleNamespace(seen=seen), fetch, ROOT + location)
    target = location if key is None else location.partition("#")[0]
    assert found == Sighting(ROOT + target, Kind.RESOURCE, ROOT + url, key=key and ROOT + key)


def test_what_has_no_canonical_address_is_known_by_where_it_leads():
    fetch = Fetch(1, -1, "h", "mailto:a", Kind.PAGE, Slot.FIRST, Plan.HOPEFUL, "h", 1, NO_VALIDATORS, 0.0)
    found = redirected(canonical, SimpleNamespace(seen=SeenUrls()), fetch, "mailto:b")
    assert found == Sighting("mailto:b", Kind.PAGE, "mailto:a")


FILES = "http://files.example/"
DOCUMENTS = {
    "bitstreams/7/download": "a?X-Amz-Signature={}",
    "download/7": "a.mp3?t={}",
    "a.pdf": "objects/7?t={}",
    "files/7": "b?response-content-disposition=attachment&t={}",
}


@pytest.mark.parametrize("every", [0, 5])
@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective", "sharc-attested", "sharc-online:revisits=none"])
def test_a_file_that_a_link_redirects_to_on_another_host_is_captured_as_what_its_page_embeds(impolite, strategy, every):
    world, home = World(), f"{ROOT}papers"
    world.links = {ROOT: [Sighting(home)], home: [Sighting(ROOT + one, via=home) for one in DOCUMENTS]}
    moved = {"result": Result.REDIRECTED, "status": 302}
    for one, there in DOCUMENTS.items():
        world.answers[ROOT + one] = [{**moved, "location": FILES + there.format(number)} for number in range(3)]
    frontier = Frontier(impolite, store := MemoryStore())
    frontier.open(CaptureSpec("h", (ROOT,), sitemaps=(), strategy=strategy), world.now)
    world.run_restarted(frontier, impolite, store, every) if every else world.run(frontier)
    saved = store.load()
    taken = {row.page: row.url for row in saved.pages if row.url.startswith(FILES) and row.kind is Kind.RESOURCE}
    assert {*taken.values()} == {FILES + there.format(0) for there in DOCUMENTS.values()}
    assert {row.depth for row in saved.pages if row.page in taken} == {3}, "one link from what leads there"
    verdicts = {row.page: row.verdict for row in saved.judgements}
    if not every:  # T may come before what lies on other hosts: whoever goes on knows nothing of it then
        once = strategy.endswith("none")
        assert {verdicts[page] for page in taken} == {Verdict.UNKNOWN if once else Verdict.COHERENT}
    assert not [row for row in saved.outside if row.url.startswith(FILES)]


@pytest.mark.parametrize(
    ("url", "location"),
    [
        ("http://h/a.pdf", "http://o.example/"),
        ("http://h/a.pdf", "http://o.example"),
        ("http://h/download/1", "http://o.example/thanks.html"),
        ("http://h/download/1", "http://login.example/go?to=/a.pdf"),
        ("http://h/bitstreams/1/download", "http://o.example/users/sign_in?X-Amz-Signature=0"),
        ("http://h/out/1", "http://o.example/partner"),
    ],
)
def test_a_page_elsewhere_and_a_log_in_are_no_files(url, location):
    assert not is_file(url, location)


def test_a_file_is_one_whatever_words_its_name_has():
    assert is_file("http://h/out/1", "http://o.example/forms/informed_consent_3.pdf")


@pytest.mark.parametrize("spec", [{"resources": False}, {"discover": False}])
def test_it_is_left_where_no_files_are_taken(impolite, spec):
    world = World(links={ROOT: [Sighting(f"{ROOT}a.pdf")]})
    world.answers = {f"{ROOT}a.pdf": [{"result": Result.REDIRECTED, "status": 302, "location": f"{FILES}a.pdf"}]}
    frontier = Frontier(impolite)
    frontier.open(CaptureSpec("h", (ROOT,), sitemaps=(), strategy="bfs", **spec), world.now)
    assert not [fetch.url for fetch in world.run(frontier) if fetch.url.startswith(FILES)]


def test_a_seed_that_leads_out_of_its_scope_takes_the_scope_along_and_no_other_page_does():
    for seed, top, kind, out in product(
        (False, True), (False, True), (Kind.PAGE, Kind.HUB, Kind.SITEMAP), (False, True)
    ):
        pages, told = table(), []
        page = add(pages, "a", -1 if top else 0, kind)
        capture = SimpleNamespace(
            spec=SimpleNamespace(seeds=(f"{ROOT}a",) if seed else ()),
            scope=SimpleNamespace(why_not=lambda _, out=out: "another host" if out else None),
            widen=lambda url, told=told: told.append(url),
            note=lambda text, told=told: told.append(text),
        )
        moved = seed and top and kind is not Kind.SITEMAP and out
        assert widen(pages, capture, page, OUT) is moved
        assert told == ([OUT, f"the seed {ROOT}a redirects to {OUT}: the capture follows it there"] if moved else [])


def test_where_a_seed_leads_its_host_is_opened_and_what_was_listed_of_it_is_taken_in():
    told, listed = [], [Sighting(f"{OUT}a")]
    capture = SimpleNamespace(front=SimpleNamespace(take_elsewhere=lambda: listed))
    opener = SimpleNamespace(open_host=lambda *given: told.append(("opened", *given[1:])))
    admitter = SimpleNamespace(
        canonical=canonical,
        host_of=lambda url: url.split("/")[2],
        admit=lambda *given: told.append(("admitted", *given[1:])),
        ingest=lambda *given: told.append(("ingested", *given[1:])),
    )
    open_moved(opener, admitter, capture, "mailto:a", 9.0)
    assert not told
    open_moved(opener, admitter, capture, f"{OUT};1", 9.0)
    assert told == [("opened", "elsewhere.example", OUT), ("admitted", listed, 9.0), ("ingested", listed, 9.0)]
