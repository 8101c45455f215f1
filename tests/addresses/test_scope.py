"""What belongs to a site."""

from __future__ import annotations

import random
import socket
import tracemalloc

import pytest

from sharc_crawler.addresses.scope import MOST_LISTED, LeftOut, Scope, TrapLimits, trap
from sharc_crawler.errors import UsageError


@pytest.mark.parametrize(
    ("seed", "kind", "url", "why_not"),
    [
        ("http://www.h.org/a/", "host", "http://www.h.org/b", None),
        ("http://www.h.org/a/", "host", "https://h.org/b?c", None),
        ("http://h.org/", "host", "http://www.h.org/", None),
        ("http://h.org/", "host", "http://sub.h.org/", "another host"),
        ("http://h.org/", "host", "http://h.org:8080/", "another host"),
        ("http://h.org/", "host", "http://evil-h.org/", "another host"),
        ("http://www.h.co.uk/", "domain", "http://sub.deep.h.co.uk:8080/", None),
        ("http://www.h.co.uk/", "domain", "http://other.co.uk/", "another domain"),
        ("http://a.github.io/", "domain", "http://b.github.io/", "another domain"),
        ("http://archive.intra:8000/", "domain", "http://www.opac.archive.intra:8000/", None),
        ("http://library.intra/", "domain", "http://museum.intra/", "another domain"),
        ("http://127.0.0.1:8000/", "domain", "http://127.0.0.1:8001/", None),
        ("http://127.0.0.1/", "domain", "http://127.0.0.2/", "another domain"),
        ("http://[::1]:80/", "domain", "http://[::1]:81/", None),
        ("http://localhost/", "domain", "http://localhost/a", None),
        ("http://h.org/docs/index.html", "prefix", "https://www.h.org/docs/a/b", None),
        ("http://h.org/docs/index.html", "prefix", "http://h.org/docs-old/", "outside the prefix"),
        ("http://h.org/docs/?page=/a/b", "prefix", "http://h.org/docs/c", None),
        ("http://h.org/docs", "prefix", "http://h.org/other", None),
        ("http://h.org/docs/", "prefix", "http://g.org/docs/", "another host"),
    ],
)
def test_kinds(seed: str, kind: str, url: str, why_not: str | None) -> None:
    scope = Scope([seed], kind)  # type: ignore[arg-type]
    assert scope.why_not(url) == why_not


def test_several_seeds_are_one_site() -> None:
    scope = Scope(["http://a.org/x/", "http://b.org/y/"], "prefix")
    assert not scope.why_not("http://a.org/x/1")
    assert not scope.why_not("http://b.org/y/1")
    assert scope.why_not("http://b.org/x/1")


