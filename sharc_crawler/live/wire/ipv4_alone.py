"""A resolver was chosen that knows IPv4 alone."""

from __future__ import annotations

import logging

logger = logging.getLogger(__name__)


def warn(resolver: object) -> None:
    """Hosts with IPv6 addresses alone fail as if they were not there: nobody would know why."""
    logger.warning(
        "TWISTED_DNS_RESOLVER=%r knows IPv4 alone: hosts with IPv6 addresses alone count as not there. Leave the"
        " setting out: then hosts are looked up in both families",
        resolver,
    )
