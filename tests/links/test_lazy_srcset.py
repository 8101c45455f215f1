"""The addresses of a ``srcset``."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sharc_crawler.links.lazy_images import srcset_candidates


@pytest.mark.slow
@given(st.text(" ,()ab.x12\n"))
@example(",," * 50_000)
@example(", a" * 50_000)
def test_srcset_candidates_are_words_of_it(srcset: str) -> None:
    for url in srcset_candidates(srcset):
        assert url
        assert url in srcset
        assert not url.startswith(",")
        assert not url.endswith(",")
