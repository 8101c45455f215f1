"""What a page names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.bodies.markup import parsed
from sharc_crawler.links.found import LIMIT, Resolver
from sharc_crawler.links.html import extract, named
from sharc_crawler.model import Document

URL = "http://h/d/page"


def links(body: str, url: str = URL) -> list[str]:
    return list(extract(body.encode(), url).links)


def resources(body: str) -> list[str]:
    return list(extract(body.encode(), URL).resources)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<a href=a>", "http://h/d/a"),
        ("<A HREF='/a'>", "http://h/a"),
        ("<map><area href=../a></map>", "http://h/a"),
        ("<frameset><frame src=menu.html></frameset>", "http://h/d/menu.html"),
        ("<frameset><NOFRAMES><body><a href=plain.html>x</a></body></NOFRAMES></frameset>", "http://h/d/plain.html"),
        ("<a rel=nofollow href=a>", "http://h/d/a"),
        ("<a href='?b=1'>", "http://h/d/page?b=1"),
        ("<a href='//g/a'>", "http://g/a"),
        ("<a href='https:/a'>", None),
        ("<a href='HTTPS://G/a'>", "HTTPS://G/a"),
        ("<a href='a#b'>", "http://h/d/a"),
        ("<a href=' \n a \t'>", "http://h/d/a"),
        ("<a href='a\nb'>", "http://h/d/ab"),
        ("<a href='a b'>", "http://h/d/a%20b"),
        ("<a href='a&amp;b&#x3D;c'>", "http://h/d/a&b=c"),
        ("<a href='a?b&lang=c'>", "http://h/d/a?b&lang=c"),
        ("<a href='/é?é'>", "http://h/%C3%A9?%C3%A9"),
        ("<a href='\\a\\b'>", "http://h/a/b"),
        ("<a href='a/./b/../c'>", "http://h/d/a/c"),
        ("<a href='b:1/c'>", None),
        ("<a href='./b:1/c'>", "http://h/d/b:1/c"),
        ("<a href='#top'>", None),
        ("<a href=''>", None),
        ("<a>", None),
        ("<a href='javascript:go()'>", None),
        ("<a href='JavaScript:go()'>", None),
        ("<a href='mailto:a@b.c'>", None),
        ("<a href='data:text/html,a'>", None),
        ("<a href='ftp://h/a'>", None),
        ("<a href='http://[1/'>", None),
        ("<a href='http://'>", None),
        ("<link rel=canonical href=/a>", "http://h/a"),
        ("<link rel='NEXT' href=/a>", "http://h/a"),
        ("<link rel=alternate hreflang=de href=/de>", "http://h/de"),
        ("<link rel=alternate type=application/rss+xml href=/feed>", None),
        ("<link rel=alternate type=application/json+oembed href=/o>", None),
        ("<link rel=search href=/search.html>", "http://h/search.html"),
        ("<link rel=dns-prefetch href=//g/>", None),
        ("<img longdesc=lang.html>", "http://h/d/lang.html"),
        ("<img longdesc='A view of the town'>", None),
        ("<meta http-equiv=Refresh content='5; URL=a'>", "http://h/d/a"),
        ("<meta http-equiv=refresh content=\"0;url='a?b=1'\">", "http://h/d/a?b=1"),
        ("<meta http-equiv=refresh content=30>", None),
        ("<meta http-equiv=refresh content='0;/a'>", "http://h/a"),
        ("<meta http-equiv=refresh content='1.5, ../a b'>", "http://h/a%20b"),
        ("<meta http-equiv=refresh content='0; '>", None),
        ("<meta http-equiv=refresh content='soon; /a'>", None),
        ("<meta charset=utf-16><a href=/a>", "http://h/a"),
        ("<a href='http:/a'>", "http://h/a"),
        ("<svg><a xlink:href='a'><text>b</text></a></svg>", "http://h/d/a"),
        ("<!-- <a href=a> -->", None),
        ("<script>'<a href=a>'</script>", None),
        ("<noscript><a href=a></a></noscript>", "http://h/d/a"),
    ],
)
def test_links(body: str, expected: str | None) -> None:
    assert links(body) == ([expected] if expected else [])
    assert resources(body) == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<img src=a.png>", ["a.png"]),
        ("<img src=a.png srcset='b.png 1x, c.png 2x'>", ["a.png", "b.png", "c.png"]),
        ("<picture><source srcset='b.webp 480w,'></picture>", ["b.webp"]),
        ("<img srcset=' a.png\n 1x ,\tb,c.png   2x,d.png'>", ["a.png", "b,c.png", "d.png"]),
        ("<img srcset='a.png 1x (e, f), b.png'>", ["a.png", "b.png"]),
        (
            "<picture><source srcset=a.avif media=print><source srcset=b.webp><img src=c.png></picture>",
            ["a.avif", "b.webp", "c.png"],
        ),
        ("<img src='data:image/gif;base64,R0lGOD'>", []),
        ("<video poster=a.jpg><source src=a.mp4></video>", ["a.jpg", "a.mp4"]),
        ("<video src=a.mp4 poster=a.jpg><track src=a.vtt></video>", ["a.mp4", "a.jpg", "a.vtt"]),
        ("<audio><source src=a.ogg></audio>", ["a.ogg"]),
        ("<input type=image src=a.png>", ["a.png"]),
        ("<link rel=stylesheet href=a.css>", ["a.css"]),
        ("<link rel='alternate stylesheet' href=a.css>", ["a.css"]),
        ("<link rel='shortcut icon' href=a.ico>", ["a.ico"]),
        ("<link rel=preload as=image href=a.png imagesrcset='b.png 2x'>", ["a.png", "b.png"]),
        ("<link rel=manifest href=a.json>", ["a.json"]),
        ("<link rel=apple-touch-icon href=a.png><link rel=mask-icon href=b.svg>", ["a.png", "b.svg"]),
        ("<link rel=apple-touch-icon-precomposed href=a.png>", ["a.png"]),
        ("<link rel=apple-touch-startup-image href=a.png>", ["a.png"]),
        ("<link rel=modulepreload href=a.js>", ["a.js"]),
        ("<link rel=search type=application/opensearchdescription+xml href=a.xml>", ["a.xml"]),
        ("<link rel=image_src href=a.png><link itemprop=image href=b.png>", []),
        ("<meta property=og:image content=a.png><meta name=twitter:image content=b.png>", []),
        ("<script src=a.js></script>", ["a.js"]),
        ("<object data=a.pdf></object><embed src=b.swf>", ["a.pdf", "b.swf"]),
        ("<iframe src=a.html></iframe>", ["a.html"]),
        ("<amp-img src=a.png srcset='b.png 2x'></amp-img><amp-anim src=c.gif></amp-anim>", ["a.png", "b.png", "c.gif"]),
        ("<model-viewer src=a.glb ios-src=a.usdz poster=a.webp></model-viewer>", ["a.glb", "a.webp", "a.usdz"]),
        ("<amp-video src=a.mp4 poster=b.png><source src=c.webm></amp-video>", ["a.mp4", "b.png", "c.webm"]),
        ("<amp-iframe src=a.html></amp-iframe><amp-audio src=b.mp3></amp-audio>", ["a.html", "b.mp3"]),
        ("<?xml-stylesheet href='a.css' type='text/css'?><html><img src=b></html>", ["b", "a.css"]),
        ("<iframe srcdoc='&lt;img src=a.png&gt;&lt;style&gt;b { c: url(d.png) }&lt;/style&gt;'>", ["a.png", "d.png"]),
        ("<base href=/d/><iframe srcdoc='&lt;base href=/e/&gt;&lt;img src=a.png&gt;'>", ["a.png"]),
        ("<template><img src=a.png></template><noscript><img src=b.png></noscript>", ["a.png", "b.png"]),
        ("<p style='background: url(a.png)'>", ["a.png"]),
        ('<p style="background: url(&quot;a.png&quot;)">', ["a.png"]),
        ("<p style='background: image-set(&quot;a.png&quot; 1x, &quot;b.png&quot; 2x)'>", ["a.png", "b.png"]),
        ("<style>@import 'a.css'; b { background: url(c.png) }</style>", ["a.css", "c.png"]),
        ("<svg><image href=a.png /><use xlink:href='b.svg#c'/></svg>", ["a.png", "b.svg"]),
        ("<svg><use href='#c'/></svg>", []),
        ("<svg><feImage href=a.png /><script href=b.js /><script xlink:href=c.js /></svg>", ["a.png", "b.js", "c.js"]),
        ("<body background=a.png><td background=b.png>", ["a.png", "b.png"]),
    ],
)
def test_resources(body: str, expected: list[str]) -> None:
    """All that a browser loads by itself, on any screen; tried with Chromium: what it asked for is among these."""
    assert resources(body) == [f"http://h/d/{name}" for name in expected]
    assert links(body) == []


def test_documents_within_documents_within_documents_are_not_read() -> None:
    assert resources("<iframe srcdoc='<iframe srcdoc=&quot;<img src=a>&quot; src=b></iframe>'>") == ["http://h/d/b"]
    assert len(resources("<iframe/srcdoc=" * 50_000)) <= 1


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        ("<base href=/b/>", "http://h/b/a"),
        ("<base href='https://g/c/x'>", "https://g/c/a"),
        ("<base target=_top><base href=b/>", "http://h/d/b/a"),
        ("<base href=/b/><base href=/c/>", "http://h/b/a"),
        ("<base href='data:text/html,x'>", "http://h/d/a"),
        ("<base href=''>", "http://h/d/a"),
    ],
)
def test_base(base: str, expected: str) -> None:
    assert links(f"<a href=a>{base}") == [expected]


@pytest.mark.parametrize("folders", [2_000, 100_000])
def test_a_base_longer_than_any_address_that_is_asked_for_does_not_count(folders: int) -> None:
    """Each of a page's links would be as long, and take as long to be made absolute."""
    base = "<base href='/" + "a/" * folders + "'>"
    assert links(base + "<a href=../ü>x</a>") == links("<a href=../ü>x</a>")


