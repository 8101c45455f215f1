"""The report in a browser: T in sight at any width, a table that sorts, filters and opens its pages."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from sharc_crawler.report import words
from tests.acceptance.browser import CHROMIUM, browser
from tests.report.by_hand import rendered
from tests.report.made_up import capture

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.acceptance.browser import Tab

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
ROWS = ".pages tbody tr"


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    folder: Path = tmp_path_factory.mktemp("report")
    (folder / "report.html").write_text(rendered(capture(300, 15.0))["report.html"], encoding="utf-8")
    with browser(folder / "profile") as tab:
        tab.open((folder / "report.html").as_uri())
        yield tab


def texts(tab: Tab, selector: str) -> list[str]:
    return tab.value(f"[...document.querySelectorAll({selector!r})].map((one) => one.textContent)")


@pytest.mark.parametrize("width", [400, 1200, 2000])
def test_nothing_sticks_out_and_t_is_in_sight(tab: Tab, width: int) -> None:
    tab.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
    tab.call("Page.reload")
    tab.wait_for("document.readyState === 'complete' && document.querySelector('.told').textContent.includes('listed')")
    assert tab.value("document.documentElement.scrollWidth") <= width
    left, right = tab.value(
        "(() => {const t = document.querySelector('path.reference').getBoundingClientRect(),"
        " b = document.querySelector('path.reference').closest('.scroll').getBoundingClientRect();"
        " return [t.left - b.left, b.right - t.right]})()"
    )
    assert left >= 0
    assert right >= 0
    assert tab.value(
        "[...document.querySelectorAll('.statement time')].every((one) => one.getClientRects().length === 1)"
    )


def test_an_address_without_an_end_in_sight_breaks_where_it_must(tmp_path: Path) -> None:
    """Of a log-in elsewhere that a seed redirects to: it is named in the claim."""
    led = f"the seed http://a.org/ leads to http://b.org/sso?SAMLRequest={'fZJNT8MwDIbv' * 40}, which is out of scope"
    facts = capture(30, 15.0)
    facts = replace(facts, notes=(*facts.notes, led))
    (tmp_path / "report.html").write_text(rendered(facts)["report.html"], encoding="utf-8")
    with browser(tmp_path / "profile") as tab:
        tab.call("Emulation.setDeviceMetricsOverride", width=1000, height=900, deviceScaleFactor=1, mobile=False)
        tab.open((tmp_path / "report.html").as_uri())
        beyond = "(one) => one.scrollWidth > one.clientWidth"
        assert "SAMLRequest" in "".join(texts(tab, ".claim p"))
        assert tab.value(f"[...document.querySelectorAll('.claim > div')].filter({beyond}).length") == 0
        assert tab.value("document.documentElement.scrollWidth") <= 1000


def test_the_table_sorts_filters_and_opens_its_pages(tab: Tab) -> None:
    assert len(texts(tab, ROWS)) == 100, "the others come as one scrolls"
    tab.value("document.querySelector('.pages .scroll').scrollTop = 1e6")
    tab.wait_for(f"document.querySelectorAll({ROWS!r}).length === 200")
    tab.value("document.querySelector('.pages thead button').click()")
    addresses = texts(tab, f"{ROWS} th")
    assert addresses == sorted(addresses)
    tab.value("document.querySelector('#only-changed').click()")
    assert "25 of 300" in texts(tab, ".told")[0]
    word = addresses[-1].rpartition("/")[2]
    tab.value("document.querySelector('#only-all').click()")
    typed = f"f.value = {word!r}; f.dispatchEvent(new Event('input'))"
    tab.value(f"(() => {{const f = document.querySelector('#find'); {typed}}})()")
    assert len(texts(tab, ROWS)) == 1
    tab.value("document.querySelector('button.open').click()")
    (own,) = texts(tab, "tr.own")
    assert all(name in own for name in ("Visit", "Revisit", "evidence: ", "Content"))
    folder = tab.value("decodeURIComponent(location.pathname)").removesuffix("/report.html")
    assert f"sharc replay {folder} --port 8090" in own
    steps = texts(tab, ".steps code")
    assert {f"sharc verify {folder}", f"sharc replay {folder}"} < set(steps)
    assert not any("FOLDER" in one for one in texts(tab, ".steps code"))
    assert tab.value("document.querySelector('.folder').hidden")
    tab.value("document.querySelector('button.open').click()")
    assert texts(tab, "tr.own") == []


@pytest.mark.long
def test_its_script_tells_durations_as_the_rest_of_the_report_does(tab: Tab) -> None:
    script = (files("sharc_crawler.report") / "templates" / "table.js").read_text(encoding="utf-8")
    span = script[script.index("const span =") : script.index("const percent =")]
    lengths = [0.25, 7.04, 72.6, 7_500.0, 97_200.0, 266_400.0]
    assert tab.value(f"(() => {{ {span} return {lengths}.map(span); }})()") == [words.span(one) for one in lengths]
