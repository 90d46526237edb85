"""The numbers of the picture of one interaction: how its last variable is spread, for each state of the others.

Of a pair these are the shares of one variable given each level of the other, over all rows: nothing else is held fixed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.data.space import Variable, cell_in_words
from fullspan.model.effects.interaction import Interaction
from fullspan.pictures.shares import Shares
from fullspan.query.distribution import Distribution
from fullspan.query.margins import counted_margin

MAX_ROWS, MAX_COLUMNS = 12, 6
"""States of the others, and levels of the last variable, in one picture."""


def shares_of(distribution: Distribution, row: Interaction, data: Empirical | None = None) -> Shares:
    """The shares of the variable of fewest levels given the others, in the model and in rows over the same variables.

    Of two levels only one is shown: that which the effect names.

    Raises
    ------
    TooLargeError : the table of the variables is too large.
    """
    space = distribution.visible
    places = _ordered(space.variables, [space.position(name) for name in row.variables])
    *others, last = (space.variables[i] for i in places)
    joint = distribution.marginal([space.names[i] for i in places]).values.reshape(-1, last.card)
    cells, levels = _kept_rows(joint), _kept_levels(last, joint, row)
    labels = tuple(_label(others, cell) for cell in cells)
    heading = others[0].name if len(others) == 1 else "given"
    columns = tuple(str(last.levels[k]) if last.card > 2 else f"{last.name}={last.levels[k]}" for k in levels)
    model = joint[cells] / joint[cells].sum(axis=1, keepdims=True)
    title, left_out = _title(columns, others, last), _left_out(len(cells), len(joint), len(levels), last)
    if data is None:
        return Shares(title, heading, labels, columns, model[:, levels], left_out=left_out)
    counts = counted_margin(data, tuple(places)).reshape(joint.shape)[cells]
    return Shares(title, heading, labels, columns, model[:, levels], counts[:, levels], counts.sum(axis=1), left_out)


def _label(others: Sequence[Variable], cell: int) -> str:
    """The levels in a row of the flattened table: of one variable the level alone, of several with their names."""
    if len(others) == 1:
        return str(others[0].levels[cell])
    codes = np.unravel_index(cell, [v.card for v in others])
    return cell_in_words(others, codes)


def _ordered(variables: Sequence[Variable], places: list[int]) -> list[int]:
    """The variable of fewest levels last; of several such, the last."""
    last = min(reversed(places), key=lambda i: variables[i].card)
    return [*(i for i in places if i != last), last]


def _kept_rows(joint: Array) -> list[int]:
    """The likeliest states of the others that are possible at all, in their order."""
    weight = joint.sum(axis=1)
    return sorted(int(k) for k in np.argsort(-weight, kind="stable")[:MAX_ROWS] if weight[k] > 0)


def _kept_levels(last: Variable, joint: Array, row: Interaction) -> list[int]:
    if last.card == 2:
        named = {event for effect in row.effects[:1] for event in effect.events}
        return [0] if f"{last.name}={last.levels[0]}" in named else [1]
    return sorted(int(k) for k in np.argsort(-joint.sum(axis=0), kind="stable")[:MAX_COLUMNS])


def _title(columns: tuple[str, ...], others: Sequence[Variable], last: Variable) -> str:
    what = f"Share of {columns[0]}" if len(columns) == 1 else f"Shares of the levels of {last.name}"
    names = [v.name for v in others]
    return f"{what}, by {' and '.join([', '.join(names[:-1]), names[-1]] if len(names) > 1 else names)}"


def _left_out(n_rows: int, all_rows: int, n_levels: int, last: Variable) -> str:
    said = [f"the {n_rows} most frequent of {all_rows:,} combinations"] if n_rows < all_rows else []
    if last.card > 2 and n_levels < last.card:
        said.append(f"the {n_levels} most frequent of {last.card} levels")
    return " and ".join(said)
