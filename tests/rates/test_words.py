"""Words of texts are told apart by hash as they are by their spelling."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.rates.surroundings import WORD, hashed

TEXTS = st.lists(st.text("aab12_-./\n") | st.text("aBC1éßſ漢٣\n\0-") | st.text(), max_size=6)


@pytest.mark.slow
@given(TEXTS)
def test_equal_words_have_equal_hashes_and_others_do_not(texts: list[str]) -> None:
    words, counts = hashed(texts)
    expected = [WORD.findall(text.replace("\n", " ")) for text in texts]
    assert counts.tolist() == [len(found) for found in expected]
    spelled = [word for found in expected for word in found]
    pairs = set(zip(spelled, words.tolist(), strict=True))
    assert len(pairs) == len(set(spelled)) == len(set(words.tolist()))


def test_a_word_has_one_hash_wherever_it_stands() -> None:
    plain, _ = hashed(["page-0012.html"])
    among, _ = hashed(["Über/page", "0012_html"])
    assert among.tolist()[1:] == plain.tolist()
