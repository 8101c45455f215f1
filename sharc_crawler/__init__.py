"""sharc-crawler: coherent web captures with Scrapy."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("sharc-crawler")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0+unknown"
