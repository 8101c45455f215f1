"""The page: self-contained, escaped, usable at any size."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from jinja2.runtime import Macro
from lxml import html

from sharc_crawler.evidence.facts import SubsiteFacts
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.model import Url, Verdict
from sharc_crawler.report.shown_pages import MAX_ROWS
from tests.report.arbitrary import captures
from tests.report.by_hand import T, entry_of, facts, judged, page, rendered
from tests.report.made_up import capture

if TYPE_CHECKING:
    from sharc_crawler.evidence.facts import CaptureFacts

HOSTILE = "\"'><script>alert(1)</script><img src=x onerror=alert(2)>"


def page_of(*made: CaptureFacts) -> str:
    return rendered(*made)["report.html"]


def text_of(source: str) -> str:
    return " ".join(html.fromstring(source).xpath("string(//body)").split())


@pytest.fixture(scope="module")
def usual() -> str:
    return page_of(capture(300, 15.0))


@pytest.mark.slow
def test_it_says_what_the_document_says(usual: str) -> None:
    entry = entry_of(capture(300, 15.0))
    text = text_of(usual)
    assert entry["claim"]["statement"] in text
    for limit in entry["claim"]["limits"]:
        assert limit in text
    for lost in entry["lost"]:
        assert lost["reason"] in text
    for note in entry["notes"]:
        assert note in text
    for warc in entry["warcs"]:
        assert warc in text
    assert entry["claim"]["statement"].startswith("270 of 300")
    assert "Every judgement was right." in text


@pytest.mark.slow
def test_nothing_is_fetched_from_elsewhere(usual: str) -> None:
    tree = html.fromstring(usual)
    fetching = tree.xpath("//*[not(self::a)]/@href | //@src | //@srcset | //@data | //@action | //@poster")
    assert [link for link in fetching if not link.startswith("data:")] == []
    assert "url(" not in usual
    assert "@import" not in usual
    assert not tree.xpath("//*[@style]"), "the policy forbids style attributes"
    assert not tree.xpath("//@*[starts-with(name(), 'on')]")


@pytest.mark.slow
def test_the_policy_allows_this_style_and_this_script_alone(usual: str) -> None:
    policy = html.fromstring(usual).xpath("string(//meta[@http-equiv='Content-Security-Policy']/@content)")
    assert policy.startswith("default-src 'none'")
    for tag in ("style", "script"):
        (content,) = re.findall(f"<{tag}>(.*?)</{tag}>", usual, re.DOTALL)
        assert f"{tag}-src 'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'" in policy


def test_hostile_text_is_shown_not_obeyed() -> None:
    bad = judged(HOSTILE, Verdict.CHANGED, reason=HOSTILE, via=HOSTILE, rate_source=HOSTILE)
    lost = page(f"javascript:{HOSTILE}", reason=HOSTILE, via="\u202egpj.exe\x1b[2J\x00")
    trap = judged("javascript:alert(3)", Verdict.COHERENT)
    source = page_of(
        replace(
            facts(bad, lost, trap, settings={HOSTILE: HOSTILE}, software={HOSTILE: HOSTILE}, notes=(HOSTILE,)),
            site=HOSTILE,
            seeds=(HOSTILE,),
            strategy=HOSTILE,
            warcs=(HOSTILE,),
        )
    )
    tree = html.fromstring(source)
    assert [script.get("type") for script in tree.xpath("//script")] == ["application/json", None]
    assert not tree.xpath("//img")
    assert not tree.xpath("//a[starts-with(@href, 'javascript')]")
    assert "alert(1)" in text_of(source), "it is to be read"
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00\x1b]", source), "nothing turns the text around"


CONTROL = "\x1b]0;pwn\x07\x9b31m\u202egnp\u2067\x7f\r\x00"
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def test_no_control_character_stands_raw_wherever_it_came_from() -> None:
    """It would steer the terminal of who reads the file there, or turn the text round."""
    led = page(f"http://s/{CONTROL}", reason=Reason.REDIRECTED.of(f"http://s/x{CONTROL}"), target=f"http://s/{CONTROL}")
    lost = page(f"http://s/lost{CONTROL}", reason=CONTROL, via=CONTROL)
    bad = judged(f"http://s/bad{CONTROL}", Verdict.CHANGED, reason=CONTROL, via=CONTROL, rate_source=CONTROL)
    more = {"site": CONTROL, "seeds": (f"http://s/{CONTROL}",), "strategy": CONTROL, "warcs": (CONTROL,)}
    made = facts(bad, led, lost, settings={CONTROL: CONTROL}, software={CONTROL: CONTROL}, notes=(CONTROL, "`\x1b[2J`"))
    made = replace(made, **more)
    for source in (page_of(made), *rendered(made, replace(made, site="other")).values()):
        assert not STEERING.search(source)
        assert not [href for href in html.fromstring(source).xpath("//@href") if "pwn" in href], "to another URL"
    assert "\\x1b]0;pwn" in page_of(made), "it is to be read"


@pytest.mark.slow
@settings(
    max_examples=settings.default.max_examples, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(captures)
def test_any_facts_make_a_page(any_facts: CaptureFacts) -> None:
    source = page_of(any_facts)
    source.encode("utf-8", "replace")
    tree = html.fromstring(source)
    ids = tree.xpath("//@id")
    assert len(ids) == len(set(ids))
    assert {*tree.xpath("//@aria-labelledby")} <= {*ids, "schedule-title schedule-text"}


def test_every_table_and_drawing_is_named_for_those_who_do_not_see(usual: str) -> None:
    tree = html.fromstring(usual)
    for drawing in tree.xpath("//svg"):
        assert drawing.get("aria-hidden") == "true" or drawing.get("role") == "img"
    for head in tree.xpath("//thead//th | //tbody//th"):
        assert head.get("scope") in ("col", "row")
    assert tree.xpath("string(/html/@lang)") == "en"
    labels = [*map(str, tree.xpath("//h1 | //h2/text()"))]
    assert len(labels) == len(set(labels))


def test_the_mark_of_each_verdict_is_drawn_once(usual: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, make = list[str](), Macro.__call__
    monkeypatch.setattr(Macro, "__call__", lambda macro, *given: asked.append(macro.name) or make(macro, *given))
    again = page_of(capture(300, 15.0))
    assert again.count('<svg class="icon coherent"') == usual.count('<svg class="icon coherent"') > 10
    assert "when" in asked, "such calls are seen"
    assert "icon" not in asked


@pytest.mark.long
def test_ten_thousand_pages_stay_usable() -> None:
    some = capture(1000, 10.0)
    many = (replace(p, url=Url(f"{p.url}?{copy}")) for p in some.pages if p.verdict for copy in range(10))
    source = page_of(replace(some, pages=tuple(many)))
    assert len(source.encode()) < 5_000_000
    tree = html.fromstring(source)
    assert len(tree.xpath("//section[contains(@class, 'pages')]//tbody/tr")) == MAX_ROWS
    text = text_of(source)
    assert f"The first {MAX_ROWS:,} of 10,000 pages" in text
    assert "One page in 17 is drawn." in text


@pytest.mark.slow
def test_long_urls_do_not_blow_it_up() -> None:
    long = [judged(f"http://a.example/{n}/{'x' * 2000}", Verdict.CHANGED, reason="y" * 5000) for n in range(1000)]
    lost = [page(f"http://a.example/{'z' * 2000}{n}", reason=f"{n}{'y' * 5000}", via="v" * 2000) for n in range(2000)]
    source = page_of(facts(*long, *lost, seeds=("http://a.example/",)))
    assert len(source.encode()) < 5_000_000
    assert "The first 1,000" in text_of(source)


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (facts(reference=None), "No page was captured"),
        (facts(reference=None, ended=None), "not complete"),
        (facts(judged("/", Verdict.UNKNOWN, revisit=None), reference=None), "the reference instant was never reached"),
        (facts(page("/", reason="refused by robots.txt")), "refused by robots.txt"),
        (capture(40, truth=False), "pages were in this state together"),
    ],
)
def test_captures_that_came_to_little(made: CaptureFacts, words: str) -> None:
    assert words in text_of(page_of(made))


def test_several_captures_have_an_overview_and_a_page_each() -> None:
    second = replace(capture(30, seed=2), site="other.example")
    pages = rendered(capture(20), second)
    assert list(pages) == ["report.html", "report-1.html", "report-2.html"]
    overview = html.fromstring(pages["report.html"])
    assert overview.xpath("//tbody//a/@href") == ["report-1.html", "report-2.html"]
    assert "other.example" in text_of(pages["report.html"])
    assert "of 30 pages" in text_of(pages["report-2.html"])
    assert html.fromstring(pages["report-2.html"]).xpath("//header//a/@href") == ["report.html"]
    assert "0 site captures" in text_of(page_of())


def test_pages_can_be_filtered_without_script(usual: str) -> None:
    tree = html.fromstring(usual)
    for radio in tree.xpath("//fieldset//input[@type='radio']/@id"):
        assert radio == "only-all" or f"#{radio}:checked" in usual
    changed = tree.xpath("//tbody/tr[contains(@class, 'changed')]")
    assert len(changed) == 25
    first = tree.xpath("//section[contains(@class, 'pages')]//tbody/tr/@class")
    assert [name.split()[0] for name in first] == ["changed"] * 25 + ["unknown"] * 5 + ["coherent"] * 270


def test_urls_are_shown_by_their_path_on_the_site_itself() -> None:
    own, www, other = (Url(f"{host}/b/c") for host in ("http://a.example", "https://www.a.example", "http://z.example"))
    source = page_of(facts(*(judged(url, Verdict.COHERENT) for url in (own, www, other)), seeds=("http://a.example/",)))
    links = {a.get("href"): a.text for a in html.fromstring(source).xpath("//tbody//th/a")}
    assert links == {own: "/b/c", www: "/b/c", other: other}


def test_folders_are_shown_with_their_letters() -> None:
    parts = tuple(SubsiteFacts(f"h/{name}/", T, T, T) for name in ("%E6%97%A5", "a"))
    pages = [judged(f"http://{part.name}", Verdict.COHERENT, subsite=part.name) for part in parts]
    assert "h/日/" in text_of(page_of(facts(*pages, subsites=parts)))


def test_a_reference_instant_is_missed_only_while_there_may_be_one() -> None:
    pages = [judged("/", Verdict.UNKNOWN, revisit=None)]
    assert "not reached" in text_of(page_of(facts(*pages, reference=None, ended=None)))
    assert "not reached" not in text_of(page_of(facts(*pages, reference=None)))


def test_seeds_that_lead_elsewhere_are_named_beside_the_claim() -> None:
    led = "the seed http://a.example/ redirects to http://z.example/{}: the capture follows it there"
    notes = ("a sitemap", led.format("login"), led.format("other"))
    card = html.fromstring(page_of(facts(judged("/", Verdict.COHERENT), notes=notes))).xpath(
        "//div[contains(@class, 'claim')]"
    )
    told = f"{led.format('login').capitalize()}, and 1 more seed elsewhere (see the notes)."
    assert told in " ".join(card[0].text_content().split())
    assert "a sitemap" not in card[0].text_content()


def test_redirects_to_captured_pages_stand_together() -> None:
    site = "http://a.example/"
    moved = [page(f"{site}old{n}", reason=f"redirects to {site}", target=site) for n in range(40)]
    away = "http://z.example/"
    lost = [page(f"{site}lost", reason=f"redirects to {away}", target=away), page(f"{site}gone", reason="status 404")]
    source = page_of(facts(judged(site, Verdict.COHERENT), *moved, *lost, seeds=(site,)))
    assert "40 addresses that redirect to captured ones" in text_of(source)
    assert "42 not captured, apart from these (40 redirects to captured pages)" in text_of(source)
    assert "not captured, apart" not in text_of(page_of(facts(judged(site, Verdict.COHERENT), seeds=(site,))))
    tables = html.fromstring(source).xpath("//div[starts-with(@aria-label, 'List of')]")
    assert [{*table.xpath(".//tbody//th/text()")} for table in tables] == [
        {"/lost", "/gone"},
        {f"/old{n}" for n in range(40)},
    ]
