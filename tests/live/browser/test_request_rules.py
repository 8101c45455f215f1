"""What passes from a page to the crawl, and what a browser is answered without anybody being asked."""

from __future__ import annotations

from sharc_crawler.live.browser.request_rules import preflight, why_not

ASKS = {
    "Origin": "http://h.example",
    "Access-Control-Request-Method": "POST",
    "access-control-request-headers": "content-type,x-own",
}


def test_a_browser_that_asks_whether_a_script_may_ask_another_host_is_told_that_it_may():
    allowed = dict(preflight({"method": "OPTIONS", "headers": ASKS}, session=False) or ())
    assert allowed == {
        "Access-Control-Allow-Origin": "http://h.example",
        "Access-Control-Allow-Credentials": "true",
        "Access-Control-Allow-Methods": "POST",
        "Access-Control-Allow-Headers": "content-type,x-own",
    }
    assert preflight({"method": "GET", "headers": ASKS}, session=False) is None
    own = {"method": "OPTIONS", "headers": {"Origin": "http://h.example"}, "url": "http://h.example/"}
    assert preflight(own, session=False) is None, "a script's own is no such question"
    assert "OPTIONS requests" in why_not({"request": own, "resourceType": "Fetch"}, 0, posts=True)


def test_in_a_session_no_script_may_act_on_another_host():
    assert preflight({"method": "OPTIONS", "headers": ASKS}, session=True) is None
    reads = {**ASKS, "Access-Control-Request-Method": "GET"}
    assert preflight({"method": "OPTIONS", "headers": reads}, session=True)
