"""Addresses, read as the rules read them: their places, their shapes, their folders."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


class Form(NamedTuple):
    """An address without what stands in one place."""

    place: str
    rest: str
    value: str


def forms(url: str) -> list[Form]:
    """Each folder of the path, each parameter's value, the whole query.

    >>> [(one.place, one.rest) for one in forms("http://h/a/b?c=d")]
    [('/*', 'http://h/*/b?c=d'), ('?c=*', 'http://h/a/b?c=*'), ('?*', 'http://h/a/b?*')]
    """
    return list(_forms(url))


def _forms(url: str) -> Iterator[Form]:
    address, _, query = url.partition("?")
    start = address.find("/", len("https://"))
    if start < 0:
        return
    site, steps = address[:start], address[start:].split("/")
    for at in range(1, len(steps) - 1):
        path = "/".join([*steps[:at], "*", *steps[at + 1 :]])
        yield Form("/".join([*steps[:at], "*"]), f"{site}{path}{'?' * bool(query)}{query}", steps[at])
    parts = query.split("&") if query else []
    for at, part in enumerate(parts):
        name, sign, value = part.partition("=")
        if sign:
            rest = "&".join([*parts[:at], f"{name}=*", *parts[at + 1 :]])
            yield Form(f"?{name}=*", f"{address}?{rest}", value)
    if query:
        yield Form("?*", f"{address}?*", query)


def places(url: str) -> set[int]:
    """An address without each one of its places: what others have, too, differ from it in no more than that."""
    several = url.count("&")  # parameters together are more than one place
    return {hash(form.rest) for form in forms(url) if not (several and form.place == "?*")}


def shape(url: str) -> str:
    """What addresses have in common that differ in names and numbers alone.

    >>> shape("http://h/s/kqzv/7?page=2&sort=up"), shape("http://h/")
    ('/*/*/#?2', '/')
    """
    path, _, query = url.partition("://")[2].partition("?")
    folder, inside, name = path.partition("/")[2].rpartition("/")
    return f"/{_folder_shape(folder)}{inside}{_step(name)}" + (f"?{query.count('&') + 1}" if query else "")


@lru_cache(50)  # most pages lie in few folders
def _folder_shape(folder: str) -> str:
    return "/".join(map(_step, folder.split("/")))


def _step(name: str) -> str:
    return "#" if name.isdecimal() else "*" if name else ""


def path_of(url: str) -> str:
    """Where other queries lead to, too: as a group's key it is like no shape."""
    return url.partition("://")[2].partition("?")[0]


def first_folder(url: str) -> str:
    """Host and first folder of an address.

    >>> first_folder("http://h/a/b?c=d"), first_folder("http://h/a")
    ('h/a', 'h')
    """
    parts = url.partition("?")[0].split("/", 4)
    return "/".join(parts[2:4] if len(parts) > 4 else parts[2:3])
