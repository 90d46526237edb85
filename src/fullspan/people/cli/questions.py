"""Questions on the command line: one that cannot be answered does not keep the others from their answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import typer

from fullspan.errors import FullspanError, QueryError
from fullspan.people.cli.messages import said

if TYPE_CHECKING:
    from fullspan.query.questions import Answer

    Answered = tuple[str, Answer | FullspanError]
    """A question and its answer, or the error that it met."""

_SOME_NAMES = re.compile(r"(, and [\d,]+ more)$", re.MULTILINE)
ADVICE = r"\1 (fullspan query MODEL --names lists all)"


def answered(ask: Callable[[str], Any], questions: Sequence[str]) -> list[tuple[str, Any]]:
    """Each question with its answer, or with the error that it met."""
    found: list[tuple[str, Any]] = []
    for question in questions:
        try:
            found.append((question, ask(question)))
        except FullspanError as error:
            found.append((question, error))
    return found


def report_failures(answers: Sequence[Answered]) -> int:
    """Report the questions that were not answered on standard error; the exit code."""
    failed = [(question, answer) for question, answer in answers if isinstance(answer, FullspanError)]
    for question, error in failed:
        where = "" if isinstance(error, QueryError) and error.text is not None else f"{question}: "
        typer.echo(f"fullspan: {where}{re.sub(_SOME_NAMES, ADVICE, said(error))}", err=True)
    return 2 if failed else 0


def shown_question(question: str) -> str:
    """A question with its P(...), whether or not it was written."""
    from fullspan.query.language.parse import is_wrapped

    return question.strip() if is_wrapped(question) else f"P({question})"
