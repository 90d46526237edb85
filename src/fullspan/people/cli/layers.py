"""Layered machines in a terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

_KIND = b'"kind": "layers"'


def is_layered(path: Path) -> bool:
    """Whether a file begins as that of a machine in layers."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return _KIND in file.read(512)


def show_layers(path: Path, *, as_json: bool) -> None:
    """Print what a machine is."""
    print_layers(_loaded(path), {"file": str(path)}, as_json=as_json)


def _loaded(path: Path) -> Any:
    from fullspan.estimators.loading import load

    return load(path)


def print_layers(machine: Any, more: dict[str, Any], *, as_json: bool) -> None:
    """Print what a machine is: its units, log Z, and how learning ended."""
    from fullspan.estimators.explain.endings import ending
    from fullspan.estimators.explain.limits import facts as limits
    from fullspan.people.cli.summary import closing_lines, print_json

    fitted = machine._fitted
    model, z = machine.model_, machine.log_z_
    facts = {
        "estimator": type(machine).__name__,
        "variables": len(model.space),
        "layers": list(model.sizes),
        "parameters": model.n_parameters,
        "log_z": {"value": z.value, "standard_error": z.standard_error, "method": z.method},
        "status": machine.status_,
        "epochs": machine.n_iter_,
        "ending": ending(fitted)._asdict(),
        **limits(fitted),
    }
    if as_json:
        print_json({**facts, **more})
        return
    sizes = " - ".join(map(str, model.sizes))
    typer.echo(
        f"{facts['estimator']}: {facts['variables']} variables, units {sizes}, {model.n_parameters:,} parameters"
    )
    typer.echo(f"log Z {z} ({'exact' if z.is_exact else 'estimated by annealing'})")
    typer.echo(f"{machine.n_iter_} epochs, {machine.status_}")
    typer.echo("\n".join(closing_lines(fitted)))