def test_patterns_narrow_and_take_away() -> None:
    scope = Scope(["http://h.org/"], include=["/blog/", "/news/"], exclude=[r"\.zip$"])
    assert not scope.why_not("http://h.org/")
    assert not scope.why_not("http://h.org/blog/1")
    assert scope.why_not("http://h.org/shop") == "matches no include pattern"
    assert scope.why_not("http://h.org/blog/1.zip") == r"excluded by '\.zip$'"
    assert Scope(["http://h.org/"], exclude=["."]).why_not("http://h.org/")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seeds": ["h.org"]}, "url='h.org' is not a web address"),
        ({"seeds": ["http://h.org/"], "kind": "hots"}, "scope='hots' is not known; did you mean 'host'"),
        ({"seeds": ["http://h.org/"], "include": ["("]}, r"include='\(' is not a regular expression"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Scope(**arguments)  # type: ignore[arg-type]


def test_nothing_is_fetched_to_know_a_domain(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the network was touched")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert not Scope(["http://a.never-seen.co.jp/"], "domain").why_not("http://b.never-seen.co.jp/")


@pytest.mark.parametrize(
    ("url", "is_trap"),
    [
        ("http://h/" + "a" * 2_075, True),
        ("http://h/" + "a" * 2_074, False),
        ("http://h/" + "/".join(map(str, range(20))), False),
        ("http://h/" + "/".join(map(str, range(21))), True),
        ("http://h/2011/11/11/11", False),
        ("http://h/cal/cal/cal/cal", True),
        ("http://h/a?x=/b/b/b/b/b/b", False),
        ("http://h/////////", False),
    ],
)
def test_traps(url: str, is_trap: bool) -> None:
    assert (trap(url) is not None) == is_trap
    assert (Scope(["http://h/"]).why_not(url) is not None) == is_trap


def test_limits_are_settable() -> None:
    scope = Scope(["http://h/"], limits=TrapLimits(length=20, depth=5, repeats=1))
    assert [scope.why_not(f"http://h/{path}") is None for path in ("a/b", "a/a", "1/2/3/4/5/6", "a" * 12)] == [
        True,
        False,
        False,
        False,
    ]


def test_where_no_path_segment_may_occur_none_is_no_trap() -> None:
    assert trap("http://h///", TrapLimits(repeats=0)) is None
    assert trap("http://h/a/a/", TrapLimits(repeats=0)) == "a path segment occurs 2 times (limit 0)"


def test_names_of_a_folder_that_is_open_are_let_in_without_being_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    look = Scope.why_not_anew
    monkeypatch.setattr(Scope, "why_not_anew", lambda scope, url: asked.append(url) or look(scope, url))
    monkeypatch.setattr("sharc_crawler.addresses.scope.MOST_FOLDERS", 1)
    scope = Scope(["http://h/"], limits=TrapLimits(depth=1))
    for name in "abc":
        assert not scope.why_not(f"http://h/{name}")
        assert scope.why_not(f"http://g/{name}")
    assert asked == ["http://h/a", *(f"http://g/{name}" for name in "abc")]
    asked.clear()
    for name in "abc":
        scope.why_not(f"https://h/{name}")
    assert len(asked) == 3, "no more folders are remembered"


def test_a_seed_that_lies_too_deep_opens_no_folder() -> None:
    scope = Scope(["http://h/a/b/c/d"], limits=TrapLimits(depth=3, repeats=3))
    assert scope.why_not("http://h/a/b/c/d") is None
    assert scope.why_not("http://h/a/b/c/e") == "path of 4 segments (limit 3)"


def looks_like_a_trap(url: str, limits: TrapLimits) -> bool:
    path = url.split("?")[0].split("/")[3:]
    often = [path.count(segment) for segment in path if segment]
    deep = len(path) > limits.depth and len(path) > limits.repeats
    return len(url) > limits.length or deep or any(times > limits.repeats for times in often)


@pytest.mark.parametrize("seed", range(8))
def test_what_was_let_in_before_does_not_change_what_is_let_in(seed: int) -> None:
    """Addresses of few words, against a scope that was never asked before and the rules one by one."""
    draw = random.Random(seed)
    limits = TrapLimits(length=22, depth=2 if seed == 4 else 4, repeats=3)

    def address() -> str:
        path = "/".join(draw.choice("aab") for _ in range(draw.choice([1, 2, 3, 4, 4, 5])))
        return f"http://{draw.choice(['h', 'h', 'hh'])}/{path}{draw.choice(['', '', '?a', '?a/b', '?x=1'])}"

    seeds, given = {address() for _ in range(3)}, {"include": (), "exclude": (), "limits": limits}
    given |= [{}, {}, {"include": ("b", "x=")}, {"exclude": ("a/b",)}][seed % 4]
    kind = "host" if seed % 3 else "prefix"
    scope = Scope(seeds, kind, **given)
    for _ in range(200):
        if draw.random() < 0.01:
            seeds = {*seeds, more := address()}
            scope = scope.widened(more)
        found = scope.why_not(url := address())
        assert found == Scope(seeds, kind, **given).why_not(url)
        if kind == "host" and not given["include"] and not given["exclude"] and url not in seeds:
            inside = url.split("/")[2] in {one.split("/")[2] for one in seeds}
            assert (found is None) == (inside and not looks_like_a_trap(url, limits)), url


def test_listed_once_each_up_to_a_number():
    left = LeftOut(most=100)
    left.was_listed("http://h/7")
    told = [number for number in range(300) if left.add(f"http://h/{number // 2}", "scope")]
    assert told == [number for number in range(0, 200, 2) if number != 14]
    assert left.reasons == {"scope": 300}


def test_of_one_capture_twenty_thousand_are_listed():
    left = LeftOut()
    assert sum(left.add(f"http://h/{number}", "scope") for number in range(20_001)) == 20_000


@pytest.mark.slow
@pytest.mark.parametrize(("count", "most"), [(0, 1_500), (5, 1_500), (MOST_LISTED, 45 * MOST_LISTED)])
def test_few_take_next_to_nothing_and_many_some_bytes_each(count, most):
    urls = [f"http://h/{number}" for number in range(count)]
    tracemalloc.start()
    left = LeftOut()
    assert all(left.add(url, "scope") for url in urls)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size < most, "a set of their hashes took 140 each"
