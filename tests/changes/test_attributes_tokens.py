"""What in an address is made anew for each request, and what only looks like it: edits of links are seen."""

from __future__ import annotations

import pytest

from sharc_crawler.changes.attributes import looks_made_up
from sharc_crawler.changes.fingerprint import fingerprint

TOKENS = ("AT0kq7Zx91mPq2sLw8-Jd7", "AT3mm1Yb02qWe8rTy5-Kf9")
TARGETS = ("https%3A%2F%2Fexample.org%2Fterms", "https%3A%2F%2Fexample.org%2Fprivacy")


def same(one: str, other: str) -> bool:
    pages = (f"<body><p>Words of a page.</p>{part}</body>" for part in (one, other))
    first, second = (fingerprint(page.encode(), "text/html") for page in pages)
    return first == second


def link(address: str) -> str:
    return f"<a href='{address}'>there</a>"


@pytest.mark.parametrize(
    "address",
    [
        f"/l.php?u={TARGETS[0]}&h={{0}}",
        f"https://l.example.com/l.php?h={{0}}&u={TARGETS[0]}&s=1",
        "/out?sig={0}&page=2",
        "/a?page=2&fbclid={0}",
        "/a?__xts__%5B0%5D={0}",
    ],
)
def test_a_token_beside_a_target_is_no_content(address: str) -> None:
    assert same(*(link(address.format(token)) for token in TOKENS))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (f"/l.php?u={TARGETS[0]}&h={TOKENS[0]}", f"/l.php?u={TARGETS[1]}&h={TOKENS[0]}"),
        (f"/l.php?u={TARGETS[0]}&h={TOKENS[0]}", f"/l.php?u={TARGETS[1]}&h={TOKENS[1]}"),
        (f"/l.php?u={TARGETS[0]}&lang=en", f"/l.php?u={TARGETS[0]}&lang=de"),
        (f"/l.php?u={TARGETS[0]}&h={TOKENS[0]}", f"/m.php?u={TARGETS[0]}&h={TOKENS[0]}"),
        (f"/watch?v={TOKENS[0]}", f"/watch?v={TOKENS[1]}"),
        ("/watch?v=dQw4w9WgXcQ", "/watch?v=oHg5SJYRHA0"),
        (f"/d/{TOKENS[0]}/edit", f"/d/{TOKENS[1]}/edit"),
        ("/file?id=4f2a9c0b7d1e8a35", "/file?id=9b1c4d7e2f0a8c66"),
        ("/a?when=1795387172", "/a?when=1795387999"),
    ],
)
def test_another_target_is_an_edit(one: str, other: str) -> None:
    assert not same(link(one), link(other))


def test_an_image_that_counts_visits_by_the_time() -> None:
    assert same("<img src='/run.php?id=start&1795387172'>", "<img src='/run.php?id=start&1795387999'>")
    assert not same("<img src='/run.php?id=start&1795387172'>", "<img src='/run.php?id=end&1795387172'>")


def test_a_session_in_the_queries_of_most_links() -> None:
    menu = "".join(link(f"/page{n}?key={{0}}&lang=en") for n in range(4))
    assert same(*(menu.format(token) for token in TOKENS))
    assert not same(*(link("/a") * 9 + link(f"/doc?key={token}") for token in TOKENS))


def test_labels_made_by_programs() -> None:
    assert same(*(f"<div aria-label='{token}'>x</div>" for token in TOKENS))
    assert not same("<img alt='A castle' src=/a.png>", "<img alt='A bridge' src=/a.png>")
    assert not same("<div title='IMG_20201122_1031'></div>", "<div title='IMG_20201123_0931'></div>")


@pytest.mark.parametrize(
    "value",
    ["terms-of-service-2024-european-union", "TheRiverAndTheBridge", "20261120103107555", "short1A2b", "", "a b"],
)
def test_words_and_numbers_are_not_made_up(value: str) -> None:
    assert not looks_made_up(value)
