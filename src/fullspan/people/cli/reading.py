"""Options that say what the cells of a further table mean: which texts are missing, and what an unknown level is."""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from fullspan.estimators.inputs.reading import Reading

NA_HELP = "A text that means a missing cell, instead of the usual ones; may be repeated. '' for empty cells alone."


class Unknown(enum.StrEnum):
    """What a value is that the model has no level for."""

    error = "error"
    missing = "missing"


Na = Annotated[list[str] | None, typer.Option("--na", help=NA_HELP)]
OnUnknown = Annotated[
    Unknown | None,
    typer.Option("--unknown", help="A value the model has no level for: refuse it, or take it as missing."),
]


def changes(na: list[str] | None, unknown: Unknown | None = None) -> dict[str, Any]:
    """The parameters of reading that the options change."""
    changed: dict[str, Any] = {} if na is None else {"na_values": na}
    return changed if unknown is None else {**changed, "handle_unknown": unknown.value}


def reading_of(fitted: Any, na: list[str] | None, unknown: Unknown | None) -> Reading:
    """The reading a model was fitted with, as the options change it."""
    from fullspan.estimators.inputs.reading import Reading

    return replace(Reading.of(fitted), **changes(na, unknown))
