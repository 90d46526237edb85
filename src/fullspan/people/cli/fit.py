"""``fullspan fit``: learn a model from a table."""

from __future__ import annotations

import contextlib
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fullspan.errors import DataWarning
from fullspan.people.cli.choices import Basis, Device, EngineName, Missing, Model, Precision, Search, Solver
from fullspan.people.cli.headings import UnderHeadings
from fullspan.people.cli.interrupt import Interrupts, remembered
from fullspan.people.cli.reading import Na

if TYPE_CHECKING:
    from fullspan.data import Empirical
    from fullspan.data.space import Variable
    from fullspan.model.fitted import Fitted
    from fullspan.model.loglinear import LogLinear

INTERRUPTED_STATUS = "interrupted"
STRONGEST, COEFFICIENTS = 5, 20
"""Terms shown after a search, and after the fit of a machine."""


MISSING_HELP = "Missing cells: refuse, drop the rows, an extra level, or not observed (em)."
MODEL_HELP = (
    "full-span searches for terms of any order; boltzmann fits those given by --order, --graph, --edge or --margin; "
    "decimatable those of a sparse graph, --edge or --graph, of any number of two-level columns; truncated fits "
    "frequent patterns of hundreds of variables; mixture has a hidden variable on top of models of bounded "
    "width; chow-liu and hidden-tree are trees; restricted and deep learn hidden units by sampling."
)
RATE_HELP = "Restricted, deep: of the first pass; boltzmann: of pcd and cd, 0.01 by default."
SUPPORT_HELP = "Truncated: least share of rows with a pattern, such as 0.1, or a number of rows."
ORDER_HELP = "Boltzmann: most variables in a term; with a graph, in a clique."
GRAPH_HELP = "Boltzmann, decimatable: file with one edge per line, two names separated by a comma or blanks."
EDGE_HELP = "Boltzmann, decimatable: an edge, a-b or a,b; may be repeated."
MARGIN_HELP = "Boltzmann: a margin to fit with all its subsets, a,b,c; may be repeated."
HIDDEN_HELP = "A number of binary hidden variables, or their names separated by commas; deep: units per layer, 64,32."
L1_HELP = "Weight of an L1 penalty on the weights; above 0, terms are searched one at a time, whatever --search says."
EPSILON_HELP = "Stop when a step gains less, in nats per row; only for --search paper or --l1 above 0."
ENGINE_HELP = (
    "The dual table of all states, or elimination for hundreds of columns; auto: the table if it takes under a minute "
    "and fits into --max-memory, by default 1 GiB or 100 KiB per row."
)
WIDTH_HELP = "Elimination, mixture: most variables that one is joined to."
COMPONENTS_HELP = (
    "Mixture: levels of the hidden variable; by default several runs, mixed. Hidden-tree: states of a node."
)
SECONDS_HELP = "Mixture: start no new run after this many seconds."
PATTERN_HELP = "Truncated: a pattern; may be repeated."
RESUME_HELP = "Start from the checkpoint, if there is one, and keep its basis, whatever --basis says."
AVERAGE_HELP = "Average this number of fits and networks, which predicts better; Ctrl-C keeps the fits that are done."
SHRINK_HELP = "Shrink all interactions by a prior set by evidence; full-span mixes them in as far as they predict."
EPILOG = """Example: fullspan fit votes.csv -o votes.fsm --missing drop

Example: fullspan fit votes.csv -o m.fsm --model boltzmann --missing drop

Ctrl-C stops the search and saves the best model so far (exit code 130); before the first move of the search there is
none, and no model is written. Ctrl-C while a learned model is measured saves it without these measures (exit code 130).
An existing model file is replaced; another kind of file is not, unless --force is given. The data file is never
replaced. Standard errors after the default search are posterior standard deviations under the fitted prior."""


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("fit", epilog=EPILOG, cls=UnderHeadings)(fit)


