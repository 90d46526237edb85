"""Synthetic tables under differential privacy: everything that is read of the rows is noisy, and charged."""

from __future__ import annotations

import itertools
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fullspan.data import Empirical, count
from fullspan.data.contents import Contents
from fullspan.data.relations.columns import NaValues
from fullspan.data.space import MISSING, Space, Variable
from fullspan.data.tables.bins import binned_variable
from fullspan.data.tables.filling import made
from fullspan.data.tables.missing import MissingCellsError, missing_words
from fullspan.errors import DataError, DataWarning, FullspanError, require_whole
from fullspan.estimators.answers.drawing import Forbid, conditioned, listed, texts_of
from fullspan.estimators.explain.endings import PRIVATE
from fullspan.estimators.inputs.evidence import Evidence
from fullspan.estimators.inputs.seeds import generator
from fullspan.learn.private.accountant import Ledger, Privacy, rho_of
from fullspan.model.fitted import Fitted

if TYPE_CHECKING:
    from fullspan.estimators.full_span import FullSpan
    from fullspan.query.distribution import Distribution

Schema = Mapping[str, Sequence[Any] | Mapping[str, Sequence[float]]]
"""The levels of columns, in order, or ``{"edges": [...]}`` for columns of numbers."""

OTHER = "(other)"
"""The level of all values that are too rare to be named."""
_LEVELS_SHARE = 0.05
"""Part of the budget that levels cost which no schema gives."""
_MOST_LEVELS = 4096
_EXPLAINED_TERMS = 2000
"""Terms up to which what each interaction does is worked out."""
_N_VALUES = 15
"""Values that stand for a bin, spread evenly."""


@dataclass(frozen=True, eq=False)
class PrivateModel:
    """A distribution learned from noisy numbers alone, and what they cost; :func:`private_model` makes it.

    Attributes
    ----------
    distribution : a :class:`fullspan.query.distribution.Distribution`.
    n_rows : the number of rows, noisy as everything else; exact for bounded neighbours.
    privacy : the guarantee, a :class:`fullspan.Privacy`.
    costs : (what, rho) of each step; their sum is at most ``privacy.rho``.

    Examples
    --------
    >>> import fullspan as fs
    >>> rows = {"sex": ["f", "m"] * 500, "votes": ["y", "y", "n", "n"] * 250}
    >>> schema = {"sex": ["f", "m"], "votes": ["n", "y"]}
    >>> model = fs.private_model(rows, fs.Privacy(1, 1e-9), schema=schema, random_state=0)
    >>> model.synthesize(3, given="sex=f", random_state=0)["sex"].to_pylist()
    ['f', 'f', 'f']
    """

    distribution: Distribution
    n_rows: int
    privacy: Privacy
    costs: tuple[tuple[str, float], ...]

    def synthesize(
        self, n_rows: int | None = None, given: Evidence = None, forbid: Forbid = (), random_state: Any = None
    ) -> Any:
        """Rows drawn from the model, as an Arrow table; this reads no data and costs nothing.

        Numbers are drawn evenly from their bin.

        Raises
        ------
        QueryError : a condition names an unknown column or level, or is impossible.
        """
        n = self.n_rows if n_rows is None else n_rows
        require_whole(0, n_rows=n)
        rng, visible = np.random.default_rng(random_state), self.distribution.visible
        codes = conditioned(self.distribution, n, rng, ", ".join(texts_of(given)) or None, listed(forbid))
        from fullspan.data.decoding import as_arrow

        return as_arrow(made(codes, visible, rng))


def private_model(
    data: Any,
    privacy: Privacy,
    *,
    schema: Schema | None = None,
    columns: Sequence[str] | None = None,
    missing: bool = False,
    na_values: NaValues = None,
    random_state: Any = None,
    verbose: bool = False,
) -> PrivateModel:
    """Learn a distribution of a table under differential privacy, to draw from; ``FullSpan(private=)`` saves it too.

    Parameters
    ----------
    data : the table; every row counts once.
    privacy : the budget, :class:`fullspan.Privacy`.
    schema : the levels of each column, or ``{"edges": [...]}``. It must not be made from the data. Levels of columns
        that it does not name are paid for: rare ones become ``"(other)"``.
    columns : the columns to use; those of the schema and all others by default.
    missing : whether an empty cell is a level of its own; otherwise empty cells are an error.
    na_values : texts that mean a missing value, as for :class:`fullspan.FullSpan`.
    random_state : a seed, for tests: whoever knows it can remove the noise.
    verbose : show on standard error what is measured, and its cost.

    Raises
    ------
    DataError : the table cannot be read, or has a value that the schema does not list. Errors are not private.
    FullspanError : the budget is invalid.

    Examples
    --------
    >>> import fullspan as fs
    >>> rows = {"sex": ["f", "m"] * 500, "age": [20, 30, 40, 50] * 250}
    >>> schema = {"sex": ["f", "m"], "age": {"edges": [0, 25, 45, 100]}}
    >>> model = fs.private_model(rows, fs.Privacy(1, 1e-9), schema=schema, random_state=0)
    >>> sum(cost for _, cost in model.costs) <= model.privacy.rho * (1 + 1e-12)
    True
    """
    privacy, given = checked_privacy(privacy), _checked(schema)
    try:
        counted = _counted(data, given, columns, missing, na_values)
    except MissingCellsError as error:
        raise _no_missing_cells(error, "missing=True") from None
    return _released(counted, given, privacy, random_state, verbose)


