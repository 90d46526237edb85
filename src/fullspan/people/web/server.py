"""Listen: on loopback without a token, elsewhere only with one."""

from __future__ import annotations

import ipaddress
import secrets
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fullspan.errors import FullspanError
from fullspan.people.web.fits import Fits
from fullspan.people.web.guard import Guard
from fullspan.people.web.worker import Pool

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def host_names(host: str, port: int, further: tuple[str, ...] = ()) -> frozenset[str]:
    """Values of the Host header that name this server."""
    names = {*LOOPBACK_NAMES, f"[{host}]" if ":" in host else host, *further}
    if host in ("0.0.0.0", "::"):
        names |= {socket.gethostname(), socket.getfqdn()}
    return frozenset(f"{name.lower()}:{port}" for name in names) | (
        frozenset(name.lower() for name in names) if port == 80 else frozenset()
    )


def guarded_app(pool: Pool, hosts: frozenset[str], token: str | None, fits: Fits | None = None) -> Guard:
    """The application with its guard."""
    from fullspan.people.web.api import make_app

    return Guard(make_app(pool, fits), hosts, token)  # type: ignore[arg-type]


def server_config(app: Any) -> Any:
    """The settings of uvicorn: how long a connection may last, and how many there may be."""
    import uvicorn

    from fullspan.people.web.connection import MAX_CONNECTIONS, Connection

    return uvicorn.Config(
        app,
        http=Connection,
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=MAX_CONNECTIONS + 1,  # reached where no connection could make room
        timeout_keep_alive=15,
        timeout_graceful_shutdown=2,
        ws="none",
        lifespan="off",
        proxy_headers=False,
    )


def serve(
    paths: Mapping[str, Path],
    host: str,
    port: int,
    *,
    seconds: float,
    workers: int,
    further_hosts: tuple[str, ...] = (),
    data: Mapping[str, Path] | None = None,
    announce: Callable[[str], None],
) -> None:
    """Serve models until interrupted; ``announce`` is given the address to open once there is one.

    ``data`` has tables to show next to models, by the names of these.

    Raises
    ------
    FullspanError : the extra ``web`` is not installed, a model cannot be opened, or the address cannot be listened on.
    """
    try:
        import uvicorn
    except ImportError as error:
        raise FullspanError("the explorer needs its extra packages: pip install 'fullspan[web]'") from error

    token = None if is_loopback(host) else secrets.token_urlsafe(24)
    listener = _listener(host, port)
    port = int(listener.getsockname()[1])
    pool = Pool(paths, size=workers, seconds=seconds, data=data)
    fits = Fits(pool) if token is None else None
    try:
        pool.ready()
        app: Any = guarded_app(pool, host_names(host, port, further_hosts), token, fits)
        shown = f"[{host}]" if ":" in host else socket.gethostname() if host == "0.0.0.0" else host
        announce(f"http://{shown}:{port}/" + (f"#token={token}" if token else ""))
        uvicorn.Server(server_config(app)).run([listener])
    finally:
        if fits is not None:
            fits.close()
        pool.close()
        listener.close()


def _listener(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()  # so that whoever comes before the application is ready waits, and is not turned away
    except OSError as error:
        listener.close()
        raise FullspanError(
            f"cannot listen on {host}:{port}: {error.strerror}; choose another --port, or 0 for any"
        ) from error
    return listener
