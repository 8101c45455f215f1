"""Files that a page names beside its links."""

from __future__ import annotations

import pytest

from sharc_crawler.bodies.markup import parsed
from sharc_crawler.links import document
from sharc_crawler.links.files import MOST, is_cited, is_type, maybe
from sharc_crawler.links.html import extract, named

URL = "http://h/d/page"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<meta name=citation_pdf_url content=http://h/article/download/7/9>", ["/article/download/7/9"]),
        ("<meta name=Citation_Fulltext_Html_Url content=/a.html>", ["/a.html"]),
        ("<meta name=bepress_citation_pdf_url content=/viewcontent.cgi?article=1>", ["/viewcontent.cgi?article=1"]),
        ("<meta name=eprints.document_url content=/17/1/a.pdf>", ["/17/1/a.pdf"]),
        ("<meta name=citation_pdf_url content='not yet published'>", []),
        ("<meta name=citation_title content=/a.pdf><meta name=DC.identifier content=doi:10.1/2>", []),
        ("<link rel=alternate type=application/pdf href=/a.pdf>", ["/a.pdf"]),
        ("<link rel=alternate type=application/epub+zip href=/a>", ["/a"]),
        ("<link rel=alternate type=application/pdf href=//g/a.pdf>", []),
        ("<link rel=alternate type=text/calendar href=/a.ics><link rel=alternate type=application/json href=/b>", []),
        ("<link rel=stylesheet type=application/pdf href=/a.css>", []),
        ("<link rel=item type=application/pdf href=/a.pdf><link rel=item href=//g/b>", ["/a.pdf"]),
        ("<link rel='describedby' href=/a.json><link rel=cite-as href=/b>", []),
        ("<a href=\"javascript:openPDF('/a.pdf')\">", ["/a.pdf"]),
        ('<a href="JavaScript: openPDF(%27/a.pdf%27);">', ["/a.pdf"]),
        ("<area href=\"javascript:openWin('win2.html')\">", ["/d/win2.html"]),
        ("<a href=\"javascript:show('map'); go('/b/'); f('a.pdf' + x); g('/*.html')\">", []),
        (
            "<a href=\"javascript:confirmed('/delete.php?id=3'); ask('drop.asp'); go('do.cgi')\">",
            [],
        ),  # orders, for all we know
        ("<a onclick=\"showDoc('/a.pdf')\">", ["/a.pdf"]),
        ('<button onclick="showDoc(&quot;/a.PDF?b=1&amp;c=2#page=3&quot;)">', ["/a.PDF?b=1&c=2"]),
        ("<a onclick=\"showDoc('/docs/' + n + '.pdf'); showDoc('/b.pdf' + c); showDoc(d + '/e.pdf')\">", []),
        ("<a onclick=\"showDoc('a.pdf')\">", ["/d/a.pdf"]),
        ('<script>var pdfUrl="http://h/a.pdf"; x = {file: "/b.mp4"}</script>', ["/a.pdf", "/b.mp4"]),
        ('<script>{"url":"http:\\/\\/h\\/a\\/b.docx","c":"\\u002Fd.zip"}</script>', ["/a/b.docx", "/d.zip"]),
        ("<script>'//h/a.epub'; '//g/b.epub'; \"https://g/c.pdf\"</script>", ["/a.epub"]),
        ('<script type=application/ld+json>{"contentUrl": "http://h/a.csv"}</script>', ["/a.csv"]),
        ("<script>a('/{id}.pdf'); b('/*.pdf'); c('/' + d + '.pdf'); e('/f.pdf'.replace(g)); h('.pdf')</script>", []),
        ("<script>a('/b.js', '/c/d', '/e.pdfx', '/f.html', '/g h.pdf')</script>", []),
        ("<script>a(`/${b}.pdf`); '<a href=\"/' + c + '.pdf\">'; d+'/e.pdf'; '%s/f.pdf'</script>", []),
        ('<div data-pdf=/a.pdf data-x=\'{"y":"\\/b.mp3"}\' data-name=c.pdf></div>', ["/a.pdf", "/b.mp3"]),
        ('<iframe src="/v.html?file=http%3A%2F%2Fh%2Fa.pdf&amp;x=1"></iframe>', ["/a.pdf"]),
        ('<embed src="//g/view?embedded=true&amp;url=http://h/b%20c.docx#page=2">', ["/b%20c.docx"]),
        ('<iframe src="/v.html?file=a.pdf"></iframe><embed src="/v?f=http://g/a.pdf&amp;d=/b.html">', []),
        ("<!-- <a href='/a.pdf'> --><p title='/b.pdf'><input value='/c.pdf'>", []),
    ],
)
def test_files_beside_the_links(body: str, expected: list[str]) -> None:
    assert list(extract(body.encode(), URL).links) == [f"http://h{path}" for path in expected]


