"""``fullspan convert``: a model or network in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EPILOG = """Example: fullspan convert votes.fsm -o votes.uai

The target may also follow the source without -o: fullspan convert votes.fsm votes.uai

Reads and writes .fsm, .uai, .bif, .net, .dsc and .xmlbif. A .uai file has no names; no network has the record of the
fit. .bif, .net, .dsc and .xmlbif hold Bayesian networks: other models are written as conditional distributions, with
the same probabilities. A network with zero probabilities cannot be written as .fsm. An existing network is replaced;
any other file that is not a model is replaced only with --force."""


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("convert", epilog=EPILOG, short_help="Convert a model or network to another format.")(convert)


def convert(
    source: Annotated[Path, typer.Argument(help="Model file or network (.uai, .bif, .net, .dsc, .xmlbif, also .gz).")],
    target: Annotated[Path | None, typer.Argument(help="File to write, if -o is not given.")] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="File to write, of any of these formats.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the target even if it is not a model.")] = False,
) -> None:
    """Convert a model or network to another format."""
    from fullspan.errors import FullspanError
    from fullspan.estimators.networks import TARGETS, read_graph
    from fullspan.model.files.networks.formats import NETWORKS, suffix
    from fullspan.people.cli.running.files import check_model_target, check_target

    target = _target(target, output)
    kind = target.suffix.lower()
    if kind not in TARGETS:
        raise FullspanError(f"{str(target)!r} cannot be written: the formats to convert to are {', '.join(TARGETS)}")
    if kind == ".fsm" and suffix(source) not in NETWORKS:
        raise FullspanError(f"{str(source)!r} is read as a model file, which {str(target)!r} would be too: copy it")
    if kind == ".fsm":
        check_model_target(target, source, force=force)
    else:
        check_target(target, source)
    network = read_graph(source)
    network.save(target)
    space = network.space
    typer.echo(f"{len(space):,} variables and {len(network.graph.scopes):,} factors written to {target}", err=True)
    if suffix(source) not in NETWORKS:
        _warn_of_inputs(source)
    if kind == ".uai" and any(name != f"x{i}" for i, name in enumerate(space.names)):
        typer.echo("UAI files have no names: variables and levels are numbered in their order", err=True)


def _target(positional: Path | None, output: Path | None) -> Path:
    """The file to write, which is given once.

    Raises
    ------
    typer.BadParameter : it is given twice, or not at all.
    """
    if positional is not None and output is not None:
        raise typer.BadParameter(f"the file to write is given twice, as {str(positional)!r} and as -o {str(output)!r}")
    if positional is None and output is None:
        raise typer.BadParameter("give the file to write: -o FILE, such as network.bif")
    return positional or output or Path()


def _warn_of_inputs(source: Path) -> None:
    """Say what a factor graph cannot: that some variables of a model are only ever given."""
    from fullspan.estimators.registry import read_fitted

    fitted = read_fitted(source)
    if fitted.is_conditional:
        roles = fitted.settings.get("roles") or fitted.settings
        typer.echo(
            f"warning: {str(source)!r} was learned given {', '.join(roles['inputs'])}, and networks have no such "
            "roles: only answers with all of these as evidence mean anything; their own probabilities and log Z do not",
            err=True,
        )
