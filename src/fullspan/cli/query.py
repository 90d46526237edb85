"""``fullspan query``: ask a model for probabilities."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from fullspan.query.result import Table

EPILOG = """Example: fullspan query votes.fsm "P(party=democrat | crime=n, education=y)" "P(party | crime=n)"

A name alone on the left asks for its whole distribution. Also: 'water in {y, n}', 'crime != y', and quotes around names
or levels with blanks. Numbers stand for the bin they fall into."""


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("query", epilog=EPILOG)(query)


def query(
    model: Annotated[Path, typer.Argument(help="Model file.")],
    questions: Annotated[list[str], typer.Argument(help="One or more questions such as 'P(a=x | b=y)'.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Answer questions about probabilities, exactly."""
    from fullspan.cli.models import joint_model
    from fullspan.cli.summary import print_json
    from fullspan.query.answer import Oracle

    oracle = Oracle(joint_model(model).model)
    answers = [(question, oracle.ask(question)) for question in questions]
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
