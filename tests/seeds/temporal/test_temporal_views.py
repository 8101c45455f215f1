from __future__ import annotations

import bz2
import gzip
import json
import os
import random
import signal
from datetime import UTC, date, datetime, timedelta
from threading import Timer

import numpy as np
import pytest

from sharc_crawler.errors import DataError, UsageError
from sharc_crawler.seeds.temporal.database import database
from sharc_crawler.seeds.temporal.tables import Columns
from sharc_crawler.seeds.temporal.views import LogOptions, read_views

EVERY = LogOptions(least_views=1, host="https://a.org")


@pytest.fixture(autouse=True)
def duckdb():
    """Loaded by a test, not before: what is collected is frozen, and DuckDB calls that a leak at exit, in 100 lines."""
    return pytest.importorskip("duckdb")


def line(client=1, day=1, path="/x", status=200, method="GET", time="13:55:36 +0000", month="Oct", more="") -> str:
    return f'10.0.0.{client} - - [{day:02d}/{month}/2000:{time}] "{method} {path} HTTP/1.1" {status} 23{more}'


def write(tmp_path, lines, name="access.log"):
    file = tmp_path / name
    text = ("\n".join(lines) + "\n").encode("latin-1")
    file.write_bytes(
        gzip.compress(text) if name.endswith(".gz") else bz2.compress(text) if name.endswith("bz2") else text
    )
    return file


@pytest.mark.slow
def test_ctrl_c_within_a_statement_is_ctrl_c():
    former = signal.signal(signal.SIGINT, signal.default_int_handler)  # side by side tests ignore it
    try:
        with database() as db, pytest.raises(KeyboardInterrupt):
            Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
            db.run("SELECT count(*) FROM range(10000000000) a, range(1000) b WHERE a.range % 7 = b.range")
    finally:
        signal.signal(signal.SIGINT, former)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["access.log", "access.log.gz", "access.log.bz2"])
def test_a_client_counts_once_per_page_and_day(tmp_path, name):
    lines = [line(client, day) for client in (1, 2, 3) for day in (1, 1, 2) for _ in range(4)]
    random.Random(1).shuffle(lines)
    log = read_views([write(tmp_path, lines, name)], EVERY)
    assert (log.pages, log.sites, log.start) == (["https://a.org/x"], ["a.org"], date(2000, 10, 1))
    assert log.views.tolist() == [[3, 3]]
    assert (log.lines, log.skipped) == (36, {})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("agent", "skipped"),
    [
        ("\u20ac \u4e2d \u202e".encode(), {}),
        (b"\xe9", {}),  # Latin-1
        (b"\x80 \xe9 \xff", {"malformed": 1}),
        (b"x" * 17_000_000, {"malformed": 1}),
    ],
    ids=["utf-8", "latin-1", "mixed", "long"],
)
def test_no_line_costs_the_others_of_its_log(tmp_path, agent, skipped):
    (file := tmp_path / "access.log.gz").write_bytes(
        gzip.compress(f"{line()}\n{line(day=2)}".encode() + b' "-" "%s"\n%s\n' % (agent, line(day=3).encode()))
    )
    log = read_views([file, write(tmp_path, [line(day=5)])], EVERY)
    assert (log.views.tolist(), log.lines, log.skipped) == ([[1, 1 - len(skipped), 1, 0, 1]], 4, skipped)


@pytest.mark.slow
def test_lines_of_json_that_are_no_sense_are_malformed(tmp_path):
    text = '{"ts": %s, "request": {"host": "h", "client_ip": "1.1.1.1", "uri": "/", "method": "GET"}, "status": 200}'
    nested = '{"a":' * 100_000
    (file := tmp_path / "caddy.log").write_text(
        "\n".join([nested, text % "1e300", text % "-1e300", text % "1767225600"])
    )
    log = read_views([file], EVERY)
    assert (log.views.tolist(), log.skipped) == ([[1]], {"malformed": 3})


@pytest.mark.slow
def test_a_client_in_two_files_counts_once(tmp_path):
    files = [write(tmp_path, [line()], name) for name in ("one.log", "two.log.gz")]
    assert read_views(files, EVERY).views.tolist() == [[1]]


@pytest.mark.slow
def test_days_are_utc_and_hosts_come_from_the_line(tmp_path):
    lines = [
        "www.B.org:443 " + line(time="23:30:00 -0100"),
        line(path="http://C.org/y#top", time="00:30:00 +0100", day=2),
        line(path="/z", more=' "http://ref/ \\"q\\"" "Mozilla/5.0 (\\"x\\")"'),
    ]
    log = read_views([write(tmp_path, lines)], EVERY)
    assert log.pages == ["http://C.org/y".lower(), "https://a.org/z", "https://www.b.org/x"]
    assert log.views.tolist() == [[1, 0], [1, 0], [0, 1]]


