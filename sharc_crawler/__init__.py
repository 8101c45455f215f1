"""sharc-crawler: coherent web captures with Scrapy."""

from functools import cache

__version__: str


@cache
def __getattr__(name: str) -> str:
    """The version, when somebody asks for it: the processes beside a crawl do not, and start sooner."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("sharc-crawler")
    except PackageNotFoundError:  # a source tree that was never installed
        return "0+unknown"
