"""The pictures of a report as Matplotlib axes: ``model.plot_interactions()`` and the like."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from fullspan.errors import FullspanError


class Plots:
    """Pictures of a fitted estimator; each takes axes to draw on, or makes them, and returns them.

    They need Matplotlib, ``pip install 'fullspan[plots]'``.
    """

    def plot_interactions(self, top: int | None = None, ax: Any = None) -> Any:
        """The graph of the ``top`` strongest interactions, or of all of them.

        Columns joined by a blue line go with each other; a dashed orange line joins columns that go against each other.
        """
        from fullspan.estimators.explain.pictures import interaction_graph
        from fullspan.pictures import axes

        check_is_fitted(self)
        return axes.graph(interaction_graph(self, top), ax)

    def plot_effects(self, top: int = 20, ax: Any = None) -> Any:
        """The odds ratios and cell ratios of the strongest interactions, with 95 % intervals; arrows at the boundary.

        Raises
        ------
        FullspanError : the model has hidden variables, and no odds ratios.
        """
        from fullspan.estimators.explain.pictures import effects
        from fullspan.pictures import axes

        check_is_fitted(self)
        return axes.bars(effects(self, top), ax)

    def plot_terms(self, top: int = 20, ax: Any = None) -> Any:
        """The weights of the strongest terms with their standard errors, coloured by what their words say."""
        from fullspan.estimators.explain.pictures import weights
        from fullspan.pictures import axes

        check_is_fitted(self)
        return axes.bars(weights(self, top), ax)

    def plot_learning(self, ax: Any = None) -> Any:
        """The cost after every step of the learner.

        Raises
        ------
        FullspanError : there were no steps.
        """
        from fullspan.estimators.explain.pictures import learning
        from fullspan.pictures import axes

        check_is_fitted(self)
        if (curve := learning(self)) is None:
            raise FullspanError("the model was found in one step, or given: there is no learning curve")
        return axes.chart(curve, ax)

    def plot_calibration(self, X: Any, random_state: int = 0, ax: Any = None) -> Any:
        """Predicted probabilities against how often they came true in a table that was held out."""
        from fullspan.estimators.compare.comparing import compare
        from fullspan.estimators.explain.pictures import reliability
        from fullspan.pictures import axes

        check_is_fitted(self)
        found = compare({"model": self}, X, baselines=False, random_state=random_state)  # type: ignore[dict-item]
        return axes.chart(reliability(found.calibrations["model"]), ax)

    def plot_information(self, ax: Any = None) -> Any:
        """The information explained by each order of interaction, in nats per row.

        Raises
        ------
        FullspanError : the model is a tree, or too large to project on its lower orders.
        """
        from fullspan.estimators.explain.pictures import information
        from fullspan.learn.likelihood.nested import information_by_order
        from fullspan.pictures import axes

        check_is_fitted(self)
        model: Any = getattr(self, "model_", None)
        parts = information_by_order(model) if hasattr(model, "terms") else None
        if parts is None:
            raise FullspanError("the information of each order needs a table of all states, which this model has not")
        return axes.bars(information(parts), ax)
