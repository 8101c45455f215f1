"""Many sites: their orders and their links."""

from __future__ import annotations

from sharc_crawler.model import Sighting
from sharc_crawler.state.spec import CaptureSpec

A, B = "http://a.example/", "http://b.example/"


def spec(root, strategy="bfs", **more):
    return CaptureSpec(root.split("/")[2], (root,), strategy=strategy, sitemaps=(), **more)


def folder(name, **more):
    """A site that is a folder of the only host."""
    root = f"{A}{name}/"
    return CaptureSpec(f"a.example/{name}", (root,), strategy="bfs", sitemaps=(), scope="prefix", **more)


def linked(world, roots, pages):
    world.links = {root: [Sighting(f"{root}{number}") for number in range(pages)] for root in roots}