def test_an_address_without_an_end_is_not_escaped(monkeypatch) -> None:
    """Of a host of a megabyte that took five seconds."""
    escaped = []
    monkeypatch.setattr(Resolver, "_escaped", lambda _, url: escaped.append(url) or url)
    extract(
        f"<a href='http://{'ü.' * 300_000}/'>x</a><a href=ü>y</a>".encode(), "http://h/", "text/html; charset=utf-8"
    )
    assert escaped == ["http://h/ü"]


def test_each_once_in_order() -> None:
    assert links("<a href=b><a href=a><a href='b#x'><a href=/d/b>") == ["http://h/d/b", "http://h/d/a"]


def test_a_host_without_path() -> None:
    assert links("<a href=a><a href='?b'>", "http://h") == ["http://h/a", "http://h?b"]
    assert links("<a href=a>", "http://h/d/?x=/y/z") == ["http://h/d/a"]


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("<a href='/é?é'>".encode("latin-1"), "text/html; charset=iso-8859-1"),
        ("<meta charset=iso-8859-1><a href='/é?é'>".encode("latin-1"), None),
        ("<a href='/é?é'>".encode("latin-1"), None),
        ("<meta charset=utf-8><a href='/é?é'>".encode("latin-1"), "text/html; charset=windows-1252"),
    ],
)
def test_encodings(body: bytes, content_type: str | None) -> None:
    assert extract(body, URL, content_type).links == ("http://h/%C3%A9?%E9",)


