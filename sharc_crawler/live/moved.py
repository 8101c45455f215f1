"""Names that Scrapy keeps elsewhere, or not at all, in some of the versions that we run with.

tests/live/test_versions.py says which are private, and fails by name where one is gone.
"""

from __future__ import annotations

try:
    from scrapy.core.downloader.handlers.http11 import _LenientHTTP11ClientFactory as ClientFactory
    from scrapy.core.downloader.handlers.http11 import _LenientHTTP11ClientProtocol as ClientProtocol
except ImportError:  # before Scrapy 2.18, which is not as patient with odd headers
    from twisted.web._newclient import HTTP11ClientProtocol as ClientProtocol  # type: ignore[assignment]
    from twisted.web.client import _HTTP11ClientFactory as ClientFactory  # type: ignore[assignment]
try:
    from scrapy.core.downloader.handlers.http11 import _ScrapyAgent as ScrapyAgent
except ImportError:  # before Scrapy 2.16
    from scrapy.core.downloader.handlers.http11 import ScrapyAgent  # type: ignore[attr-defined,no-redef]

__all__ = ["ClientFactory", "ClientProtocol", "ScrapyAgent"]
