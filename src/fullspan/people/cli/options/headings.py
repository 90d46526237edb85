"""Help pages: values named by what they are, and for ``fullspan fit`` what most people need first, then each model."""

from __future__ import annotations

from typing import Any

import typer.core

from fullspan.people.cli.options.from_estimators import Option, options

FIRST, READING = "Options", "Reading the table"
COMMON = (
    *("output", "missing", "columns", "bins", "levels", "count_column", "weights", "model", "seed", "check", "force"),
    *("as_json", "quiet", "help"),
)
"""The options that come first, whatever the model."""


EXAMPLES = {
    "full-span": ("--missing drop", "--missing drop --max-order 2"),
    "boltzmann": ("--missing drop", "--missing drop --margin party,physician,crime"),
    "decimatable": ("--missing drop --edge party-physician --edge party-crime",),
    "truncated": ("--missing drop --min-support 0.45 --l2 0.01",),
    "mixture": ("--missing em --seed 0", "--missing em --components 8 --max-width 4 --seed 0"),
    "chow-liu": ("--missing drop",),
    "hidden-tree": ("--missing drop --seed 0",),
    "restricted": ("--missing drop --hidden 16 --epochs 500 --seed 0",),
    "deep": ("--missing drop --hidden 16,8 --epochs 500 --seed 0",),
}
"""Options of the examples of each model."""


def heading(name: str, option: Option | None) -> str:
    """Where an option stands: with the common ones, with those of all models, or with its first model."""
    if name in COMMON or option is None:
        return FIRST
    return READING if option.is_of_all else f"--model {next(iter(option.parameters))}"


_VALUES = (("float", "NUMBER"), ("int", "N"), ("Path", "FILE"), ("str", "TEXT"))


class NamedValues(typer.core.TyperGroup):
    """A group of commands whose options take a FILE, a TEXT or N, where Typer writes types such as ``<list[str]>``."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command, its options with names of their values."""
        command: Any = super().get_command(ctx, cmd_name)
        for param in [] if command is None else command.params:
            shown = param.display_type(ctx) or ""
            if param.param_type_name == "argument":
                param.display_type_rich = lambda ctx: None  # its own name says enough
            elif param.metavar is None and "|" in shown:
                param.metavar = shown.strip("<>")
            elif param.metavar is None:
                written = str(param.type_descriptor.annotation)
                param.metavar = next((name for kind, name in _VALUES if kind in written), None)
        return command


class UnderHeadings(typer.core.TyperCommand):
    """A command whose help lists its options under headings; after ``--model NAME`` only those of the model."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples of the model asked about, or those of the command, and what holds for all models."""
        model, epilog = ctx.params.get("model"), self.epilog
        if model is not None and epilog is not None:
            common = [part for part in epilog.split("\n\n") if not part.startswith("Example:")]
            command = "Example: fullspan fit votes.csv -o m.fsm --model"
            own = [f"{command} {model} {given}".rstrip() for given in EXAMPLES.get(model, ("",))]
            self.epilog = "\n\n".join([*own, *common])
        try:
            super().format_epilog(ctx, formatter)
        finally:
            self.epilog = epilog

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options heading by heading."""
        table, model = options(), ctx.params.get("model")
        shown: dict[str, dict[str, Any]] = {"Arguments": {}, FIRST: {}, READING: {}}
        for param in self.get_params(ctx):
            record, option = param.get_help_record(ctx), table.get(str(param.name))
            if record is None or (model is not None and option is not None and model not in option.parameters):
                continue
            where = "Arguments" if param.param_type_name == "argument" else heading(str(param.name), option)
            if model is not None and option is not None and where.startswith("--model"):
                left = record[0] if option.is_flag else f"{option.flag} {option.metavars[model]}"
                where, record = f"--model {model}", (left, option.help(model))
            shown.setdefault(where, {})[str(param.name)] = record
        shown[FIRST] = {name: shown[FIRST][name] for name in COMMON if name in shown[FIRST]}
        for where, records in shown.items():
            if records:
                with formatter.section(where):
                    formatter.write_dl(list(records.values()))
