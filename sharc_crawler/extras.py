"""Libraries that a capture does not need: named by the extra that installs them."""

from __future__ import annotations

from importlib.util import find_spec

from sharc_crawler.errors import UsageError

#: library → extra
EXTRAS = {
    "matplotlib": "lab",
    "pandas": "lab",
    "sklearn": "learn",
    "duckdb": "logs",
    "sknetwork": "links",
    "rfc3161_client": "sign",
    "psycopg": "fleet",
    "prometheus_client": "fleet",
    "fsspec": "s3",
    "s3fs": "s3",
}


def installed(library: str) -> bool:
    """Is a library there?"""
    return find_spec(library) is not None


def install(library: str) -> str:
    """The command that installs it.

    >>> install("matplotlib")
    "pip install 'sharc-crawler[lab]'"
    """
    return f"pip install 'sharc-crawler[{EXTRAS[library]}]'"


def check(what: str, library: str, otherwise: str = "") -> None:
    """Raise :class:`~sharc_crawler.errors.UsageError` where ``what`` needs a library that is not installed."""
    if not installed(library):
        raise UsageError(f"{what} needs {library}, which is not installed: {install(library)}{otherwise}")