def test_what_is_left_out_is_counted(tmp_path):
    lines = [
        line(),
        "no log line \xff",
        line(month="Foo"),
        line(status=404),
        line(method="POST"),
        line(path="/a.css?v=1"),
        line(path="/style.css"),
        line(more=' "-" "Googlebot/2.1"'),
        "",
    ]
    log = read_views([write(tmp_path, lines)], EVERY)
    assert log.skipped == {"malformed": 2, "not a page view": 3, "robot": 1}
    assert sorted(log.pages) == ["https://a.org/a.css?v=1", "https://a.org/x"]


@pytest.mark.slow
def test_lines_outside_the_window_are_counted(tmp_path):
    lines = [line(client, day) for client in (1, 1, 2) for day in (1, 2, 3, 4)]
    log = read_views(
        [write(tmp_path, lines)], LogOptions(least_views=1, host="https://a.org", days=2, until=date(2000, 10, 3))
    )
    assert log.views.tolist() == [[2, 2]]
    assert (log.lines, log.skipped) == (12, {"outside the window": 6})


def test_a_line_of_another_age_does_not_move_the_window(tmp_path):
    """A day ahead may be a clock's fault; later lines are left out, and counted."""
    tomorrow, later = (datetime.now(UTC) + timedelta(days=days) for days in (1, 3))
    ahead = [f'10.0.0.9 - - [{day:%d/%b/%Y}:00:00:01 +0000] "GET /x HTTP/1.1" 200 23' for day in (later, tomorrow)]
    far = line().replace("/2000:", "/9999:")
    log = read_views([write(tmp_path, [line(), line(day=2), far, ahead[0]])], EVERY)
    assert (log.views.tolist(), log.skipped) == ([[1, 1]], {"after tomorrow": 2})
    assert read_views([write(tmp_path, [ahead[1], far])], EVERY).start == tomorrow.date()
    with pytest.raises(DataError, match="the logs hold no page view: 1 after tomorrow"):
        read_views([write(tmp_path, [far])], EVERY)


def test_a_year_that_no_calendar_has_is_malformed(tmp_path):
    log = read_views([write(tmp_path, [line(), line(day=2), line().replace("/2000:", "/0000:")])], EVERY)
    assert (log.lines, log.skipped) == (3, {"malformed": 1})


def test_lines_without_a_host_need_one(tmp_path):
    with pytest.raises(DataError, match=r"2 no host; name the site with --host"):
        read_views([write(tmp_path, [line(), line(day=2)])], LogOptions())
    with pytest.raises(UsageError, match=r"host='a\.org' is no URL"):
        LogOptions(host="a.org")


def table(tmp_path, text, name="views.csv"):
    file = tmp_path / name
    file.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return file


@pytest.mark.slow
def test_long_and_wide_tables_agree(tmp_path):
    long = table(
        tmp_path, "url,date,views\nhttps://a.org/x,2022-01-01,5\nb.org/y,20220102,7\nhttps://a.org/x,2022-01-01,1\n"
    )
    wide = table(tmp_path, 'page;20220101;20220102\n"https://a.org/x";6;\nb.org/y;;7\n', "wide.csv.gz")
    for file in (long, wide):
        log = read_views([file], LogOptions(least_views=1))
        assert (log.pages, log.sites) == (["https://a.org/x", "https://b.org/y"], ["a.org", "b.org"])
        assert log.views.tolist() == [[6, 0], [0, 7]]


@pytest.mark.slow
def test_parquet(duckdb, tmp_path):
    file = tmp_path / "views.parquet"
    duckdb.sql("SELECT 'p' AS page, 'Labour' AS party, DATE '2022-01-01' AS day, 3 AS count").write_parquet(str(file))
    log = read_views([file], LogOptions(least_views=1, site_column="party"))
    assert (log.pages, log.sites, log.views.tolist()) == (["p"], ["Labour"], [[3]])


def test_rows_of_a_table_that_cannot_be_read(tmp_path):
    rows = [
        "https://a.org/x,2022-01-01,5",
        "https://a.org/x,2022-01-02,many",
        "https://a.org/x,someday,1",
        ",2022-01-01,1",
    ]
    rows += [
        "https://a.org/x,2022-01-02,-1",
        "https://a.org/x,2022-01-02",
        "https://a.org/x,2022-01-02,nan",
        "p,2022-01-02,1",
    ]
    log = read_views([table(tmp_path, "\n".join(["page,date,views", *rows]) + "\n")], LogOptions(least_views=1))
    assert log.views.tolist() == [[5]]
    assert log.skipped == {"malformed": 6, "no host": 1}
    assert log.lines == 8


