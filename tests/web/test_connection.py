"""Clients that send half a request, or send it slowly, do not keep others out: a real server on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import fullspan as fs

uvicorn = pytest.importorskip("uvicorn", reason="the extra web is not installed")

from fullspan.people.web import (  # noqa: E402
    Guard,
    Pool,
    connection,
    guarded_app,
    host_names,
    server_config,
)

HALF = b"GET /api/models HTTP/1.1\r\nHost: local"
Serve = Callable[..., int]


async def answer(scope: Any, receive: Any, send: Any) -> None:
    """What is behind the guard: the path /api/slow takes its time."""
    if scope["path"] == "/api/slow":
        await asyncio.sleep(1.5)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start the server of ``fullspan serve`` around a small application; gives its port."""
    running: list[tuple[Any, threading.Thread, socket.socket]] = []

    def start(token: str | None = None, pool: Any = None) -> int:
        listener = socket.create_server(("127.0.0.1", 0))
        port = int(listener.getsockname()[1])
        names = host_names("127.0.0.1", port)
        app = Guard(answer, names, token) if pool is None else guarded_app(pool, names, token)
        server = uvicorn.Server(server_config(app))
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        running.append((server, thread, listener))
        return port

    yield start
    for server, thread, listener in running:
        server.should_exit = True
        thread.join(20)
        listener.close()
        assert not thread.is_alive()


def sent(port: int, data: bytes) -> socket.socket:
    client = socket.create_connection(("127.0.0.1", port), timeout=10)
    client.sendall(data)
    return client


def request(port: int, path: str = "/api/models", method: str = "GET", **headers: str) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", *(f"{k}: {v}" for k, v in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode()


def status(client: socket.socket) -> int:
    """The status of the next answer, which is read to its end."""
    response = http.client.HTTPResponse(client)
    response.begin()
    response.read()
    return response.status


def seconds_until_closed(client: socket.socket, keep_sending: bytes = b"") -> float:
    """How long the server keeps a connection open to which a client goes on sending a byte at a time."""
    start = time.monotonic()
    client.settimeout(0.05)
    while time.monotonic() < start + 10:
        try:
            client.sendall(keep_sending)
            if client.recv(4096) == b"":
                return time.monotonic() - start
        except TimeoutError:
            continue
        except OSError:
            return time.monotonic() - start
    raise AssertionError("the connection stays open")


@pytest.mark.parametrize("begun", ["headers", "body"])
def test_many_half_sent_requests_do_not_keep_others_out(
    serve: Serve, begun: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Above the limit, the oldest of them make room: a whole request is answered at once."""
    monkeypatch.setattr(connection, "MAX_CONNECTIONS", 100)  # both ends are open files of this one process
    port = serve()
    header = request(port, method="POST", **{"Content-Type": "application/json", "Content-Length": "100"})
    with contextlib.ExitStack() as stack:
        for _ in range(connection.MAX_CONNECTIONS + 50):
            stack.enter_context(sent(port, HALF if begun == "headers" else header + b"{"))
        start = time.monotonic()
        assert status(stack.enter_context(sent(port, request(port)))) == 200
        assert time.monotonic() < start + 2


def test_headers_have_a_longest_time(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the opening of a connection, and again from the first byte of its next request; each byte buys no more."""
    monkeypatch.setattr(connection, "HEADER_SECONDS", 0.4)
    port = serve()
    with sent(port, b"") as silent:
        assert 0.2 < seconds_until_closed(silent) < 3
    with sent(port, HALF) as slow:
        assert 0.2 < seconds_until_closed(slow, b"h") < 3
    with sent(port, request(port)) as second:
        assert status(second) == 200
        time.sleep(0.8)  # silent between two requests: uvicorn's longer limit
        second.sendall(request(port))
        assert status(second) == 200
        assert 0.2 < seconds_until_closed(second, b"G") < 3


def test_an_answer_may_take_longer_than_headers(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "HEADER_SECONDS", 0.4)
    port = serve()
    with sent(port, request(port, "/api/slow")) as client:
        assert status(client) == 200


def test_without_the_token_a_request_is_refused_before_its_body_comes(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what is sent after the refusal is not listened to for long."""
    monkeypatch.setattr(connection, "HEADER_SECONDS", 0.4)
    port = serve("secret")
    for size in ("100", "60000", "9000000"):
        headers = {"Content-Type": "application/json", "Content-Length": size, "Authorization": "Bearer wrong"}
        start = time.monotonic()
        with sent(port, request(port, method="POST", **headers) + b"{") as client:
            assert status(client) == 401
            assert time.monotonic() < start + 1
            assert seconds_until_closed(client, b" ") < 3


def test_where_all_connections_are_busy_a_new_one_is_told_so(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests being answered are never cut off to make room."""
    monkeypatch.setattr(connection, "MAX_CONNECTIONS", 2)
    port = serve()
    with sent(port, request(port, "/api/slow")) as one, sent(port, request(port, "/api/slow")) as two:
        time.sleep(0.3)
        with sent(port, request(port)) as third:
            assert status(third) == 503
        assert (status(one), status(two)) == (200, 200)


def test_fifty_clients_at_once_are_answered_rightly(serve: Serve, paths: dict[str, Path]) -> None:
    """Each has its own evidence, and is told what follows from that."""
    pool = Pool({"one": paths["one"]}, size=2)
    model = fs.load(paths["one"])
    port = serve(pool=pool)
    found: dict[int, list[float]] = {}

    def ask(k: int) -> None:
        body = json.dumps({"given": {"b": k % 3}, "variables": ["rain"]})
        for _ in range(3):
            client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            client.request("POST", "/api/models/one/marginals", body, {"Content-Type": "application/json"})
            found.setdefault(k, []).append(json.loads(client.getresponse().read())["marginals"]["rain"][1])
            client.close()

    threads = [threading.Thread(target=ask, args=(k,)) for k in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    pool.close()
    expected = [model.probability("rain=yes", f"b={level}") for level in range(3)]
    assert found == {k: pytest.approx([expected[k % 3]] * 3) for k in range(50)}