def fit(
    context: typer.Context,
    data: Annotated[Path, typer.Argument(help="CSV, TSV, Parquet, JSON lines or Arrow file; text may be gzipped.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Model file to write, such as votes.fsm.")],
    missing: Annotated[Missing, typer.Option(help=MISSING_HELP)] = Missing.error,
    columns: Annotated[str | None, typer.Option(help="Columns to use, separated by commas; default all.")] = None,
    levels: Annotated[
        str | None, typer.Option(help='Levels in order, as JSON or a .json file: \'{"size": ["S", "L"]}\'.')
    ] = None,
    bins: Annotated[
        str | None,
        typer.Option(help='Cut numeric columns: a number of quantile bins, or JSON: \'{"age": ["width", 5]}\'.'),
    ] = None,
    count_column: Annotated[str | None, typer.Option(help="Column that holds the count of each row.")] = None,
    weights: Annotated[str | None, typer.Option(help="Column that holds the weight of each row.")] = None,
    max_levels: Annotated[int, typer.Option(min=1, help="Most levels a column may have.")] = 64,
    na: Na = None,
    model: Annotated[Model, typer.Option(metavar="NAME", help=MODEL_HELP)] = Model.full_span,
    order: Annotated[int, typer.Option(min=1, help=ORDER_HELP)] = 2,
    graph: Annotated[Path | None, typer.Option(help=GRAPH_HELP)] = None,
    edge: Annotated[list[str] | None, typer.Option(metavar="A-B", help=EDGE_HELP)] = None,
    margin: Annotated[list[str] | None, typer.Option(metavar="A,B,C", help=MARGIN_HELP)] = None,
    hidden: Annotated[str | None, typer.Option(help=HIDDEN_HELP)] = None,
    solver: Annotated[Solver, typer.Option(help="Machines: how the weights are found.")] = Solver.auto,
    l2: Annotated[float, typer.Option(min=0.0, help="Machines: weight of a ridge penalty.")] = 0.0,
    min_support: Annotated[str, typer.Option(help=SUPPORT_HELP)] = "0.1",
    pattern: Annotated[list[str] | None, typer.Option(metavar="A,B,C", help=PATTERN_HELP)] = None,
    pairs: Annotated[int | None, typer.Option(min=0, help="Truncated: number of random pairs.")] = None,
    unseen: Annotated[float, typer.Option(min=0.0, help="Truncated: mass of all states left out.")] = 0.0,
    max_iter: Annotated[int | None, typer.Option(min=1, help="Boltzmann, decimatable: most iterations.")] = None,
    chains: Annotated[int, typer.Option(min=1, help="Boltzmann: Gibbs chains of pcd and cd.")] = 100,
    sweeps: Annotated[int, typer.Option(min=1, help="Boltzmann: sweeps of the chains between two updates.")] = 1,
    restarts: Annotated[int, typer.Option(min=1, help="Runs with hidden variables; the best is kept.")] = 5,
    average: Annotated[int, typer.Option(min=1, help=AVERAGE_HELP)] = 1,
    shrink: Annotated[bool, typer.Option("--shrink", help=SHRINK_HELP)] = False,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of all that is random.")] = None,
    search: Annotated[Search, typer.Option(help="The full search, or the published algorithm.")] = Search.full,
    basis: Annotated[Basis, typer.Option(help="Kind of terms; auto keeps the shorter description.")] = Basis.auto,
    penalty: Annotated[str, typer.Option(help="mdl, combinatorial, bic, or a factor such as 2.0.")] = "mdl",
    l1: Annotated[float, typer.Option(min=0.0, help=L1_HELP)] = 0.0,
    epsilon: Annotated[float, typer.Option(min=0.0, help=EPSILON_HELP)] = 1e-4,
    max_order: Annotated[int | None, typer.Option(min=1, help="Most variables in a term; default any.")] = None,
    engine: Annotated[EngineName, typer.Option(help=ENGINE_HELP)] = EngineName.auto,
    max_width: Annotated[int, typer.Option(min=1, help=WIDTH_HELP)] = 4,
    components: Annotated[int | None, typer.Option(min=1, help=COMPONENTS_HELP)] = None,
    max_seconds: Annotated[float | None, typer.Option(min=0.0, help=SECONDS_HELP)] = None,
    dtype: Annotated[Precision, typer.Option(help="Numbers of the tables.")] = Precision.auto,
    device: Annotated[Device, typer.Option(help="Where the tables live; auto: a GPU if it pays.")] = Device.auto,
    max_memory: Annotated[str | None, typer.Option(help="Most memory to use, such as 8GiB.")] = None,
    checkpoint: Annotated[Path | None, typer.Option(help="File that keeps the best model so far.")] = None,
    checkpoint_every: Annotated[float, typer.Option(min=0.0, help="Seconds between two checkpoints.")] = 30.0,
    resume: Annotated[bool, typer.Option("--resume", help=RESUME_HELP)] = False,
    epochs: Annotated[int | None, typer.Option(min=1, help="Restricted, deep: passes over the rows.")] = None,
    learning_rate: Annotated[float | None, typer.Option(min=0.0, help=RATE_HELP)] = None,
    target: Annotated[str | None, typer.Option(help="Restricted: column that holds labels.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an output file that is no model.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print nothing but errors.")] = False,
) -> int:
    """Learn a model of a table and write it to a file."""
    from fullspan.estimators.full_span import FullSpan
    from fullspan.estimators.inputs.reading import Reading, say_missing
    from fullspan.learn.base.reporter import PREPARING
    from fullspan.people.cli import arguments
    from fullspan.people.cli.decimatable import learned_decimatable
    from fullspan.people.cli.files import check_model_target
    from fullspan.people.cli.layers import LAYERED, fit_layers
    from fullspan.people.cli.machine import Structure, hidden_units, is_given, learned_machine, refuse_options_of_others
    from fullspan.people.cli.trees import TREES, fit_tree
    from fullspan.people.cli.truncated import Domain, learned_truncated

    if quiet:
        warnings.simplefilter("ignore", DataWarning)
    refuse_options_of_others(context, model.value)
    if weights is not None and count_column is not None:
        raise typer.BadParameter("--weights and --count-column both say how much a row counts; give one")
    if engine.value == "table" and is_given(context, "max_width"):
        raise typer.BadParameter("--max-width applies only to --engine elimination; a table has no width")
    if model.value in TREES:
        check_model_target(output, data, force=force)
        given: dict[str, Any] = {"components": components, "max_width": max_width, "max_seconds": max_seconds}
        given |= {"seed": seed, "max_memory": arguments.size(max_memory)}
        if is_given(context, "restarts"):
            given["restarts"] = restarts
        if components is None and model.value == "mixture" and is_given(context, "max_width"):
            raise typer.BadParameter(
                "--max-width goes with --components; without, mixtures of several widths are tried"
            )
        read: dict[str, Any] = {"missing": missing.value, "columns": arguments.names(columns)}
        read |= {
            "levels": arguments.levels(levels),
            "bins": arguments.bins(bins),
            "count_column": count_column,
            "max_levels": max_levels,
            "na_values": na,
        }
        return fit_tree(data, output, model.value, given, read, as_json=as_json, quiet=quiet, weights=weights)
    if model.value in LAYERED:
        check_model_target(output, data, force=force)
        own: dict[str, Any] = {
            "max_iter": epochs,
            "learning_rate": learning_rate,
            "target": target,
            "random_state": seed,
        }
        own |= {"missing": missing.value, "columns": arguments.names(columns), "levels": arguments.levels(levels)}
        own |= {"bins": arguments.bins(bins), "count_column": count_column, "max_levels": max_levels}
        own |= {"na_values": na}
        return fit_layers(data, output, model.value, hidden, own, as_json=as_json, quiet=quiet, weights=weights)
    if resume and checkpoint is None:
        raise typer.BadParameter("--resume needs --checkpoint FILE")
    if resume and (average > 1 or shrink):
        raise typer.BadParameter("--resume goes on with one fit; with --average or --shrink, leave it out")
    check_model_target(output, data, force=force)
    if checkpoint is not None:
        check_model_target(checkpoint, data, force=force)
    reading = Reading(
        columns=arguments.names(columns),
        levels=arguments.levels(levels),
        bins=arguments.bins(bins),
        count_column=count_column,
        missing=missing.value,
        max_levels=max_levels,
        weight_column=weights,
        na_values=na,
    )
    structure = Structure(
        *(order, graph, edge or (), margin or (), hidden, solver.value, l2, restarts, seed),
        *(max_iter, 0.01 if learning_rate is None else learning_rate, chains, sweeps),
    )
    options: dict[str, Any] = {
        "search": search.value,
        "basis": basis.value,
        "penalty": arguments.penalty(penalty),
        "l1": l1,
        "epsilon": epsilon,
        "max_order": max_order,
        "dtype": dtype.value,
        "max_memory": arguments.size(max_memory),
        "device": device.value,
    }
    started = time.monotonic()
    with (
        remembered() as interrupts,
        contextlib.closing(_Watch(reading, checkpoint, checkpoint_every, interrupts, quiet=quiet)) as watch,
    ):
        watch.say(f"reading {data.name}")
        empirical = reading.count(data)
        say_missing(empirical.missing_cells, verbose=not quiet)
        units = hidden_units(hidden)
        start = _start(checkpoint, empirical, units, quiet) if resume and checkpoint is not None else None
        watch.say(PREPARING)
        interrupts.check()
        if model is Model.boltzmann:
            fitted = learned_machine(empirical, structure, options, watch, average, shrink)
        elif model is Model.decimatable:
            fitted = learned_decimatable(empirical, structure, watch)
        elif model is Model.truncated:
            limit = arguments.size(max_memory)
            domain = Domain(max_order, min_support, pattern or (), pairs, unseen, solver.value, l2, seed, limit)
            fitted = learned_truncated(empirical, domain, watch)
        else:
            own = {"engine": engine.value, "max_width": max_width if is_given(context, "max_width") else None}
            own |= {"hidden": {v.name: v.levels for v in units}, "restarts": restarts, "random_state": seed}
            own |= {"average": average, "shrinkage": "evidence" if shrink else None}
            fitted = FullSpan(**options, **own)._learn(empirical, watch, start)
        seconds = time.monotonic() - started
        fitted, is_measured = _measured(_kept(reading.noted(fitted), watch), empirical, seconds, watch)
    _save(fitted, output)
    if not is_measured:
        return _unmeasured(fitted, output)
    for note in () if quiet else _notes(fitted):
        typer.echo(note, err=True)
    if not quiet:
        _tell(fitted, output, seconds, as_json=as_json)
    return _closing(fitted, output)