def _no_missing_cells(error: MissingCellsError, remedy: str) -> DataError:
    """What may be done about missing cells here, without saying which rows have them."""
    return DataError(
        f"the table has missing cells: {missing_words(error.cells)}. Use {remedy} to count them as a level of their "
        "own, or columns= to leave the columns out"
    )


def _released(
    counted: Empirical, given: Mapping[str, Variable], privacy: Privacy, random_state: Any, verbose: bool
) -> PrivateModel:
    """The model of counts whose variables are ``given`` or paid for."""
    unlisted = [v.name for v in counted.space.variables if v.name not in given]
    rng = generator(random_state)
    ledger = Ledger(rho_of(privacy.epsilon, privacy.delta / 2 if unlisted else privacy.delta), privacy.delta)
    if unlisted:
        counted = _with_common_levels(counted, unlisted, privacy, rng, ledger)
    from fullspan.learn.private.mechanism import release
    from fullspan.query.distributions import GraphDistribution

    found = release(counted, privacy, rng, ledger, (lambda words: print(words, file=sys.stderr)) if verbose else None)
    return PrivateModel(GraphDistribution(found.graph), max(1, round(found.total)), privacy, tuple(ledger.spent))


def learn_privately(estimator: FullSpan, table: Any) -> Fitted:
    """What ``FullSpan(private=...)`` keeps of a table: the distribution as a log-linear model, and what it cost.

    No count, fingerprint or history of the rows is in it, nor the seed of the noise.

    Raises
    ------
    DataError : as :func:`private_model`.
    FullspanError : the same, or a parameter would read the rows without being charged.
    """
    from fullspan.model.log_linear_form import log_linear_form

    if estimator.missing not in ("error", "level"):
        raise FullspanError(
            f"missing is {estimator.missing!r}; with private= a missing cell is an 'error', or a 'level' of its own"
        )
    privacy = checked_privacy(estimator.private)
    given = _checked({**(estimator.levels or {}), **_edges(estimator.bins)})
    columns: Any = estimator.columns
    try:
        counted = _counted(table, given, columns, estimator.missing == "level", estimator.na_values)
    except MissingCellsError as error:
        raise _no_missing_cells(error, "missing='level'") from None
    found = _released(counted, given, privacy, estimator.random_state, estimator.verbose)
    graph, log_z = found.distribution.graph, found.distribution.log_z.value  # type: ignore[attr-defined]
    model = log_linear_form(graph, log_z, "walsh" if estimator.basis == "auto" else estimator.basis)
    return replace(
        Fitted.given(model),
        total=float(found.n_rows),
        n_rows=found.n_rows,
        status=PRIVATE,
        interactions=None if len(model.terms) <= _EXPLAINED_TERMS else (),
        settings={"basis": estimator.basis, "private": asdict(found.privacy), "privacy_costs": dict(found.costs)},
    )


def checked_privacy(given: Any) -> Privacy:
    """A budget, also as a model file has it.

    Raises
    ------
    FullspanError : it is none.
    """
    if isinstance(given, Mapping) and "epsilon" in given and set(given) <= {"epsilon", "delta", "neighbours"}:
        return Privacy(**given)
    if not isinstance(given, Privacy):
        raise FullspanError(f"private is {given!r}; give fs.Privacy(epsilon=1, delta=1e-9)")
    return given


def _edges(bins: Any) -> dict[str, dict[str, list[float]]]:
    """The bins of columns as a schema has them.

    Raises
    ------
    FullspanError : their edges would be made from the rows.
    """
    if bins is None:
        return {}
    if not isinstance(bins, Mapping) or not all(
        isinstance(e, Sequence) and not isinstance(e, str) and all(isinstance(x, int | float) for x in e)
        for e in bins.values()
    ):
        raise FullspanError(
            f"bins is {bins!r}, and its edges would be made from the rows; with private= give them, "
            "{'age': [0, 30, 60, 120]}"
        )
    return {str(name): {"edges": [float(e) for e in edges]} for name, edges in bins.items()}


