"""How odd a row is, and which of its cells makes it so.

    score(x) = -log p(x),        gain_i(x) = max_l log p(x_i = l | rest) - log p(x_i | rest)

The score is large where the row is unlikely. What is large depends on the model, so the score stands next to the share
of rows drawn from the model that are at least as unlikely in the same columns. ``gain_i`` is how much more likely, in
nats, the whole row becomes when cell i is changed to its likeliest level: 0 where the cell is as expected. It does not
grow with the number of levels, as the surprisal -log p(x_i | rest) does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.data.space import Level
from fullspan.display import html_table
from fullspan.query.distribution import Distribution
from fullspan.query.prediction import cell_log_probabilities

N_DRAWS = 2000
"""Rows drawn to compare a row with."""


class CellExplanation(NamedTuple):
    """One cell given the rest of its row.

    Attributes
    ----------
    column : the variable.
    level : what stands there; None where nothing does.
    probability : ``p(level | rest)``; NaN where nothing stands there.
    surprisal : minus its logarithm, in nats.
    likeliest : the likeliest level given the rest.
    its_probability : its probability.
    gain : nats that the row gains when the cell is changed to the likeliest level.
    """

    column: str
    level: Level | None
    probability: float
    surprisal: float
    likeliest: Level
    its_probability: float
    gain: float


@dataclass(frozen=True)
class RowExplanation:
    """How likely a row is, and each of its cells given the others.

    Attributes
    ----------
    score : ``-log p(observed cells)`` in nats.
    share : share of rows of the model that are at least as unlikely, by draws.
    share_error : its standard error.
    cells : of all columns, the oddest first; cells with nothing in them last.
    """

    score: float
    share: float
    share_error: float
    cells: tuple[CellExplanation, ...]

    @property
    def oddest(self) -> CellExplanation | None:
        """The cell whose change would help the row most; None if every cell is as expected."""
        first = self.cells[0]
        return first if first.gain > 0 else None

    def to_dict(self) -> dict[str, Any]:
        """In JSON's types."""
        cells = [
            {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in c._asdict().items()}
            for c in self.cells
        ]
        return {"score": self.score, "share": self.share, "share_error": self.share_error, "cells": cells}

    def heading(self) -> str:
        """The score in words."""
        return (
            f"score {self.score:.4g} nats; {self.share:.2%} ± {self.share_error:.2%} of rows drawn from the model "
            "are at least as unlikely"
        )

    def rows(self) -> list[tuple[str, ...]]:
        """The cells as texts; see :data:`HEADINGS`."""
        return [_texts(cell) for cell in self.cells]

    def __str__(self) -> str:
        table = [HEADINGS, *self.rows()]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in table]
        return "\n".join([self.heading(), *lines])

    def _repr_html_(self) -> str:
        return html_table(list(HEADINGS), self.rows(), notes=[self.heading()], n_text=2)


HEADINGS = ("column", "is", "probability given the rest", "likeliest", "its probability", "gain")


def _texts(cell: CellExplanation) -> tuple[str, ...]:
    known = cell.level is not None
    return (
        cell.column,
        str(cell.level) if known else "",
        f"{cell.probability:.3g}" if known else "",
        str(cell.likeliest),
        f"{cell.its_probability:.3g}",
        f"{cell.gain:.3g}" if known else "",
    )


def explain_rows(
    distribution: Distribution, rows: Any, rng: np.random.Generator, n_draws: int = N_DRAWS
) -> list[RowExplanation]:
    """Explanations of rows (m, n) of codes, -1 where a cell is not observed.

    Time: one log-probability per level of every observed column, and one set of marginals, for each row; and
    ``n_draws`` for each pattern of missing cells.

    Raises
    ------
    QueryError : what a row says has probability 0.
    """
    states = np.asarray(rows, dtype=np.int64)
    scores = -distribution.log_prob(states)
    shares = _shares(distribution, states, scores, n_draws, rng)
    return [
        RowExplanation(
            float(scores[r]),
            float(shares[r]),
            math.sqrt(max(shares[r] * (1 - shares[r]), 1 / n_draws) / n_draws),
            _cells(distribution, states[r], cell_log_probabilities(distribution, states[r])),
        )
        for r in range(len(states))
    ]


def _cells(distribution: Distribution, state: NDArray[np.int64], logs: list[Array]) -> tuple[CellExplanation, ...]:
    found = []
    for variable, code, log in zip(distribution.visible.variables, state.tolist(), logs, strict=True):
        best = int(log.argmax())
        own = float(log[code]) if code >= 0 else math.nan
        found.append(
            CellExplanation(
                variable.name,
                variable.levels[code] if code >= 0 else None,
                math.exp(own),
                # 0.0 and not -0.0 for what is certain.
                -own + 0.0,
                variable.levels[best],
                math.exp(float(log[best])),
                max(float(log[best]) - own, 0.0) if code >= 0 else math.nan,
            )
        )
    return tuple(sorted(found, key=lambda c: (c.level is None, -c.gain if c.level is not None else 0.0)))


def _shares(distribution: Distribution, states: Ints, scores: Array, n_draws: int, rng: np.random.Generator) -> Array:
    """Share of draws that are at least as unlikely as each row, in the columns that the row observes."""
    shares, drawn = np.empty(len(states)), distribution.sample(n_draws, rng)
    patterns, which = np.unique(states >= 0, axis=0, return_inverse=True)
    for k, observed in enumerate(patterns):
        # Far fewer rows are distinct than drawn where few columns are observed.
        distinct, times = np.unique(np.where(observed, drawn, -1), axis=0, return_counts=True)
        log_prob = distribution.log_prob(distinct)
        for r in np.flatnonzero(which.ravel() == k):
            # Rows as likely as this one count, whatever rounding says.
            shares[r] = times[log_prob <= -scores[r] + 1e-9].sum() / n_draws
    return shares
