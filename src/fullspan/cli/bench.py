"""``fullspan bench``: what this machine can do."""

from __future__ import annotations

from typing import Annotated

import typer

from fullspan.cli.choices import Device

EPILOG = "Example: fullspan bench device --n 20 --n 24"


def register(app: typer.Typer) -> None:
    """Add the group of commands to the application."""
    group = typer.Typer(no_args_is_help=True, help="Measure this machine.", short_help="Measure this machine.")
    group.command("device", epilog=EPILOG, short_help="Steps and fits of the full-span search.")(device)
    app.add_typer(group, name="bench")


def device(
    n: Annotated[list[int] | None, typer.Option(min=13, max=40, help="Variables. [default: 20, 22, 24]")] = None,
    on: Annotated[Device, typer.Option("--device", help="auto: a GPU if there is one.")] = Device.auto,
    rows: Annotated[int, typer.Option(min=1000, help="Rows of data.")] = 100_000,
    seed: Annotated[int, typer.Option(min=0, help="Of the random network.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Time the full-span search on random Bayesian networks: bytes per second beside a copy, whole fits.

    GB/s counts what a pass over the table must move: it is read and written, and on a GPU the data are read, once each.
    "per pass" is how many steps of the search a pass takes.
    """
    from fullspan.bench.device import measure
    from fullspan.cli.summary import print_json
    from fullspan.engine.cuda.device import why_not

    if on is Device.sharded:
        raise typer.BadParameter("several devices are not measured by this command; choose cpu or cuda")
    reason = why_not()
    where = "cpu" if on is Device.cpu or (on is Device.auto and reason) else "cuda"
    if on is Device.auto and reason and not as_json:
        typer.echo(f"on the CPU: {reason}")
    if not as_json:
        typer.echo(f"{'n':>3} {'candidates':>14} {'chosen':>6} {'steps':>5} {'fit s':>8} {'step ms':>8} "
                   f"{'per pass':>8} {'GB/s':>6} {'copy':>6} {'share':>5}")  # fmt: skip
    found = []
    for size in n or [20, 22, 24]:
        row = measure(size, where, rows, seed)  # type: ignore[arg-type]
        found.append(row.to_json())
        if not as_json:
            typer.echo(
                f"{row.n:>3} {row.candidates:>14,} {row.chosen:>6} {row.steps:>5} {row.seconds:>8.3g} "
                f"{row.step_ms:>8.3g} {row.steps_per_pass:>8.2f} {row.pass_gb_s:>6.0f} {row.copy_gb_s:>6.0f} "
                f"{row.share:>5.2f}"
            )
    if as_json:
        print_json({"device": where, "rows": rows, "seed": seed, "sizes": found})
