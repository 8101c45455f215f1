"""One crawl by the command, as a user gives it, and what its report says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

PROFILE = "sharc_crawler.live.profile"


def captured(folder: Path, given: dict[str, object], *settings: str) -> dict[str, Any]:
    """The capture in the report, with its pages; ``given`` are arguments, ``settings`` are ``NAME=value``."""
    arguments = [text for name, value in given.items() for text in ("-a", f"{name}={value}")]
    arguments += [text for one in settings for text in ("-s", one)]
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", "crawl", "site", *arguments, "-a", f"output={folder / 'c'}"],
        env={**os.environ, "SCRAPY_SETTINGS_MODULE": PROFILE},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stderr[-2_000:])
    (capture,) = json.loads((folder / "c" / "report.json").read_text())["captures"]
    pages = (folder / "c" / "report-pages.jsonl").read_text().splitlines()
    return capture | {"pages": [json.loads(line) for line in pages]}
