"""Machines in layers on the command line: ``fit --model restricted`` or ``deep``; ``show``, ``score``, ``sample``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from fullspan.errors import FullspanError

LAYERED = ("restricted", "deep")
_KIND = b'"kind": "layers"'


def units_of(text: str | None, model: str) -> list[int]:
    """Hidden units from ``--hidden``: one number, or one per layer of a deep machine.

    Raises
    ------
    FullspanError : it is not that.
    """
    given = "64" if text is None and model == "restricted" else "64,32" if text is None else text
    parts = [part.strip() for part in given.split(",")]
    if not all(part.isdigit() for part in parts) or (model == "restricted" and len(parts) != 1):
        wanted = "a number of units, 64" if model == "restricted" else "a number of units for each layer, 64,32"
        raise FullspanError(f"--hidden is {text!r}; with --model {model} it is {wanted}")
    return [int(part) for part in parts]


def fit_layers(
    data: Path,
    output: Path,
    model: str,
    hidden: str | None,
    options: dict[str, Any],
    *,
    as_json: bool,
    quiet: bool,
    weights: str | None = None,
) -> int:
    """Learn a machine of a table, write it, and print what it is."""
    from fullspan.learn.base.reporter import announce, reported
    from fullspan.people.cli.app import INTERRUPTED

    sizes = units_of(hidden, model)
    given = {key: value for key, value in options.items() if value is not None}
    with reported(verbose=not quiet):
        machine = _machine(model, sizes, verbose=not quiet, **given)
    machine._says_limits = False  # they are printed below
    machine.fit(data, sample_weight=weights)
    with reported(verbose=not quiet) as watch:
        announce(watch, "computing log Z")
        machine.save(output)
    if not quiet:
        seconds = machine._fitted.settings["seconds"]
        _tell(machine, {"file": str(output), "seconds": seconds}, as_json=as_json)
    return INTERRUPTED if machine.status_ == "interrupted" else 0


def _machine(model: str, sizes: list[int], **given: Any) -> Any:
    from fullspan.estimators.deep import DeepBoltzmannMachine
    from fullspan.estimators.restricted import RestrictedBoltzmannMachine

    if model == "restricted":
        return RestrictedBoltzmannMachine(n_hidden=sizes[0], **given)
    return DeepBoltzmannMachine(layers=sizes, **given)


def is_layered(path: Path) -> bool:
    """Whether a file begins as that of a machine in layers."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return _KIND in file.read(512)


def show_layers(path: Path, *, as_json: bool) -> None:
    """Print what a machine is."""
    _tell(_loaded(path), {"file": str(path)}, as_json=as_json)


def score_layers(path: Path, data: Path, reading: dict[str, Any], weights: str | None = None, *, as_json: bool) -> None:
    """Print the mean log-likelihood of a table, or its lower bound, with the error of log Z."""
    from fullspan.estimators.inputs.reading import present
    from fullspan.people.cli.summary import print_json

    machine = _loaded(path).set_params(**reading)
    if weights is None:
        weights = present(data, machine.fitted_.settings.get("weights"))
    mean, error = machine.score(data, sample_weight=weights), machine.log_z_.standard_error
    if as_json:
        print_json({"mean_log_prob": mean, "standard_error": error, "log_z_method": machine.log_z_.method})
        return
    what = "mean log-probability" if machine.model_.n_layers == 1 else "lower bound of the mean log-probability"
    typer.echo(f"{what} {mean:.6f} nats" + ("" if machine.log_z_.is_exact else f" ± {error:.2g} (log Z is estimated)"))


def sample_layers(path: Path, n: int, seed: int | None, given: str | None) -> Any:
    """Rows drawn by Gibbs chains, as an Arrow table."""
    return _loaded(path).sample(n, random_state=seed, given=given)


def _loaded(path: Path) -> Any:
    from fullspan.estimators.loading import load

    return load(path)


def _tell(machine: Any, more: dict[str, Any], *, as_json: bool) -> None:
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
    if "seconds" in more:
        typer.echo(f"fitted in {more['seconds']:.1f} s, written to {more['file']}")
