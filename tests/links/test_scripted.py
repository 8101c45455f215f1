"""Which pages show nothing before their scripts have run; in doubt, a page is an ordinary one."""

from __future__ import annotations

import pytest

from sharc_crawler.links.html import extract

SCRIPT = "<script src=/app.js></script>"
NOTICE = "<noscript>You need to enable JavaScript to run this app.</noscript>"


@pytest.mark.parametrize(
    ("body", "made"),
    [
        (f"{SCRIPT}<div id=app></div>", True),
        (f"{SCRIPT}<link rel=canonical href=/><div id=root></div>", True),
        (f"{SCRIPT}<div>Loading…</div>", True),
        (f"<title>A title of many words, as applications have them</title>{SCRIPT}<main></main>", True),
        (f"{SCRIPT}{NOTICE}<div id=root><p>Please wait a moment while the application starts</p></div>", True),
        (f"{SCRIPT}<noscript>JavaScript, <a href=/how>like this</a></noscript><div id=root></div>", True),
        ("<div id=app></div>", False),
        ("", False),
        (f"{SCRIPT}<a href=/next>on</a>", False),
        (f"{SCRIPT}{NOTICE}<a href=/next>on</a>", False),
        (f"{SCRIPT}<p>This page is under construction.</p>", False),
        (f"{SCRIPT}{NOTICE}<p>{'A text that is there without any script. ' * 6}</p>", False),
        (f"{SCRIPT}<noscript><img src=//count.example/pixel></noscript><p>An ordinary page with a counter.</p>", False),
        (f"{SCRIPT}<img src=splash.jpg>", False),
        (f"{SCRIPT}<form><input name=q></form>", False),
        (f"{SCRIPT}<iframe src=/inner></iframe>", False),
    ],
)
def test_what_is_made_by_script(body: str, made: bool) -> None:
    document = extract(f"<!doctype html><html><body>{body}</body></html>".encode(), "http://h/").document
    assert document is not None
    assert document.by_script is made
