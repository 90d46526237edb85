"""Who may ask: checks before a request reaches the application, and headers on every answer.

* Where the server is open to other machines, the API demands its token, before anything else is looked at.
* The Host header must name this server: a page elsewhere cannot reach it through a name of its own (DNS rebinding).
* A request from another origin is refused; so no page elsewhere can ask on behalf of the person at this machine.
* A body has a largest size and a longest time to arrive. A table to fit may be larger and take longer, one at a time,
  where the server is open to this machine alone.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MAX_BODY = 64 * 1024
"""Bytes of a request."""
BODY_SECONDS = 10.0
"""Time for it to arrive."""
MAX_TABLE = 32 * 1024 * 1024
"""Bytes of a table to fit."""
TABLE_SECONDS = 60.0
"""Time for it to arrive."""
TABLES = "/api/fits"
"""Where tables are posted to."""
TABLE_KINDS = (b"text/csv", b"text/tab-separated-values")
MAX_TARGET = 8 * 1024
"""Bytes of an address."""
HEADERS = (
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)


class Refused(Exception):
    """A status and why."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why


class Guard:
    """ASGI middleware around the application.

    Parameters
    ----------
    app : what is guarded.
    hosts : values of the Host header that name this server.
    token : what the API demands, or None on loopback.
    """

    def __init__(self, app: App, hosts: frozenset[str], token: str | None = None) -> None:
        self.app, self.hosts, self.token = app, hosts, token
        self._has_upload = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return  # there are no websockets here
        try:
            self._check(scope)
            body = await (self._table(scope, receive) if _is_table(scope) else _question(scope, receive))
        except Refused as refused:
            await _refuse(refused, send)
            return
        await self.app(scope, _replayed(body, receive), _with_headers(send))

    def _check(self, scope: Scope) -> None:
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.lower(), []).append(value)
        if self.token is not None and scope["path"].startswith("/api"):
            self._check_token(headers.get(b"authorization", [b""])[0])
        host = [h.decode("latin-1").lower() for h in headers.get(b"host", [])]
        if len(host) != 1 or host[0] not in self.hosts:
            raise Refused(
                421, f"this server is not {', '.join(host) or 'without a name'}; it is {sorted(self.hosts)[0]}"
            )
        if len(scope.get("raw_path") or b"") + len(scope.get("query_string", b"")) > MAX_TARGET:
            raise Refused(414, f"the address is longer than {MAX_TARGET:,} bytes")
        for origin in headers.get(b"origin", []):
            if origin.decode("latin-1").lower() not in {f"http://{host[0]}", f"https://{host[0]}"}:
                raise Refused(403, "requests from other sites are refused")
        site = headers.get(b"sec-fetch-site", [b"none"])[0]
        if site == b"cross-site":
            raise Refused(403, "requests from other sites are refused")

    async def _table(self, scope: Scope, receive: Receive) -> bytes:
        """A table to fit."""
        if self.token is not None:
            raise Refused(
                403, "tables are fitted only where the server listens on this machine alone: leave out --host"
            )
        if _kind(scope) not in TABLE_KINDS:
            raise Refused(415, "send a table, with the header Content-Type: text/csv")
        if self._has_upload:
            raise Refused(503, "another table is on its way; try again")
        self._has_upload = True
        try:
            return await _body(scope, receive, MAX_TABLE, TABLE_SECONDS)
        finally:
            self._has_upload = False

    def _check_token(self, given: bytes) -> None:
        assert self.token is not None
        if not secrets.compare_digest(given, b"Bearer " + self.token.encode()):
            raise Refused(401, "a token is needed: open the address that fullspan serve has printed")


def _is_table(scope: Scope) -> bool:
    return bool(scope["path"] == TABLES and scope["method"] == "POST")


def _kind(scope: Scope) -> bytes:
    """The type of the body; empty if there is not just one."""
    kinds: list[bytes] = [value for name, value in scope["headers"] if name.lower() == b"content-type"]
    return kinds[0].split(b";")[0].strip().lower() if len(kinds) == 1 else b""


async def _question(scope: Scope, receive: Receive) -> bytes:
    body = await _body(scope, receive, MAX_BODY, BODY_SECONDS)
    if body and _kind(scope) != b"application/json":
        raise Refused(415, "send JSON, with the header Content-Type: application/json")
    return body


async def _body(scope: Scope, receive: Receive, most: int, seconds: float) -> bytes:
    """The whole body, if it is neither too large nor too slow."""
    declared = [value for name, value in scope["headers"] if name.lower() == b"content-length"]
    if declared and (not declared[0].isdigit() or int(declared[0]) > most):
        raise Refused(413, f"the request is larger than {most:,} bytes")
    parts, size = [], 0
    try:
        async with asyncio.timeout(seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Refused(400, "the request ended early")
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > most:
                    raise Refused(413, f"the request is larger than {most:,} bytes")
                if not message.get("more_body", False):
                    return b"".join(parts)
    except TimeoutError:
        raise Refused(408, f"the request did not arrive within {seconds:g} seconds") from None


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The body again, then what comes after it."""
    is_replayed = False

    async def again() -> Message:
        nonlocal is_replayed
        if is_replayed:
            return await receive()
        is_replayed = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _with_headers(send: Send) -> Send:
    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = {name.lower() for name, _ in message.get("headers", ())}
            extra = [(name, value) for name, value in HEADERS if name not in own]
            message = {**message, "headers": [*message.get("headers", ()), *extra]}
        await send(message)

    return guarded


async def _refuse(refused: Refused, send: Send) -> None:
    body = json.dumps({"detail": refused.why}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *HEADERS]
    if refused.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
