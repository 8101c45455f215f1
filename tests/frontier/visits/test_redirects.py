"""Where redirects lead: to pages, another spelling of a page, and, from a seed, out of the scope."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace

import pytest

from sharc_crawler.frontier.visits.redirects import open_moved, redirected, widen
from sharc_crawler.known_urls import SeenUrls
from sharc_crawler.model import NO_VALIDATORS, Fetch, Kind, Plan, Sighting, Slot
from tests.frontier.traps.tables import ROOT, add, table

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
