"""What every profile shares: the package's own profile. Change here what all your crawls should do."""

from sharc_crawler.live.profile import *
