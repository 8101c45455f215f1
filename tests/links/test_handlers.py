"""What older pages name to their scripts."""

from __future__ import annotations

import pytest

from sharc_crawler.links import handlers
from sharc_crawler.links.handlers import LIST_BY_FORM
from sharc_crawler.links.html import extract

URL = "http://h/d/page"


def paths(found: tuple[str, ...]) -> list[str]:
    return [one.removeprefix("http://h") for one in found]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<a href=\"javascript:go('a.asp')\"><a href=\"javascript:go('b.php?id=3#c')\">",
         ["/d/a.asp", "/d/b.php?id=3"]),
        ('<a href="javascript:openWin(%22/a.jsp%22)"><area href="JavaScript: show(\'b.aspx\')">',
         ["/a.jsp", "/d/b.aspx"]),
        ("<a href=# onclick=\"go('a.html');return false\"><a onclick=\"nav('b.php?c=1&amp;d=2')\">",
         ["/d/a.html", "/d/b.php?c=1&d=2"]),
        ("<td onmouseover=\"this.className='a.b'\" onclick=\"location('/c.shtml')\">", ["/c.shtml"]),
        ("<a onclick=\"MM_openBrWindow('a.html','','width=3')\"><a onclick=\"MM_goToURL('parent','b.html')\">",
         ["/d/a.html", "/d/b.html"]),
        ("<a onclick=\"go('a' + n + '.html'); go('/b/'); go('c.html' + d); go('/*.html'); go('a b.html')\">", []),
        ("<a onclick=\"save('a.php'); deletePost('b.html'); go('delete.php?id=3'); go('logout.php'); go('do.cgi')\">"
         "<a href=\"javascript:logoutPage('a.asp')\"><a onclick=\"showCart('b.php')\">",
         []),
        ("<a onclick=\"if(confirm('Sure?')) go('a.php?id=3')\"><a onclick=\"go('admin.php?action=del&amp;id=3')\">"
         "<a onclick=\"go('destroy.php'); popup('purge.php'); nav('approve.php'); openUrl('like.php')\">"
         "<a onclick=\"go('ban.php?u=1')\">"
         "<a onclick=\"loadPage('unregister.aspx'); go('clear.asp'); go('add.php'); closeWindow('exit.php')\">"
         "<a onclick=\"go('loeschen.php'); go('supprimer.php'); go('borrar.php'); go('abmelden.php')\">",
         []),
        ("<a onclick=\"STSNavigate('\\u002fa.aspx\\x3Fb=1\\u0026c=2')\"><a onclick=\"nav('\\/d.html')\">",
         ["/a.aspx?b=1&c=2", "/d.html"]),
        ("<a onclick='RefreshPageTo(event, \"/a.aspx?Paged=TRUE\");return false;'><a onclick=\"show(this,'b.html')\">",
         ["/a.aspx?Paged=TRUE", "/d/b.html"]),
        ("<a onclick=\"nav('/a.html\\u0027 + b')\"><a onclick=\"nav(a, '/b.html')\">", []),
        ("<a onclick=\"pageTracker._trackPageview('/out/a.html'); ga('send', 'b.html')\">", []),
        ("<script>go('a.html'); x = {onclick: \"show('b.html')\"}</script><!-- <a onclick=\"go('c.html')\"> -->", []),
        ("<script>document.write('<a href=\"a.html\">a<a href=b.asp>');"
         "document.writeln(\"<a href=\\\"c\\\">\")</script>",
         ["/d/a.html", "/d/b.asp", "/d/c"]),
        ("<script>document.write('<p><a href=\"a.html?' + n + '\">'); document.write(\"<a href='/b/\" + c)</script>",
         []),
        ("<script type=text/template>document.write('<a href=\"a.html\">')</script>", []),
    ],
)  # fmt: skip
def test_ways_that_scripts_are_told(body: str, expected: list[str]) -> None:
    found = extract(body.encode(), URL)
    assert (paths(found.links), found.resources) == (expected, ())


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<body onload=\"MM_preloadImages('a.gif','/i/b.jpg?c=1')\">", ["/d/a.gif", "/i/b.jpg?c=1"]),
        ("<a onmouseover=\"MM_swapImage('i','','i/a.gif',1)\" onmouseout=\"x.src='b.png'\">",
         ["/d/i/a.gif", "/d/b.png"]),
        ("<td onmouseover=\"this.style.background='url(i/a.gif)'\" onmouseout=\"b.style.background='url(c' + d\">",
         ["/d/i/a.gif"]),
        ("<img onerror=\"this.src='/none.png'\">", ["/none.png"]),
        ("<script>pre = new Image(); pre.src = \"i/a.gif\"; (new Image).src='b.png'; c.src = d + '/e.gif'</script>",
         ["/d/i/a.gif", "/d/b.png"]),
        ("<script>function p() {MM_preloadImages('a.gif', \"b.gif\")}; MM_swapImage('' + c + '.gif')</script>",
         ["/d/a.gif", "/d/b.gif"]),
        ("<script>a.src = 'http://g/a.gif'; b.src = 'http://h/b.gif'; c.src = 'd'; e.src = 'f.gif' + g</script>",
         ["/b.gif"]),
        ("<script>document.write('<img src=\"a.gif\"><script src=\"/b.js\"><\\/script>')</script>",
         ["/d/a.gif", "/b.js"]),
        ("<script>document.write('<img\\nsrc=\"a.gif\">'); document.write('<img src=\"' + b + '.gif\">')</script>",
         ["/d/a.gif"]),
        ("<script>show('a.gif'); '<img src=\"b.gif\">'</script><p title='c.gif' data-on=\"x.src='d.gif'\">", []),
    ],
)  # fmt: skip
def test_images_that_scripts_show_later(body: str, expected: list[str]) -> None:
    found = extract(body.encode(), URL)
    assert (found.links, paths(found.resources)) == ((), expected)


