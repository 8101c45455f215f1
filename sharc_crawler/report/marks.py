"""By which notes are known again, and how much is worth one."""

from __future__ import annotations

from sharc_crawler.evidence.reasons import Reason

MANY = 0.05  #: share of the pages from which on something is worth a note
DETECTOR_FAILED = "judged by bytes alone, since the detector failed"  #: where that is somebody else's
ALTERED = "The certificate does not hold: the folder is not as it was when it was sealed."
SEED = "seed"  #: who named what was typed
TILED = "/info.json"  #: ends the address of an image's description, by which viewers know its tiles
DOUBT = Reason.REFUTED.words
LED = "the seed "  #: a note begins so, of one that redirects out of its scope
UNDER_WAY = "it was being captured when this report was written: it says how far that was"
BY_SCRIPT = "its menus may be made by script"
LOCKED = Reason.REFUSED.of("status 401")
ORDERS = "like orders to the server by their names"
ALIKE = 3  #: URLs with one payload from which on they are hardly pages of their own