@pytest.mark.slow
def test_wikimedia(tmp_path):
    hour = write(
        tmp_path, ["en Main_Page 42 0", "en.m Main_Page 1 0", "de.b X 3 0", "bad"], "pageviews-20220101-130000.gz"
    )
    day = write(tmp_path, ["en.wikipedia Main_Page 123 desktop 5 A5"], "pageviews-20220102-user.bz2")
    log = read_views([hour, day], LogOptions(least_views=1))
    assert log.pages == ["https://de.wikibooks.org/wiki/X", "https://en.wikipedia.org/wiki/Main_Page"]
    assert log.views.tolist() == [[3, 0], [43, 5]]
    assert log.skipped == {"malformed": 1}
    with pytest.raises(DataError, match="gives no date"):
        read_views([write(tmp_path, ["en X 1 0"], "pageviews-20221399-130000.gz")])


@pytest.mark.slow
def test_the_window_is_the_logs_end_and_unreliable_pages_are_left_out(tmp_path):
    rows = [f"https://a.org/x,2022-{month:02d}-01,40" for month in (1, 2, 3, 4)] + ["https://a.org/rare,2022-04-01,9"]
    file = table(tmp_path, "\n".join(["page,date,views", *rows]) + "\n")
    log = read_views([file])
    assert (log.start, log.views.shape, log.views.sum(), log.seen) == (date(2022, 2, 1), (1, 60), 120, 2)
    early = read_views([file], LogOptions(days=40, until=date(2022, 2, 5), least_views=10))
    assert (early.start, early.views.shape) == (date(2022, 1, 1), (1, 36))


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("empty.log", "", "no lines at all"),
        ("empty.csv", "", "names no columns"),
        ("head.csv", "page,date,views\n", "no lines at all"),
        ("nonsense.log", "a\nb\n", "of 2 lines none can be read"),
        ("unknown.csv", "who,what\na,b\n", "its columns are who, what; needed are one of page/url"),
        ("undated.csv", "page,views\na,1\n", "needed are"),
        ("dates.csv", "page,date,views\na,x,1\n", "of 1 line none can be read"),
        ("twice.csv", "page,page,views\n", "or one twice"),
        ("zero.csv", "page,20220101\na.org/x,0\n", "of 1 page none has 1 view"),
        ("broken.log.gz", "not gzip", "broken.log.gz: cannot be read"),
        ("broken.csv.gz", "not gzip", "broken.csv.gz: cannot be read"),
        ("broken.log.bz2", "not bzip2", "cannot be decompressed"),
        ("long.csv", "1" * 200_000, "long.csv: its columns are 1+; needed are"),
        ("broken.parquet", "not parquet", "broken.parquet: cannot be read"),
    ],
)
def test_bad_files(tmp_path, name, text, said):
    file = tmp_path / name
    file.write_bytes(text.encode())
    with pytest.raises(DataError, match=said):
        read_views([file])


def test_a_damaged_table(tmp_path):
    file = tmp_path / "views.csv.gz"
    file.write_bytes(gzip.compress(b"page,date,views\n")[:10] + b"\xff" * 40)
    with pytest.raises(DataError, match="cannot be read"):
        read_views([file])


@pytest.mark.slow
def test_a_truncated_archive_and_a_missing_file(tmp_path):
    whole = write(tmp_path, [line(client, day) for client in range(200) for day in range(1, 28)], "log.gz")
    whole.write_bytes(whole.read_bytes()[:-300])
    with pytest.raises(DataError, match=r"log\.gz: cannot be read: .*GZIP"):
        read_views([whole], EVERY)
    with pytest.raises(DataError, match="no such file"):
        read_views([tmp_path / "absent.log"])


def test_unknown_site_column():
    with pytest.raises(DataError, match="none is 'party'"):
        Columns.of(["page", "date", "views"], "party", "a.csv")


@pytest.mark.long
def test_a_million_pages_of_one_site_where_memory_is_short(duckdb, tmp_path):
    file = tmp_path / "many.parquet"
    duckdb.sql(
        "SELECT 'https://a.org/' || (i % 1000003) AS page, DATE '2022-01-01' + (i // 1000003)::INTEGER AS date, "
        "1 AS views FROM range(1002003) AS r(i)"
    ).write_parquet(str(file))
    log = read_views([file], LogOptions(least_views=2, memory="200MB"))
    assert log.seen == 1_000_003
    assert log.views.tolist() == [[1, 1]] * 2000
    assert set(log.pages) == {f"https://a.org/{i}" for i in range(2000)}


