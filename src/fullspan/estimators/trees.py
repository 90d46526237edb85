"""Trees as scikit-learn estimators: the Chow–Liu tree and the hidden Chow–Liu tree, for hundreds of variables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Self, TypeVar

from sklearn.utils.validation import check_is_fitted

from fullspan.data.space import Level
from fullspan.errors import FullspanError
from fullspan.estimators.explain.interactions import NATS_SAVED, NATS_SHARED
from fullspan.estimators.explain.links import (
    HIDDEN,
    HIDDEN_REPORT,
    TREE,
    TREE_REPORT,
    Links,
    links_by_interactions,
    links_by_sharing,
)
from fullspan.estimators.explain.shown import Shown, interaction_blocks, shown_by_size
from fullspan.estimators.inputs.checks import Applies
from fullspan.estimators.inputs.evidence import Evidence
from fullspan.estimators.inputs.seeds import generator
from fullspan.estimators.inputs.settings import options_of
from fullspan.estimators.inputs.shared_parameters import Memory, Seed
from fullspan.estimators.without_terms import WithoutTerms
from fullspan.model.effects.interaction import Interaction
from fullspan.model.effects.named_effects import of_cells
from fullspan.model.effects.sum_to_zero import sum_to_zero_cells
from fullspan.query.language.result import Table

if TYPE_CHECKING:
    from fullspan.data import Empirical
    from fullspan.learn.base.reporter import Reporter

Learned = TypeVar("Learned", bound=Any)


class TreeEstimator(WithoutTerms):
    """What trees answer; see :class:`ChowLiuTree` and :class:`HiddenChowLiuTree`.

    All questions of :class:`DensityEstimator` about rows, probabilities and information, by passes over the tree, which
    is linear in the number of variables: no table of states is ever built. A tree has no terms, so it has no summary of
    them and no residuals.
    """

    fitted_: Any
    model_: Any
    count_column: str | None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, validation: Any = None) -> Self:
        """Learn the tree of a table.

        Parameters
        ----------
        X : the table.
        y : ignored.
        sample_weight : one weight per row, or the name of the column that holds them.
        validation : a further table with the same columns, on which what is free is chosen. Without one, a hidden tree
            holds out ``validation_fraction`` of the rows.

        Raises
        ------
        DataError, TooLargeError : a table cannot be read, or the tables of pairs or of passes are too large.
        FullspanError : a parameter is not what it should be.

        Warns
        -----
        ConvergenceWarning : the learner was stopped early; the best tree so far is kept.
        """
        return self._fit(X, sample_weight, validation)

    def _accept(self, fitted: Any, kind: str, empirical: Empirical | None = None) -> None:
        model = fitted.model
        super()._accept(fitted, kind, empirical)
        self.edges_ = tuple(
            (a, b, float(fitted.mutual_information[i])) for (a, b), i in zip(model.edges, model.order[1:], strict=True)
        )
        self.n_states_, self.validation_score_ = model.n_states, fitted.validation

    def marginals(self, given: Evidence = None) -> dict[str, Table]:
        """The distribution of every variable given the evidence, in one pass up the tree and one down."""
        check_is_fitted(self)
        found = self.distribution_.marginals(self._event(given)).shares
        return {name: self.distribution_.named((i,), p) for i, (name, p) in enumerate(found.items())}

    def _interaction_rows(self) -> list[Interaction]:
        """The edges: what two variables share, and, where nothing is hidden, their effect given all others."""
        check_is_fitted(self)
        found = []
        for a, b, nats in self.edges_:
            own = tuple(sorted((self.space_.position(a), self.space_.position(b))))
            names = tuple(self.space_.names[i] for i in own)
            one = Interaction(names, math.nan, True, "cell ratio", ())
            if self.model_.is_observed:  # the edge is then all that the two have to do with each other
                one = of_cells(self.space_, own, sum_to_zero_cells(self.distribution_.marginal(names).values))
            found.append(one.with_nats(self.fitted_.total * nats, True))
        return sorted(found, key=lambda one: (-one.nats_saved, one.variables))

    def _shown(self, top: int | None, *, terms: bool = False, whole: bool = True) -> Shown:
        tree = self.model_
        hidden = "" if tree.is_observed else f", hidden nodes of {tree.n_states} states"
        edges = sorted(self.edges_, key=lambda edge: -edge[2])
        listed = [{"parent": a, "child": b, "mutual_information": nats} for a, b, nats in edges[:top]]
        own = {
            "hidden_states": 0 if tree.is_observed else tree.n_states,
            "validation": self.validation_score_,
            "tree": listed,
        }
        shown = shown_by_size(self, hidden, own)
        return replace(shown, blocks=[*shown.blocks, *interaction_blocks(self.interactions_, top)])

    @property
    def _measure(self) -> str:
        return NATS_SAVED if self.model_.is_observed else NATS_SHARED

    def _links(self) -> Links:
        if self.model_.is_observed:
            return links_by_interactions(self, "edge", TREE, self._shared_note())
        return links_by_sharing(self, "edge", HIDDEN, HIDDEN_REPORT)

    def _shared_note(self) -> str:
        """What the numbers of the edges mean, in a report."""
        settings = self.fitted_.settings
        but = ["up to the pseudo-count"] if settings.get("pseudo_count") else []
        but += ["where no cell is missing"] if settings.get("missing") == "em" else []
        return TREE_REPORT + "".join(f", {words}" for words in but) + "."

    def mode(self, given: Evidence = None) -> dict[str, Level]:
        """The likeliest state given the evidence, as ``{name: level}``, exact; of a Chow–Liu tree only.

        Raises
        ------
        QueryError : the tree has hidden nodes, or the evidence is impossible.
        """
        return super().mode(given)

    def summary(self, coding: str = "sum") -> NoReturn:
        raise FullspanError("a tree has no terms to summarise; see edges_, log_likelihood_ and validation_score_")

    def residuals(self, kind: Any = "pearson", table: bool = False) -> NoReturn:
        raise FullspanError("residuals compare counts of whole states, which a tree of many variables does not hold")


def of_all_rows(fitted: Learned, data: Empirical) -> Learned:
    """The record with the likelihood of all rows given, where a part of them was held out while learning.

    Baselines and description lengths are of all rows too: numbers that are compared must be of the same rows.
    """
    n_held = data.total - fitted.total
    if n_held <= 0:
        return fitted
    mean = (fitted.total * fitted.log_likelihood + n_held * fitted.validation) / data.total
    return replace(fitted, log_likelihood=mean, total=data.total, fingerprint=data.fingerprint())


@dataclass(eq=False, repr=False)
class ChowLiuTree(Memory, TreeEstimator):
    """The tree of greatest likelihood over the variables themselves (Chow & Liu 1968).

        p(x) = p(x_r) prod_{i != r} p(x_i | x_parent(i))

    Parameters
    ----------
    pseudo_count : rows spread evenly over every pair of variables; 0 for maximum likelihood, under which combinations
        that never occurred have probability 0.

    Attributes
    ----------
    edges_ : (parent, child, mutual information in nats) by name, parents first.
    model_ : the tree, a :class:`fullspan.model.hidden_tree.HiddenTree`.
    space_ : the variables and their levels.
    log_likelihood_ : of all rows learned from, in nats; of their observed cells where some are missing.
    n_parameters_ : free probabilities.
    status_, history_, n_features_in_, feature_names_in_ : as in every estimator.

    Notes
    -----
    Under ``missing="em"`` pairs are counted in the rows that show both. Time: n² counts of pairs over packed bits; for
    1,000 binary variables and 10,000 rows about half a second.

    Examples
    --------
    >>> from fullspan import ChowLiuTree
    >>> rows = [["rain", "wet", "cold"]] * 6 + [["dry", "dry", "cold"]] * 3 + [["dry", "wet", "warm"]]
    >>> tree = ChowLiuTree(pseudo_count=0).fit(rows)
    >>> round(tree.probability("x0=rain | x1=wet"), 6)
    0.857143
    """

    pseudo_count: float = 1.0

    def _learn(self, empirical: Empirical, watch: Reporter | None, valid: Empirical | None = None) -> Any:
        from fullspan.learn.trees.chow_liu import fit_chow_liu
        from fullspan.learn.trees.hidden_tree import Rows

        fitted = fit_chow_liu(empirical, self.pseudo_count, self.max_memory)
        return fitted if valid is None else replace(fitted, validation=Rows(valid).mean(fitted.model))


@dataclass(eq=False, repr=False)
class HiddenChowLiuTree(Memory, Seed, TreeEstimator):
    """A tree of hidden nodes, one for each variable, connected like the variables' Chow–Liu tree (HCLT).

        p(x) = sum_z pi(z_r) prod_{i != r} A_i[z_parent(i), z_i] prod_i E_i[z_i, x_i]

    Learned by EM with exact passes; held-out rows decide when it ends, and what is kept.

    Parameters
    ----------
    n_states : states of a hidden node; of several numbers, the best on the held-out rows.
    smoothing : pseudo-rows added to every distribution; of several numbers, the best on the held-out rows.
    restarts : number of random starts, of which the best is kept.
    mixture : keep a mixture of the best runs if it predicts the held-out rows better. It is again one tree, whose
        states are those of all its parts.
    validation_fraction : share of the rows held out, unless ``fit`` is given held-out rows; 0 for none: EM
        then ends when the likelihood of the rows no longer improves, and there is no mixture.
    tol : smallest gain of an iteration that counts, in nats per row.
    patience : number of iterations without such a gain after which a run ends.
    max_iter : maximum number of iterations of a run; None for no limit.
    device : ``"cpu"``, or ``"cuda"`` for a GPU with CuPy. See ``docs/devices.md``.

    Attributes
    ----------
    n_states_ : states of a node of the tree that was kept, all parts of a mixture together.
    validation_score_ : mean log-probability of the held-out rows, in nats.
    log_likelihood_ : of all rows, held-out rows included, in nats.
    n_iter_ : iterations of the best run.

    And those of :class:`ChowLiuTree`.

    Notes
    -----
    An iteration takes 3 n K² multiplications per distinct row. Ctrl-C ends the fit with the best tree so far.

    References
    ----------
    Liu & Van den Broeck (2021), tractable regularization of probabilistic circuits.

    Examples
    --------
    >>> from fullspan import HiddenChowLiuTree
    >>> rows = [[0, 0, 0, 1]] * 40 + [[1, 1, 1, 0]] * 40 + [[0, 1, 0, 1]] * 10 + [[1, 0, 1, 1]] * 10
    >>> tree = HiddenChowLiuTree(n_states=4, random_state=0).fit(rows)
    >>> tree.probability("x0=1 | x1=1, x2=1") > 0.9
    True
    """

    n_states: int | Sequence[int] = (16, 32)
    smoothing: float | Sequence[float] = 0.3
    restarts: int = 3
    mixture: bool = True
    validation_fraction: float = 0.1
    tol: float = 1e-4
    patience: int = 4
    max_iter: int | None = 1000
    device: Literal["cpu", "cuda"] = "cpu"

    _applies = (
        Applies(("mixture",), "rows held out: validation_fraction above 0", lambda of: of.validation_fraction > 0),
    )

    def _learn(self, empirical: Empirical, watch: Reporter | None, valid: Empirical | None = None) -> Any:
        from fullspan.data.tables.resampling import held_out
        from fullspan.learn.trees.hidden_tree import TreeOptions, fit_hidden_tree

        rng = generator(self.random_state)
        train, valid = held_out(empirical, self.validation_fraction, rng) if valid is None else (empirical, valid)
        options = options_of(self, TreeOptions, seed=rng)
        return of_all_rows(fit_hidden_tree(train, options, valid, watch), empirical)
