"""The public web: nobody is crawled by somebody without a name."""

from settings.base import *

SHARC_OPERATOR_REQUIRED = True
