"""The sites of the example projects: one to log in to, one with pictures."""

from __future__ import annotations

import io
import json
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from PIL import Image

from tests.live.serving import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

LISTS, EACH, ROOMS, PICTURES = 4, 5, 4, 4


class Page(BaseHTTPRequestHandler):
    """Counts what is asked for."""

    protocol_version = "HTTP/1.1"
    asked: Counter[str]

    def do_GET(self) -> None:
        self.asked[f"GET {self.path}"] += 1
        self.get()

    def say(self, body: str | bytes, status: int = 200, kind: str = "text/html", **headers: str) -> None:
        content = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(content)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Quiet."""


class Members(Page):
    """Lists of members, for who is logged in."""

    def get(self) -> None:
        path, _, query = self.path.partition("?")
        if path == "/login":
            form = "<input name=user><input name=password><input type=hidden name=token value=t1>"
            self.say(f"<form method=post action=/login>{form}</form>")
        elif "session=s1" not in self.headers.get("Cookie", ""):
            self.say("log in first", 403)
        elif path == "/members":
            self.say(listing(int(parse_qs(query).get("page", ["1"])[0])))
        elif path.startswith("/member/"):
            self.say(f"<h1>Member {path.rpartition('/')[2]}</h1><p class=you>ann</p>")
        else:
            self.say("", 404)

    def do_POST(self) -> None:
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.asked[f"POST {self.path} {form.get('q', [''])[0]}"] += 1
        if self.path == "/login" and form.get("token") == ["t1"] and form.get("password") == ["correct horse"]:
            self.say("", 302, Location="/members", Set_Cookie="session=s1; Path=/")
        elif self.path == "/search" and "session=s1" in self.headers.get("Cookie", ""):
            self.say(json.dumps({"hits": len(form["q"][0])}), kind="application/json")
        else:
            self.say("no", 403)


def listing(page: int) -> str:
    """A page of the list."""
    links = "".join(f"<a class=member href=/member/{page}-{number}>m</a>" for number in range(EACH))
    following = f"<a class=next href=/members?page={page + 1}>next</a>" if page < LISTS else ""
    return f"<h1 data-page={page}>Members</h1>{links}{following}"


class Gallery(Page):
    """Rooms, pictures and their files."""

    def get(self) -> None:
        if self.path == "/":
            self.say("".join(f"<a href=/room/{room}>room</a>" for room in range(ROOMS)))
        elif self.path.startswith("/room/"):
            room = self.path.rpartition("/")[2]
            self.say("".join(f"<a href=/picture/{room}-{number}>p</a>" for number in range(PICTURES)))
        elif self.path.startswith("/picture/"):
            name = self.path.rpartition("/")[2]
            self.say(f"<h1>Picture {name}</h1><img src=/file/{name}.png>")
        elif self.path.startswith("/file/"):
            self.say(picture(self.path), kind="image/png")
        else:
            self.say("", 404)


def picture(name: str) -> bytes:
    """A small one of its own colour."""
    file = io.BytesIO()
    Image.new("RGB", (60, 60), (len(name) * 7 % 255, sum(name.encode()) % 255, 80)).save(file, "PNG")
    return file.getvalue()


@contextmanager
def example_site(kind: type[Page]) -> Iterator[tuple[str, Counter[str]]]:
    """Its URL, and what is asked for."""
    asked: Counter[str] = Counter()
    with serving(type("Site", (kind,), {"asked": asked})) as url:
        yield url, asked
