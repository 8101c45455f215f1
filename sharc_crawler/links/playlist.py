"""Extract the files of playlists (M3U, HLS, PLS)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sharc_crawler.links.found import Found, Resolver

LONGEST = 1_000_000  #: most bytes of a playlist
_NAMED = re.compile(r'[,:]\s*URI\s*=\s*"([^"]*)"')
_NUMBERED = re.compile(r"File\d{1,9}\s*=(.*)", re.IGNORECASE)


def extract(body: bytes, url: str, content_type: str | None = None) -> Found:  # noqa: ARG001
    r"""The references of a playlist, all of them resources: other playlists, segments, keys, subtitles. Never raises.

    >>> extract(b'#EXTM3U\n#EXT-X-MAP:URI="init.mp4"\n#EXTINF:4,\n1.m4s\n', "http://h/film/a.m3u8").resources
    ('http://h/film/init.mp4', 'http://h/film/1.m4s')
    """
    text = bytes(body).decode("utf-8", "replace") if len(body) <= LONGEST else ""
    resources, left_out = Resolver(url).all(_references(text.removeprefix("\ufeff")))
    return Found((), resources, url, left_out)


def _references(text: str) -> Iterator[str]:
    numbered = text.lstrip()[:10].lower() == "[playlist]"
    for line in map(str.strip, text.splitlines()):
        if numbered:
            if match := _NUMBERED.match(line):
                yield match[1].strip()
        elif line.startswith("#"):
            yield from _NAMED.findall(line)
        elif line:
            yield line
