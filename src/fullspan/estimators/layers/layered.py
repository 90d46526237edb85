"""What estimators of machines in layers share: reading, learning, scores, samples, files."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, DensityMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from fullspan.data import decode, fill, held
from fullspan.data.space import Space
from fullspan.errors import ConvergenceWarning, FullspanError, require_one_of, require_whole, warn
from fullspan.estimators.answers.exploring import Explorable
from fullspan.estimators.answers.what_if import WhatIf
from fullspan.estimators.checkpoints import kept_on_interrupt, restored_on_error
from fullspan.estimators.explain import limits
from fullspan.estimators.explain.endings import ending
from fullspan.estimators.explain.shown import Shown, closing_lines
from fullspan.estimators.inputs.checks import Applies, check_parameters, refuse_without_effect
from fullspan.estimators.inputs.evidence import Evidence, event_of
from fullspan.estimators.inputs.reading import Reading, refuse_missing_level, say_missing
from fullspan.estimators.inputs.seeds import generator
from fullspan.estimators.inputs.settings import options_of, own_parameters
from fullspan.estimators.inputs.shared_parameters import Parameters, Seed
from fullspan.estimators.inputs.tables import checked_table, checked_weight, empty_of, kind_of
from fullspan.estimators.layers.unit_rows import UnitRows, codes_of_table, rows_of_table
from fullspan.estimators.registry import write_fitted
from fullspan.learn.base.reporter import Reporter, announce, is_followed, reading, reported
from fullspan.model.estimate import Estimate
from fullspan.model.layered import FittedLayers, check_sizes
from fullspan.model.units import OPEN
from fullspan.query.distributions.layered import LayeredDistribution

if TYPE_CHECKING:
    from fullspan.engine.sampling.layers.device import Device
    from fullspan.learn.layered.fit import Course, Data
    from fullspan.learn.layered.options import LayerOptions
    from fullspan.learn.layered.train import Trainer
    from fullspan.model.layered import LayeredMachine

UNKNOWN = Estimate(float("nan"), float("nan"), "ais")
"""Log Z that nobody has asked for yet."""

_CHECKED = ("max_levels", "validation_fraction", "handle_unknown")
"""Parameters whose types are checked before the table is read."""


@dataclass(kw_only=True, eq=False, repr=False)
class LayeredParameters(Seed, Parameters):
    """What restricted and deep machines have in common.

    Parameters
    ----------
    solver : ``"pcd"``, chains that persist, or ``"cd"``, chains that start at the data (contrastive divergence).
    gibbs_steps : number of sweeps of the chains for each step, the k of CD-k.
    gradient : ``"centred"``, ``"standardised"`` or ``"plain"``.
    learning_rate : step size in the first epoch.
    decay : let the learning rate fall to 0 over all epochs.
    momentum : share of the last step that is added to the next.
    weight_decay : ridge penalty on the weights between layers.
    batch_size : number of rows of a step.
    n_chains : number of Gibbs chains; None for as many as rows of a step.
    max_iter : number of epochs, passes over the rows.
    early_stopping : hold out rows, stop when their likelihood (exact or by annealing) no longer improves, and keep the
        best epoch.
    validation_fraction : share of the rows held out by ``early_stopping``.
    patience : number of epochs without such a gain after which ``early_stopping`` stops.
    tol : smallest gain of an epoch that counts under ``early_stopping``, in nats per row.
    target : name of the variable that holds labels: a column of the table, or ``y`` of :meth:`fit`.
    log_z : ``"exact"``, by enumeration of the smaller layer; ``"ais"``, estimated by annealing; ``"auto"``, exact up to
        2^22 states.
    ais_chains : number of chains of that estimate.
    ais_steps : number of temperatures of that estimate.
    device : ``"cpu"``, or ``"cuda"`` for a GPU with CuPy (``pip install 'fullspan[gpu]'``).
    dtype : numbers of the weights, ``"float32"`` or ``"float64"``.
    warm_start : begin with the weights of the last fit, if it had the same variables and size.
    """

    solver: Literal["pcd", "cd"] = "pcd"
    gibbs_steps: int = 1
    gradient: Literal["centred", "standardised", "plain"] = "centred"
    learning_rate: float = 0.1
    decay: bool = True
    momentum: float = 0.5
    weight_decay: float = 0.0
    batch_size: int = 100
    n_chains: int | None = None
    max_iter: int = 20
    early_stopping: bool = False
    validation_fraction: float = 0.1
    patience: int = 3
    tol: float = 0.0
    target: str | None = None
    log_z: Literal["auto", "exact", "ais"] = "auto"
    ais_chains: int = 200
    ais_steps: int = 1000
    device: Literal["cpu", "cuda"] = "cpu"
    dtype: Literal["float32", "float64"] = "float32"
    warm_start: bool = False


class _Transformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, DensityMixin, BaseEstimator):  # type: ignore[misc]
    """What scikit-learn knows of a machine in layers."""


class LayeredEstimator(LayeredParameters, Explorable, WhatIf, _Transformer):
    """Base of restricted and deep Boltzmann machines; see these."""

    space_: Space
    model_: LayeredMachine
    _fitted: FittedLayers
    _sizes_parameter: str
    _log_z: Any
    _applies = (
        Applies(("validation_fraction", "patience", "tol"), "early_stopping=True", lambda of: of.early_stopping),
        Applies(("ais_chains", "ais_steps"), "estimates: log_z='ais' or 'auto'", lambda of: of.log_z != "exact"),
        Applies(("n_chains",), "solver='pcd'", lambda of: of.solver == "pcd"),
    )

    # -- learning ---------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the machine of a table.

        Parameters
        ----------
        X : the table: a path, a frame, or an array, as for every estimator. An array of 0 and 1 is read directly.
        y : labels of the rows if ``target`` is given and no column of X has that name; otherwise ignored.
        sample_weight : one weight per row, or the name of the column that holds them.

        Raises
        ------
        DataError : the table cannot be read, or holds what is neither 0 or 1 nor a level.
        FullspanError : a parameter is not what it should be, such as a layer of 0 units.

        Warns
        -----
        ConvergenceWarning : learning diverged or was interrupted; the last good weights are kept.
        """
        started = time.perf_counter()
        sizes = self._checked()
        with self._watched() as watch:
            announce(watch, reading(X))
            table, labels = checked_table(X), self._labels(y)
            rows = rows_of_table(table, labels, self, checked_weight(sample_weight))
            self.missing_ = say_missing(rows.missing_cells, verbose=self.verbose)
            rng = generator(self.random_state)
            announce(watch)
            own, columns = rows.sorted()
            machine, course, trainer = self._learn(own, sizes, rng, watch, self._again(rows, columns, sizes))
        seconds = time.perf_counter() - started
        with restored_on_error(self):
            self._finish(machine, course, trainer, columns, rows, kind_of(table), rng)
            if isinstance(sample_weight, str):
                settings = {**self._fitted.settings, "weights": sample_weight}
                self._fitted = dataclasses.replace(self._fitted, settings=settings)
            self._record(rows, seconds)
        return self

    def _record(self, rows: UnitRows, seconds: float) -> None:
        """Measure how far the machine is from its rows, keep it with the machine, and say it if verbose."""
        from fullspan.estimators.explain.limits import measured_by_layers, recorded

        data, model = rows.counted(), self.model_
        with kept_on_interrupt():
            self._fitted = recorded(self._fitted, data, seconds, lambda: measured_by_layers(model, data))
            scored = limits.scored_by_layers(self.distribution_, data)
            self._fitted = dataclasses.replace(self._fitted, settings={**self._fitted.settings, "scored": scored})
        if self.verbose and not is_followed():
            print(self.limits_, file=sys.stderr)

    @property
    def limits_(self) -> str | None:
        """That the machine was learned by sampling, and its largest pairwise misfit."""
        from fullspan.estimators.explain.limits import limit_line

        check_is_fitted(self)
        return limit_line(self._fitted)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """One pass over further rows, from the weights and chains of the last call, at a constant learning rate.

        The first call sets variables and levels; give ``levels=`` if its rows do not show all of them. A call that
        raises leaves weights, chains and momentum as they were.
        """
        from fullspan.learn.layered.fit import train

        sizes = self._checked()
        n_features = getattr(self, "n_features_in_", None) if self.target is None else None
        table, labels = checked_table(X, n_features, type(self).__name__), self._labels(y)
        rng = generator(self.random_state)
        known = self.space_ if hasattr(self, "space_") else None
        rows = rows_of_table(table, labels, self, checked_weight(sample_weight), known)
        options, trainer = self._options(max_iter=1, decay=False), getattr(self, "_trainer", None)
        own, columns = rows.sorted(None if trainer is None else self._columns)
        machine = self.model_.reordered(columns) if known is not None else self._first(own, sizes, rng)
        device = trainer.network.device if trainer is not None else self._device(rng)
        copied = None if trainer is None else trainer.copy()
        machine, course, trainer = train(machine, own.data, None, options, device, rng, None, copied)
        with restored_on_error(self):
            self._finish(machine, course, trainer, columns, rows, kind_of(table), rng)
        return self

    def _checked(self) -> tuple[int, ...]:
        from fullspan.engine.sampling.layers.likelihood import METHODS

        parameters = self.get_params(deep=False)
        check_parameters({k: v for k, v in parameters.items() if k in _CHECKED})
        self._options()
        require_one_of(METHODS, log_z=self.log_z)
        require_whole(2, ais_chains=self.ais_chains)
        require_whole(1, ais_steps=self.ais_steps)
        refuse_without_effect(self)
        return check_sizes(getattr(self, self._sizes_parameter))

    def _options(self, **changed: Any) -> LayerOptions:
        from fullspan.learn.layered.options import LayerOptions

        return options_of(self, LayerOptions, **changed)

    def _labels(self, y: Any) -> Any:
        return None if self.target is None or y is None else np.asarray(y)

    def _watched(self) -> contextlib.AbstractContextManager[Reporter | None]:
        return reported(verbose=self.verbose)

    def _device(self, rng: np.random.Generator) -> Device:
        from fullspan.engine.sampling.layers.device import device

        return device(self.device, self.dtype, rng)

    def _first(self, rows: UnitRows, sizes: tuple[int, ...], rng: np.random.Generator) -> LayeredMachine:
        from fullspan.learn.layered.fit import first_machine

        return first_machine(rows.units, sizes, rows.data, rng)

    def _split(self, data: Data, rng: np.random.Generator) -> tuple[Data, Data | None]:
        """Rows to learn from, and rows held out."""
        from fullspan.learn.layered.fit import Data

        if not self.early_stopping:
            return data, None
        n_held = round(self.validation_fraction * len(data.units))
        if not 1 <= n_held < len(data.units):
            raise FullspanError(
                f"early stopping would hold out {n_held} of {len(data.units)} rows; both parts need at least one"
            )
        order = rng.permutation(len(data.units))
        held, rest = np.sort(order[:n_held]), np.sort(order[n_held:])
        if (data.units[held] == OPEN).any(axis=1).all():
            raise FullspanError("every row held out has a missing cell; early stopping needs complete rows")
        return Data(data.units[rest], data.weights[rest]), Data(data.units[held], data.weights[held])

    def _learn(
        self,
        rows: UnitRows,
        sizes: tuple[int, ...],
        rng: np.random.Generator,
        watch: Reporter | None,
        again: LayeredMachine | None,
    ) -> tuple[LayeredMachine, Course, Trainer]:
        from fullspan.learn.layered.fit import train

        device = self._device(rng)
        data, held_out = self._split(rows.data, rng)
        start = self._start(rows, sizes, data, device, rng) if again is None else again
        return train(start, data, held_out, self._options(), device, rng, watch)

    def _again(self, rows: UnitRows, columns: Sequence[int], sizes: tuple[int, ...]) -> LayeredMachine | None:
        """The machine of the last fit, to begin with under ``warm_start`` if it has the same variables and size."""
        if not (self.warm_start and hasattr(self, "model_") and self.space_ == rows.units.space):
            return None
        return self.model_.reordered(columns) if self.model_.sizes[1:] == sizes else None

    def _start(
        self, rows: UnitRows, sizes: tuple[int, ...], data: Data, device: Device, rng: np.random.Generator
    ) -> LayeredMachine:
        from fullspan.learn.layered.fit import first_machine

        return first_machine(rows.units, sizes, data, rng)

    def _finish(
        self,
        machine: LayeredMachine,
        course: Course,
        trainer: Trainer,
        columns: Sequence[int],
        rows: UnitRows,
        kind: str,
        rng: np.random.Generator,
    ) -> None:
        if course.status == "diverged":
            warn(
                f"learning_rate={self.learning_rate:g} diverges in epoch {course.n_epochs + 1}; the weights before it "
                f"are kept: try {self.learning_rate / 10:.2g}",
                ConvergenceWarning,
            )
        elif course.status == "interrupted":
            warn("the fit was interrupted; the weights so far are kept", ConvergenceWarning)
        fitted = FittedLayers(
            model=machine.reordered(np.argsort(columns).tolist()),
            log_z=UNKNOWN,
            total=rows.data.total,
            n_rows=rows.n_rows,
            n_dropped=rows.n_dropped,
            history=tuple(course.history),
            status=course.status,
            curve=tuple(course.curve),
            settings=self._settings(),
        )
        self._trainer, self._columns = trainer, list(columns)  # the trainer's units are in that order
        self._accept(fitted, kind)
        own = (self.log_z, self.device, self.dtype, self.ais_chains, self.ais_steps)
        self._log_z = (*own, copy.deepcopy(rng))
        if self.log_z == "exact":
            self.log_z_  # noqa: B018  too large a sum is refused here

    @property
    def log_z_(self) -> Estimate:
        """Log Z, computed when it is first asked for: exact, or estimated with the settings and the seed of the fit."""
        from fullspan.engine.sampling.layers.device import device
        from fullspan.engine.sampling.layers.likelihood import log_partition

        check_is_fitted(self)
        if not isinstance(self._log_z, Estimate):
            method, where, dtype, chains, steps, rng = self._log_z
            self._log_z = log_partition(self.model_, method, device(where, dtype, rng), chains, steps)
        found: Estimate = self._log_z
        return found

    @property
    def fitted_(self) -> FittedLayers:
        """The machine with what was learned about it, log Z included."""
        check_is_fitted(self)
        return dataclasses.replace(self._fitted, log_z=self.log_z_)

    def _settings(self) -> dict[str, Any]:
        return {**own_parameters(self), **Reading.by(self).settings, "estimator": type(self).__name__}

    def _accept(self, fitted: FittedLayers, kind: str) -> None:
        self._fitted, self.model_, self.space_ = fitted, fitted.model, fitted.model.space
        self._log_z = fitted.log_z
        self.history_, self.status_, self.curve_ = fitted.history, fitted.status, fitted.curve
        self.n_iter_ = len(fitted.history)
        self.n_parameters_ = fitted.model.n_parameters
        self._position = None if self.target is None else self.space_.position(self.target)
        if self._position is not None:
            self.classes_ = np.array(self.space_.variables[self._position].levels)
        self._n_features_out = fitted.model.sizes[-1]
        self._name_columns([name for name in self.space_.names if name != self.target], kind)

    # -- rows -------------------------------------------------------------------------------------------------

    def _codes(self, X: Any) -> NDArray[np.int32]:
        """Codes of rows, −1 for missing cells and for the target where X has no such column."""
        check_is_fitted(self)
        return codes_of_table(X, self)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Mean of :meth:`score_samples`, in nats; its error is that of ``log_z_``.

        A column of counts is used if present; under ``missing="drop"`` incomplete rows are left out, as in ``fit``.
        """
        counted = self.count_column is not None or self.missing == "drop" or isinstance(sample_weight, str)
        if counted and self.target is None:
            check_is_fitted(self)
            table = checked_table(X, self.n_features_in_, type(self).__name__)
            rows = Reading.by(self).count_again(table, self.space_, checked_weight(sample_weight))
            return float(rows.counts @ self._log_prob(np.asarray(rows.states))) / rows.total
        scores = self.score_samples(X) if y is None or self.target is None else self._score_with(X, y)
        return float(np.average(scores, weights=sample_weight))

    def _score_with(self, X: Any, y: Any) -> NDArray[np.float64]:
        codes = self._codes(X)
        variable = self.space_.variables[self.space_.position(str(self.target))]
        codes[:, self._position] = [variable.code(v) for v in np.asarray(y).tolist()]
        return self._scores(codes)

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """See the subclasses."""
        return self._scores(self._codes(X))

    def _scores(self, codes: NDArray[np.int32]) -> NDArray[np.float64]:
        return self.distribution_.log_prob(codes)

    @property
    def distribution_(self) -> LayeredDistribution:
        """The distribution of the visible variables: scores with log Z, samples and completions by Gibbs chains."""
        return self._distribution()

    def _distribution(self, sweeps: int | None = None) -> LayeredDistribution:
        check_is_fitted(self)
        return LayeredDistribution(self.model_, lambda: self.log_z_, self.device, self.dtype, sweeps)

    @property
    def _visible(self) -> Space:
        """The observed variables."""
        return self.space_

    def _log_prob(self, codes: NDArray[Any]) -> NDArray[np.float64]:
        """Of rows of codes, as :func:`fullspan.compare` asks for it."""
        return self._scores(codes.astype(np.int32))

    def sample(self, n_samples: int = 1, random_state: Any = None, given: Evidence = None, burn_in: int = 1000) -> Any:
        """Draw rows by Gibbs chains, one for each row, after ``burn_in`` sweeps from the base rates.

        These are draws from the machine in the limit of long chains only. ``given`` clamps levels of variables, such as
        ``{"party": "democrat"}``.
        """
        check_is_fitted(self)
        require_whole(0, n_samples=n_samples)
        require_whole(1, burn_in=burn_in)
        codes = self._distribution(burn_in).sample(n_samples, generator(random_state), event_of(given, self.space_))
        return decode(codes, self.space_, like=empty_of(self._kind))

    def impute(self, X: Any, how: str = "mode", random_state: Any = None, burn_in: int = 200) -> Any:
        """Fill the missing cells of a table, by Gibbs chains with the observed cells clamped; all else stays as it is.

        See :meth:`fullspan.FullSpan.impute` for the table that is returned.

        Parameters
        ----------
        X : the table.
        how : ``"mode"`` and ``"cells"``, the likeliest level of each missing cell by its means over ``burn_in``
            sweeps, after as many that are not counted; ``"draw"``, the state of a chain after ``burn_in`` sweeps;
            ``"mean"``, no completion but those means: ``{name: array (rows, levels)}``, 0 and 1 where a cell is known.
        random_state : seed or generator of the chains.
        burn_in : sweeps of the chains, as ``how`` counts them.

        Raises
        ------
        FullspanError : ``how`` is another word, or ``burn_in`` no whole number of at least 1.
        DataError : a value is no level, or an empty cell is itself a level of this machine (``missing="level"``).
        """
        require_whole(1, burn_in=burn_in)
        X = held(X)
        codes = self._codes(X)
        refuse_missing_level(codes, self.space_)
        rng = generator(random_state)
        found = self._distribution(burn_in).impute(codes, "mode" if how == "cells" else how, rng)
        return found if how == "mean" else self._filled(X, codes, found, rng if how == "draw" else None)

    def _filled(self, X: Any, codes: NDArray[Any], completed: NDArray[Any], rng: np.random.Generator | None) -> Any:
        """The table with its missing cells filled; an array may be without the column of the target."""
        inputs = [name for name in self.space_.names if name != self.target]
        table = checked_table(X)
        without = isinstance(table, np.ndarray) and table.shape[1] == len(inputs)
        return fill(table, self.space_, codes, completed, rng, names=inputs if without else None)

    def _shown(self, top: int | None, *, terms: bool = False, whole: bool = True) -> Shown:
        """What ``fullspan show`` says of the machine."""
        model, z, fitted = self.model_, self.log_z_, self.fitted_
        facts = {
            "estimator": type(self).__name__,
            "n_rows": fitted.n_rows,
            "n_dropped": fitted.n_dropped,
            "total": fitted.total,
            "variables": len(model.space),
            "layers": list(model.sizes),
            "parameters": model.n_parameters,
            "log_z": {"value": z.value, "standard_error": z.standard_error, "method": z.method},
            "status": self.status_,
            "epochs": self.n_iter_,
            "ending": ending(fitted)._asdict(),
            **limits.facts(fitted),
            **limits.layers_facts(fitted),
        }
        sizes, name, rows = " - ".join(map(str, model.sizes)), type(self).__name__, limits.row_words(fitted)
        is_given = self.status_ == "given"
        learned = f"{self.n_iter_} epoch{'s' * (self.n_iter_ != 1)}, {self.status_}"
        size = f"{len(model.space)} variables, units {sizes}, {model.n_parameters:,} parameters"
        lines = [
            f"{name}: {size}" if is_given else f"{name}: {rows}, {size}",
            f"log Z {z} ({'exact' if z.is_exact else 'estimated by annealing'})",
            *(
                [ending(fitted).sentence]
                if is_given
                else [learned, *limits.layers_lines(fitted), *closing_lines(fitted)]
            ),
        ]
        return Shown(facts, ["\n".join(lines)])

    # -- files and scikit-learn -------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the machine to one text file, atomically; :func:`fullspan.load` reads it. Chains are not kept."""
        check_is_fitted(self)
        write_fitted(self.fitted_, path)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_trainer", None)
        return state