class _Watch:
    """Tells the progress, writes a checkpoint now and then, and stops the search if Ctrl-C was pressed."""

    def __init__(
        self, reading: Any, checkpoint: Path | None, every: float, interrupts: Interrupts, *, quiet: bool
    ) -> None:
        from fullspan.learn.base.reporter import Reporter

        self.reporter = None if quiet else Reporter()
        self.reading, self.checkpoint, self.every = reading, checkpoint, every
        self.interrupts, self.moved = interrupts, False
        self._last = time.monotonic()

    def __call__(self, progress: Any) -> None:
        self.moved = True
        self.interrupts.check()
        if self.reporter is not None:
            self.reporter(progress)
        snapshot = getattr(progress, "snapshot", None)  # parts of a model, such as a shrunken one, have none
        if self.checkpoint is not None and snapshot is not None and time.monotonic() - self._last >= self.every:
            _save(self.reading.noted(snapshot()), self.checkpoint)
            self._last = time.monotonic()

    def say(self, text: str) -> None:
        if self.reporter is not None:
            self.reporter.say(text)

    def close(self) -> None:
        if self.reporter is not None:
            self.reporter.close()


def _notes(fitted: Fitted) -> list[str]:
    """Where the fit ran, and why: the engine, and the device of a table that is worth a GPU."""
    from fullspan.people.cli.app import as_options

    reason, device = fitted.settings.get("engine_reason"), fitted.settings.get("device_note")
    return [*([f"fitted {as_options(reason)}"] if reason else []), *([device] if device else [])]


