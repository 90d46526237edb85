"""``fullspan fit``: learn a model from a table. The options are made from the estimators' parameters."""

from __future__ import annotations

import inspect
import warnings
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from fullspan.errors import BoundaryWarning, ConvergenceWarning, DataWarning
from fullspan.people.cli.options.from_estimators import DEFAULT, Option, chosen, column_names, estimator_of, options
from fullspan.people.cli.options.headings import UnderHeadings
from fullspan.people.cli.running.interrupt import Interrupts, remembered
from fullspan.people.cli.running.messages import in_options_of

MODEL_HELP = (
    "full-span searches for interactions of any order. boltzmann fits the terms given by --order, --graph, --edge or "
    "--margin. decimatable fits a sparse graph of two-level columns, given by --edge or --graph. truncated fits "
    "frequent patterns. mixture fits a mixture of models of bounded width. chow-liu and hidden-tree are trees. "
    "restricted and deep have hidden units."
)
EPILOG = """Example: fullspan fit votes.csv -o votes.fsm --missing drop

Example: fullspan fit votes.csv -o m.fsm --model boltzmann --missing drop

fullspan fit --model NAME --help describes the options of one model in full.

Ctrl-C stops the search and saves the best model so far (exit code 130). Before the first step of the search there is
none, and no model is written. An existing model file is replaced; another kind of file only with --force. The data file
is never replaced. Standard errors after the default search are posterior standard deviations."""


def register(app: typer.Typer) -> None:
    """Add the command to the application, with the options of all models that there are."""

    def command(**given: Any) -> int:
        return fit(**given)

    fixed = [p for p in inspect.signature(fit, eval_str=True).parameters.values() if p.name != "given"]
    every = [*fixed, *map(_parameter, options().values())]
    command.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
    command.__annotations__, command.__doc__ = {p.name: p.annotation for p in every}, fit.__doc__
    app.command("fit", epilog=EPILOG, cls=UnderHeadings)(command)


def _parameter(option: Option) -> inspect.Parameter:
    kind: Any = list[str] | None if option.is_repeated else bool | None if option.is_flag else str | None
    is_on = any(p.default is True for _, p in option.parameters.values())
    names = f"{option.flag}/--no-{option.flag[2:]}" if option.is_flag and is_on else option.flag
    metavar = None if option.is_flag else next(iter(option.metavars.values()))
    info = typer.Option(names, help=option.help(), metavar=metavar, show_default=False)
    return inspect.Parameter(
        option.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind, info]
    )


def fit(
    *,
    data: Annotated[
        Path, typer.Argument(help="CSV, TSV, Parquet, JSON lines or Arrow file; text files may be gzipped.")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="Model file to write, such as votes.fsm.")],
    model: Annotated[str, typer.Option(metavar="NAME", is_eager=True, help=MODEL_HELP)] = DEFAULT,
    weights: Annotated[str | None, typer.Option(help="Column of row weights.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the output file even if it is not a model.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    check: Annotated[
        bool,
        typer.Option("--check", help="Also compare this kind of model with the best predictor on held-out rows."),
    ] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print errors only.")] = False,
    **given: Any,
) -> int:
    """Fit a model to a table and write it to a file."""
    from fullspan.people.cli.running.files import check_model_target
    from fullspan.people.cli.running.summary import closing, print_fit

    texts = {name: text for name, text in given.items() if text is not None}
    parameters = chosen(model, texts, partial(column_names, data, texts.get("hidden")))
    if weights is not None and "count_column" in parameters:
        raise typer.BadParameter("--weights and --count-column both say how much a row counts; give one")
    if check and "private" in parameters:
        raise typer.BadParameter("--check measures the rows, which --private protects; leave out one of them")
    for target in (output, parameters.get("checkpoint")):
        if target is not None:
            check_model_target(Path(target), data, force=force)
    with remembered() as interrupts, warnings.catch_warnings():
        # How the fit ended is printed with the model.
        warnings.filterwarnings("ignore", "the fit (ended early|was interrupted)", ConvergenceWarning)
        warnings.simplefilter("ignore", BoundaryWarning)
        if quiet:
            warnings.simplefilter("ignore", DataWarning)
        with in_options_of(model):
            estimator = _fitted(estimator_of(model)(verbose=not quiet, **parameters), data, weights, interrupts)
        is_measured = _saved(estimator, output, verbose=not quiet)
    checked = _checked(estimator, data, weights, output) if check and is_measured else None
    if is_measured and not quiet:
        more = {"file": str(output), "seconds": estimator.fitted_.settings.get("seconds")}
        print_fit(estimator, more if checked is None else {**more, "check": checked[0]}, as_json=as_json)
    if checked is not None and not as_json:
        typer.echo("\n".join(checked[1]))
    return closing(estimator, output, is_measured=is_measured)


def _checked(estimator: Any, data: Path, weights: str | None, output: Path) -> tuple[dict[str, float], list[str]]:
    """What a check found, as facts and in words."""
    from fullspan.estimators.jobs.checking import AVERAGE, check

    found = check(estimator, data, weights)
    own = estimator.get_params()
    reading = f" --missing {own['missing']}" if own.get("missing") not in (None, "error") else ""
    best = output.with_name(f"{output.stem}-best{output.suffix}")
    return found.facts(), found.lines(f"fullspan fit {data} -o {best}{reading} --average {AVERAGE}")


def _fitted(estimator: Any, data: Path, weights: str | None, interrupts: Interrupts) -> Any:
    """Fit the estimator.

    Raises
    ------
    KeyboardInterrupt : Ctrl-C before the first step, when there is nothing to keep.
    """
    from fullspan.learn.base.reporter import following

    with following(interrupts.follow):
        estimator.fit(data, sample_weight=weights)
    if estimator.status_ == "interrupted" and not interrupts.moved:
        raise KeyboardInterrupt
    return estimator


def _saved(estimator: Any, output: Path, *, verbose: bool) -> bool:
    """Write the model, and return whether all that is measured of it is known: Ctrl-C must not lose a learned model."""
    from fullspan.estimators.explain.endings import PRIVATE
    from fullspan.estimators.registry import write_fitted
    from fullspan.learn.base.reporter import announce, reported

    try:
        with reported(verbose=verbose) as watch:
            announce(watch, "working out what the file says about the model")
            estimator.save(output)
    except KeyboardInterrupt:
        write_fitted(estimator.fitted_, output)
        return False
    return "seconds" in estimator.fitted_.settings or estimator.status_ == PRIVATE
