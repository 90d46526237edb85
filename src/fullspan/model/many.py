"""Many log-linear models over one space, in flat arrays: what a batch of fits returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints
from fullspan.data.space import Level, Space
from fullspan.errors import QueryError
from fullspan.model.algebra.basis import Basis
from fullspan.model.fitted import Fitted
from fullspan.model.loglinear import LogLinear
from fullspan.model.record import software_version


@dataclass(frozen=True, eq=False)
class ManyModels:
    """G models ``p_g(x) = exp( sum_y theta_gy Phi_y(x) - log Z_g )``.

    Attributes
    ----------
    space, basis : the variables and functions that all models share.
    groups : what each model is called.
    starts : (G + 1,) the terms of model g are ``indices[starts[g]:starts[g+1]]``.
    indices : places of the terms in a table over the basis, increasing within a model.
    theta : their weights.
    log_z, log_likelihood, entropy, description_length, drift : (G,) as in :class:`fullspan.model.fitted.Fitted`; the
        log-likelihood is that of all rows of the group, in nats.
    totals, n_rows, n_dropped, n_steps : (G,) rows or summed weights, rows read and dropped, moves of the search.
    converged : (G,) whether the search has ended by itself.
    by : the column that names the groups; None where they are folds or draws.
    settings : how the models were fitted; JSON values only.
    version : of the software that fitted them.
    """

    kind: ClassVar[str] = "many"
    space: Space
    basis: Basis
    groups: tuple[Level, ...]
    starts: Ints
    indices: Ints
    theta: Array
    log_z: Array
    log_likelihood: Array
    entropy: Array
    description_length: Array
    drift: Array
    totals: Array
    n_rows: Ints
    n_dropped: Ints
    n_steps: Ints
    converged: NDArray[np.bool_]
    by: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    version: str = field(default_factory=software_version)

    def __len__(self) -> int:
        return len(self.groups)

    @property
    def n_terms(self) -> Ints:
        """(G,) number of terms of each model."""
        return np.diff(self.starts)

    @cached_property
    def _positions(self) -> dict[Any, int]:
        return {(type(group), group): g for g, group in enumerate(self.groups)}

    def position(self, group: Any) -> int:
        """Where a group stands.

        Raises
        ------
        QueryError : there is none of this name.
        """
        group = group.item() if isinstance(group, np.generic) else group
        if (type(group), group) not in self._positions:
            shown = ", ".join(map(repr, self.groups[:5])) + (", ..." if len(self) > 5 else "")
            raise QueryError(f"there is no group {group!r}; the {len(self)} groups are {shown}")
        return self._positions[type(group), group]

    def model(self, g: int) -> LogLinear:
        """The model at a position."""
        part = slice(self.starts[g], self.starts[g + 1])
        terms = tuple(self.basis.term(int(y)) for y in self.indices[part])
        return LogLinear(self.space, self.basis, terms, self.theta[part], float(self.log_z[g]))

    def fitted(self, g: int) -> Fitted:
        """The model at a position with what is known about it; errors of its weights need the counts."""
        model = self.model(g)
        unknown, n = np.full(len(model.terms), np.nan), float(self.totals[g])
        entropy = float(self.entropy[g])
        return Fitted(
            model=model,
            standard_errors=unknown,
            nats_saved=unknown,
            total=n,
            n_rows=int(self.n_rows[g]),
            n_dropped=int(self.n_dropped[g]),
            divergence=-float(self.log_likelihood[g]) / n - entropy,
            entropy=entropy,
            description_length=float(self.description_length[g]),
            status="converged" if self.converged[g] else "step limit",
            drift=float(self.drift[g]),
            settings={**self.settings, "n_steps": int(self.n_steps[g])},
            version=self.version,
        )
