"""The living site on loopback: no stranger to be polite to."""

from settings.base import *

DOWNLOAD_DELAY = 0.05
SHARC_ALLOWED_ADDRESSES = ["127.0.0.0/8", "::1"]
