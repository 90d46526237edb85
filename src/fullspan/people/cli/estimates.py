"""Answers and rows by Gibbs chains, marked as what they are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from fullspan.model.fitted import Fitted
    from fullspan.model.graph import FactorGraph
    from fullspan.model.loglinear import LogLinear
    from fullspan.query.language.result import Table


def print_estimates(
    source: Path | Fitted, questions: Sequence[str], log_z: bool, marginals: bool, seed: int | None, as_json: bool
) -> int:
    """Answer by chains, each answer with its standard error; the exit code."""
    import numpy as np

    from fullspan.errors import FullspanError
    from fullspan.people.cli.query import answered, report_failures, shown_question
    from fullspan.people.cli.summary import print_json
    from fullspan.query.language.result import Table
    from fullspan.query.sampled import SampledOracle

    oracle = SampledOracle(_model(source), np.random.default_rng(seed))
    report: dict[str, Any] = {}
    if log_z:
        found = oracle.log_z()
        report["log_z"] = {"value": found.value, "error": found.error, "exact": found.exact}
        if not as_json:
            typer.echo(f"ln Z = {found}")
    if marginals:
        tables = oracle.marginals()
        report["marginals"] = {name: _cells(table) for name, table in tables.items()}
        if not as_json:
            for table in tables.values():
                typer.echo(str(table))
    report["answers"] = []
    answers = answered(oracle.ask, questions)
    for question, answer in answers:
        text = shown_question(question)
        if isinstance(answer, FullspanError):
            report["answers"].append({"query": question, "error": str(answer)})
            continue
        if isinstance(answer, Table):
            report["answers"].append({"query": question, "variables": list(answer.names), "cells": _cells(answer)})
            shown = f"{text}:\n{answer}"
        else:
            report["answers"].append({"query": question, "probability": answer.value, "error": answer.error})
            shown = f"{text} = {answer}"
        if not as_json:
            typer.echo(shown)
    report["r_hat"] = oracle.r_hat
    if as_json:
        print_json({"method": "gibbs", **report})
    _say_unmixed(oracle.r_hat)
    return report_failures(answers)


def _model(source: Path | Fitted) -> LogLinear | FactorGraph:
    from fullspan.errors import FullspanError
    from fullspan.model.files.formats import NETWORKS, read_factors, suffix
    from fullspan.model.loglinear import LogLinear
    from fullspan.model.truncated import TruncatedLogLinear
    from fullspan.people.cli.models import joint_model

    if not isinstance(source, Path):
        return source.model
    if suffix(source) in NETWORKS:
        return read_factors(source)
    model = joint_model(source).model
    if not isinstance(model, LogLinear) or isinstance(model, TruncatedLogLinear):
        raise FullspanError(f"{str(source)!r} is summed exactly over its own states or nodes: leave out --gibbs")
    return model


def _cells(table: Table) -> list[dict[str, Any]]:
    errors = [0.0] * len(table) if table.errors is None else table.errors.ravel().tolist()
    return [
        {"state": dict(zip(table.names, levels, strict=True)), "probability": p, "error": error}
        for (levels, p), error in zip(table, errors, strict=True)
    ]


def drawn(fitted: Fitted, n: int, seed: int | None, given: str | None) -> Any:
    """Rows by Gibbs chains, with their diagnostics on standard error."""
    import numpy as np

    from fullspan.data import decode
    from fullspan.estimators.inputs.evidence import event_of
    from fullspan.query.sampled import SampledOracle

    oracle = SampledOracle(fitted.model, np.random.default_rng(seed))
    found = oracle.sample(n, event_of(given, fitted.model.space))
    r_hat, ess = found.diagnostics.worst_r_hat, found.diagnostics.least_ess
    typer.echo(f"drawn by Gibbs chains: R-hat {r_hat:.3f}, effective size {ess:.0f} of the energy", err=True)
    _say_unmixed(r_hat)
    return decode(found.states, fitted.model.space)


def _say_unmixed(r_hat: float) -> None:
    from fullspan.estimators.sampled import unmixed

    message = unmixed(r_hat)
    if message is not None:
        typer.echo(f"fullspan: {message}", err=True)
