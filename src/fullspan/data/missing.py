"""What a missing cell means: an error, a row to drop, a level of its own, or a cell that was not observed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from fullspan.data.empirical import Empirical, all_missing, tally, unobserved
from fullspan.data.schema import ABSENT, with_missing
from fullspan.data.tokens import signed_dtype
from fullspan.errors import DataError
from fullspan.space import MISSING, Space, Variable

Missing = Literal["error", "drop", "level", "em"]
Masks = Sequence[NDArray[np.bool_]]


def check_choice(missing: Any) -> None:
    """Raise DataError unless ``missing`` is one of the choices."""
    *others, last = map(repr, get_args(Missing))
    if missing not in get_args(Missing):
        raise DataError(f"missing={missing!r} is not known; give {', '.join(others)} or {last}")


@dataclass(frozen=True)
class Coded:
    """A variable and the code of each group; ABSENT where missing. ``is_known`` is False where no level was seen."""

    variable: Variable
    codes: NDArray[np.signedinteger[Any]]
    is_known: bool = True


def assembled(
    columns: Sequence[Coded],
    rows: NDArray[np.int64],
    weights: NDArray[np.float64],
    missing: Missing,
    *,
    fixed: bool,
) -> Empirical:
    """Apply the policy to groups of so many rows and so much weight, and tally them.

    Raises
    ------
    DataError : a cell is missing and may not be, or nothing is left; ``fixed`` variables get no further level.
    """
    absent = [c.codes == ABSENT for c in columns]
    n_absent = {c.variable.name: int(rows[a].sum()) for c, a in zip(columns, absent, strict=True) if a.any()}
    if n_absent and (missing == "error" or (missing == "level" and fixed)):
        raise _missing_error(n_absent, fixed=fixed and missing == "level")
    if n_absent and missing == "drop":
        return _dropped(columns, absent, rows, weights, n_absent)
    if n_absent and missing == "em":
        _check_observed(columns, absent, int(rows.sum()))
    if missing == "level":
        columns = [_absent_as_level(c) if a.any() else c for c, a in zip(columns, absent, strict=True)]
    return tally(_space(columns), [c.codes for c in columns], weights, n_rows=int(rows.sum()), rows=rows)


def _space(columns: Sequence[Coded]) -> Space:
    return Space(tuple(c.variable for c in columns))


def _dropped(
    columns: Sequence[Coded],
    absent: Masks,
    rows: NDArray[np.int64],
    weights: NDArray[np.float64],
    n_absent: Mapping[str, int],
) -> Empirical:
    keep = ~np.any(absent, axis=0)
    n_rows, n_dropped = int(rows.sum()), int(rows[~keep].sum())
    if not keep.any():
        raise DataError(f"every one of the {n_rows} rows has a missing cell; none is left. {_counts(n_absent)}")
    return tally(_space(columns), [c.codes[keep] for c in columns], weights[keep], n_rows=n_rows, n_dropped=n_dropped)


def _check_observed(columns: Sequence[Coded], absent: Masks, n_rows: int) -> None:
    """Raise DataError if no cell at all is observed, or none of a column whose levels were not given."""
    if all(a.all() for a in absent):
        raise all_missing(n_rows)
    if unknown := [c.variable.name for c in columns if not c.is_known]:
        ways_out = "list them with levels= to make a hidden variable of it, or leave the column out with columns="
        raise unobserved(unknown, n_rows, ways_out)


def _absent_as_level(coded: Coded) -> Coded:
    variable = with_missing(coded.variable)
    codes = coded.codes.astype(signed_dtype(variable.card))
    codes[codes == ABSENT] = variable.card - 1
    return Coded(variable, codes)


def _counts(n_absent: Mapping[str, int]) -> str:
    return "Missing cells: " + ", ".join(f"{name!r}: {n}" for name, n in n_absent.items())


def _missing_error(n_absent: Mapping[str, int], *, fixed: bool) -> DataError:
    if fixed:
        return DataError(
            f"the given variables have no level {MISSING!r}. {_counts(n_absent)}; use missing='drop' or missing='em'"
        )
    return DataError(
        f"the table has missing cells. {_counts(n_absent)}. Use missing='drop' to leave those rows out, "
        f"missing='level' to count them as a level of their own, missing='em' to learn from the cells that are "
        f"observed (a truncated machine cannot), or columns= to leave the columns out"
    )
