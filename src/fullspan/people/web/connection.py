"""Clients that keep the server waiting: each has limited time, and the oldest makes room for a new one.

uvicorn closes a connection that is silent after an answer. It sets no limit to one that never completes the headers of
a request, or goes on sending after it was refused; enough of those and every other client is turned away.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_SECONDS = 5.0
"""Time for the headers of a request to arrive, and for what a client sends after it was answered."""
MAX_CONNECTIONS = 400


class Connection(H11Protocol):
    """One client's connection, closed when its next request does not come within :data:`HEADER_SECONDS`.

    A new connection above :data:`MAX_CONNECTIONS` closes the oldest one that waits for its client, those that never
    sent a request first. Where all of them wait for the server, uvicorn answers the new one with status 503.
    """

    deadline: asyncio.TimerHandle | None = None
    opened = 0.0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.opened = self.loop.time()
        self._start_clock()
        if len(self.connections) > MAX_CONNECTIONS:
            self._make_room()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_clock()
        elif self.deadline is None:
            self._start_clock()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_clock()
        super().connection_lost(exc)

    @property
    def waits_for_client(self) -> bool:
        """Whether a whole request has yet to come, or its answer has gone."""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    def _make_room(self) -> None:
        others = [c for c in self.connections if isinstance(c, Connection) and c is not self and c.waits_for_client]
        if others:
            oldest = min(others, key=lambda c: (c.cycle is not None, c.opened))
            self.connections.discard(oldest)  # now: it is lost only after the next connections are made
            oldest.transport.abort()

    def _start_clock(self) -> None:
        self.deadline = self.loop.call_later(HEADER_SECONDS, self.transport.close)

    def _stop_clock(self) -> None:
        if self.deadline is not None:
            self.deadline.cancel()
            self.deadline = None
