"""Which pages are asked again for their links."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from sharc_crawler.frontier.traps.fleeting import FleetingLinks
from sharc_crawler.model import Kind


class Pages:
    """A front page that names two others."""

    parents, kinds = (-1, 0, 0), (Kind.PAGE,) * 3

    def __len__(self) -> int:
        return 3


@pytest.mark.parametrize("answered", [False, True])
def test_a_page_is_asked_again_once(answered):
    """Before its answer has come, and after a restart, which tells of answers alone."""
    links = FleetingLinks(SimpleNamespace(echoes={}, first={}), SimpleNamespace())
    assert links.wants(1, Pages())
    if answered:
        links.answered(0, None, (), Pages())
    else:
        links.asked(0)
    assert not links.wants(2, Pages())
