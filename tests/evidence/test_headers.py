from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.evidence.headers import header_bytes, header_text, of_headers


@given(st.binary())
def test_a_value_is_its_bytes(value):
    assert header_bytes(header_text(value) or "") == value.strip()


@pytest.mark.parametrize(
    ("said", "part"),
    [
        ([], False),
        ([b"bytes 0-9/10"], False),
        ([b"bytes 0-9/11"], True),
        ([b"bytes 1-9/10"], True),
        ([b"bytes 0-9/*"], True),
        ([b"bytes */10"], True),
        ([b"items 0-9/10"], True),
        ([b"bytes 0-9/10", b"bytes 0-9/11"], True),
    ],
)
def test_a_content_range_that_does_not_say_that_all_is_there_is_of_a_part(said, part):
    assert of_headers(lambda name: said if name == "Content-Range" else [])["part"] is part
