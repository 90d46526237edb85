"""``fullspan adjust``: a learned model with other margins, and what follows from them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fullspan.people.cli.options.arguments import MARGINS_HELP

EPILOG = """Example: fullspan adjust votes.fsm --margins house.json -o other.fsm

Or write the margin out: --margins "party: democrat=1, republican=2". Give a count or share for every level, 0 to
exclude it. Files have the same format as for fullspan rake.

The new model is the nearest one to the old model with these margins (the I-projection). Everything conditional on the
changed columns stays exactly as it was. The columns whose shares change most are printed.

If margins contradict each other or the model, or cannot be changed exactly, nothing is written (exit code 2)."""


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("adjust", epilog=EPILOG, short_help="Change the margins of a model (what if).")(adjust)


def adjust(
    model: Annotated[Path, typer.Argument(help="Model file or network (.uai, .bif, .net, .dsc, .xmlbif).")],
    margins: Annotated[list[str], typer.Option(help=MARGINS_HELP)],
    output: Annotated[Path, typer.Option("-o", "--output", help="File to write: .fsm, or .uai for a network.")],
    top: Annotated[int, typer.Option(min=0, help="Number of columns to list, most changed first; 0 for all.")] = 10,
    force: Annotated[bool, typer.Option("--force", help="Replace the output file even if it is not a model.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the shares before and after as JSON.")] = False,
) -> None:
    """Change the margins of a model and leave everything else as it is."""
    from fullspan.data.tables.margin_counts import is_written_out
    from fullspan.estimators.answers.what_if import moves
    from fullspan.estimators.networks import read_graph
    from fullspan.estimators.registry import load
    from fullspan.model.files.networks.formats import NETWORKS, suffix
    from fullspan.people.cli.running.files import check_model_target, check_target
    from fullspan.people.cli.running.summary import print_json, print_rows

    is_network = suffix(model) in NETWORKS
    inputs = (model, *(Path(m) for m in margins if not is_written_out(m)))
    if is_network and output.suffix.lower() == ".uai":
        check_target(output, *inputs)
    else:
        check_model_target(output, *inputs, force=force)
    old = read_graph(model) if is_network else load(model)
    new = old.with_margins(margins)
    found = moves(old.distribution_, new.distribution_)
    new.save(output)
    if as_json:
        print_json([move._asdict() for move in found])
    else:
        shown = found[: top or None]
        rows = [
            (f"{move.column}={level}", f"{before:.3f}", f"{after:.3f}")
            for move in shown
            for level, before, after in zip(move.levels, move.before, move.after, strict=True)
        ]
        print_rows(("share of", "before", "after"), rows)
        if len(found) > len(shown):
            typer.echo(f"... and {len(found) - len(shown)} more columns")
    typer.echo(f"a model with other margins written to {output}", err=True)
