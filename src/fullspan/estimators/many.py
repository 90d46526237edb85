"""Many small models at once: one for each group of a table, bootstrap replicate, or fold of a cross-validation."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fullspan.data import encode
from fullspan.data.space import Level, Space, Variable
from fullspan.data.tables.grouped import Grouped, count_groups
from fullspan.engine.memory import budget, require
from fullspan.errors import ConvergenceWarning, FullspanError, warn
from fullspan.estimators.full_span import FullSpan
from fullspan.estimators.inputs.checks import check_parameters
from fullspan.estimators.inputs.reading import READING, Reading
from fullspan.estimators.inputs.seeds import generator
from fullspan.estimators.inputs.tables import checked_table, checked_weight, kind_of
from fullspan.learn.base.reporter import announce, reported
from fullspan.learn.base.reporter import reading as reading_words
from fullspan.model.files import many as many_file
from fullspan.model.many import ManyModels

if TYPE_CHECKING:
    from fullspan.learn.search.options import Options
    from fullspan.model.fitted import Fitted

_FIXED: dict[str, Any] = {"search": "paper", "basis": "walsh", "dtype": "float64"}
"""What is the same for every model here; see :class:`fullspan.FullSpan`."""
_OWN = ("penalty", "epsilon", "max_order", "max_memory", "device")
_SHARED = tuple(name for name in READING if name != "handle_unknown")  # which is about further tables
_PARAMETERS = (*_OWN, *_SHARED, "verbose")


def fit_many(
    table: Any,
    by: str | None = None,
    *,
    bootstrap: int | None = None,
    folds: int | None = None,
    random_state: Any = None,
    sample_weight: Any = None,
    **parameters: Any,
) -> GroupedModels:
    """Fit a small model to every group of a table, all at once: on all cores, or on a GPU.

    Each model is that of the published search in the Walsh basis, in double precision: the same terms and, to rounding,
    the same weights as ``FullSpan(search="paper", basis="walsh", dtype="float64", device="cpu")`` fitted to the rows of
    the group alone, with the variables and levels of the whole table. The default search of ``FullSpan`` is another
    one, which finds shorter descriptions and takes far longer.

    Parameters
    ----------
    table : as for :class:`fullspan.FullSpan`; an Ibis table is counted where it lives.
    by : the column that names the group of a row. All groups are counted in one GROUP BY.
    bootstrap : instead, this number of tables of the same size drawn from the rows with replacement.
    folds : instead, the number of folds of a cross-validation: model g has all rows but those of fold g, and
        ``held_out_[g]`` is the mean log-probability of these.
    random_state : seed or generator, for ``bootstrap`` and ``folds``.
    sample_weight : one weight per row, or the name of the column that holds them.
    parameters : of :class:`fullspan.FullSpan`, with the same defaults: ``penalty``, ``epsilon``, ``max_order``,
        ``columns``, ``levels``, ``bins``, ``count_column``, ``missing`` (``"em"`` is refused), ``max_levels``,
        ``na_values``, ``verbose``; ``max_memory``, most bytes for a batch of models; and ``device``: ``"cpu"`` for a
        model per core at a time, ``"cuda"`` for a block of threads of a GPU for each model, or ``"auto"`` for a GPU if
        there is one and the models have enough states together (``models_.settings["device"]`` is what was chosen).

    Returns
    -------
    GroupedModels. After Ctrl-C it has the groups that were done, and a ``ConvergenceWarning`` says how many are not.

    Raises
    ------
    DataError : the table cannot be read, or a group has no row; the message names the group.
    TooLargeError : one model per core would not fit into memory; nothing has been allocated.
    FullspanError : a parameter is not what it should be, or a GPU is asked for and there is none.

    Examples
    --------
    >>> rows = {"site": ["a"] * 100 + ["b"] * 100, "x": [0, 1] * 100, "y": [0, 1] * 50 + [0, 0, 1, 1] * 25}
    >>> models = fit_many(rows, by="site")
    >>> models.groups_, models.n_terms_.tolist()
    (('a', 'b'), [1, 0])
    """
    if unknown := [name for name in parameters if name not in _PARAMETERS]:
        raise TypeError(f"fit_many() has no parameter {unknown[0]!r}; it takes {', '.join(_PARAMETERS)}")
    single = FullSpan(**_FIXED, **parameters)
    check_parameters({name: getattr(single, name) for name in _PARAMETERS})
    return _fitted(table, _Division(by, bootstrap, folds, random_state), single, checked_weight(sample_weight))


def _fitted(table: Any, division: _Division, single: FullSpan, weight: Any) -> GroupedModels:
    """The models of the groups of a table, each as ``single`` would be fitted to it."""
    from fullspan.learn.many.fit import fit_groups
    from fullspan.learn.search.options import Options

    options = Options(**{name: getattr(single, name) for name in (*_OWN, *_FIXED)})
    with reported(verbose=single.verbose) as reporter:
        announce(reporter, reading_words(table))
        source = checked_table(table)
        grouped, held = division.counts(source, Reading.by(single), weight)
        announce(reporter)
        searched = fit_groups(grouped, options, None if reporter is None else reporter.models)
    done = len(searched.models)
    if searched.interrupted:
        warn(f"interrupted: {done:,} of {len(grouped):,} models are done and kept", ConvergenceWarning)
    found = GroupedModels(searched.models, division.by, grouped.head(done), kind_of(source))
    if held is not None:
        found.held_out_ = held.scores(searched.models)
    return found


@dataclass(frozen=True)
class _Division:
    """What makes many tables of one: groups by a column, bootstrap replicates, or the folds of a cross-validation."""

    by: str | None
    bootstrap: int | None
    folds: int | None
    random_state: Any

    def counts(self, source: Any, reading: Reading, weight: Any) -> tuple[Grouped, _Held | None]:
        """The groups to fit and, for a cross-validation, the rows that each of them leaves out."""
        from fullspan.data.tables import resampling

        given = [name for name in ("by", "bootstrap", "folds") if getattr(self, name) is not None]
        if len(given) != 1:
            raise FullspanError(f"give one of by=, bootstrap= and folds=; {' and '.join(given) or 'none'} was given")
        if self.by is not None:
            chosen = {name: getattr(reading, name) for name in _SHARED}
            return count_groups(source, self.by, sample_weight=weight, **chosen), None
        empirical, rng = reading.count(source, weight), generator(self.random_state)
        if self.bootstrap is not None:
            return resampling.bootstrap(empirical, self.bootstrap, rng), None
        assert self.folds is not None
        grouped, counts = resampling.folds(empirical, self.folds, rng)
        return grouped, _Held(empirical.states, counts)


@dataclass(frozen=True)
class _Held:
    """States (m, n) and how often each fold (k, m) has them."""

    states: NDArray[Any]
    counts: NDArray[np.float64]

    def scores(self, models: ManyModels) -> NDArray[np.float64]:
        """Mean log-probability of the rows that each model has not seen."""
        from fullspan.query.many import log_prob

        n, rows = len(models), len(self.states)
        log_p = log_prob(models, np.repeat(np.arange(n), rows), np.tile(self.states, (n, 1))).reshape(n, rows)
        return np.asarray((self.counts[:n] * log_p).sum(axis=1) / self.counts[:n].sum(axis=1))


class GroupedModels:
    """Models of the groups of a table, as :func:`fit_many` returns them: a mapping from group to model.

    Attributes
    ----------
    groups_ : the name of each model, in order; a replicate or fold is its number.
    space_ : the variables and levels that all models share.
    n_terms_, n_steps_ : (groups,) chosen terms, and moves of the search (the length of its history).
    log_likelihood_ : (groups,) of the rows of each group, in nats.
    description_length_ : (groups,) nats to describe model and data.
    log_z_ : (groups,) log partition functions.
    terms_ : all terms as an Arrow table: group, term (names of variables), order, index, weight.
    held_out_ : (folds,) mean log-probability of the rows left out; after ``folds=`` only.
    models_ : all models in flat arrays, a :class:`fullspan.model.many.ManyModels`.

    Examples
    --------
    >>> models = fit_many({"x": [0, 1] * 50, "y": [0, 1] * 50}, bootstrap=20, random_state=1)
    >>> len(models), models[3].n_terms_
    (20, 1)
    """

    held_out_: NDArray[np.float64]

    def __init__(self, models: ManyModels, by: str | None, grouped: Grouped | None = None, kind: str = "arrow") -> None:
        self.models_, self.by = models, by
        self._grouped, self._kind = grouped, kind
        self.groups_, self.space_ = models.groups, models.space
        self.n_terms_, self.n_steps_, self.log_z_ = models.n_terms, models.n_steps, models.log_z
        self.log_likelihood_, self.description_length_ = models.log_likelihood, models.description_length

    def __len__(self) -> int:
        return len(self.models_)

    def __iter__(self) -> Iterator[Level]:
        return iter(self.groups_)

    def __contains__(self, group: Any) -> bool:
        return group in self.groups_

    def __getitem__(self, group: Any) -> FullSpan:
        """The model of one group, as a fitted :class:`fullspan.FullSpan`.

        Raises
        ------
        QueryError : there is no such group.
        """
        g = self.models_.position(group)
        fitted = self.fitted(group)
        model = FullSpan(**{name: fitted.settings[name] for name in (*_OWN, *_FIXED) if name in fitted.settings})
        model._accept(model._noted(fitted), self._kind, None if self._grouped is None else self._grouped.empirical(g))
        return model

    def fitted(self, group: Any) -> Fitted:
        """One model with what was learned about it.

        Standard errors and savings come from the counts; a file has none, and they are NaN then.

        Raises
        ------
        QueryError : there is no such group.
        """
        g = self.models_.position(group)
        if self._grouped is None:
            return self.models_.fitted(g)
        from fullspan.learn.many.fit import fitted_group

        return fitted_group(self._grouped, self.models_, g, self._options())

    def _options(self) -> Options:
        from fullspan.learn.search.options import Options

        return Options(**self.models_.settings)

    @property
    def terms_(self) -> Any:
        import pyarrow as pa

        models, names = self.models_, self.space_.names
        known = {int(y): models.basis.term(int(y)) for y in np.unique(models.indices)}
        words = {y: ":".join(names[i] for i, _ in term) for y, term in known.items()}
        of_group = np.repeat(np.arange(len(models)), models.n_terms)
        return pa.table(
            {
                "group": pa.array(list(models.groups)).take(pa.array(of_group)),
                "term": [words[y] for y in models.indices.tolist()],
                "order": [len(known[y]) for y in models.indices.tolist()],
                "index": models.indices,
                "weight": models.theta,
            }
        )

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Log-probability of each row in nats: under the model of its group, shape (rows,).

        Replicates and folds are no column: then each row is scored under every model, shape (rows, models).

        Raises
        ------
        DataError : a value is no level, a group has no model, or a cell is missing.
        TooLargeError : (rows, models) numbers would not fit into memory.
        """
        from fullspan.query.many import log_prob

        models = self.models_
        if self.by is not None:
            codes = encode(checked_table(X), Space((*self.space_.variables, Variable(self.by, self.groups_))))
            return log_prob(models, codes[:, -1], codes[:, :-1])
        codes = encode(checked_table(X), self.space_)
        shape = (len(codes), len(models))
        require(8 * shape[0] * shape[1], budget(), f"{shape[0]:,} rows under {shape[1]:,} models", "score it in parts")
        out = np.empty(shape)
        for g in range(len(models)):
            out[:, g] = log_prob(models, np.full(len(codes), g), codes)
        return out

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all models to one text file, atomically; :meth:`load` reads it. Counts are not kept.

        Raises
        ------
        ModelFileError : the file cannot be written, or would be larger than 64 MiB.
        """
        many_file.write(replace(self.models_, by=self.by), path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> GroupedModels:
        """Read the file of many models.

        Raises
        ------
        ModelFileError : the file is damaged, holds something else, or was written by a newer version.
        """
        models = many_file.read(path)
        return cls(models, models.by)
