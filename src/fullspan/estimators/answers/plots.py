"""The pictures of a report as Matplotlib axes or Altair charts: ``model.plot_interactions()`` and the like."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from sklearn.utils.validation import check_is_fitted

from fullspan.errors import FullspanError

Backend = Literal["matplotlib", "altair"]


class Plots:
    """Pictures of a fitted estimator; each takes axes to draw on, or makes them, and returns them.

    They need Matplotlib, ``pip install 'fullspan[plots]'``. With ``backend="altair"`` they are Altair charts instead,
    which show their numbers to the pointer.
    """

    model_: Any
    _has_terms: ClassVar[bool]

    def plot_interactions(self, top: int | None = None, ax: Any = None, backend: Backend = "matplotlib") -> Any:
        """The graph of the ``top`` strongest interactions, or of all of them.

        Columns joined by a blue line go with each other; a dashed orange line joins columns that go against each other.
        """
        from fullspan.estimators.explain.pictures import interaction_graph

        check_is_fitted(self)
        return _drawn("graph", interaction_graph(self, top), ax, backend)

    def plot_effects(self, top: int = 20, ax: Any = None, backend: Backend = "matplotlib") -> Any:
        """The odds ratios and cell ratios of the strongest interactions, with 95 % intervals; arrows at the boundary.

        Raises
        ------
        FullspanError : the model has hidden variables, and no odds ratios.
        """
        from fullspan.estimators.explain.pictures import effects

        check_is_fitted(self)
        return _drawn("bars", effects(self, top), ax, backend)

    def plot_terms(self, top: int = 20, ax: Any = None, backend: Backend = "matplotlib") -> Any:
        """The weights of the strongest terms with their standard errors, coloured by what their words say."""
        from fullspan.estimators.explain.pictures import weights

        check_is_fitted(self)
        return _drawn("bars", weights(self, top), ax, backend)

    def plot_learning(self, ax: Any = None, backend: Backend = "matplotlib") -> Any:
        """The cost after every step of the learner.

        Raises
        ------
        FullspanError : there were no steps.
        """
        from fullspan.estimators.explain.pictures import learning

        check_is_fitted(self)
        if (curve := learning(self)) is None:
            raise FullspanError("the model was found in one step, or given: there is no learning curve")
        return _drawn("chart", curve, ax, backend)

    def plot_calibration(self, X: Any, random_state: int = 0, ax: Any = None, backend: Backend = "matplotlib") -> Any:
        """Predicted probabilities against how often they came true in a table that was held out."""
        from fullspan.estimators.compare.comparing import compare
        from fullspan.estimators.explain.pictures import reliability

        check_is_fitted(self)
        found = compare({"model": self}, X, baselines=False, random_state=random_state)  # type: ignore[dict-item]
        return _drawn("chart", reliability(found.calibrations["model"]), ax, backend)

    def plot_information(self, ax: Any = None, backend: Backend = "matplotlib") -> Any:
        """The information explained by each order of interaction, in nats per row.

        Raises
        ------
        FullspanError : the model is a tree, or too large to project on its lower orders.
        """
        from fullspan.estimators.explain.pictures import information
        from fullspan.learn.likelihood.nested import information_by_order

        check_is_fitted(self)
        parts = information_by_order(self.model_) if self._has_terms else None
        if parts is None:
            raise FullspanError(
                "the information of each order needs a table of all states, which this model does not have"
            )
        return _drawn("bars", information(parts), ax, backend)


def _drawn(what: str, picture: Any, ax: Any, backend: str) -> Any:
    """A picture by one of the packages.

    Raises
    ------
    FullspanError : the package is unknown or not installed, or Matplotlib's axes are given to another one.
    """
    if backend == "matplotlib":
        from fullspan.pictures import axes

        return getattr(axes, what)(picture, ax)
    if backend != "altair":
        raise FullspanError(f"backend is {backend!r}; choose 'matplotlib' or 'altair'")
    if ax is not None:
        raise FullspanError("ax= is for Matplotlib; with backend='altair' the chart is returned")
    from fullspan.pictures import vega

    return getattr(vega, what)(picture)
