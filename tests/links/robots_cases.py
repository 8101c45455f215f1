"""What Google's crawler reads in a robots.txt, case by case: the rules of its published parser, in examples of our own.

Each case is one verdict: a robots.txt, a crawler's name, a URL, and whether it may be fetched. Source: the behaviour
that https://github.com/google/robotstxt states in its tests, one of ours for each of theirs; RFC 9309.
"""

from __future__ import annotations

from typing import NamedTuple

HOST = "http://h.example"
LONG = "/t/" + "m" * 17_000  #: longer than what is read of a line
OTHER = "/t/" + "n" * 17_000


class Case(NamedTuple):
    """One verdict."""

    text: str
    agent: str
    url: str
    allowed: bool


def cases(text: str, agent: str, allowed: str = "", refused: str = "") -> list[Case]:
    return [
        Case(text, agent, path if "://" in path[:8] else HOST + path, paths is allowed)
        for paths in (allowed, refused)
        for path in paths.split()
    ]


def only(*allowed: str, agent: str = "owl") -> str:
    """All is closed but that."""
    return "\n".join((f"User-agent: {agent}", "Disallow: /", *(f"Allow: {path}" for path in allowed)))


def spelled(*lines: str) -> list[str]:
    """Lines in capitals, small letters, and both."""
    mixed = ["".join(char.upper() if at % 2 else char.lower() for at, char in enumerate(line)) for line in lines]
    return ["\n".join(form) for form in (map(str.upper, lines), map(str.lower, lines), mixed)]


GROUPS = """allow: /outside/

user-agent: owl
disallow: /
allow: /a/
user-agent: wren
disallow: /
allow: /b/


allow: /c/
user-agent: lark

user-agent: owl
allow: /d/
disallow: /
"""
FIELDS = [
    f"{field}: owl\n{allow}: /a/\n{deny}: /"
    for field, allow, deny in (
        ("USER-AGENT", "ALLOW", "DISALLOW"),
        ("user-agent", "allow", "disallow"),
        ("uSEr-aGEnT", "aLLoW", "dISaLLoW"),
    )
]
NAMES = [f"User-agent: {name}\nAllow: /a/\nDisallow: /" for name in ("OWL NEST", "owl nest", "oWL nESt")]
SECOND_WORD = "User-agent: *\nDisallow: /\nUser-agent: Owl Nest\nAllow: /a/\nDisallow: /"
ANYBODY = "user-agent: *\nallow: /\nuser-agent: owl\ndisallow: /"
OTHERS = "user-agent: owl\nallow: /\nuser-agent: wren\ndisallow: /\nuser-agent: lark\ndisallow: /"
INDEX = "User-agent: *\nAllow: /open/index.html\nDisallow: /"
TREES = "/oak /oak.html /oak/leaf.html /oaktree /oaktree/leaf.html /oak.html?age=old"