def test_byte_order_marks_come_first() -> None:
    body = "<meta charset=iso-8859-1><a href='/é'>"
    for encoding in ("utf-8-sig", "utf-16"):
        assert extract(body.encode(encoding), URL, "text/html; charset=ascii").links == ("http://h/%C3%A9",)


def test_what_the_page_cannot_encode_is_sent_in_utf_8() -> None:
    body = b"<meta charset=iso-8859-1><a href='/?&pi;'>"
    assert extract(body, URL).links == ("http://h/?%CF%80",)


def test_an_unknown_encoding_is_no_obstacle() -> None:
    assert extract(b"<a href=/a?\xe9>", URL, "text/html; charset=klingon").links


def test_the_limit_is_stated() -> None:
    body = "".join(f"<a href={i}>" for i in range(LIMIT + 5))
    found = extract(body.encode(), URL)
    assert len(found.links) == LIMIT
    assert found.links[-1] == f"http://h/d/{LIMIT - 1}"
    assert found.left_out == 5
    assert found.unread == (f"5 references after the first {LIMIT:,}",)


@pytest.mark.parametrize("end", [b"</body></html>", b"</BODY >\n</HTML >", b"</html>"])
def test_what_stands_behind_the_end_is_read_as_browsers_do(end: bytes) -> None:
    page = b"<html><body><a href=a>a</a>" + end + b"\n<a href=b>b</a>"
    assert extract(page, "http://h/", "text/html").links == ("http://h/a", "http://h/b")


def test_deep_pages_are_read() -> None:
    assert links("<div>" * 1_000 + "<a href=a>") == ["http://h/d/a"]


@pytest.mark.parametrize("body", [b"", b" ", b"\x00", b"<!-- ", b"%PDF-1.7 \xff\xfe", b"\xff\xfe", b"<" * 100_000])
def test_what_is_no_page_names_nothing(body: bytes) -> None:
    found = extract(body, URL)
    assert (found.links, found.resources, found.base) == ((), (), URL)


FRAGMENTS = st.sampled_from(
    [
        "<a href=",
        "<base href='",
        "'",
        '"',
        ">",
        "<meta charset=utf-16>",
        "<meta http-equiv=refresh content=0;url=",
        "//",
        "<style>@import '",
        "<img srcset=",
        "http://[",
        "http://h:x/",
        "\\",
        "&#0;",
        "&#xD800;",
        "\x00",
        "\ud800",
        "<svg>",
    ]
)


