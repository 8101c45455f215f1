"""| A worker's log: one line for each event, with names and values."""

from __future__ import annotations

import json
import logging

logger = logging.getLogger(__name__)


def log_event(event: str, **facts: object) -> None:
    """Log an event; empty values are left out."""
    text = " ".join(f"{name}={json.dumps(value)}" for name, value in facts.items() if value not in (None, ""))
    logger.info("event=%s %s", event, text)
