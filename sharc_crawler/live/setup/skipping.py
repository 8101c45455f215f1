"""``-a skip=attested``: where it is possible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.errors import UsageError

if TYPE_CHECKING:
    from sharc_crawler.options.table import Options


def check_skipping(options: Options, strategy: str, *, attests: bool) -> None:
    """What is not asked for stands as a former capture has it, by what sitemaps say.

    Raises :class:`~sharc_crawler.errors.UsageError`.
    """
    if options.collection is None:
        raise UsageError("skip='attested' refers to former captures: give collection=, or leave it out")
    if not attests:
        raise UsageError(
            f"skip='attested' goes by what sitemaps say, which strategy={strategy!r} does not: give"
            " strategy=sharc-attested, too"
        )
    for name in ("browser", "cookies", "state"):  # browsers are shown whole answers, and visitors their own
        if (value := getattr(options, name)) not in (None, "never"):
            raise UsageError(f"skip='attested' takes former answers, which {name}={value!r} does not: leave one out")