@pytest.mark.slow
def test_real_page_views(shared_data):
    file = shared_data / "page-views" / "wikiviews-ukmps-2022.csv.gz"
    log = read_views([file], LogOptions(site_column="party"))
    rows = [row.split(",") for row in gzip.decompress(file.read_bytes()).decode().splitlines()]
    wanted = {row[0]: [int(x) for x in row[-60:]] for row in rows[1:] if '"' not in row[0]}
    checked = [page for page in log.pages if page in wanted]
    assert len(checked) > 600
    assert np.array_equal(log.views[[log.pages.index(p) for p in checked]], [wanted[p] for p in checked])


APACHE = '203.0.113.7 - - [01/Oct/2000:13:55:36 +0000] "GET /x HTTP/1.1" 200 23'
NGINX = {"remote_addr": "203.0.113.7", "request_method": "GET", "request_uri": "/x", "status": "200", "host": "a.org"}
CADDY = {
    "level": "info", "ts": 970408536.25, "logger": "http.log.access", "status": 200, "size": 23,
    "request": {"remote_ip": "203.0.113.7", "client_ip": "203.0.113.7", "proto": "HTTP/2.0", "method": "GET",
                "host": "a.org", "uri": "/x", "headers": {"User-Agent": ["Mozilla/5.0"]}},
}  # fmt: skip
IIS = "#Software: Microsoft Internet Information Services 10.0\n#Version: 1.0\n#Date: 2000-10-01 13:55:36\n" + (
    "#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Referer) "
    "sc-status sc-substatus sc-win32-status time-taken\n"
    "2000-10-01 13:55:36 10.0.0.1 GET /x {query} 443 - 203.0.113.7 Mozilla/5.0+(X11) - 200 0 0 31"
)
CLOUDFRONT = "#Version: 1.0\n" + (
    "#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) "
    "cs(User-Agent) cs-uri-query cs(Cookie) x-edge-result-type x-edge-request-id x-host-header cs-protocol\n"
) + "\t".join(
    ["2000-10-01", "13:55:36", "FRA2-C1", "23", "203.0.113.7", "GET", "d1.cloudfront.net", "/x", "200", "-",
     "Mozilla/5.0%20(X11)", "-", "-", "Hit", "id==", "a.org", "https"]
)  # fmt: skip


LOGS = [
    APACHE + ' "-" "Mozilla/5.0" "198.51.100.1"',
    APACHE + ' "-" "Mozilla/5.0" 0.004 0.004 . "a.org" TLSv1.3/-',
    APACHE + " 1234",
    json.dumps(NGINX | {"time_iso8601": "2000-10-02T00:30:00+02:00", "http_user_agent": "Mozilla/5.0"}),
    json.dumps(NGINX | {"time_local": "02/Oct/2000:00:30:00 +0200"}),
    json.dumps(NGINX | {"msec": "970408536.123"}),
    json.dumps(NGINX | {"@timestamp": "2000-10-01T13:55:36Z"}),
    json.dumps(
        {"remote_addr": "1", "request": "GET /x?y HTTP/1.1", "status": 200, "time_local": "01/Oct/2000:13:55:36 +0000"}
    ),
    json.dumps(CADDY),
    json.dumps(CADDY | {"ts": "2000-10-01T13:55:36.25Z"}),
    json.dumps(CADDY | {"ts": 970408536250}),
    IIS.format(query="-"),
    IIS.format(query="id=7"),
    IIS.format(query="-") + "\n" + IIS.format(query="-"),
    CLOUDFRONT,
]  # fmt: skip


@pytest.mark.slow
def test_servers_logs_are_read_as_they_write_them(tmp_path):
    files = []
    for number, text in enumerate(LOGS):
        lines = [text.replace("/x", f"/{number:02d}"), "{}" if text.startswith("{") else "# nothing"]
        files.append(write(tmp_path, lines, f"{number}.log"))
    log = read_views(files, EVERY)
    queries = {7: "?y", 12: "?id=7"}
    assert log.pages == [f"https://a.org/{number:02d}{queries.get(number, '')}" for number in range(len(LOGS))]
    assert (log.start, log.views.tolist()) == (date(2000, 10, 1), [[1]] * len(LOGS))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("#Fields: date time cs-uri-stem\n2000-10-01 13:55:36 /x", "its #Fields lack cs-method, sc-status, c-ip"),
        (CLOUDFRONT + "\n#Fields: date time", "its #Fields change within it: split it"),
        ('{"msg": "hello", "time": 1}', "its JSON lines lack client .*rename the fields, or convert it to a .csv"),
        ("https 2018-07-02T22:23:00.186641Z app/lb 192.168.131.39:2817", "access log .*convert it to a .csv"),
    ],
)
def test_what_cannot_be_read_is_told_what_to_convert(tmp_path, text, said):
    with pytest.raises(DataError, match=said) as raised:
        read_views([write(tmp_path, [text])], EVERY)
    assert "\n" not in str(raised.value)