def test_there_is_a_bound() -> None:
    assert len(handlers.called("javascript:" + "f('a.pdf');" * 5_000)) <= handlers.MOST
    many = "".join(f"<a onclick=\"go('{number}.html')\">" for number in range(2 * handlers.MOST))
    assert len(extract(many.encode(), URL).links) == handlers.MOST
    preload = "".join(f"a.src = '{number}.gif';" for number in range(2 * handlers.MOST))
    assert len(extract(f"<script>{preload}</script>".encode(), URL).resources) == handlers.MOST


@pytest.mark.matrix
@pytest.mark.parametrize(
    "text",
    [
        "document.write('", "document.write('a", "document.write(\"\\", ".src='", ".src = ", "MM_swapImage('", "on('",
        "'a.gif", "MM_goToURL('a','", "a.", "goa", "go  ",
    ],
)  # fmt: skip
def test_the_worst_scripts_are_read_in_linear_time(text: str) -> None:
    """Each character is looked at some 500 times at most: a minute and more where it is a square."""
    long = text * (1_000_000 // len(text))
    extract(f"<script>document.write();{long}.html')</script>".encode(), URL)
    extract(f'<a onclick="{long.replace(chr(34), chr(39))}.html\')">'.encode(), URL)


@pytest.mark.parametrize(
    ("call", "leads"),
    [
        ("__doPostBack('ctl00$list','Page$2')", True),
        ("__doPostBack('ctl00$list', 'Page$Next')", True),
        ("__doPostBack(%27ctl00$lnkNext%27,%27%27)", True),
        ("__doPostBack('ctl00$DataPager1$ctl01$ctl02','')", True),
        ("__doPostBack('ctl00$list','Sort$Name')", False),
        ("__doPostBack('ctl00$save','')", False),
        ("go('next.html')", False),
    ],
)
def test_lists_that_a_form_alone_leads_on_are_told(call: str, leads: bool) -> None:
    found = extract(f'<a href="javascript:{call}">2</a><a href=b>b</a>'.encode(), "http://h/a")
    assert found.unread == ((LIST_BY_FORM,) if leads else ())
