"""Beginnings and parts of notes by which other code recognises them, and thresholds for notes."""

from __future__ import annotations

from sharc_crawler.evidence.reasons import Reason

MANY = 0.05  #: share of the pages above which something gets a note
DETECTOR_FAILED = "judged by bytes alone, since the detector failed"  #: of a plug-in
ALTERED = "The certificate does not hold: the folder is not as it was when it was sealed."
SEED = "seed"  #: the origin (``via``) of seeds
TILED = "/info.json"  #: end of the URL of a IIIF image's description, from which viewers compute its tiles
DOUBT = Reason.REFUTED.words
LED = "the seed "  #: beginning of the note on a seed that redirects out of its scope
UNDER_WAY = "it was still being captured when this report was written"
BY_SCRIPT = "its menus may be made by script"
LOCKED = Reason.REFUSED.of("status 401")
ORDERS = "like orders to the server by their names"
ALIKE = 3  #: this many URLs with the same payload are hardly pages of their own
