"""Small sites whose right answers are known by hand."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.lab.belief import Belief
from sharc_crawler.lab.graph import EventGraph
from sharc_crawler.lab.site import Site
from sharc_crawler.lab.truth import Changes, Lives

if TYPE_CHECKING:
    from pathlib import Path


def small_site(changes, links=None, rates=None, lives=None, step=1.0, end=None):
    """Pages 0, 1… with these change times, page 0 linking to all; one download a second from 0 on."""
    size = len(changes)
    end = 2.0 * size if end is None else end
    found = Changes.of(changes)
    return Site(
        name="small",
        urls=[f"/{page}" for page in range(size)],
        root=0,
        start=0.0,
        end=end,
        graph=EventGraph({0: list(range(1, size))} if links is None else links),
        lives=lives or Lives.forever(size),
        changes=found,
        past=Changes.of([()] * size),
        created=np.zeros(size),
        rates=np.array(rates, float) if rates is not None else found.counts() / end,
        step=step,
    )


def belief(site, attested=()):
    mask = np.zeros(len(site.urls), bool)
    mask[list(attested)] = True
    return Belief("given", site.rates, np.full(len(site.urls), np.inf), site.rates, mask)


HEADER = "page,created,alive_at_start,deleted,hist,changes"
LINES = (
    "/,-100,1,,,2",  # changes at 2
    "/a,-100,1,,-50;-20,",
    "/b,-100,1,6,,1",  # vanishes at 6
    "/c,5,0,,,",  # appears at 5
)


def write_history(folder: Path, lines=LINES, header=HEADER, name="site.csv.gz") -> Path:
    path = folder / name
    path.write_bytes(gzip.compress("\n".join([header, *lines, ""]).encode()))
    return path


def write_lines(path: Path, entries) -> Path:
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return path
