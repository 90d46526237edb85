"""``fullspan serve``: explore models in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EPILOG = """Example: fullspan serve votes.fsm

Only this machine can reach the page, unless --host says otherwise; then every request needs the token in the printed
address. The page needs no network, and can fit a model to a CSV file that you choose there. A model file that changes
is read again. The JSON API is described at /api/openapi.json. Needs the extra web: pip install 'fullspan[web]'. Stop
with Ctrl-C."""


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("serve", epilog=EPILOG, short_help="Explore models in the browser.")(serve)


def serve(
    models: Annotated[
        list[Path] | None,
        typer.Argument(help="Model files or networks (.uai, .bif, .net, .dsc, .xmlbif, also .gz); none to fit one."),
    ] = None,
    data: Annotated[Path | None, typer.Option(help="Table to show next to the models that have its columns.")] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; other addresses than loopback require a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 for any free port.")] = 8765,
    allow_host: Annotated[list[str] | None, typer.Option(help="Another name of this machine. May be repeated.")] = None,
    seconds: Annotated[float, typer.Option(min=0.1, max=3600, help="Time limit of a question, in seconds.")] = 10.0,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Number of questions answered at the same time.")] = 2,
) -> None:
    """Explore models in the browser: set columns, ask questions, what-if, sample, compare."""
    from fullspan.people.web.server import serve as run

    named = _named(models or [])
    if data is not None:
        data.stat()
    run(
        named,
        host,
        port,
        seconds=seconds,
        workers=workers,
        further_hosts=tuple(allow_host or ()),
        data={} if data is None else dict.fromkeys(named, data),
        announce=_announce,
    )


def _named(paths: list[Path]) -> dict[str, Path]:
    """The files by their stems, with a number where two are the same."""
    named: dict[str, Path] = {}
    for path in paths:
        path.stat()  # a file that is not there is reported now, by its name
        name, k = path.stem, 1
        while name in named:
            k += 1
            name = f"{path.stem}-{k}"
        named[name] = path
    return named


def _announce(address: str) -> None:
    typer.echo(f"Explore at {address} (Ctrl-C ends)", err=True)
