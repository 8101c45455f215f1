"""Record what is asked of a frontier and replay it into a fresh one: same calls, same decisions, or it is a bug."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from sharc_crawler.frontier.frontier import Frontier
    from sharc_crawler.model import Done, Fetch, Wait

VERBS = ("open", "schedule", "next", "finished")


class Call(NamedTuple):
    """One call, and for ``next`` what it decided."""

    verb: str
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    decision: Fetch | Wait | Done | None


class Recorder:
    """Writes down every call of a frontier's verbs.

    >>> from sharc_crawler.frontier.frontier import Frontier
    >>> from sharc_crawler.state.spec import CaptureSpec
    >>> recorder = Recorder(frontier := Frontier())
    >>> _ = frontier.open(CaptureSpec("h", ("http://h/",), sitemaps=()), 0.0)
    >>> first = frontier.next(0.0)
    >>> replay(recorder.calls, Frontier())
    1
    """

    def __init__(self, frontier: Frontier) -> None:
        self.calls: list[Call] = []
        for verb in VERBS:
            setattr(frontier, verb, self._recorded(verb, getattr(frontier, verb)))

    def _recorded(self, verb: str, method: Any) -> Any:
        def record(*arguments: Any, **keywords: Any) -> Any:
            result = method(*arguments, **keywords)
            self.calls.append(Call(verb, arguments, keywords, result if verb == "next" else None))
            return result

        return record


def replay(calls: list[Call], frontier: Frontier) -> int:
    """Make the same calls; the number of decisions compared. Raises ``AssertionError`` at the first that differs."""
    decisions = 0
    for number, call in enumerate(calls):
        result = getattr(frontier, call.verb)(*call.arguments, **call.keywords)
        if call.verb == "next":
            decisions += 1
            if result != call.decision:
                raise AssertionError(f"call {number}: decided {result}, was {call.decision}")
    return decisions
