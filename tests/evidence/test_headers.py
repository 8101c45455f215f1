from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.evidence.headers import header_bytes, header_text


@given(st.binary())
def test_a_value_is_its_bytes(value):
    assert header_bytes(header_text(value) or "") == value.strip()
