"""Optional libraries, by the extra that installs each."""

from __future__ import annotations

import shlex
from importlib.util import find_spec
from pathlib import Path

from sharc_crawler.errors import UsageError

CHECKOUT = Path(__file__).resolve().parents[1]  #: folder of the package's checkout, if it is in one
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
    """Whether an optional library is installed."""
    return find_spec(library) is not None


def install(library: str) -> str:
    """Return the command that installs a library's extra: from the checkout if there is one, else by name."""
    extra = f"[{EXTRAS[library]}]"
    if (CHECKOUT / "pyproject.toml").is_file():
        return f"pip install -e {shlex.quote(f'{CHECKOUT}{extra}')}"
    return f"pip install 'sharc-crawler{extra}'"


def check(what: str, library: str, otherwise: str = "") -> None:
    """Raise :class:`~sharc_crawler.errors.UsageError` if ``what`` needs a library that is not installed."""
    if not installed(library):
        raise UsageError(f"{what} needs {library}, which is not installed: {install(library)}{otherwise}")
