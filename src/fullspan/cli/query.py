"""``fullspan query``: ask a model or a network for probabilities."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fullspan.model.fitted import Fitted
    from fullspan.query.conditioned import Conditioned
    from fullspan.query.graph import GraphModel
    from fullspan.query.result import Table
    from fullspan.space import Level, Space

GIBBS_HELP = "Estimate by Gibbs chains, for models too wide to sum; answers have standard errors."
EPILOG = """Example: fullspan query votes.fsm "P(party=democrat | crime=n, education=y)" "P(party | crime=n)"

A name alone on the left asks for its whole distribution. Also: 'water in {y, n}', 'crime != y', and quotes around names
or levels with blanks. Numbers stand for the bin they fall into.

Networks: fullspan query grid.uai --evidence grid.uai.evid --log-z --marginals --json

Variables of a .uai network are x0, x1, ... with levels 0, 1, ...; those of a .bif network have their names. Z is the
sum over all states that agree with the evidence; in a Bayesian network, a tree, an average or a mixture it is the
probability of the evidence.

Models whose log Z was itself estimated when they were fitted are always asked by chains."""


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("query", epilog=EPILOG)(query)


def query(
    model: Annotated[Path, typer.Argument(help="Model file, or network: .uai or .bif, also .gz.")],
    questions: Annotated[
        list[str] | None, typer.Argument(help="Any number of questions such as 'P(a=x | b=y)'.")
    ] = None,
    evidence: Annotated[
        Path | None, typer.Option(help="UAI evidence file: what is known, by position and code.")
    ] = None,
    log_z: Annotated[
        bool, typer.Option("--log-z", help="Print the log partition function, given the evidence.")
    ] = False,
    marginals: Annotated[
        bool, typer.Option("--marginals", help="Print the distribution of every variable, given the evidence.")
    ] = False,
    max_memory: Annotated[str | None, typer.Option(help="Memory that tables may take, such as 8GiB.")] = None,
    gibbs: Annotated[bool, typer.Option("--gibbs", help=GIBBS_HELP)] = False,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the chains.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Answer questions about probabilities: exactly, or with --gibbs as estimates with their errors."""
    from fullspan.cli.arguments import size
    from fullspan.cli.estimates import print_estimates
    from fullspan.cli.models import joint_model, oracle_of
    from fullspan.cli.summary import print_json
    from fullspan.errors import FullspanError
    from fullspan.estimators.sampled import log_z_of
    from fullspan.model.formats import NETWORKS, suffix

    asked, limit = questions or [], size(max_memory)
    if not (asked or log_z or marginals):
        raise FullspanError("nothing is asked: give a question such as 'P(a=x | b=y)', --log-z or --marginals")
    if gibbs:
        if evidence:
            raise FullspanError("--evidence is for exact answers; state the condition in the question")
        print_estimates(model, asked, log_z, marginals, seed, as_json)
        return
    fitted = None if suffix(model) in NETWORKS else joint_model(model)
    if fitted is not None and not (evidence or log_z or marginals):
        if log_z_of(fitted).exact:
            print_answers(_ask_model(fitted, asked, limit), as_json)
        else:
            print_estimates(fitted, asked, False, False, seed, as_json)
        return
    network = _network(model, fitted, limit)
    samples = network.evidence(evidence) if evidence else [{}]
    shown = network.space if fitted is None else oracle_of(fitted).visible
    reports = [_ask_network(network, shown, sample, asked, log_z, marginals) for sample in samples]
    if as_json:
        found = [_as_json(report) for report in reports]
        print_json(found[0] if len(found) == 1 else found)
        return
    for k, report in enumerate(reports):
        if len(reports) > 1:
            typer.echo(f"evidence {k}:")
        _print_report(report, shown)


def _network(path: Path, fitted: Any, limit: int | None) -> GraphModel | Conditioned:
    """What answers given evidence: the factors in a file, or the oracle of a model that is no single product."""
    from fullspan.cli.models import oracle_of
    from fullspan.model.averaged import AveragedLogLinear
    from fullspan.model.mixture import Mixture
    from fullspan.model.truncated import TruncatedLogLinear
    from fullspan.query.conditioned import Conditioned
    from fullspan.query.graph import read_graph

    if fitted is not None and isinstance(fitted.model, AveragedLogLinear | Mixture | TruncatedLogLinear):
        return Conditioned(oracle_of(fitted, limit))
    return read_graph(path, limit)


def _ask_model(fitted: Fitted, questions: Sequence[str], limit: int | None) -> list[tuple[str, float | Table]]:
    from fullspan.cli.models import oracle_of

    oracle = oracle_of(fitted, limit)
    return [(question, oracle.ask(question)) for question in questions]


def _ask_network(
    network: GraphModel | Conditioned,
    shown: Space,
    known: Mapping[str, Level],
    questions: Sequence[str],
    log_z: bool,
    marginals: bool,
) -> dict[str, Any]:
    """What was asked for, by name, of the variables ``shown``; ``answers`` are pairs of question and answer."""
    report: dict[str, Any] = {}
    if marginals:
        value, distributions = network.log_z_and_marginals(known)
    elif log_z:
        value = network.log_z(known)
    if log_z:
        report |= {"log10_z": value / math.log(10), "log_z": value}
    if marginals:
        report["marginals"] = {name: distributions[name].tolist() for name in shown.names}
    if questions:
        report["answers"] = [(question, network.ask(question, known)) for question in questions]
    return report


def _as_json(report: dict[str, Any]) -> Any:
    """A report in JSON's types: answers alone are a list, as they are for a model."""
    answers = [as_dict(question, answer) for question, answer in report.get("answers", ())]
    if set(report) == {"answers"}:
        return answers
    return {**report, "answers": answers} if answers else report


def _print_report(report: dict[str, Any], space: Space) -> None:
    from fullspan.cli.summary import print_rows

    if "log_z" in report:
        typer.echo(f"log10 Z = {report['log10_z']:.12g}")
        typer.echo(f"ln Z    = {report['log_z']:.12g}")
    if "marginals" in report:
        states = [
            (f"{v.name}={level}", p)
            for v in space.variables
            for level, p in zip(v.levels, report["marginals"][v.name], strict=True)
        ]
        print_rows(("state", "probability"), [(state, f"{p:.6g}") for state, p in states])
    print_answers(report.get("answers", []), as_json=False)


def print_answers(answers: Sequence[tuple[str, float | Table]], as_json: bool) -> None:
    """Answers in the order of the questions."""
    from fullspan.cli.summary import print_json

    if as_json:
        print_json([as_dict(question, answer) for question, answer in answers])
        return
    for question, answer in answers:
        print_answer(question, answer)


def as_dict(question: str, answer: float | Table) -> dict[str, Any]:
    """An answer in JSON's types."""
    if isinstance(answer, float):
        return {"query": question, "probability": answer}
    rows = [{"state": dict(zip(answer.names, levels, strict=True)), "probability": p} for levels, p in answer]
    return {"query": question, "variables": list(answer.names), "distribution": rows}


def print_answer(question: str, answer: float | Table) -> None:
    """An answer for people: a number, or a table."""
    from fullspan.cli.summary import print_rows

    text = question if question.lstrip().startswith("P(") else f"P({question})"
    if isinstance(answer, float):
        typer.echo(f"{text} = {answer:.6g}")
        return
    typer.echo(f"{text}:")
    print_rows(
        (", ".join(answer.names), "probability"), [(", ".join(map(str, levels)), f"{p:.6g}") for levels, p in answer]
    )
