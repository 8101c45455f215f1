"""The guides that notes and errors name: as the repository has them, or below the address in ``SHARC_DOCS``."""

from __future__ import annotations

import os


def guide(name: str) -> str:
    """What to call a guide.

    >>> guide("changes")
    'docs/changes.md'
    """
    site = os.environ.get("SHARC_DOCS", "").rstrip("/")
    return f"{site}/{name}.html" if site else f"docs/{name}.md"
