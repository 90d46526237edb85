"""``fullspan predict``: one column of a table from the others."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fullspan.people.cli.running.models import Na, OnUnknown, changes, reading_of

EPILOG = """Example: fullspan predict votes.fsm votes.csv --target party

Example: fullspan predict votes.fsm votes.csv --target crime -o crime.csv

The output has one row for each row of the data: the most probable level, then a column name=level with the probability
of each level. For a column cut into bins, the prediction is the median of the training data in the most probable bin.
The target's own values in the data are ignored, and missing values in other columns are summed out. A classifier
predicts its outputs; it needs --target only if it has several."""


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("predict", epilog=EPILOG, short_help="Predict one column from the others.")(predict)


def predict(
    model: Annotated[Path, typer.Argument(help="Model file or network (.uai, .bif, .net, .dsc, .xmlbif).")],
    data: Annotated[Path, typer.Argument(help="Table whose rows are predicted.")],
    target: Annotated[str | None, typer.Option(help="The column to predict.")] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="File to write: .csv, .tsv, .parquet, .jsonl or .arrow.")
    ] = None,
    na: Na = None,
    unknown: OnUnknown = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines instead of CSV.")] = False,
) -> None:
    """Predict one column from the others: the most probable level and the probability of each level."""
    from fullspan.people.cli.running.files import check_table_target, put_table

    check_table_target(output, model, data)
    import pyarrow as pa

    from fullspan.data.decoding import as_arrow
    from fullspan.data.tables.filling import values_of

    variable, chances = _predicted(model, data, target, na, unknown)
    likeliest = values_of(variable, chances.argmax(axis=1))
    table = as_arrow({variable.name: likeliest})
    for level, column in zip(variable.levels, chances.T, strict=True):
        table = table.append_column(f"{variable.name}={level}", pa.array(column))
    put_table(table, output, as_json=as_json)


def _predicted(model: Path, data: Path, target: str | None, na: list[str] | None, unknown: Any) -> tuple[Any, Any]:
    """The variable that is predicted, and the probabilities of its levels, row by row.

    Raises
    ------
    FullspanError : no column is named, or it is not one that the model predicts.
    """
    from fullspan.errors import FullspanError
    from fullspan.estimators.answers.predictions import codes_without
    from fullspan.estimators.inputs.reading import Reading
    from fullspan.estimators.registry import distribution_of, read_fitted
    from fullspan.model.files.networks.formats import NETWORKS, suffix
    from fullspan.people.cli.running.models import distribution_in
    from fullspan.query.prediction import level_probabilities

    if suffix(model) in NETWORKS:
        distribution, reading = distribution_in(model), Reading(**changes(na, unknown))
    else:
        fitted = read_fitted(model)
        if fitted.is_conditional:
            return _of_classifier(model, data, target, na, unknown)
        distribution, reading = distribution_of(fitted), reading_of(fitted, na, unknown)
    if target is None:
        raise FullspanError(f"name the column to predict: --target, one of {', '.join(distribution.visible.names)}")
    i = distribution.visible.position(target)
    codes = codes_without(reading, data, distribution.visible, i)
    return distribution.visible.variables[i], level_probabilities(distribution, codes, i)


def _of_classifier(model: Path, data: Path, target: str | None, na: list[str] | None, unknown: Any) -> tuple[Any, Any]:
    """The same for a model that predicts some columns from others."""
    from fullspan.errors import FullspanError
    from fullspan.estimators.registry import load

    estimator: Any = load(model).set_params(**changes(na, unknown))
    settings = estimator.fitted_.settings
    outputs = list((settings.get("roles") or settings)["outputs"])
    wanted = outputs[0] if target is None and len(outputs) == 1 else target
    if wanted not in outputs:
        said = "name the column to predict" if target is None else f"{target!r} is not predicted by this model"
        raise FullspanError(f"{said}: --target, one of {', '.join(outputs)}")
    found = estimator.predict_proba(data)
    chances = found[outputs.index(wanted)] if isinstance(found, list) else found
    return estimator.space_.variables[estimator.space_.position(wanted)], chances
