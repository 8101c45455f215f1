"""The living site: a real HTTP server whose pages change as Poisson processes.

A :class:`LivingSite` is a function of time, without sockets; :func:`serve` puts it on one. The truth about its changes
is known at any time, and is the same for whoever crawls it.
"""

from sharc_crawler.demo.answers import Response
from sharc_crawler.demo.server import DemoServer, serve
from sharc_crawler.demo.site import LivingSite

__all__ = ["DemoServer", "LivingSite", "Response", "serve"]
