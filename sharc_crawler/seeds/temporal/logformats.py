"""Detects the format of an access log, and gives the SQL that turns its lines into fields of requests."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from sharc_crawler.errors import DataError
from sharc_crawler.plural import counted

#: columns for every format: NULL if the line lacks the field; ``time`` is UTC, and NULL for an unreadable line
FIELDS = ("vhost", "client", "time", "method", "target", "status", "agent")

# Common and Combined Log Format; further fields at the end of a line are ignored.
_LINE = (
    r"^(?:([\w.:-]+) )?([^\s-]\S*) \S+ [^\s\[][^\[]* \[(\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d) ([+-])(\d\d)(\d\d)\] "
    r'"([A-Z]+) (\S+)(?: HTTP/[\d.]+)?" (\d{3}) (?:\d+|-)(?: "(?:[^"\\]|\\.)*" "((?:[^"\\]|\\.)*)")?(?:\s.*)?$'
)
_GROUPS = ["vhost", "client", "time", "sign", "hours", "minutes", "method", "target", "status", "agent"]


def _local(text: str) -> str:
    """SQL that converts a time in Common Log Format to UTC."""
    return f"""(try_strptime(regexp_extract({text}, '^[^ ]+'), '%d/%b/%Y:%H:%M:%S') - to_minutes(
        try_cast(regexp_extract({text}, ' ([+-])', 1) || '1' AS INTEGER)
        * (60 * try_cast(regexp_extract({text}, ' [+-](\\d\\d)', 1) AS INTEGER)
           + try_cast(regexp_extract({text}, '(\\d\\d)$', 1) AS INTEGER))))"""


COMBINED = f"""
SELECT f.vhost AS vhost, f.client AS client,
    {_local("(f.time || ' ' || f.sign || f.hours || f.minutes)")} AS time,
    f.method AS method, f.target AS target, f.status AS status, f.agent AS agent
FROM (SELECT regexp_extract(line, '{_LINE}', {_GROUPS}) AS f FROM lines)
"""  # noqa: S608 (constants only)

#: names of a field in JSON logs, by the servers' documentation; the first one present counts (Caddy: in ``request``)
_NAMES = {
    "vhost": ("request.host", "host", "http_host", "server_name", "vhost"),
    "client": ("request.client_ip", "request.remote_ip", "remote_addr", "client_ip", "client", "remote_ip"),
    "time": ("ts", "time_iso8601", "time_local", '"@timestamp"', "timestamp", "time", "msec", "date"),
    "method": ("request.method", "request_method", "method"),
    "target": ("request.uri", "request_uri", "uri", "path", "url"),
    "status": ("status", "status_code", "response"),
    "agent": ('request.headers."User-Agent"[0]', "http_user_agent", "user_agent", "agent"),
}


def _first(names: Sequence[str]) -> str:
    found = [f"json_extract_string(j, '$.{name}')" for name in names]
    return f"coalesce({', '.join(found)})"


def _json() -> str:
    """SQL for one JSON object per line, as nginx (``log_format … escape=json``) and Caddy write them."""
    found = {field: _first(names) for field, names in _NAMES.items()}
    number = f"try_cast({found['time']} AS DOUBLE)"
    iso = f"try_cast({found['time']} AS TIMESTAMPTZ) AT TIME ZONE 'UTC'"
    known = f"CASE WHEN {number} BETWEEN 0 AND 1e14 THEN {number} END"  # until the year 5138, also in thousandths
    seconds = f"CASE WHEN {known} > 1e11 THEN {known} / 1000 ELSE {known} END"
    line = "json_extract_string(j, '$.request')"  # nginx's $request: "GET /x HTTP/1.1"
    return f"""
SELECT {found["vhost"]} AS vhost, {found["client"]} AS client,
    coalesce(make_timestamp(CAST(1e6 * {seconds} AS BIGINT)), {iso}, {_local(found["time"])}) AS time,
    coalesce({found["method"]}, nullif(regexp_extract({line}, '^([A-Z]+) ', 1), '')) AS method,
    coalesce({found["target"]}, nullif(regexp_extract({line}, '^[A-Z]+ (\\S+)', 1), '')) AS target,
    {found["status"]} AS status, coalesce({found["agent"]}, '') AS agent