def _kept(fitted: Fitted, watch: _Watch) -> Fitted:
    """The model.

    Raises
    ------
    KeyboardInterrupt : Ctrl-C before the first move, when there is nothing to keep.
    """
    if fitted.status == INTERRUPTED_STATUS and not watch.moved:
        raise KeyboardInterrupt
    return fitted


def _measured(fitted: Fitted, empirical: Empirical, seconds: float, watch: _Watch) -> tuple[Fitted, bool]:
    """The model with what is known about it, and whether all is: Ctrl-C must not lose a model that is learned."""
    try:
        fitted = _recorded(fitted, empirical, seconds)
        return _explained(fitted, empirical, watch), True
    except KeyboardInterrupt:
        return fitted, False


def _explained(fitted: Fitted, empirical: Empirical, watch: _Watch) -> Fitted:
    """The model with what each interaction saves; Ctrl-C leaves the rest of these numbers approximate."""
    from fullspan.learn.effects.explain import explained

    watch.say("working out what each interaction saves")
    return explained(fitted, empirical, keep=True)


def _recorded(fitted: Fitted, empirical: Empirical, seconds: float) -> Fitted:
    """The model with its time, its baselines and its misfit."""
    from fullspan.estimators.explain.limits import measured_by, recorded
    from fullspan.estimators.registry import distribution_of

    done: Fitted = recorded(fitted, empirical, seconds, lambda: measured_by(distribution_of(fitted), fitted, empirical))
    return done


