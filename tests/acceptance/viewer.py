"""ReplayWeb.page's viewer, which shows a package in a browser.

    npm pack replaywebpage@2.4.6 && tar xzf replaywebpage-2.4.6.tgz
    SHARC_REPLAYWEBPAGE=package python -m pytest tests/acceptance

`.ci/run` lays it into `.venv-replayweb/package`; without it the tests that need it are skipped.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.acceptance.browser import CHROMIUM

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

VIEWER = Path(os.environ.get("SHARC_REPLAYWEBPAGE") or Path(__file__).parents[2] / ".venv-replayweb/package")
#: The viewer takes its service worker's start for granted, and shows nothing for good where that takes longer than four
#: reloads of its frame: so it is put into the page once the worker is active.
PAGE = """<!doctype html><script src=/ui.js></script><style>body {{margin: 0}}</style><body><script>
navigator.serviceWorker.register('/replay/sw.js?serveIndex=1', {{scope: '/replay/'}}).then(async worker => {{
  while (worker.active?.state !== 'activated') await new Promise(later => setTimeout(later, 20));
  document.body.innerHTML = `<replay-web-page style="display:block;height:100vh" source=/capture.wacz
    replayBase=/replay/ embed={embed} url="{url}" ts="{stamp}"></replay-web-page>`;
}});
</script>"""
in_viewer = pytest.mark.skipif(
    CHROMIUM is None or not (VIEWER / "ui.js").is_file(),
    reason="Chromium is not installed, or ReplayWeb.page is not (.ci/run does; SHARC_REPLAYWEBPAGE names its folder)",
)


@contextmanager
def viewing(wacz: Path, static: Callable, place: Path) -> Iterator[Callable[..., str]]:
    """Within the block, what to open for a page's URL: as it was at a time, with more or less around it."""
    (place / "replay").mkdir()
    shutil.copy(VIEWER / "ui.js", place)
    shutil.copy(VIEWER / "sw.js", place / "replay")
    shutil.copy(wacz, place / "capture.wacz")
    number = 0
    with static(place) as address:

        def page(url: str, stamp: str = "", embed: str = "default") -> str:
            nonlocal number
            number += 1
            (place / f"{number}.html").write_text(PAGE.format(url=url, stamp=stamp, embed=embed))
            return f"{address}{number}.html"

        yield page
