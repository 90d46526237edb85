"""Learning from margins: the model of largest entropy that has them, and margins that nothing has."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fullspan as fs
from fullspan.errors import BoundaryWarning, ConvergenceWarning, DataError, FullspanError

RNG = np.random.default_rng(11)
TABLE = RNG.integers(1, 60, size=(3, 2, 4)).astype(float)
MARGINS = {("a", "b"): TABLE.sum(axis=2), ("c", "b"): TABLE.sum(axis=0).T}


def cells(model: fs.BoltzmannMachine) -> np.ndarray:
    states = model.space_.states(range(model.space_.n_states))
    return np.exp(model.model_.log_prob(states)).reshape(model.space_.cards, order="F")


def parity(t: float) -> list[list[float]]:
    """Two bits that differ with probability t."""
    return [[(1 - t) / 2, t / 2], [t / 2, (1 - t) / 2]]


@pytest.mark.parametrize("solver", ["auto", "newton", "lbfgs", "gradient", "ipf"])
@pytest.mark.parametrize("basis", ["monomial", "walsh", "indicator"])
def test_margins_and_rows_give_the_same_model(solver: str, basis: str) -> None:
    """The likelihood depends on the data through the margins only."""
    model = fs.BoltzmannMachine(solver=solver, basis=basis).fit_margins(MARGINS, levels={"b": ["no", "yes"]})
    assert model.space_.names == ("a", "b", "c")
    assert model.space_.variables[1].levels == ("no", "yes")
    rows = np.repeat(np.argwhere(TABLE > 0), TABLE[TABLE > 0].astype(int), axis=0)
    frame = pd.DataFrame(rows, columns=["a", "b", "c"])
    same = fs.BoltzmannMachine(basis=basis, margins=[["a", "b"], ["b", "c"]]).fit(frame)
    np.testing.assert_allclose(cells(model), cells(same), rtol=1e-7)
    np.testing.assert_allclose(cells(model), _decomposable(), rtol=1e-7)
    assert math.isclose(model.log_likelihood_, same.log_likelihood_, rel_tol=1e-9)
    assert math.isclose(model.goodness_.bic, same.goodness_.bic, rel_tol=1e-9)
    assert model.goodness_.df == same.goodness_.df
    assert math.isnan(model.goodness_.g2)
    np.testing.assert_allclose(model.fitted_.standard_errors, same.fitted_.standard_errors, rtol=1e-6)


def _decomposable() -> np.ndarray:
    """p(a, b) p(b, c) / p(b)."""
    p = TABLE / TABLE.sum()
    return np.asarray(p.sum(axis=2)[:, :, None] * p.sum(axis=0)[None] / p.sum(axis=(0, 2))[None, :, None])


def test_probabilities_have_no_rows() -> None:
    model = fs.BoltzmannMachine().fit_margins({"a": [0.2, 0.8], "b": [0.5, 0.25, 0.25]})
    np.testing.assert_allclose(cells(model), np.outer([0.2, 0.8], [0.5, 0.25, 0.25]), rtol=1e-12)
    assert model.goodness_ is None
    assert math.isnan(model.log_likelihood_)
    assert all(math.isnan(t.standard_error) for t in model.terms_)
    with pytest.raises(FullspanError, match="neither a model file nor margins"):
        model.residuals()
    assert "margins of probabilities" in str(model.summary())


def test_a_ridge_shrinks_towards_uniform() -> None:
    model = fs.BoltzmannMachine(l2=1.0).fit_margins({"a": [0.0, 1.0]})
    assert 0.5 < model.probability("a=1") < 1
    assert model.diverging_ == ()


@pytest.mark.parametrize("solver", ["auto", "lbfgs", "ipf"])
def test_an_empty_cell_excludes_its_states(solver: str) -> None:
    margins = {("a", "b"): [[10.0, 0.0], [20.0, 30.0]], ("b", "c"): [[12.0, 18.0], [15.0, 15.0]]}
    with pytest.warns(BoundaryWarning, match="no finite maximum"):
        model = fs.BoltzmannMachine(solver=solver).fit_margins(margins)
    p = cells(model)
    assert p[0, 1].max() < 1e-300
    np.testing.assert_allclose(60 * p.sum(axis=2), margins["a", "b"], atol=1e-7)
    np.testing.assert_allclose(60 * p.sum(axis=0), margins["b", "c"], atol=1e-7)
    assert model.goodness_.n_cells == 6


@pytest.mark.parametrize(("solver", "max_iter"), [("auto", None), ("lbfgs", None), ("gradient", 5000)])
def test_margins_may_exclude_states_without_saying_so(solver: str, max_iter: int | None) -> None:
    """a differs from b in 30 %, b from c in 30 %, and a from c in 60 %: so b is never the odd one out."""
    margins = {("a", "b"): parity(0.3), ("b", "c"): parity(0.3), ("a", "c"): parity(0.6)}
    with pytest.warns(BoundaryWarning):
        model = fs.BoltzmannMachine(solver=solver, max_iter=max_iter).fit_margins(margins)
    assert model.status_ == "converged"
    expected = np.zeros((2, 2, 2))
    expected[0, 0, 0] = expected[1, 1, 1] = 0.2
    expected[1, 0, 0] = expected[1, 1, 0] = expected[0, 0, 1] = expected[0, 1, 1] = 0.15
    np.testing.assert_allclose(cells(model), expected, atol=1e-9)


def test_small_differences_are_averaged() -> None:
    margins = {("a", "b"): [[0.1, 0.2], [0.3, 0.4]], "a": [0.302, 0.698]}
    with pytest.raises(
        DataError, match=r"contradictory margins: a=[01] has 0.[37] in \(a, b\) and 0.(302|698) in \(a\); .* 1e-06"
    ):
        fs.BoltzmannMachine().fit_margins(margins)
    model = fs.BoltzmannMachine().fit_margins(margins, tolerance=0.01)
    assert math.isclose(model.probability("a=0"), 0.301, rel_tol=1e-9)


@pytest.mark.parametrize(
    ("margins", "message"),
    [
        ({}, "at least one table"),
        ([("a", [1, 2])], "a margin is a list of rows"),
        ({1: [1, 2]}, "named by its variables"),
        ({("a", "a"): [[1, 2], [3, 4]]}, "names a variable twice"),
        ({"a": "xy"}, "no table of numbers"),
        ({"a": [[1, 2], [3, 4]]}, "one axis per variable"),
        ({"a": [1, -2]}, "the count -2.0 for a=1"),
        ({"a": [1, math.nan]}, "the count nan for a=1"),
        ({"a": [0, 0]}, "sum to 0"),
        ({"a": [1, 2], ("a", "b"): [[1], [1], [1]]}, r"a=1 has 2 in \(a\) and 1 in \(a, b\)"),
        ({"a": [30, 70], "b": [50, 60]}, r"contradictory margins: \(a\) sums to 100 and \(b\) to 110"),
        ({("a", "b"): {(0, "x"): 1, (1, "x"): 2, (1, "y"): 3}}, r"\(a, b\) has no count for a=0, b=y"),
        (
            {"a": [30, 70], ("a", "b"): [[10, 21], [30, 39]]},
            r"contradictory margins: a=0 has 30 in \(a\) and 31 in \(a, b\)",
        ),
        (
            {("a", "b"): [[5, 0], [0, 5]], ("b", "c"): [[5, 0], [0, 5]], ("a", "c"): [[0, 5], [5, 0]]},
            "exclude every state",
        ),
        ({("a", "b"): parity(0.1), ("b", "c"): parity(0.1), ("a", "c"): parity(0.9)}, "no distribution has them all"),
    ],
)
def test_margins_that_nothing_has_are_refused(margins: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        fs.BoltzmannMachine().fit_margins(margins)


@pytest.mark.parametrize(
    ("levels", "message"), [({"z": [0, 1]}, "'z', which is in no margin"), ({"a": [0, 1, 2]}, "lists 3 levels of 'a'")]
)
def test_levels_that_do_not_fit_are_refused(levels: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        fs.BoltzmannMachine().fit_margins({"a": [1, 2]}, levels=levels)
    with pytest.raises(DataError, match=message):
        fs.BoltzmannMachine(levels=levels).fit_margins({"a": [1, 2]})


@pytest.mark.parametrize(
    "parameters", [{"graph": [("a", "b")]}, {"terms": [["a"]]}, {"margins": [["a"]]}, {"hidden": 1}, {"order": 3}]
)
def test_a_structure_of_its_own_contradicts_margins(parameters: Any) -> None:
    with pytest.raises(FullspanError, match=f"leave out {next(iter(parameters))}="):
        fs.BoltzmannMachine(**parameters).fit_margins({"a": [1, 2]})


@pytest.mark.parametrize("parameters", [{"columns": ["a"]}, {"bins": 3}, {"count_column": "n"}])
def test_margins_have_no_rows_to_read(parameters: Any) -> None:
    """A parameter that would do nothing is refused."""
    with pytest.raises(FullspanError, match=f"has no use for {next(iter(parameters))}="):
        fs.BoltzmannMachine(**parameters).fit_margins({"a": [1, 2]})


def test_a_tolerance_is_a_share() -> None:
    with pytest.raises(DataError, match="tolerance is 2"):
        fs.BoltzmannMachine().fit_margins({"a": [1, 2]}, tolerance=2)


def test_stopping_early_is_a_warning() -> None:
    with pytest.warns(ConvergenceWarning, match="iteration limit"):
        fs.BoltzmannMachine(solver="gradient", max_iter=1).fit_margins(MARGINS)


def test_tables_that_do_not_fit_into_memory_are_refused() -> None:
    with pytest.raises(FullspanError, match="three tables of 24 states"):
        fs.BoltzmannMachine(max_memory=64).fit_margins(MARGINS)


def test_a_model_of_margins_is_saved(tmp_path: Path) -> None:
    for margins in (MARGINS, {"a": [0.2, 0.8]}):
        model = fs.BoltzmannMachine().fit_margins(margins)
        model.save(tmp_path / "m.fsm")
        again = fs.load(tmp_path / "m.fsm")
        assert np.array_equal(again.model_.theta, model.model_.theta)
        assert (again.goodness_ is None) == (model.goodness_ is None)
        assert math.isnan(again.divergence_)
        assert str(again.summary()) == str(model.summary())
