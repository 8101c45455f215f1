"""The site's pages beside docs/: the README as its front page, and the files that documents link to (mkdocs.yml)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent
PAGES = {
    "index.md": "README.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "SECURITY.md": "SECURITY.md",
    "CHANGELOG.md": "CHANGELOG.md",
}
ABOVE = re.compile(r"\]\(\.\./([^)#]+)")  #: a link from docs/ to elsewhere in the repository


def on_files(files: Files, config: Any) -> Files:
    """Add what lies outside of docs/."""
    for name, source in PAGES.items():
        text = (ROOT / source).read_text().replace("](docs/", "](")
        files.append(File.generated(config, name, content=text))
    linked = {name for document in ROOT.glob("docs/*.md") for name in ABOVE.findall(document.read_text())}
    for name in sorted(linked - set(PAGES.values())):
        files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Links of the repository, as the site has them."""
    return ABOVE.sub(r"](\1", markdown).replace("](README.md", "](index.md")
