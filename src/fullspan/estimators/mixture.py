"""Mixtures of decomposable models as a scikit-learn estimator, for hundreds of variables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fullspan.errors import FullspanError
from fullspan.estimators.explain.interactions import NATS_SHARED
from fullspan.estimators.explain.links import MIXTURE, MIXTURE_REPORT, Links, links_by_sharing
from fullspan.estimators.explain.shown import Shown, interaction_blocks, shown_by_size
from fullspan.estimators.inputs.seeds import generator
from fullspan.estimators.inputs.settings import options_of
from fullspan.estimators.inputs.shared_parameters import Seed
from fullspan.estimators.trees import TreeEstimator, of_all_rows
from fullspan.estimators.without_terms import WithoutTerms
from fullspan.model.effects.interaction import Interaction
from fullspan.query.distributions.direct_pairs import DirectPairs
from fullspan.query.distributions.mixture import MixtureDistribution

if TYPE_CHECKING:
    from fullspan.data import Empirical
    from fullspan.learn.base.reporter import Reporter

_PAIRS_EACH = 3
"""Pairs of each variable that are listed."""


@dataclass(eq=False, repr=False)
class FullSpanMixture(Seed, TreeEstimator):
    """A mixture of decomposable models of bounded width, learned by EM.

        p(x) = sum_h pi_h prod_v p_h(x_v | x_S_h(v)),      |S_h(v)| at most the width

    Every component has a graph of its own. Held-out rows decide when each run of EM ends. All runs are combined into
    one mixture, with shares fitted to the held-out rows. Its answers are exact.

    Parameters
    ----------
    runs : (components, width) of every run; a run of one component learns from bootstrap samples and averages
        them. None for eight runs, of 1 to 32 components.
    smoothing : pseudo-rows of every conditional distribution, spread as it is without its least informative parent.
    restarts : number of times that all runs are made, from different starts.
    max_seconds : time limit in seconds, after which no iteration begins.
    validation_fraction : share of the rows held out, unless ``fit`` is given held-out rows; 0 for none.
    tol : smallest gain of an iteration that counts, in nats per row.
    patience : number of iterations without such a gain after which a run ends.
    max_iter : maximum number of iterations of a run.

    Attributes
    ----------
    model_ : the mixture, a :class:`fullspan.model.mixture.Mixture`.
    n_components_, width_ : its components, and the most parents of a variable.
    validation_score_ : mean log-probability of the held-out rows, in nats.
    log_likelihood_ : of all rows, held-out rows included, in nats.

    Notes
    -----
    Ctrl-C ends the fit with the runs so far. The likeliest state of a mixture is not found by sums: ``mode`` says so.

    Examples
    --------
    >>> from fullspan import FullSpanMixture
    >>> rows = [[0, 0, 0, 1]] * 40 + [[1, 1, 1, 0]] * 40 + [[0, 1, 0, 1]] * 10 + [[1, 0, 1, 1]] * 10
    >>> model = FullSpanMixture(runs=[(2, 1)], restarts=1, random_state=0).fit(rows)
    >>> model.probability("x0=1 | x1=1, x2=1") > 0.8
    True
    """

    _is_mixed = True

    runs: Sequence[tuple[int, int]] | None = None
    smoothing: float = 5.0
    restarts: int = 2
    max_seconds: float | None = None
    validation_fraction: float = 0.1
    tol: float = 1e-4
    patience: int = 4
    max_iter: int = 60

    def _learn(self, empirical: Empirical, watch: Reporter | None, valid: Empirical | None = None) -> Any:
        from fullspan.data.tables.resampling import held_out
        from fullspan.learn.decomposable import RUNS, MixtureOptions, fit_mixture

        rng = generator(self.random_state)
        train, valid = held_out(empirical, self.validation_fraction, rng) if valid is None else (empirical, valid)
        runs = RUNS if self.runs is None else tuple((int(k), int(w)) for k, w in self.runs)
        fitted = fit_mixture(train, options_of(self, MixtureOptions, runs=runs, seed=rng), valid, watch)
        return of_all_rows(fitted, empirical)

    def _noted(self, fitted: Any, sample_weight: Any = None) -> Any:
        noted = super()._noted(fitted, sample_weight)
        runs = None if self.runs is None else [list(map(int, run)) for run in self.runs]
        return replace(noted, settings={**noted.settings, "runs": runs})

    def _accept(self, fitted: Any, kind: str, empirical: Empirical | None = None) -> None:
        WithoutTerms._accept(self, fitted, kind)  # a mixture has no edges of its own
        self.n_components_, self.width_ = len(self.model_.shares), self.model_.width
        self.validation_score_ = fitted.validation

    def _interaction_rows(self) -> list[Interaction]:
        """Pairs in which one of the two shares most, a few for each variable.

        All variables share something by the hidden one, so that all pairs would be listed. Those that save less than
        their weights would cost, ``N I < (|X_i| - 1)(|X_j| - 1) (ln N) / 2``, are left out too.
        """
        check_is_fitted(self)
        found, total = DirectPairs.of(MixtureDistribution(self.model_)), self.fitted_.total
        n, cards, names = len(self.space_), np.array(self.space_.cards), self.space_.names
        first, second = np.triu_indices(n, 1)
        saved = total * found.information
        price = 0.5 * (cards[first] - 1) * (cards[second] - 1) * math.log(max(total, 2.0))
        square = np.zeros((n, n))
        square[first, second] = np.where(saved > price, saved, 0.0)
        square += square.T
        most = square[np.arange(n)[:, None], np.argsort(-square, axis=1)[:, :_PAIRS_EACH]].min(axis=1)
        kept = np.flatnonzero((saved > price) & (saved >= np.minimum(most[first], most[second])))
        rows = [Interaction((names[first[k]], names[second[k]]), float(saved[k]), True, "cell ratio", ()) for k in kept]
        return sorted(rows, key=lambda one: (-one.nats_saved, one.variables))

    def _shown(self, top: int | None, *, terms: bool = False, whole: bool = True) -> Shown:
        model, held_out = self.model_, self.validation_score_
        runs = self.fitted_.settings.get("runs")
        is_bagged = bool(runs) and all(run[0] == 1 for run in runs)
        parts = "networks, one per bootstrap sample and no hidden variable," if is_bagged else "components"
        words = f", {len(model.shares)} {parts} of width up to {model.width}"
        own = {
            "n_components": len(model.shares),
            "width": model.width,
            "validation": held_out,
            "shares": model.shares.tolist(),
        }
        shown = shown_by_size(self, words, own)
        last = [] if math.isnan(held_out) else [f"rows held out: {held_out:.4f} nats per row"]
        pairs = interaction_blocks(self.interactions_, top) if whole else []  # after a fit, all pairs would take longer
        return replace(shown, blocks=[*shown.blocks, *last, *pairs])

    @property
    def _measure(self) -> str:
        return NATS_SHARED

    def _links(self) -> Links:
        return links_by_sharing(self, "pair", MIXTURE, MIXTURE_REPORT)

    def summary(self, coding: str = "sum") -> NoReturn:
        raise FullspanError("a mixture has no terms to summarise; see n_components_, width_ and validation_score_")
