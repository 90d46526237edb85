"""Who may ask: checks before a request reaches the application, and headers on every answer.

* Where the server is open to other machines, the API demands its token, before anything else is looked at.
* The Host header must name this server: a page elsewhere cannot reach it through a name of its own (DNS rebinding).
* A request from another origin is refused; so no page elsewhere can ask on behalf of the person at this machine.
* A body has a largest size and a longest time to arrive.
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

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return  # there are no websockets here
        try:
            self._check(scope)
            body = await _body(scope, receive)
            if body and not _is_json(scope):
                raise Refused(415, "send JSON, with the header Content-Type: application/json")
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

    def _check_token(self, given: bytes) -> None:
        assert self.token is not None
        if not secrets.compare_digest(given, b"Bearer " + self.token.encode()):
            raise Refused(401, "a token is needed: open the address that fullspan serve has printed")


def _is_json(scope: Scope) -> bool:
    kinds = [value for name, value in scope["headers"] if name.lower() == b"content-type"]
    return len(kinds) == 1 and kinds[0].split(b";")[0].strip().lower() == b"application/json"


async def _body(scope: Scope, receive: Receive) -> bytes:
    """The whole body, if it is neither too large nor too slow."""
    declared = [value for name, value in scope["headers"] if name.lower() == b"content-length"]
    if declared and (not declared[0].isdigit() or int(declared[0]) > MAX_BODY):
        raise Refused(413, f"the request is larger than {MAX_BODY:,} bytes")
    parts, size = [], 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Refused(400, "the request ended early")
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > MAX_BODY:
                    raise Refused(413, f"the request is larger than {MAX_BODY:,} bytes")
                if not message.get("more_body", False):
                    return b"".join(parts)
    except TimeoutError:
        raise Refused(408, f"the request did not arrive within {BODY_SECONDS:g} seconds") from None


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
