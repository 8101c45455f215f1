"""The rules are tested in the frontier's small world."""

from tests.frontier.conftest import impolite, world

__all__ = ["impolite", "world"]
