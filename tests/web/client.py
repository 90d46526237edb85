"""One request to an ASGI application, without a server."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote


@dataclass(frozen=True)
class Answer:
    """Status, headers and body."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


def request(
    app: Any, method: str, target: str, body: bytes = b"", headers: dict[str, str] | None = None, part: int = 1000
) -> Answer:
    """Send a request whose body comes in parts."""
    path, _, query = target.partition("?")
    parts = [body[i : i + part] for i in range(0, len(body), part)] or [b""]
    messages = [{"type": "http.request", "body": p, "more_body": k + 1 < len(parts)} for k, p in enumerate(parts)]
    sent: list[Any] = []

    async def receive() -> Any:
        return messages.pop(0) if messages else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "http_version": "1.1",
        "asgi": {"version": "3.0"},
        "scheme": "http",
        "server": ("127.0.0.1", 8765),
        "method": method,
        "root_path": "",
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [(k.encode(), v.encode()) for k, v in (headers or {}).items()],
    }
    asyncio.run(app(scope, receive, send))
    told = {k.decode(): v.decode() for k, v in sent[0]["headers"]}
    return Answer(sent[0]["status"], told, b"".join(m.get("body", b"") for m in sent[1:]))