FROM (SELECT CASE WHEN json_valid(line) THEN line END AS j FROM lines)
"""  # noqa: S608 (constants only)


#: W3C's names of a field (IIS, CloudFront); the first one present counts
_EXTENDED = {
    "vhost": ("x-host-header", "cs-host", "cs(Host)"),
    "client": ("c-ip",),
    "method": ("cs-method",),
    "status": ("sc-status",),
    "agent": ("cs(User-Agent)",),
}


def extended(columns: Sequence[str], tabs: bool) -> str:
    """SQL for W3C's Extended Log File Format with these ``#Fields``; raises ``KeyError`` for a missing field.

    Source: https://www.w3.org/TR/WD-logfile
    """
    at = {name.lower(): number for number, name in enumerate(columns, 1)}

    def value(name: str) -> str:
        return f"nullif(v[{at[name]}], '-')"

    def first(names: Sequence[str]) -> str:
        return next((value(name.lower()) for name in names if name.lower() in at), "NULL::VARCHAR")

    found = {field: first(names) for field, names in _EXTENDED.items()}
    query = f"coalesce('?' || {value('cs-uri-query')}, '')" if "cs-uri-query" in at else "''"
    separator = "\\t" if tabs else " "
    return f"""
SELECT {found["vhost"]} AS vhost, {found["client"]} AS client,
    try_cast({value("date")} || ' ' || {value("time")} AS TIMESTAMP) AS time, {found["method"]} AS method,
    {value("cs-uri-stem")} || {query} AS target, {found["status"]} AS status, coalesce({found["agent"]}, '') AS agent
FROM (SELECT string_split(line, E'{separator}') AS v FROM lines WHERE line NOT LIKE '#%')
"""  # noqa: S608 (names are looked up, numbers are put in)


_HEADER = re.compile(r"#Fields:\s*(.*\S)")
_WANTED = ("date", "time", "cs-uri-stem", "cs-method", "sc-status", "c-ip")


def query_for(file: Path, head: Sequence[str]) -> str:
    """SQL that turns ``lines`` into :data:`FIELDS`, for the format detected from a log's first lines.

    Raises :class:`~sharc_crawler.errors.DataError`, with advice, for a log that lacks a necessary field.
    """
    if header := next((match for line in head if (match := _HEADER.match(line))), None):
        columns = header[1].split()
        if missing := [name for name in _WANTED if name not in {column.lower() for column in columns}]:
            raise DataError(f"{file}: its #Fields lack {', '.join(missing)}: have the server log them, or {CONVERT}")
        return extended(columns, tabs=any("\t" in line for line in head if not line.startswith("#")))
    first = next((line for line in head if line.strip()), "")
    if first.lstrip().startswith("{"):
        _check(file, first)
        return _json()
    return COMBINED


CONVERT = "convert it to a .csv with the columns page, date, views (sharc temporal counts.csv)"


def _check(file: Path, line: str) -> None:
    """Refuse a JSON log without known field names."""
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        return  # it will be counted as malformed
    request = told.get("request")
    inner = {f"request.{name}" for name in request} if isinstance(request, dict) else set()
    there = {
        *told,
        *(f'"{name}"' for name in told if name.startswith("@")),
        *inner,
        *(("method", "uri") if isinstance(request, str) else ()),
    }
    needed = [field for field in ("time", "client", "method", "target", "status") if not there & set(_NAMES[field])]
    if missing := [f"{field} ({' or '.join(_NAMES[field])})" for field in needed]:
        raise DataError(f"{file}: its JSON lines lack {', '.join(missing)}: rename the fields, or {CONVERT}")


def unread(file: Path, lines: int) -> DataError:
    """The error for a log of which no line is readable."""
    return DataError(
        f"{file}: of {counted(lines, 'line')} none can be read; it should be an access log (Common or"
        f" Combined, JSON of "
        "nginx or Caddy, W3C Extended of IIS or CloudFront), a .csv, .tsv or .parquet table, or Wikimedia's pageviews: "
        f"{CONVERT}"
    )
