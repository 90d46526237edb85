"""Options of a command under headings, those that most people need first."""

from __future__ import annotations

from typing import Any

import typer.core

FIRST = "Options"
OTHERS = "Further options"
HEADINGS: dict[str, tuple[str, ...]] = {
    FIRST: (
        *("output", "missing", "columns", "bins", "levels", "count_column", "weights", "model", "seed", "force"),
        *("as_json", "quiet", "help"),
    ),
    "Reading the table": ("na", "max_levels"),
    "Search for terms": (
        *("max_order", "average", "shrink", "basis", "penalty", "search", "l1", "epsilon", "engine", "max_width"),
    ),
    "Given terms (--model boltzmann, decimatable)": (
        *("order", "graph", "edge", "margin", "solver", "l2", "max_iter", "chains", "sweeps", "learning_rate"),
    ),
    "Hidden variables, mixtures and trees": ("hidden", "restarts", "components", "max_seconds"),
    "Frequent patterns (--model truncated)": ("min_support", "pattern", "pairs", "unseen"),
    "Layered machines (--model restricted, deep)": ("epochs", "target"),
    "Large tables and long runs": (*("max_memory", "dtype", "device", "checkpoint", "checkpoint_every", "resume"),),
}
"""Names of the options of ``fullspan fit`` under each heading, in the order in which they are shown."""


class UnderHeadings(typer.core.TyperCommand):
    """A command whose help lists its options under :data:`HEADINGS`; an option of none comes last."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options heading by heading."""
        rows: dict[str, Any] = {}
        arguments = []
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is None:
                continue
            if param.param_type_name == "argument":
                arguments.append(record)
            else:
                rows[str(param.name)] = record
        placed = {heading: [rows.pop(name) for name in names if name in rows] for heading, names in HEADINGS.items()}
        for heading, records in {"Arguments": arguments, **placed, OTHERS: list(rows.values())}.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)
