"""What a page says, without what is made up: found by searches of the whole, as if each word were looked at."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.changes.noise import plain_text, spaced_text
from sharc_crawler.live.reading.word_digest import FIGURES, FRAGMENT, MANY, without_made_up, words
from sharc_crawler.traps.common import without_address

if TYPE_CHECKING:
    from collections.abc import Sequence

_PIECES = st.sampled_from(
    [
        "a1b2c3",
        "deadbeef00",
        "0",
        "page",
        "x9y8z",
        "12ab34cd5",
        "facade",
        "1234567",
        " ",
        "  ",
        "-",
        ".",
        "é",
        "٣",
        "5f1c3a9e-7b2d-4e61-9c0f-2a8d4b6e1f37",
        "\n",
    ]
)
_TEXT = "Generated page was made in 0.02 s 12 queries at 10:31 UTC 5 Mar 2021, 00:30 +0100 just now 3 minutes ago"
_SAID = st.sampled_from(_TEXT.split())
_URL = "http://h/archive/page-17"


@given(st.lists(_PIECES, max_size=30).map(lambda pieces: "".join(pieces).encode()))
def test_nothing_that_looks_made_up_is_missed(text: bytes) -> None:
    assert without_made_up(text) == FRAGMENT.sub(b" ", text)


def test_an_error_page_with_a_uuid_of_its_own_shows_what_the_others_show() -> None:
    """Two of a uuid's parts are long enough to look made up by themselves; the others are not."""
    says = "Sorry, the page you want is not here. Incident {} . Look elsewhere please".format
    lots = random.Random(1)
    shown = [words(says(UUID(int=lots.getrandbits(128), version=4)), (), f"http://h/old/{n}") for n in range(200)]
    assert len(set(shown)) == 1


def test_where_much_looks_made_up_the_same_is_left_out() -> None:
    text = b"a1b2c3 and deadbeef00, "
    assert without_made_up(MANY * text) == MANY * without_made_up(text) == MANY * b" 3 and  , "


@given(st.lists(st.tuples(_SAID, st.sampled_from([" ", "\n", "  "])).map("".join), max_size=30).map("".join))
def test_what_is_said_of_the_moment_is_left_out_whatever_the_spaces_are(text: str) -> None:
    assert spaced_text(text).split() == plain_text(text).split()


def said(text: str, pictures: Sequence[str], url: str) -> str:
    """What counts where an error page shows the same: a page's own address is left out."""
    return without_address(words(text, pictures, url) or "")


def test_pages_that_say_the_same_have_one_digest() -> None:
    one = said("Nothing was found at page-17,\n visitor deadbeef00", (), _URL)
    assert one == said("Nothing was found at page-4711, visitor\tcafe0123456", (), "http://h/archive/page-4711")
    assert one != said("Something was found at page-17, visitor deadbeef00", (), _URL)
    assert one != said("Nothing was found at page-17, visitor deadbeef00", ["http://h/a.png?1"], _URL)


def test_a_page_that_names_itself_has_two_digests_and_another_has_one() -> None:
    amber, stone = (
        words(f"{name} is a word of this tongue", (), f"http://h/w/{name}") or "" for name in ("amber", "stone")
    )
    assert amber.split("\n")[0] != stone.split("\n")[0]
    assert amber.split("\n")[1:] == stone.split("\n")[1:] != []
    texts = [
        words("a red door and a blue door", (), f"http://h/?ref={word}&s=x7Gk2p") or ""
        for word in ("door", "blue", "lamp")
    ]
    assert len({one.split("\n")[0] for one in texts}) == 1, "whatever word of the text the address has"
    assert [one.count("\n") for one in texts] == [1, 1, 0]


@pytest.mark.parametrize(
    "paths", [("/x/0/kqzv", "/x/17/bnwt"), ("/kq3zv9-bnwt.html", "/wm7dk2-qjxe.html"), ("/a/b1", "/a/b1/c/d")]
)
def test_an_error_page_that_names_its_address_says_the_same_at_another(paths: tuple[str, str]) -> None:
    one, other = (said(f"Sorry, the page {path} was not found.", (), f"http://h{path}") for path in paths)
    assert one == other
    assert one != said("Sorry, the page /z was not found here.", (), "http://h/z")


def test_pictures_of_one_script_are_told_apart() -> None:
    def shown(picture: str) -> str | None:
        return words("A photo of this album", [f"http://h/{picture}"], _URL)

    assert shown("img.php?id=1&w=800") != shown("img.php?id=2&w=800") != shown("image?id=2")
    assert shown("img.php?id=1&sid=deadbeef00c0ffee") == shown("img.php?id=1&sid=c0ffee00deadbeef")
    assert shown("logo.png?v=1") == shown("logo.png?v=2")


@pytest.mark.parametrize(("text", "pictures"), [("log in", ()), ("", ("http://h/a.png", "http://h/b.png"))])
def test_next_to_nothing_counts_at_an_address_that_looks_made_up(text: str, pictures: tuple[str, ...]) -> None:
    one, other = (words(text, pictures, f"http://h/s/{name}/story") for name in ("dead8eef", "3f9a8b7c"))
    assert one == other is not None
    assert one != words(text, ("http://h/c.png",), "http://h/s/dead8eef/story")
    assert words("", (), "http://h/s/dead8eef/story") is None
    assert words(text, pictures, "http://h/s/dead8eef") is None, "which may name a document"


def test_next_to_nothing_tells_no_page_from_another() -> None:
    assert words("Photo 12 of 30", (), _URL) is None
    assert words("第十二頁的內容在這裡可以找到很多", (), _URL) is not None


@pytest.mark.parametrize(
    ("said", "other", "same"),
    [
        ("at 14:07:33", "at 9:15:02", True),
        ("you are visitor 4711", "you are visitor 92", False),
        ("you are visitor 4711", "you are visitor 30292", True),
        ("token Qw7Gk2pLmNaB3dExYz", "token 9PrSt4uVwXyZ", True),
        ("session kqzvbnwt", "session wmdkqjxe", True),
        ("no. 5-8", "no. 5-9", False),
    ],
)
def test_the_second_line_has_no_long_numbers_and_no_word_of_its_own_address(said: str, other: str, same: bool) -> None:
    story = "A lantern measures the harbour, and a violin repairs the bridge."
    shown = [words(f"{story} {one}", (), f"http://h/s-{one.split()[-1]}/x") or "" for one in (said, other)]
    assert (shown[0].rpartition("\n")[2] == shown[1].rpartition("\n")[2]) is same


def test_of_a_table_numbers_are_what_it_tells():
    few, many = (
        [words(" ".join(f"value {one}{number:03}" for number in range(size)), (), "http://h/") for one in (4, 5)]
        for size in (9, FIGURES // 4 + 1)
    )
    assert len({without_address(one) for one in few}) == 1
    assert len({without_address(one) for one in many}) == 2
