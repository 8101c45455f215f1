"""Fixtures of the live tests: real crawls, served folders."""

from tests.live.conftest import run_crawl, static  # noqa: F401
