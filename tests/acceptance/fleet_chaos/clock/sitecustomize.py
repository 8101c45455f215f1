"""Has Python 3.11 sleep at all under Debian's libfaketime, which refuses waiting until a moment (EINVAL)."""

import select
import time


def sleep(seconds: float) -> None:
    select.select([], [], [], seconds)


time.sleep = sleep
