"""The calls that a program has enqueued on a stream, in their order, until the stream is behind them."""

from __future__ import annotations

from collections import deque
from time import perf_counter
from types import CodeType
from typing import Any, Callable, Deque, List, Optional, Tuple

GAP = 200e-6
"""Seconds between two events on a stream, at least. An event takes 2 µs of the host, so it costs at most 1 % of its time."""

Event = Any
"""An event of PyTorch's: query() reports whether the stream is behind it."""


class Enqueued:
    """A call that runs on a stream.

    op is its name, and code and line are where the program has made it. on is a weak reference to what the ranks meet by: the
    handle, or the tensor of an operator in a group; None of a kernel of the program. peer and channel are arguments of methods of
    handles, and -1 if there is none. made says that the call has returned. within are the calls of a graph that the call replays.
    """

    __slots__ = ("op", "code", "line", "on", "group", "peer", "channel", "made", "within")

    def __init__(
        self, op: str, place: Tuple[Optional[CodeType], int], on: Any = None, *, group: str = "", peer: int = -1, channel: int = -1
    ) -> None:
        self.op, self.on, self.group, self.peer, self.channel = op, on, group, peer, channel
        self.code, self.line = place
        self.made = False
        self.within: List[Enqueued] = []


class Span:
    """Calls with an event before the first one. If it has one call, the call's own beginning is known."""

    __slots__ = ("event", "calls")

    def __init__(self, event: Event, first: Enqueued) -> None:
        self.event, self.calls = event, [first]


class Queue:
    """The calls on a stream. The thread that enqueues adds to it, and another one may look.

    mark() returns an event that follows all that is on the stream at that moment, or None while a graph is captured.
    """

    def __init__(self, mark: Callable[[], Optional[Event]]) -> None:
        self._mark = mark
        self._spans: Deque[Span] = deque()
        self._marked = 0.0  # when the last event was made
        self._end: Tuple[int, Any] = (0, None)  # the last event of a look, and the number of calls before it
        self.count = 0

    def add(self, call: Enqueued) -> bool:
        """Adds a call that is about to be enqueued. Returns false if the stream is captured: the call is the graph's."""
        now = perf_counter()
        if now - self._marked < GAP and self._spans:
            self._spans[-1].calls.append(call)
            self.count += 1
            return True
        event = self._mark()
        if event is None:
            return False
        spans = self._spans
        while len(spans) > 1 and spans[1].event.query():
            spans.popleft()
        spans.append(Span(event, call))
        self._marked = now
        self.count += 1
        return True

    def last(self) -> Optional[Enqueued]:
        """Returns the last call, if there is one."""
        spans = list(self._spans)
        return spans[-1].calls[-1] if spans else None

    def standing(self, over: Callable[[Any], bool], mark: Callable[[], Any]) -> Tuple[List[Enqueued], bool]:
        """Returns the calls of which the first that is not over runs, and whether it is known that it has begun.

        It returns none if the stream is behind all calls, or not behind anything that this queue knows. over reports whether the
        stream is behind an event, and mark is as for the constructor: these two are called here, by a thread that looks.
        """
        spans = list(self._spans)
        if not spans:
            return [], False
        if self._end[0] != self.count or self._end[1] is None:
            self._end = (self.count, mark())
        end = self._end[1]
        if end is not None and over(end):
            return [], False
        begun = [s for s in spans if over(s.event)]
        if not begun:
            return [], False
        calls = list(begun[-1].calls)
        return calls, len(calls) == 1