def _checked(schema: Schema | None) -> dict[str, Variable]:
    """The variables that a schema gives.

    Raises
    ------
    DataError : an entry is neither a list of levels nor edges.
    """
    found = {}
    for name, entry in (schema or {}).items():
        if isinstance(entry, Mapping):
            edges = entry.get("edges")
            if set(entry) != {"edges"} or not isinstance(edges, Sequence) or len(edges) < 2:
                raise _no_schema(name, entry)
            found[name] = _even(binned_variable(str(name), [float(e) for e in edges]))
        elif isinstance(entry, Sequence) and not isinstance(entry, str) and len(entry):
            found[name] = Variable(str(name), tuple(entry), ordered=True)
        else:
            raise _no_schema(name, entry)
    return found


def _no_schema(name: str, entry: Any) -> DataError:
    return DataError(f'the schema of {name!r} is {entry!r}; it is a list of levels or {{"edges": [0, 10, 20]}}')


def _even(variable: Variable) -> Variable:
    """The variable with values spread evenly over each bin, whole ones where the edges are: none is of the data."""
    edges = variable.edges or ()
    whole = all(e.is_integer() for e in edges)
    values = []
    for low, high in itertools.pairwise(edges):
        inside = low + (high - low) * (np.arange(_N_VALUES) + 0.5) / _N_VALUES
        values.append(Contents.uncounted(float(x) for x in (np.floor(inside) if whole else inside)))
    return Variable(variable.name, variable.levels, variable.edges, True, tuple(values))


def _counted(
    data: Any, schema: Mapping[str, Variable], columns: Sequence[str] | None, missing: bool, na_values: NaValues
) -> Empirical:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # they speak of the rows
        counted = count(
            data,
            columns=columns,
            levels={n: v.levels for n, v in schema.items() if v.edges is None and (columns is None or n in columns)},
            bins={n: list(v.edges) for n, v in schema.items() if v.edges and (columns is None or n in columns)} or None,
            missing="level" if missing else "error",
            max_levels=_MOST_LEVELS,
            na_values=na_values,
        )
    # bins keep what the data hold in them; those of the schema replace them, and "(missing)" stands wherever it might
    variables, states = [], np.array(counted.states, dtype=np.int64)
    for i, variable in enumerate(counted.space.variables):
        own = schema.get(variable.name, variable)
        if missing and own.missing_code is None:
            own = Variable(own.name, (*own.levels, MISSING), own.edges, own.ordered, own.contents)
            if variable.missing_code is not None:
                states[:, i] = np.where(states[:, i] == variable.missing_code, own.card - 1, states[:, i])
        variables.append(own)
    return Empirical.from_codes(states, counted.counts, Space(tuple(variables)))


def _with_common_levels(
    data: Empirical, names: Sequence[str], privacy: Privacy, rng: np.random.Generator, ledger: Ledger
) -> Empirical:
    """The data with the levels of unlisted columns that may be released, all others as one."""
    from fullspan.learn.private.levels import common_levels

    space = data.space
    places = {name: space.position(name) for name in names}
    seen = {
        name: (
            space.variables[i].levels,
            np.bincount(data.states[:, i], data.counts, space.cards[i]).astype(np.float64),
        )
        for name, i in places.items()
    }
    kept = common_levels(seen, privacy, _LEVELS_SHARE * ledger.rho, privacy.delta / 2, rng, ledger)
    states, variables = np.array(data.states, dtype=np.int64), list(space.variables)
    for name, i in places.items():
        plain = [level for level in kept[name] if level != MISSING]
        levels = [*plain, OTHER, *([MISSING] if variables[i].missing_code is not None else [])]
        codes = {level: code for code, level in enumerate(levels)}
        turned = np.array([codes.get(level, len(plain)) for level in variables[i].levels])
        variables[i] = Variable(name, tuple(levels), ordered=variables[i].ordered)
        states[:, i] = turned[states[:, i]]
    return Empirical.from_codes(states, data.counts, Space(tuple(variables)))


def sentences(model: PrivateModel) -> list[str]:
    """What was promised and paid, for people."""
    spent = sum(cost for _, cost in model.costs)
    paid = ", ".join(f"{what} {100 * cost / spent:.0f} %" for what, cost in model.costs)
    return [model.privacy.promise, f"budget: rho = {spent:.4g}, of which {paid}"]
