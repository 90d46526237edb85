"""``fullspan query``: ask a model or a network for probabilities."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fullspan.people.cli.running.estimates import answered, as_dict, print_answers, report_failures

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fullspan.data.space import Level, Space
    from fullspan.query.distribution import Distribution

GIBBS_HELP = "Estimate by Gibbs sampling, with standard errors; for models too large to sum."
EPILOG = """Example: fullspan query votes.fsm "P(party=democrat | crime=n, water=y)"

Example: fullspan query votes.fsm "P(party | crime=n or not water=y)" --json

Example: fullspan query votes.fsm "H(party | crime)" "I(party; crime)"

Example: fullspan query votes.fsm "mode(party, crime | water=y)" --names

Example: fullspan query votes.fsm "N(party=democrat, crime=y or water=n)"

Example: fullspan query votes.uai --evidence votes.uai.evid --log-z --json

P(...) is a probability. Events use = != < <= > >=, 'in {y, n}', 'in 20..40', and, or, not and parentheses; a comma
means "and". A name alone asks for its whole distribution. H(a | b) is an entropy and I(a; b | c) a mutual information,
in nats. mode(a, b | c=y) is the most probable state, and mode(| c=y) that of all columns. N(a=x, b=y) is the expected
number of rows in a table as large as the training data, with an interval. Quote names or levels with blanks. A number
means the bin that contains it. A bound inside a bin counts the share of the bin's rows on its side; the answer says so.

If a question cannot be answered, the others are, and the exit code is 2.

The variables of a .uai network are x0, x1, ... with levels 0, 1, .... Z is the sum over all states that agree with the
evidence; for a Bayesian network, a tree, an average or a mixture it is the probability of the evidence.

Models whose log Z is an estimate are always answered by Gibbs sampling. Deep machines need --gibbs."""


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("query", epilog=EPILOG, short_help="Ask a model: probabilities, entropies, modes, counts.")(query)


def query(
    model: Annotated[Path, typer.Argument(help="Model file or network (.uai, .bif, .net, .dsc, .xmlbif, also .gz).")],
    questions: Annotated[list[str] | None, typer.Argument(help="Questions, such as 'P(a=x | b=y)'.")] = None,
    evidence: Annotated[Path | None, typer.Option(help="UAI evidence file (.evid).")] = None,
    log_z: Annotated[
        bool, typer.Option("--log-z", help="Print the log partition function, given the evidence.")
    ] = False,
    marginals: Annotated[
        bool, typer.Option("--marginals", help="Print the distribution of every column, given the evidence.")
    ] = False,
    names: Annotated[bool, typer.Option("--names", help="List all columns and their levels.")] = False,
    max_memory: Annotated[str | None, typer.Option(help="Memory limit, such as 8GiB.")] = None,
    gibbs: Annotated[bool, typer.Option("--gibbs", help=GIBBS_HELP)] = False,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the chains.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Answer questions about a model, exactly or by Gibbs sampling."""
    import numpy as np

    from fullspan.errors import FullspanError
    from fullspan.people.cli.options.arguments import size
    from fullspan.people.cli.running.estimates import print_estimates
    from fullspan.people.cli.running.models import distribution_in, walked

    asked, limit = questions or [], size(max_memory)
    if not (asked or log_z or marginals or names):
        raise FullspanError("no question given; give one such as 'P(a=x | b=y)', --names, --log-z or --marginals")
    if names and as_json and (asked or log_z or marginals):
        raise FullspanError("--names --json prints one document; ask for other things in a separate command")
    if gibbs:
        _refuse_unused(max_memory, None, by_chains=True)
        if evidence:
            raise FullspanError("--evidence is for exact answers; state the condition in the question")
    rng, distribution = np.random.default_rng(seed), distribution_in(model, limit)
    if names:
        _print_names(distribution.space, as_json)
        if not (asked or log_z or marginals):
            return 0
    if gibbs:
        return print_estimates(distribution.by_chains(rng), asked, log_z, marginals, as_json)
    by_chains = not (evidence or log_z or marginals) and (walked_on := walked(distribution, rng)) is not distribution
    _refuse_unused(max_memory, seed, by_chains=by_chains)
    if by_chains:
        return print_estimates(walked_on, asked, False, False, as_json)
    return _answer_exactly(distribution, asked, evidence, log_z, marginals, as_json)


def _answer_exactly(
    distribution: Distribution,
    questions: Sequence[str],
    evidence: Path | None,
    log_z: bool,
    marginals: bool,
    as_json: bool,
) -> int:
    """Answer given each sample of the evidence; the exit code."""
    from fullspan.estimators.networks import evidence_of
    from fullspan.people.cli.running.summary import print_json

    samples = evidence_of(distribution.space, evidence) if evidence else [{}]
    reports = [_report(distribution, sample, questions, log_z, marginals) for sample in samples]
    if as_json:
        found = [_as_json(report) for report in reports]
        print_json(found[0] if len(found) == 1 else found)
    for k, report in enumerate(reports if not as_json else ()):
        if len(reports) > 1:
            typer.echo(f"evidence {k}:")
        _print_report(report, distribution.visible)
    return report_failures([answer for report in reports for answer in report.get("answers", ())])


def _refuse_unused(max_memory: str | None, seed: int | None, *, by_chains: bool) -> None:
    """Refuse an option that would change nothing.

    Raises
    ------
    FullspanError : with the name of the option.
    """
    from fullspan.errors import FullspanError

    if by_chains and max_memory is not None:
        raise FullspanError("--max-memory applies only to exact answers; these come from Gibbs chains: leave it out")
    if not by_chains and seed is not None:
        raise FullspanError("--seed applies only to Gibbs chains; these answers are exact: leave it out or use --gibbs")


def _print_names(space: Space, as_json: bool) -> None:
    """All variables that a question may name, with their levels."""
    from fullspan.people.cli.running.summary import print_json

    if as_json:
        print_json({"variables": [{"name": v.name, "levels": list(v.levels)} for v in space.variables]})
        return
    for variable in space.variables:
        typer.echo(f"{variable.name}: {', '.join(map(str, variable.levels))}")


def _report(
    distribution: Distribution, known: Mapping[str, Level], questions: Sequence[str], log_z: bool, marginals: bool
) -> dict[str, Any]:
    """What was asked for, by name; ``answers`` are pairs of question and answer."""
    report: dict[str, Any] = {}
    if marginals:
        value, shares, _ = distribution.marginals(known)
    elif log_z:
        value = distribution.log_z_given(known)
    if log_z:
        report |= {"log10_z": value / math.log(10), "log_z": value}
    if marginals:
        report["marginals"] = {name: shares[name].tolist() for name in distribution.visible.names}
    if questions:
        report["answers"] = answered(distribution, questions, known or None)
    return report


def _as_json(report: dict[str, Any]) -> Any:
    """A report in JSON's types: answers alone are a list, as they are for a model."""
    answers = [as_dict(own) for own in report.get("answers", ())]
    if set(report) == {"answers"}:
        return answers
    return {**report, "answers": answers} if answers else report


def _print_report(report: dict[str, Any], space: Space) -> None:
    from fullspan.people.cli.running.summary import print_rows

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
    print_answers(report.get("answers", []))
