"""What a fitted model found, as people read it: interactions, terms and intervals, worked out when first asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from fullspan.estimators.explain.interactions import NATS_SAVED, InteractionTable, Intervals
from fullspan.estimators.explain.links import Links, links_by_interactions
from fullspan.estimators.explain.shown import Shown, copies_words, shown_by_terms
from fullspan.estimators.explain.terms import TermTable
from fullspan.model.effects.interaction import Interaction

if TYPE_CHECKING:
    from fullspan.model.fitted import Fitted


class Explained:
    """An estimator whose ``fitted_`` is a log-linear model, with the rows it was learned from in ``_empirical``."""

    fitted_: Any
    _empirical: Any
    _explained_fit: Fitted | None = None
    _is_mixed: ClassVar[bool] = False
    """Whether the model has components, which a report lists."""
    _has_terms: ClassVar[bool] = True
    """Whether the model is a sum of weighted terms, whose interactions save nats; else it has parameters."""

    @property
    def _explained(self) -> Fitted:
        """The fit with what each interaction saves and does; worked out when first asked for."""
        check_is_fitted(self)
        if self._explained_fit is None:
            from fullspan.learn.effects.explain import explained

            self.fitted_ = self._explained_fit = explained(self.fitted_, self._empirical)
        return self._explained_fit

    @property
    def interactions_(self) -> InteractionTable:
        """One row per set of two variables or more, whatever the basis: effect, interval and nats saved."""
        return InteractionTable.of(self.fitted_, self._interaction_rows(), self._measure)

    @property
    def _measure(self) -> str:
        """What the nats of an interaction are."""
        return NATS_SAVED

    def _interaction_rows(self) -> Sequence[Interaction]:
        return self._explained.interactions or ()

    @property
    def terms_(self) -> TermTable:
        """The weights of the basis in words, with standard errors and nats saved, strongest first."""
        return TermTable.of(self._explained)

    def conf_int(self, level: float = 0.95) -> Intervals:
        """Confidence intervals of all odds ratios and cell ratios, from the covariance of the weights.

        Raises
        ------
        FullspanError : the level is not between 0 and 1.
        """
        return Intervals(self.interactions_, level)

    def _covariance(self) -> NDArray[np.float64] | None:
        """Covariance of the weights, where the rows are at hand."""
        from fullspan.learn.effects.explain import covariance_of
        from fullspan.learn.effects.objectives import objective_of

        objective = None if self._empirical is None else objective_of(self.fitted_, self._empirical)
        return None if objective is None else covariance_of(objective)

    def _shown(self, top: int | None, *, terms: bool = False, whole: bool = True) -> Shown:
        """What ``fullspan show`` says of the model, with at most ``top`` rows of each table."""
        shown = shown_by_terms(self._explained, top, terms=terms, whole=whole)
        copies = [] if self._empirical is None else copies_words(self._empirical)
        return replace(shown, blocks=[*shown.blocks, *copies])

    def _links(self) -> Links:
        """What joins the variables, as the explorer lists and draws it."""
        return links_by_interactions(self)
