"""Registrable domains, by the public suffix list as it is installed: no network, no cache."""

from __future__ import annotations

import re

from tldextract import TLDExtract

_SUFFIXES = TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)


def domain_of(host: str) -> str:
    """Return the registrable domain: two labels if no listed suffix matches; an IP address as it is.

    >>> domain_of("www.example.co.uk:81"), domain_of("opac.city.intra"), domain_of("a.github.io"), domain_of("[::1]:8")
    ('example.co.uk', 'city.intra', 'a.github.io', '[::1]')
    """
    name = host if host.endswith("]") else re.sub(r":\d+$", "", host)
    found = _SUFFIXES(name)
    if found.suffix or found.ipv4 or found.ipv6:
        return found.top_domain_under_public_suffix or name
    return ".".join(name.split(".")[-2:])