def test_a_base_does_not_make_another_host_the_pages_own() -> None:
    page = b"<base href=http://g/x/><script>'/a.pdf'; 'http://h/b.pdf'</script>"
    assert extract(page, URL).links == ("http://h/b.pdf",)


def test_headers_name_files_as_elements_do() -> None:
    """Signposting."""
    said = [b'</a.pdf>; rel="item"; type="application/pdf", </b>; rel=describedby, <//g/c>; rel=item']
    assert named(parsed(b"<p>x", "text/html"), URL, said).links == ("http://h/a.pdf",)


def test_scripts_of_their_own_name_files_too() -> None:
    found = document.extract(
        b'p = {file: "/films/a.mp4", b: "c.pdf", d: "https://g/e.pdf"}', "http://h/js/p.js", "text/javascript"
    )
    assert (found.links, found.resources) == (("http://h/films/a.mp4",), ())


def test_links_come_before_files_and_each_once() -> None:
    found = extract(b"<script>'/b.pdf'; '/a.pdf'</script><a href=/a.pdf>a</a><a href=/c>c</a>", URL)
    assert found.links == ("http://h/a.pdf", "http://h/c", "http://h/b.pdf")


def test_there_is_a_bound() -> None:
    texts = ",".join(f"'/{number}.pdf'" for number in range(2 * MOST))
    assert len(extract(f"<script>{texts}</script>".encode(), URL).links) == MOST


@pytest.mark.matrix
@pytest.mark.parametrize(
    "text",
    [
        "'/.pdf",
        "'" * 2,
        "'/" + ".pdf" * 100,
        "'\\/" * 3,
        '"/a.tar.gz?',
        "+ ",
        ".pdf?",
        "javascript:f('",
        "f(",
        "?a=/",
        "iiif=/",
    ],
)
def test_the_worst_scripts_are_read_in_linear_time(text: str) -> None:
    """Each character is looked at some 500 times at most: a minute and more where it is a square."""
    long = text * (1_000_000 // len(text))
    extract(f"<script>{long}.pdf'</script>".encode(), URL)
    extract(f'<a onclick="{long}.pdf\'">'.encode(), URL)


def test_the_worst_addresses_are_read_in_linear_time() -> None:
    """Hours where it is a square."""
    assert extract(f"<a href='{'?' * 1_000_000}&f=/a.pdf'>iiif".encode(), URL).links == ("http://h/a.pdf",)


def test_names() -> None:
    assert is_cited("citation_abstract_html_url") and not is_cited("citation_springer_api_url")
    assert is_type("application/vnd.oasis.opendocument.text") and not is_type("application/rss+xml")
    assert maybe(b"<a href='a.pdf'>") and not maybe(b"<a href='a.html'>a.pdf</a>")


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ('fetch("/search/index.json?v=3"); $.get("http://h/feed.xml")', ["/search/index.json?v=3", "/feed.xml"]),
        ("SimpleJekyllSearch({json: '/search.json'})", ["/search.json"]),
        ("fetch(base + '/index.json'); get('/n/' + id + '.json'); open('index.json'); get('/a.json'.replace(b))", []),
        ("fetch('//g/a.json'); fetch('/{id}.json'); fetch('/api/news'); '/a.jsonp'", []),
        ("go('/a.pdf')", []),
    ],
)
def test_data_that_scripts_read_is_embedded(script: str, expected: list[str]) -> None:
    urls = [f"http://h{path}" for path in expected]
    page = f"<script>{script}</script><script type=application/ld+json>['/b.json']</script><p data-a=/c.json>".encode()
    assert list(extract(page, URL).resources) == urls
    assert list(document.extract(script.encode(), "http://h/js/a.js", "text/javascript").resources) == urls
