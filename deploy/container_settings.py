"""The public web, from a container: its environment says who crawls and where the capture goes."""

import os

from sharc_crawler.live.profile import *  # noqa: F403

SHARC_OPERATOR = os.environ.get("SHARC_OPERATOR", "")
SHARC_OUTPUT = os.environ["SHARC_OUTPUT"]
