"""What an HTTP status means for a page."""

from __future__ import annotations

from sharc_crawler.model import Result

REDIRECTS = {301, 302, 303, 307, 308}
#: answers that are worth another try (429 and 503 with the server's own Retry-After)
TRANSIENT = {408, 425, 429}


def classify(status: int, location: str | None) -> Result:
    """What a status means for a page.

    >>> [classify(s, None).value for s in (200, 304, 404, 403, 429, 503)]
    ['ok', 'not-modified', 'gone', 'refused', 'failed', 'failed']
    >>> classify(301, "/there").value, classify(301, None).value
    ('redirected', 'refused')
    """
    if 200 <= status < 300:
        return Result.OK
    if status == 304:
        return Result.NOT_MODIFIED
    if status in REDIRECTS and location:
        return Result.REDIRECTED
    if status in (404, 410):
        return Result.GONE
    return Result.FAILED if status >= 500 or status in TRANSIENT else Result.REFUSED
