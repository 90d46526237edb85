"""Answers as a terminal or JSON shows them; those by Gibbs chains, and rows by them, are marked as what they are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from fullspan.errors import FullspanError, QueryError
from fullspan.people.cli.running.messages import said

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fullspan.data.space import Level
    from fullspan.query.distribution import Distribution
    from fullspan.query.language.result import Table
    from fullspan.query.questions import Answer


class Answered(NamedTuple):
    """A question with its answer, or the error that it met, and what it took from inside bins, in words."""

    question: str
    answer: Answer | FullspanError
    bin_notes: tuple[str, ...] = ()


_SOME_NAMES = re.compile(r"(, and [\d,]+ more)$", re.MULTILINE)
ADVICE = r"\1 (fullspan query MODEL --names lists all)"


def answered(
    distribution: Distribution, questions: Sequence[str], known: Mapping[str, Level] | None = None
) -> list[Answered]:
    """Each question with its answer, or with the error that it met."""
    found: list[Answered] = []
    for question in questions:
        try:
            answer = distribution.ask(question, known)
            found.append(Answered(question, answer, distribution.bin_notes(question, known)))
        except FullspanError as error:
            found.append(Answered(question, error))
    return found


def print_bin_notes(bin_notes: Sequence[str]) -> None:
    """Say under an answer what it took from inside bins, and which numbers it took for whole bins."""
    for sentence in bin_notes:
        typer.echo(f"  {sentence}")


def report_failures(answers: Sequence[Answered]) -> int:
    """Report the questions that were not answered on standard error; the exit code."""
    failed = [(question, answer) for question, answer, _ in answers if isinstance(answer, FullspanError)]
    for question, error in failed:
        where = "" if isinstance(error, QueryError) and error.text is not None else f"{question}: "
        typer.echo(f"fullspan: {where}{re.sub(_SOME_NAMES, ADVICE, said(error))}", err=True)
    return 2 if failed else 0


def shown_question(question: str) -> str:
    """A question with its P(...), whether or not it was written."""
    from fullspan.query.language.parse import is_wrapped

    return question.strip() if is_wrapped(question) else f"P({question})"


def print_answers(answers: Sequence[Answered]) -> None:
    """Answers for people, in the order of the questions; errors are reported elsewhere."""
    for question, answer, bin_notes in answers:
        if not isinstance(answer, FullspanError):
            print_answer(question, answer)
            print_bin_notes(bin_notes)


def as_dict(answered: Answered) -> dict[str, Any]:
    """An answer in JSON's types; ``bin_notes`` says what it took from inside bins, or for whole ones."""
    found = _as_dict(answered.question, answered.answer)
    return found | {"bin_notes": list(answered.bin_notes)} if answered.bin_notes else found


def _as_dict(question: str, answer: Answer | FullspanError) -> dict[str, Any]:
    from fullspan.model.estimate import Estimate
    from fullspan.query.language.parse import kind_of
    from fullspan.query.language.result import Count, MostProbable

    if isinstance(answer, FullspanError):
        return {"query": question, "error": str(answer)}
    if isinstance(answer, float):
        kind = kind_of(question)
        return {"query": question, kind: answer} | ({} if kind == "probability" else {"unit": "nats"})
    if isinstance(answer, MostProbable):
        state = {"mode": answer.levels, "probability": answer.probability, "log_prob": answer.log_prob}
        return {"query": question, **state}
    if isinstance(answer, Count):
        return {"query": question, **asdict(answer)}
    if isinstance(answer, Estimate):
        return {"query": question, "probability": answer.value, "error": answer.error}
    variables = {"query": question, "variables": list(answer.names)}
    if answer.errors is not None:
        return {**variables, "cells": _cells(answer)}
    rows = [{"state": dict(zip(answer.names, levels, strict=True)), "probability": p} for levels, p in answer]
    return {**variables, "distribution": rows}


def print_answer(question: str, answer: Answer) -> None:
    """An answer for people: a number, a state, or a table."""
    from fullspan.model.estimate import Estimate
    from fullspan.people.cli.running.summary import print_rows
    from fullspan.query.language.parse import kind_of
    from fullspan.query.language.result import Count, MostProbable

    text = shown_question(question)
    if isinstance(answer, float):
        typer.echo(f"{text} = {answer:.6g}{'' if kind_of(question) == 'probability' else ' nats'}")
        return
    if isinstance(answer, Estimate | Count):
        typer.echo(f"{text} = {answer}")
        return
    typer.echo(f"{text}:")
    if isinstance(answer, MostProbable):
        print_rows(("variable", "level"), [(name, str(level)) for name, level in answer.levels.items()])
        typer.echo(f"its probability: {answer.probability:.6g}")
        return
    if answer.errors is not None:
        typer.echo(str(answer))
        return
    print_rows(
        (", ".join(answer.names), "probability"), [(", ".join(map(str, levels)), p) for levels, p in answer.texts()]
    )


def print_estimates(
    distribution: Distribution, questions: Sequence[str], log_z: bool, marginals: bool, as_json: bool
) -> int:
    """Answer by chains, each answer with its standard error; the exit code."""
    from fullspan.people.cli.running.summary import print_json

    report: dict[str, Any] = {}
    lines: list[str] = []
    if log_z:
        found = distribution.log_z
        report["log_z"] = {"value": found.value, "error": found.error, "exact": found.exact}
        lines.append(f"ln Z = {found}")
    if marginals:
        tables = _marginals(distribution)
        report["marginals"] = {name: _cells(table) for name, table in tables.items()}
        lines += map(str, tables.values())
    answers = answered(distribution, questions)
    report["answers"] = [as_dict(own) for own in answers]
    report["r_hat"] = distribution.r_hat
    if as_json:
        print_json({"method": "gibbs", **report})
    else:
        for line in lines:
            typer.echo(line)
        print_answers(answers)
    _say_unmixed(distribution.r_hat)
    return report_failures(answers)


def _marginals(distribution: Distribution) -> dict[str, Table]:
    """The distribution of every variable, with its errors."""
    from dataclasses import replace

    found, tables = distribution.marginals(), {}
    for i, name in enumerate(distribution.visible.names):
        errors = None if found.errors is None else found.errors[name]
        tables[name] = replace(distribution.named((i,), found.shares[name]), errors=errors)
    return tables


def _cells(table: Table) -> list[dict[str, Any]]:
    errors = [0.0] * len(table) if table.errors is None else table.errors.ravel().tolist()
    return [
        {"state": dict(zip(table.names, levels, strict=True)), "probability": p, "error": error}
        for (levels, p), error in zip(table, errors, strict=True)
    ]


def say_drawn(distribution: Distribution) -> None:
    """Say on standard error how well the chains of the last sample have mixed; nothing of an exact sample."""
    if distribution.drawn is None:
        return
    r_hat, ess = distribution.drawn.worst_r_hat, distribution.drawn.least_ess
    typer.echo(f"drawn by Gibbs chains: R-hat {r_hat:.3f}, effective size {ess:.0f} of the energy", err=True)
    _say_unmixed(r_hat)


def _say_unmixed(r_hat: float) -> None:
    from fullspan.estimators.explain.endings import unmixed

    message = unmixed(r_hat)
    if message is not None:
        typer.echo(f"fullspan: {message}", err=True)
