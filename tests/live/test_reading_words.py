"""What is made up is taken out of a text word by word, as if it were taken out of the whole."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.changes.attributes import MADE_UP
from sharc_crawler.changes.noise import Plain
from sharc_crawler.live.reading.document import without_made_up

_PIECES = st.sampled_from(
    ["a1b2c3", "deadbeef00", "0", "page", "x9y8z", "12ab34cd5", " ", "  ", "-", ".", "é", "٣", "٣a٤b٥c"]
)


@given(st.lists(_PIECES, max_size=30).map("".join))
def test_word_by_word_is_as_the_whole(text: str) -> None:
    words = text.split(" ")
    assert without_made_up(Plain(text, words, set(words))) == MADE_UP.sub(" ", text)
