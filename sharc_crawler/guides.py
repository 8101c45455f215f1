"""Names of guides in notes and errors: files of the repository, or pages below the URL in ``SHARC_DOCS``."""

from __future__ import annotations

import os


def guide(name: str) -> str:
    """Return a guide's file or URL.

    >>> guide("changes")
    'docs/changes.md'
    """
    site = os.environ.get("SHARC_DOCS", "").rstrip("/")
    return f"{site}/{name}.html" if site else f"docs/{name}.md"