#: as stated for Google's parser
VERDICTS = [
    # nothing to go by
    Case("", "owl", "", True),
    Case("user-agent: owl\ndisallow: /", "", "", True),
    Case("user-agent: owl\ndisallow: /", "owl", "", False),
    Case("", "", "", True),
    # lines: name, colon, value; the colon may be missing
    *cases("user-agent: owl\ndisallow: /", "owl", refused="/a/b"),
    *cases("one: owl\ntwo: /", "owl", allowed="/a/b"),
    *cases("user-agent owl\ndisallow /", "owl", refused="/a/b"),
    # groups: of one name are one; a rule ends the naming; rules of nobody count for nobody
    *cases(GROUPS, "owl", "/a/x /d/x", "/b/x /outside/"),
    *cases(GROUPS, "wren", "/b/x /c/x", "/d/x /outside/"),
    *cases(GROUPS, "lark", "/d/x", "/outside/"),
    # any case of the fields' names, of the crawlers' names; not of paths
    *(case for text in FIELDS for case in cases(text, "owl", "/a/x", "/b/x")),
    *(case for text in NAMES for agent in ("Owl", "owl") for case in cases(text, agent, "/a/x", "/b/x")),
    *cases(SECOND_WORD, "Owl", "/a/x"),
    *cases(SECOND_WORD, "Owl Nest", refused="/a/x"),
    *cases("user-agent: owl\ndisallow: /a/", "owl", refused="/a/x"),
    *cases("user-agent: owl\ndisallow: /A/", "owl", "/a/x"),
    # the group of the name, else of all, else none
    *cases("", "owl", "/a/x"),
    *cases(ANYBODY, "owl", refused="/a/x"),
    *cases(ANYBODY, "wren", "/a/x"),
    *cases(OTHERS, "robin", "/a/x"),
    # the longest rule that fits; Allow where two are equally long
    *cases("user-agent: owl\ndisallow: /a/leaf.html\nallow: /a/", "owl", refused="/a/leaf.html"),
    *cases("user-agent: owl\nallow: /a/leaf.html\ndisallow: /a/", "owl", "/a/leaf.html", "/a/"),
    *cases("user-agent: owl\ndisallow: \nallow: ", "owl", "/a/leaf.html"),
    *cases("user-agent: owl\ndisallow: /\nallow: /", "owl", "/a/leaf.html"),
    *cases("user-agent: owl\ndisallow: /a\nallow: /a/", "owl", "/a/", "/a"),
    *cases("user-agent: owl\ndisallow: /a/leaf.html\nallow: /a/leaf.html", "owl", "/a/leaf.html"),
    *cases("user-agent: owl\nallow: /leaf\ndisallow: /*.html", "owl", "/leaf", "/leaf.html"),
    *cases("user-agent: owl\nallow: /a/leaf.\ndisallow: /*.html", "owl", "/a/leaf.html", "/a/x.html"),
    *cases("User-agent: *\nDisallow: /a/\nUser-agent: owl\nDisallow: /b/", "owl", "/a/leaf", "/b/leaf"),
    # characters: as they are, or encoded
    *cases(only("/a/b?c=d&e=http://h.example?f&g"), "owl", "/a/b?c=d&e=http://h.example?f&g"),
    *cases(only("/a/\u20ac"), "owl", "/a/%E2%82%AC", "/a/\u20ac"),
    *cases(only("/a/%E2%82%AC"), "owl", "/a/%E2%82%AC", "/a/\u20ac"),
    *cases(only("/a/%6F%77%6C"), "owl", "/a/%6F%77%6C", "/a/owl"),
    # * and $ and #
    *cases("User-agent: owl\nDisallow: /a/b/c\nAllow: /a/*/d", "owl", "/a/c /a//c /a/x/c", "/a/b/c"),
    *cases("User-agent: owl\nDisallow: /a/b$\nAllow: /a/b/c", "owl", "/a/b/c /a/b/ /a/b/d", "/a/b"),
    *cases("User-agent: owl\n# Disallow: /\nDisallow: /a/c#d\nAllow: /", "owl", "/a/b", "/a/c"),
    # an index page is its folder
    *cases(INDEX, "owl", "/open/ /open/index.html", "/open/index.htm /else"),
    # lines without end are cut
    *cases(f"user-agent: owl\ndisallow: {LONG}/z", "owl", "/y", f"{LONG}/y"),
    *cases(f"{only()}\nallow: {LONG}/z\nallow: {OTHER}/z", "owl", f"{LONG}/z {OTHER}/y", "/"),
    # paths are beginnings
    *cases(only("/oak"), "owl", TREES, "/elm /Oak.asp /bogoak /?tree=oak"),
    *cases(only("/oak*"), "owl", TREES, "/elm /Oak.asp /bogoak /?tree=oak"),
    *cases(
        only("/oak/"),
        "owl",
        "/oak/ /oak/leaf /oak/?leaf /oak/leaf.html /oak/?a=b",
        "/elm /oak /oak.html /Oak/Leaf.html",
    ),
    *cases(
        only("/*.cgi"),
        "owl",
        "/a.cgi /b/a.cgi /b/a.cgi?c //b/a.cgi.x.html /a.cgi/ /index?f=a.cgi/",
        "/elm /cgi/ /index?cgi /a.CGI",
    ),
    *cases(only("/*.cgi$"), "owl", "/a.cgi /b/a.cgi", "/elm /a.cgi?c /a.cgi/ /a.cgi5 /cgi/ /a?cgi /aaacgiaaa //a.CGI"),
    *cases(only("/oak*.cgi"), "owl", "/oak.cgi /oaktree/leaf.cgi?c", "/elm /Oak.CGI"),
    *cases("user-agent: owl\nallow: /p\ndisallow: /", "owl", "/page"),
    *cases("user-agent: owl\nallow: /a\ndisallow: /a", "owl", "/a/page"),
    *cases("user-agent: owl\nallow: /page\ndisallow: /*.htm", "owl", refused="/page.htm"),
    *cases("user-agent: owl\nallow: /$\ndisallow: /", "owl", "/", "/page.html"),
]

_LINES = ("User-agent: owl", "Allow: /a", "User-agent: wren", "", "", "Disallow: /")
#: as bytes: line ends, byte order marks whole, in part, broken, and elsewhere; all close /x to a wren
BYTES = [
    *("".join(line + end for line in _LINES).encode() for end in ("\n", "\r\n", "\r")),
    "\n".join(_LINES).encode(),
    "\r\n".join(_LINES[:3]).encode() + b"\n" + "\n".join(_LINES[3:]).encode(),
    *(mark + b"User-agent: wren\nDisallow: /x" for mark in (b"\xef\xbb\xbf", b"\xef\xbb", b"\xef")),
    b"User-agent: wren\n\xef\xbb\xbfAllow: /x\nDisallow: /x",
    b"\xef\x11\xbfUser-agent: owl\nUser-agent: wren\nDisallow: /x",
    "\ufeffUser-agent: wren\nDisallow: /x".encode("utf-16-le"),
    "\ufeffUser-agent: wren\nDisallow: /x".encode("utf-16-be"),
    "User-agent: wren\nDisallow: /x".encode("utf-16-le"),
    b"User-agent: wren\0\nDis\0allow: /x\0",
]

#: where we read otherwise, and why
EXPLAINED = {
    (only("/a/\u20ac"), f"{HOST}/a/\u20ac"): "the URL is encoded before it is compared, not only the rule",
    (only("/a/%E2%82%AC"), f"{HOST}/a/\u20ac"): "the same",
    (only("/a/%6F%77%6C"), f"{HOST}/a/owl"): "RFC 9309, 2.2.2: %6F is o, wherever it stands",
}
