"""The public web: the manners of the package's own profile are enough. Yours go here."""

from settings.base import *
