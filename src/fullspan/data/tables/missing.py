"""What a missing cell means: an error, a row to drop, a level of its own, or a cell that was not observed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from fullspan.data.empirical import Empirical, all_missing, tally, unobserved
from fullspan.data.merging import code_dtype
from fullspan.data.space import MISSING, Space, Variable
from fullspan.data.tables.schema import ABSENT, UNSEEN, with_missing
from fullspan.errors import DataError

Missing = Literal["error", "drop", "level", "em"]
Unknown = Literal["error", "missing"]
UNKNOWN_REMEDY = (
    "List all levels when fitting, with levels= or as a categorical column, or read unknown ones as missing cells, "
    "with handle_unknown='missing'"
)
MOST_SHOWN = 8
"""Columns listed in a message."""
Masks = Sequence[NDArray[np.bool_]]


def check_choice(missing: Any) -> None:
    """Raise DataError unless ``missing`` is one of the choices."""
    *others, last = map(repr, get_args(Missing))
    if missing not in get_args(Missing):
        raise DataError(f"missing={missing!r} is not known; give {', '.join(others)} or {last}")


def check_unknown(handle_unknown: Any) -> None:
    """Raise DataError unless ``handle_unknown`` is one of the choices."""
    if handle_unknown not in get_args(Unknown):
        raise DataError(f"handle_unknown={handle_unknown!r} is not known; give 'error' or 'missing'")


@dataclass(frozen=True)
class Coded:
    """A variable and the code of each group: ABSENT where missing, UNSEEN where a value that is no level may stand.

    ``is_known`` is False where no level was seen.
    """

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
    cells: Mapping[str, Mapping[str, int]],
) -> Empirical:
    """Apply the policy to groups of ``rows`` rows and weight ``weights``, and tally them.

    ``cells`` are the missing cells of each column by their text. A value that is no level is a missing cell.

    Raises
    ------
    DataError : a cell is missing and may not be, or nothing is left; ``fixed`` variables get no further level.
    """
    # Variables that are fixed have no level for missing cells unless the model learned one.
    if cells and (missing == "error" or (missing == "level" and fixed)):
        raise MissingCellsError(cells, fixed=fixed and missing == "level")
    if any((c.codes == UNSEEN).any() for c in columns):
        columns = [_unknown_as_missing(c) for c in columns]
        missing = "drop" if missing == "drop" else "em"
    absent = [c.codes == ABSENT for c in columns]
    n_absent = any(a.any() for a in absent)
    if n_absent and missing == "drop":
        return _dropped(columns, absent, rows, weights, cells)
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
    cells: Mapping[str, Mapping[str, int]],
) -> Empirical:
    keep = ~np.any(absent, axis=0)
    n_rows, n_dropped = int(rows.sum()), int(rows[~keep].sum())
    if not keep.any():
        raise DataError(f"every one of the {n_rows} rows has a missing cell; none is left: {missing_words(cells)}")
    return tally(_space(columns), [c.codes[keep] for c in columns], weights[keep], n_rows=n_rows, n_dropped=n_dropped)


def _check_observed(columns: Sequence[Coded], absent: Masks, n_rows: int) -> None:
    """Raise DataError if no cell at all is observed, or none of a column whose levels were not given."""
    if all(a.all() for a in absent):
        raise all_missing(n_rows)
    if unknown := [c.variable.name for c in columns if not c.is_known]:
        ways_out = "list them with levels= to make a hidden variable of it, or leave the column out with columns="
        raise unobserved(unknown, n_rows, ways_out)


def _absent_as_level(coded: Coded) -> Coded:
    if coded.variable.missing_code is not None and (coded.codes == coded.variable.missing_code).any():
        raise DataError(
            f"column {coded.variable.name!r} holds the text {MISSING!r} and missing cells, which missing='level' would "
            f"count as one level; replace the text, or list it with na_values= if it means a missing cell"
        )
    variable = with_missing(coded.variable)
    codes = coded.codes.astype(code_dtype((variable.card,), signed=True))
    codes[codes == ABSENT] = variable.card - 1
    return Coded(variable, codes)


def _unknown_as_missing(coded: Coded) -> Coded:
    """The column with its unknown values as missing cells: the level "(missing)" where the variable has it."""
    absent = ABSENT if coded.variable.missing_code is None else coded.variable.missing_code
    return replace(coded, codes=np.where(coded.codes == UNSEEN, coded.codes.dtype.type(absent), coded.codes))


def missing_words(cells: Mapping[str, Mapping[str, int]]) -> str:
    """Which cells are missing, in words.

    Examples
    --------
    >>> missing_words({"AngPec": {"None": 85, "": 1}, "sex": {"": 2}})
    "85 cells 'None' and 1 empty cell in AngPec, 2 empty cells in sex"
    """
    shown = [f"{_texts(own)} in {name}" for name, own in list(cells.items())[:MOST_SHOWN]]
    more = len(cells) - len(shown)
    return ", ".join(shown) + (f", and missing cells in {more} more column{'s' * (more > 1)}" if more else "")


def _texts(own: Mapping[str, int]) -> str:
    parts = []
    for text, n in sorted(own.items(), key=lambda item: -item[1]):
        parts.append(f"{n:,} cell{'s' * (n != 1)} {text!r}" if text else f"{n:,} empty cell{'s' * (n != 1)}")
    return " and ".join(parts)


class MissingCellsError(DataError):
    """Missing cells that may not be there, in words, with the remedies that exist."""

    def __init__(self, cells: Mapping[str, Mapping[str, int]], *, fixed: bool, by_em: bool = True) -> None:
        self.cells, self.fixed = cells, fixed
        super().__init__(_fixed_words(cells, by_em) if fixed else _missing_cells_words(cells, by_em))

    def without_em(self) -> MissingCellsError:
        """The same error for a model that cannot learn from rows with missing cells."""
        return MissingCellsError(self.cells, fixed=self.fixed, by_em=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return DataError, (str(self),)


def _fixed_words(cells: Mapping[str, Mapping[str, int]], by_em: bool) -> str:
    return (
        f"the given variables have no level {MISSING!r}, and the table has missing cells: {missing_words(cells)}; "
        "use missing='drop'" + (" or missing='em'" if by_em else "")
    )


def _missing_cells_words(cells: Mapping[str, Mapping[str, int]], by_em: bool) -> str:
    is_text = any(text for own in cells.values() for text in own)
    levels = "; na_values= says which texts mean a missing cell, if these are levels" if is_text else ""
    em = "missing='em' to learn from the cells that are observed, " if by_em else ""
    return (
        f"the table has missing cells: {missing_words(cells)}. Use missing='drop' to leave those rows out, "
        f"missing='level' to count them as a level of their own, {em}or columns= to leave the columns out{levels}"
    )
