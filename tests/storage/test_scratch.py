"""What is looked up again on disk, against a list in memory."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.storage import scratch

STEPS = st.lists(st.sampled_from(["add", "add", "add", "first", "second", "all"]), max_size=25)


@pytest.mark.slow
@given(STEPS, st.integers(1, 4), st.data())
def test_it_finds_what_was_added_by_either_name_however_many_are_written_together(steps, at_once, data):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scratch, "_AT_ONCE", at_once)
        kept, added = scratch.Scratch(), []
        for number, step in enumerate(steps):
            name = data.draw(st.sampled_from("xyz"))
            if step == "add":
                kept.add(f"{number}", name, b"%d" % number)
                added.append((f"{number}", name, b"%d" % number))
                assert len(kept._waiting) < at_once, "no more than so many stay in memory"
            elif step == "first":
                asked = data.draw(st.integers(0, number))
                assert kept.first(f"{asked}") == {first: value for first, _, value in added}.get(f"{asked}")
            elif step == "second":
                assert kept.second(name) == {second: value for _, second, value in added}.get(name)
            else:
                assert list(kept) == [value for *_, value in added]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_what_lies_on_disk_is_not_in_memory_too() -> None:
    kept = scratch.Scratch()
    before = held()
    for number in range(5_000):
        kept.add(f"{number}", f"of {number}", b"%08d" % number * 500)
    assert kept.first("1") == b"00000001" * 500
    assert held() - before < 12 * 2**20, "of 20 MB"


def held() -> int:
    """Bytes of memory that this process has of its own."""
    resident, shared = Path("/proc/self/statm").read_text().split()[1:3]
    return 4096 * (int(resident) - int(shared))
