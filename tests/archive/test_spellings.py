"""What replay shows of addresses that are spelled otherwise than they were asked for."""

from __future__ import annotations

import re

import pytest
import yaml

from sharc_crawler.archive.cdxj import IndexEntry, index_lines
from sharc_crawler.archive.replay import MOST, preferred, rules

HERE, AWAY = "http://a.org/main.htm", "http://a.org/MAIN.HTM"
RULES = r"""
default_filters:
    fuzzy_search_limit: '100'

    url_normalize:
        - match: '[?&](_|cb)=([\d]+)(?=&|$)'
          replace: ''
rules:
    - url_prefix: 'com,example)/'
      fuzzy_lookup: '()'
    # should be last
    - url_prefix: ''
      fuzzy_lookup:
        match: '()'
"""


@pytest.mark.parametrize(
    ("held", "shown"),
    [
        ([(HERE, "200"), (AWAY, "404"), (HERE, None)], [HERE, HERE]),
        ([(AWAY, "404"), (HERE, "301"), (AWAY, "503")], [HERE]),
        ([(AWAY, "404"), (AWAY, "404")], [AWAY, AWAY]),
        ([(AWAY, "404"), (HERE, "410")], [AWAY, HERE]),
        ([(HERE, "200"), (HERE, "404"), ("http://a.org/b", "404")], [HERE, HERE, "http://a.org/b"]),
        ([(HERE, "200"), (AWAY, "200")], [HERE, AWAY]),
    ],
)
def test_a_spelling_that_failed_does_not_stand_before_one_that_was_answered(held, shown):
    entries = [
        IndexEntry(url, f"2026-11-18T11:06:{second}Z", "text/html", status, "sha1:A", 0, 9, "a.warc.gz")
        for second, (url, status) in enumerate(held, start=10)
    ]
    lines = sorted((f"{one.line()}\n" for one in entries), key=lambda line: line.partition(" {")[0])
    assert sorted(one.url for one in index_lines(preferred(lines))) == sorted(shown)


def test_what_a_crawl_drops_of_an_address_is_dropped_where_replay_looks_for_it(tmp_path):
    program, own = (
        tmp_path / "bin" / "wayback",
        tmp_path / "lib" / "python3.11" / "site-packages" / "pywb" / "rules.yaml",
    )
    own.parent.mkdir(parents=True)
    assert rules(program) == ""
    own.write_text(RULES)
    made = yaml.safe_load(rules(program))
    assert made["rules"][0] == yaml.safe_load(RULES)["rules"][0]
    assert made["default_filters"]["fuzzy_search_limit"] == MOST
    last = made["rules"][-1]["fuzzy_lookup"]
    assert last["re_type"] == "sub"
    assert re.sub(last["match"], last["replace"], "http://h/A/b;jsessionid=X?c=d") == "http://h/A/b"
    same = "h)/register?next=20&page=1"
    for key, found in {
        **dict.fromkeys(["h)/a;jsessionid=x?b=1", "h)/a?b=1&replytocom=7", "h)/a?_ga=1&b=1"], "h)/a?b=1"),
        "h)/a?b=1&fbclid=x&utm_source=y": "h)/a?b=1",
        "h)/login?next=/b": "h)/login",
        same: same,
    }.items():
        for rule in made["default_filters"]["url_normalize"]:
            key = re.sub(rule["match"], rule["replace"], key)
        assert key == found


def test_of_another_pywb_nothing_is_changed(tmp_path):
    own = tmp_path / "lib" / "python3.11" / "site-packages" / "pywb" / "rules.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("rules: []\n")
    assert rules(tmp_path / "bin" / "wayback") == ""
