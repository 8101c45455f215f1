"""robots.txt as Google's parser reads it: its own table of cases, and what else occurs."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protego import Protego

from sharc_crawler.bodies.coding import zstd
from sharc_crawler.links import robots_rules
from sharc_crawler.links.robots_rules import ManyRules, RobotsRules, group_of, is_page
from sharc_crawler.links.robots_text import robots_text
from tests.links.robots_cases import BYTES, EXPLAINED, HOST, VERDICTS


def allows(text: str, agent: str, url: str) -> bool:
    return RobotsRules(text, agent, f"{HOST}/robots.txt").allows(url)


def test_googles_cases() -> None:
    """All but those that are explained, and these as explained."""
    assert len(VERDICTS) == 141
    read_otherwise = {(case.text, case.url) for case in VERDICTS if allows(*case[:3]) is not case.allowed}
    assert read_otherwise == EXPLAINED.keys()


@pytest.mark.slow
def test_googles_cases_are_the_same_for_many_rules(monkeypatch) -> None:
    few = [RobotsRules(text, agent, HOST).allows(url) for text, agent, url, _ in VERDICTS]
    monkeypatch.setattr(robots_rules, "MANY", -1)
    assert [RobotsRules(text, agent, HOST).allows(url) for text, agent, url, _ in VERDICTS] == few


PIECES = ["a", "b", "/", "*", "$", "%41", "%2F", "%2f", "%25", "é", "index.html", "?", "=", "&", "A", "ab", "//"]
RULES = st.lists(st.tuples(st.sampled_from(["Allow", "Disallow"]), st.lists(st.sampled_from(PIECES), max_size=6)))


@pytest.mark.slow
@given(RULES, st.lists(st.sampled_from(PIECES), max_size=8))
def test_rules_that_are_looked_up_first_say_what_all_of_them_say(rules, path) -> None:
    text = "\n".join(["User-agent: *", *(f"{kind}: /{''.join(pieces)}" for kind, pieces in rules)])
    url, group = f"{HOST}/{''.join(path)}", group_of(text, "owl")
    assert ManyRules(group).allows(url) == Protego.parse(group).can_fetch(url, "*")


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("rule", ["/*ab*zz%d$", "/*za*zz%d"])
def test_of_thousands_of_rules_few_are_matched(rule, monkeypatch) -> None:
    """Each costs a pass over the address, at each request of its host."""
    text = "\n".join(["User-agent: *", *(f"Disallow: {rule % number}" for number in range(24_000)), "Disallow: /b"])
    rules, asked = RobotsRules(text, "owl", HOST), []

    def parse(text: str) -> Protego:
        asked.append(text.count("\n"))
        return Protego.parse(text)

    monkeypatch.setattr(robots_rules, "Protego", SimpleNamespace(parse=parse))
    assert not rules.allows(f"{HOST}/b{'za' * 900}12")
    assert asked == [1]


def test_an_address_that_a_thousand_rules_may_match_is_left() -> None:
    text = "\n".join(["User-agent: *", *(f"Disallow: /*{'z' * (number % 9 + 1)}*q" for number in range(2_000))])
    rules = RobotsRules(text, "owl", HOST)
    assert rules.allows(f"{HOST}/zzz")
    assert not rules.allows(f"{HOST}/q{'z' * 20}")


@pytest.mark.parametrize("body", BYTES)
def test_bytes_of_any_kind(body: bytes) -> None:
    text, problem = robots_text(body)
    assert problem is None
    assert not allows(text, "wren", f"{HOST}/x")
    assert allows(text, "owl", f"{HOST}/x")


@pytest.mark.parametrize(
    ("text", "allowed", "delay"),
    [
        # what is no rule does not end the naming, wherever it stands
        ("User-agent: owl\nNoindex: /\nUser-agent: wren\nDisallow: /x", False, 0.0),
        ("User-agent: owl\nnonsense\nUser-agent: wren\nDisallow: /x", False, 0.0),
        ("User-agent: owl\nSitemap: /s.xml\nUser-agent: wren\nDisallow: /x", False, 0.0),
        ("User-agent: owl\nCrawl-delay: 3\nUser-agent: wren\nDisallow: /x", False, 3.0),
        ("User-agent: owl\nCrawl-delay: 3\n\nUser-agent: wren\nCrawl-delay: 9\nDisallow: /x", False, 3.0),
        ("User-agent: wren\nCrawl-delay: 9\nUser-agent: owl\nCrawl-delay: 3\nDisallow: /x", False, 3.0),
        ("User-agent: owl\nDisallow: /x\nCrawl-delay: 3\nUser-agent: wren\nCrawl-delay: 9", False, 3.0),
        ("User-agent: owl\nAllow: /\nUser-agent: wren\nDisallow: /x", True, 0.0),
        # no number is too long for a number
        ("User-agent: *\nDisallow: /x\nRequest-rate: 1/" + "9" * 4_000, False, 999_999_999.0),
        ("User-agent: *\nDisallow: /x\nRequest-rate: 1/" + "9" * 5_000, False, 999_999_999.0),
        ("User-agent: *\nDisallow: /x\nCrawl-delay: " + "9" * 5_000, False, 999_999_999.0),
        ("User-agent: *\nDisallow: /x\nCrawl-delay: 0." + "3" * 50, False, 1 / 3),
        # a version, or a star, behind the name
        ("User-agent: Owl/2.1\nDisallow: /x", False, 0.0),
        ("User-agent: owl* (nightly)\nDisallow: /x", False, 0.0),
        # a name is a whole name
        ("User-agent: ow\nDisallow: /x", True, 0.0),
        ("User-agent: owls\nDisallow: /x", True, 0.0),
        ("User-agent: *\nDisallow: /\nUser-agent: o\nAllow: /", False, 0.0),
        # what follows a strange line end is part of the line
        ("User-agent: owl\nAllow: /y\u2028Allow: /x\nDisallow: /x", False, 0.0),
        ("User-agent: owl\nDisallow: /x\x0bAllow: /x", True, 0.0),
    ],
)
@pytest.mark.parametrize("agent", ["owl", "Owl/3.0"])
def test_groups(text: str, allowed: bool, delay: float, agent: str) -> None:
    rules = RobotsRules(text, agent, f"{HOST}/robots.txt")
    assert rules.allows(f"{HOST}/x") is allowed
    assert rules.delay == delay


def test_a_name_with_other_characters_is_found() -> None:
    assert not allows("User-agent: archive.org_bot\nDisallow: /x", "archive.org_bot", f"{HOST}/x")


@pytest.mark.slow
def test_many_names_with_many_rules_cost_no_more_than_their_lines() -> None:
    names = "".join(f"User-agent: bot{number}\n" for number in range(12_000))
    text = names + "".join(f"Disallow: /{number}\n" for number in range(12_000))
    assert not allows(text, "bot7", f"{HOST}/7")
    assert group_of(text, "bot7").count("\n") == 12_000, "as many for each name would be 144 million"


def test_a_page_of_blank_lines_is_looked_at_once() -> None:
    assert is_page("<html>" + "\n" * 400_000)


def test_coded_and_packed() -> None:
    text = "User-agent: *\nDisallow: /x\n"
    packed = zstd.compress(text.encode())
    assert robots_text(packed, [b"zstd"]) == (text, None)
    assert robots_text(packed, [b"br"]) == ("", "broken br"), "nothing of it is used"
    assert robots_text(packed, [b"compress"])[1] == "content coding 'compress' is not known"
    long = zstd.compress((text + "#" * 99 + "\n" + "# filler\n" * 100_000).encode())
    assert robots_text(long, [b"zstd"])[0].startswith(text)


def test_lines_may_end_in_cr_alone() -> None:
    rules = RobotsRules("User-agent: *\rDisallow: /x\r sitemap: /map.xml\r", "bot", f"{HOST}/robots.txt")
    assert not rules.allows(f"{HOST}/x")
    assert rules.sitemaps == (f"{HOST}/map.xml",)
    assert not is_page("<!-- ours -->\rUser-agent: *\rDisallow: /x")
