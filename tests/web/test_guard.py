"""Who may ask: host, origin, token, size and time, without any server."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from fullspan.people.web import Guard, guard, host_names, is_loopback
from web.client import request

HOSTS = host_names("127.0.0.1", 8765)


async def echo(scope: Any, receive: Any, send: Any) -> None:
    body = (await receive())["body"]
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": body})


def asked(
    headers: dict[str, str],
    *,
    method: str = "GET",
    path: str = "/api/models",
    body: bytes = b"",
    token: str | None = None,
) -> tuple[int, dict[str, str], bytes]:
    answer = request(Guard(echo, HOSTS, token), method, path, body, headers)
    return answer.status, answer.headers, answer.body


JSON = {"host": "127.0.0.1:8765", "content-type": "application/json"}


def test_a_plain_request_passes_with_headers_that_protect_the_page() -> None:
    status, headers, body = asked(JSON, method="POST", body=b"x" * 5000)
    assert (status, len(body)) == (200, 5000)
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("host", ["evil.example:8765", "127.0.0.1", "127.0.0.1:80", "", "localhost.evil.example:8765"])
def test_another_host_is_refused(host: str) -> None:
    """A name that someone else points at this machine does not open it."""
    assert asked({"host": host})[0] == 421


def test_a_request_without_a_host_is_refused() -> None:
    assert asked({})[0] == 421


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:9999", "https://localhost"])
def test_another_origin_is_refused(origin: str) -> None:
    assert asked({**JSON, "origin": origin}, method="POST")[0] == 403


def test_the_own_origin_passes_and_another_site_does_not() -> None:
    assert asked({**JSON, "origin": "http://127.0.0.1:8765"}, method="POST")[0] == 200
    assert asked({**JSON, "sec-fetch-site": "cross-site"})[0] == 403


def test_a_form_cannot_ask() -> None:
    """Only JSON is taken, which no page elsewhere can send unasked."""
    for kind in ("text/plain", "application/x-www-form-urlencoded", "text/html; x=application/json"):
        assert asked({"host": "localhost:8765", "content-type": kind}, method="POST", body=b"{}")[0] == 415
    assert asked({"host": "localhost:8765"}, method="POST", body=b"{}")[0] == 415


def test_a_body_has_a_largest_size_whatever_it_declares() -> None:
    assert asked({**JSON, "content-length": str(guard.MAX_BODY + 1)}, method="POST")[0] == 413
    assert asked({**JSON, "content-length": "-1"}, method="POST")[0] == 413
    assert asked(JSON, method="POST", body=b"x" * (guard.MAX_BODY + 1))[0] == 413


def test_a_slow_body_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "BODY_SECONDS", 0.05)
    sent: list[Any] = []

    async def never() -> Any:
        await asyncio.sleep(60)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/api",
        "headers": [(k.encode(), v.encode()) for k, v in JSON.items()],
    }
    asyncio.run(Guard(echo, HOSTS)(scope, never, send))
    assert sent[0]["status"] == 408


def test_the_token_is_demanded_by_the_api_alone() -> None:
    """The page holds no secret; every question needs the token, whole."""
    assert asked(JSON, path="/", token="secret")[0] == 200
    status, headers, body = asked(JSON, token="secret")
    assert status == 401
    assert headers["www-authenticate"] == "Bearer"
    assert "token" in json.loads(body)["detail"]
    assert asked({**JSON, "authorization": "Bearer secre"}, token="secret")[0] == 401
    assert asked({**JSON, "authorization": "Bearer secret"}, token="secret")[0] == 200


@pytest.mark.parametrize(
    "wrong",
    [{"host": "evil.example"}, {"origin": "http://evil.example"}, {"content-length": "999999"}],
    ids=["host", "origin", "size"],
)
def test_the_token_is_looked_at_first(wrong: dict[str, str]) -> None:
    """Without it, nothing else about the server is learned."""
    assert asked({**JSON, **wrong}, method="POST", token="secret")[0] == 401


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.9.1", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("10.0.0.1", False),
    ],
)
def test_which_addresses_only_this_machine_reaches(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


def test_a_server_for_others_knows_its_names() -> None:
    names = host_names("10.1.2.3", 80, ("box.example",))
    assert {"10.1.2.3", "10.1.2.3:80", "box.example:80"} <= names
    assert "evil.example" not in names


def test_a_table_is_taken_in_one_place_from_this_machine_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Text of 32 MiB at most, where no token is needed; everywhere else a request is JSON of 64 KiB."""
    table = {"host": "127.0.0.1:8765", "content-type": "text/csv"}
    big = b"a,b\n" * (guard.MAX_BODY // 4 + 1)
    assert asked(table, method="POST", path="/api/fits", body=big)[0] == 200
    assert asked(table, method="POST", path="/api/models/one/query", body=b"a,b")[0] == 415
    assert asked(JSON, method="POST", path="/api/fits", body=b"{}")[0] == 415
    status, _, body = asked({**table, "authorization": "Bearer t"}, method="POST", path="/api/fits", token="t")
    assert (status, b"this machine alone" in body) == (403, True)
    assert asked({**table, "origin": "http://evil.example"}, method="POST", path="/api/fits", body=b"a")[0] == 403
    monkeypatch.setattr(guard, "MAX_TABLE", 1000)
    assert asked(table, method="POST", path="/api/fits", body=b"a" * 1001)[0] == 413
