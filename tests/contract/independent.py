"""A kind of model that the package does not have: independent columns with a pseudo-count.

    p(x) = prod_i (n_i(x_i) + a / |X_i|) / (N_i + a)

All that a new kind brings: a model and its record, its files, its distribution, its estimator, and one entry in the
registry. ``tests/contract/test_new_kind.py`` uses it through every command and door.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fullspan.data import Empirical, Space
from fullspan.estimators.registry import Kind, Learner, register
from fullspan.estimators.without_terms import WithoutTerms
from fullspan.model import FitRecord
from fullspan.model.files import envelope, read_space
from fullspan.model.loglinear import checked_codes
from fullspan.query import Distribution

# -- the model and its record -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Independent:
    """The shares of the levels of every column."""

    kind: ClassVar[str] = "independent"
    approach: ClassVar[str] = "independent columns"
    space: Space
    shares: tuple[np.ndarray, ...]

    @property
    def n_parameters(self) -> int:
        return sum(card - 1 for card in self.space.cards)


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedIndependent(FitRecord[Independent]):
    """The model, and the mean log-probability of the rows."""

    log_likelihood: float


# -- its files ------------------------------------------------------------------------------------------------


def write(fitted: FittedIndependent, path: Any) -> None:
    """Write the file."""
    fit = envelope.learned(fitted, {"log_likelihood": fitted.log_likelihood})
    shares = [share.tolist() for share in fitted.model.shares]
    envelope.write({**envelope.header(Independent.kind, fitted.space), "shares": shares, "fit": fit}, path)


def read(source: envelope.Source) -> FittedIndependent:
    """Read the file."""
    root = envelope.opened(source, Independent.kind)
    shares = tuple(np.array([x.number() for x in share.items()]) for share in root["shares"].items())
    known = envelope.read_learned(root["fit"])
    model = Independent(read_space(root), shares)
    return FittedIndependent(model=model, log_likelihood=root["fit"]["log_likelihood"].number(), **known)


# -- its distribution -----------------------------------------------------------------------------------------


class IndependentDistribution(Distribution):
    """Two methods; all else follows from them."""

    def __init__(self, model: Independent) -> None:
        self.model, self.space = model, model.space

    def log_prob(self, rows: Any) -> np.ndarray:
        known = checked_codes(rows, self.space, missing=True)
        found = [np.where(x < 0, 0.0, np.log(p)[x]) for x, p in zip(known.T, self.model.shares, strict=True)]
        return np.sum(found, axis=0)

    def sample(self, size: int, rng: np.random.Generator, given: Any = None) -> np.ndarray:
        allowed, n = self.allowed(given), self.checked_size(size)
        columns = []
        for i, share in enumerate(self.model.shares):
            codes = np.array(allowed.get(i, range(len(share))))
            columns.append(rng.choice(codes, size=n, p=share[codes] / share[codes].sum()))
        return np.stack(columns, axis=1).astype(np.int64)


# -- its estimator --------------------------------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class IndependentColumns(WithoutTerms):
    """Columns that are independent of each other.

    Parameters
    ----------
    pseudo_count : rows spread evenly over the levels of every column.
    """

    _saved = ("pseudo_count",)
    pseudo_count: float = 1.0

    def _learn(self, empirical: Empirical, watch: Any) -> Any:
        shares = []
        for x, card in zip(empirical.states.T, empirical.space.cards, strict=True):
            counts = np.bincount(x[x >= 0], empirical.counts[x >= 0], card) + self.pseudo_count / card
            shares.append(counts / counts.sum())
        model = Independent(empirical.space, tuple(shares))
        mean = float(empirical.counts @ IndependentDistribution(model).log_prob(empirical.states)) / empirical.total
        sizes = {"total": empirical.total, "n_rows": empirical.n_rows, "n_dropped": empirical.n_dropped}
        return FittedIndependent(model=model, log_likelihood=mean, fingerprint=empirical.fingerprint(), **sizes)


register(
    Kind(Independent.kind, __name__, f"{__name__}:IndependentDistribution", {"IndependentColumns": Learner(__name__)})
)