@pytest.mark.slow
@given(st.lists(FRAGMENTS | st.text(max_size=5)).map("".join), st.sampled_from([URL, "http://h", "https://[::1]/"]))
def test_never_raises(text: str, url: str) -> None:
    found = extract(text.encode("utf-8", "surrogatepass"), url)
    for address in found.links + found.resources:
        assert address.isascii()
        assert address.lower().startswith(("http://", "https://"))
        assert "#" not in address


@given(st.binary(), st.none() | st.text(max_size=20).map("text/html; charset={}".format))
def test_never_raises_on_bytes(body: bytes, content_type: str | None) -> None:
    extract(body, URL, content_type)


@pytest.mark.parametrize(
    ("body", "links"),
    [
        ("<a href=# onclick=\"window.open('/map.htm','w','width=2')\">", ["/map.htm"]),
        ("<script>location.href = 'next.html'; window.location=\"b/\"; location='b'</script>", ["next.html"]),
        ("<script>location.replace('/c'); document.location.assign(\"/d\")</script>", ["/c", "/d"]),
        ("<a onclick='window.open(&quot;/q.php?a=1&amp;b=2&quot;)'>", ["/q.php?a=1&b=2"]),
        ("<a onclick=\"window.open('/q.php?a=1&amp;b=2')\">", ["/q.php?a=1&b=2"]),
        ("<script>location = '/e/' + name; x = location; window.open(url); relocation = '/f'</script>", []),
        ("<select><option value=/a/><option value=b.htm><option value='http://h/c'><option value=de></select>", None),
    ],
)
def test_what_scripts_open_and_menus_lead_to(body: str, links: list[str] | None) -> None:
    found = extract(body.encode(), "http://h/").links
    wanted = ["/a/", "/b.htm", "/c"] if links is None else links
    assert set(found) == {f"http://h/{one.lstrip('/')}" for one in wanted}


def test_what_objects_and_applets_play_lies_where_they_say() -> None:
    applet = b"<applet codebase=/java code=A.class archive='/b.jar'><param name=image value=c.png></applet>"
    assert extract(applet, "http://h/x/").resources == ("http://h/b.jar", "http://h/java/A.class")
    more = b"<applet codebase=java/ archive='a.jar, lib/b.jar' code=A.class></applet>"
    assert extract(more, "http://h/").resources == tuple(
        f"http://h/java/{name}" for name in ("a.jar", "lib/b.jar", "A.class")
    )
    many = b"<applet archive='a.jar" + b" " * 1_000_000 + b"b.jar, c.jar'></applet>"  # took an hour
    assert extract(many, "http://h/").resources == ("http://h/c.jar",)
    flash = b"<object><param name=movie value=intro.swf><param name=quality value=high></object>"
    assert extract(flash, "http://h/x/").resources == ("http://h/x/intro.swf",)


def test_headers_lead_on_as_elements_do() -> None:
    page = parsed(b"<base href=/b/><link rel=next href=two>", "text/html")
    link = [b'</a.css>; rel=stylesheet, <three>; rel="next"', b"<feed>; rel=alternate; type=application/rss+xml, <x>"]
    found = named(page, "http://h/", link, [b"0; url=/four"])
    assert found.links == ("http://h/four", "http://h/three", "http://h/b/two")
    assert found.resources == ("http://h/a.css",)
    assert found.feeds == ("http://h/feed",)


def test_what_is_counted_of_a_document() -> None:
    body = (
        b"<a href=/a>1</a><a href='/a#b'>2</a><a href=http://x/>3</a><table><tr><td><table></table></table><img src=i>"
    )
    assert extract(body, "http://h/").document == Document(images=1, tables=2, outlinks=2)
    assert extract(b"", "http://h/").document == Document(0, 0, 0)


def test_what_a_document_within_the_document_holds_is_not_counted() -> None:
    found = extract(b"<img src=i><iframe srcdoc='<a href=x></a><img src=j><table></table>'></iframe>", "http://h/")
    assert (found.document, len(found.resources)) == (Document(images=1, tables=0, outlinks=1), 2)


def test_frames_are_links_and_told_as_frames() -> None:
    found = extract(
        b"<base href=/d/><frameset><frame src=a#b><frame src=c><noframes><a href=e></noframes>", "http://h/"
    )
    assert found.links == ("http://h/d/a", "http://h/d/c", "http://h/d/e")
    assert found.frames == found.links[:2]
    assert found.resources == ()