def _save(fitted: Fitted, path: Path) -> None:
    from fullspan.estimators.registry import write_fitted

    write_fitted(fitted, path)


def _start(checkpoint: Path, empirical: Empirical, hidden: tuple[Variable, ...], quiet: bool) -> LogLinear | None:
    """The model to start from.

    Raises
    ------
    FullspanError : the checkpoint belongs to other data.
    """
    from fullspan.errors import FullspanError
    from fullspan.estimators.registry import read_fitted

    if not checkpoint.exists():
        if not quiet:
            typer.echo(f"no checkpoint {str(checkpoint)!r} yet; starting afresh", err=True)
        return None
    fitted: Fitted = read_fitted(checkpoint)
    if fitted.model.space != empirical.with_hidden(hidden).space:
        raise FullspanError(
            f"the checkpoint {str(checkpoint)!r} has other variables or levels than the data; "
            "leave out --resume to start afresh"
        )
    if fitted.fingerprint != empirical.fingerprint():
        raise FullspanError(
            f"the checkpoint {str(checkpoint)!r} was made from other data; leave out --resume to start afresh"
        )
    if not quiet:
        typer.echo(f"resuming from {str(checkpoint)!r}: {len(fitted.model.terms)} terms", err=True)
    return fitted.model


def _tell(fitted: Fitted, output: Path, seconds: float, *, as_json: bool) -> None:
    from fullspan.people.cli.summary import is_machine, print_json, print_machine, strongest, summary, summary_lines

    if as_json:
        print_json({"file": str(output), **summary(fitted), "seconds": round(seconds, 3)})
        return
    if is_machine(fitted):
        print_machine(fitted, COEFFICIENTS)
    else:
        typer.echo("\n".join(summary_lines(fitted)))
        strongest(fitted, STRONGEST)
    typer.echo(f"fitted in {seconds:.1f} s, written to {output}")


def _unmeasured(fitted: Fitted, output: Path) -> int:
    """Report that Ctrl-C came after the model was learned; the exit code."""
    from fullspan.people.cli.app import INTERRUPTED

    which = "best model so far" if fitted.status == INTERRUPTED_STATUS else "learned model"
    typer.echo(
        f"fullspan: interrupted while the fit was measured; the {which} is in {str(output)!r}, without these measures",
        err=True,
    )
    return INTERRUPTED


def _closing(fitted: Fitted, output: Path) -> int:
    from fullspan.people.cli.app import INTERRUPTED

    if fitted.status == "diverged":
        from fullspan.estimators.explain.endings import ending_words

        typer.echo(f"fullspan: {ending_words(fitted)}; the weights kept are in {str(output)!r}", err=True)
    if fitted.status != INTERRUPTED_STATUS:
        return 0
    typer.echo(f"fullspan: interrupted; the best model so far is in {str(output)!r}", err=True)
    return INTERRUPTED
