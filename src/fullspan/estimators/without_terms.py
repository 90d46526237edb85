"""What estimators share whose models have no log-linear terms: trees, mixtures, and kinds registered from outside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

from fullspan.errors import FullspanError
from fullspan.estimators.density import DensityEstimator
from fullspan.estimators.explain.shown import Shown, shown_by_size
from fullspan.estimators.inputs.settings import own_parameters

if TYPE_CHECKING:
    from fullspan.data import Empirical
    from fullspan.model.effects.interaction import Interaction


class WithoutTerms(DensityEstimator):
    """A model that is no sum of weighted terms: it has no summary of them, and no residuals.

    A subclass learns a record with ``model``, ``log_likelihood`` (mean over the rows, in nats) and what
    :class:`fullspan.model.record.FitRecord` has; its model has ``n_parameters`` and ``approach``.

    Attributes
    ----------
    n_parameters_ : free numbers of the model.
    log_likelihood_ : of all rows learned from, in nats; of their observed cells where some are missing.
    """

    fitted_: Any
    model_: Any
    _has_terms = False

    def _noted(self, fitted: Any, sample_weight: Any = None) -> Any:
        how = self._reading().weighted_by(sample_weight)
        settings = {**fitted.settings, **own_parameters(self), **how.settings, "estimator": type(self).__name__}
        return replace(fitted, settings=settings)

    def _accept(self, fitted: Any, kind: str, empirical: Empirical | None = None) -> None:
        model = fitted.model
        self.fitted_, self.model_, self.space_, self.log_z_ = fitted, model, model.space, 0.0
        self.n_parameters_, self.log_likelihood_ = model.n_parameters, fitted.total * fitted.log_likelihood
        self.history_, self.status_, self.n_iter_ = fitted.history, fitted.status, len(fitted.history)
        self._accept_columns(kind)

    def _interaction_rows(self) -> Sequence[Interaction]:
        return ()

    @property
    def terms_(self) -> NoReturn:
        """There are none."""
        raise AttributeError(f"a {type(self).__name__} has no terms; see interactions_")

    def summary(self, coding: str = "sum") -> NoReturn:
        raise FullspanError(f"a {type(self).__name__} has no terms to summarise; see log_likelihood_ and interactions_")

    def residuals(self, kind: Any = "pearson", table: bool = False) -> NoReturn:
        raise FullspanError("residuals compare counts of whole states, which this kind of model does not hold")

    def _record_to_save(self) -> Any:
        return self.fitted_

    def _shown(self, top: int | None, *, terms: bool = False, whole: bool = True) -> Shown:
        return shown_by_size(self)
