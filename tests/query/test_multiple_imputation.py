"""Missing cells filled one at a time, or many times over: which is right more often, and Rubin's rules."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import fullspan as fs
from fullspan.errors import FullspanError
from fullspan.query.distributions import LogLinearDistribution
from query.enumeration import CARDS, Enumerated, random_model


def test_likeliest_cells_are_those_of_the_marginals() -> None:
    """Each missing cell has the largest p(x_i | observed); what is observed stays."""
    model = random_model(CARDS, "walsh", 3)
    truth, distribution = Enumerated.of(model), LogLinearDistribution(model)
    rows = np.array([[-1, 2, -1, 1], [1, -1, -1, -1], [0, 1, 2, 1], [-1, -1, -1, -1]])
    filled = distribution.likeliest_cells(rows)
    for row, found in zip(rows, filled, strict=True):
        given = {i: (int(x),) for i, x in enumerate(row) if x >= 0}
        expected = [int(truth.conditional((i,), given).argmax()) if x < 0 else x for i, x in enumerate(row)]
        assert found.tolist() == expected
    assert rows[0, 0] == -1


def test_cells_differ_from_the_likeliest_completion_where_these_differ() -> None:
    """P(a) favours 0 and P(b) favours 0, but (0, 0) is not the likeliest pair."""
    p = {(0, 0): 0.27, (0, 1): 0.33, (1, 0): 0.35, (1, 1): 0.05}
    counts = pd.DataFrame([{"a": a, "b": b, "n": round(1000 * q)} for (a, b), q in p.items()])
    model = fs.BoltzmannMachine(count_column="n").fit(counts)
    empty = pd.DataFrame({"a": pd.Series([None], dtype="Int64"), "b": pd.Series([None], dtype="Int64")})
    assert model.impute(empty, "mode").iloc[0].tolist() == [1, 0]
    assert model.impute(empty, "cells").iloc[0].tolist() == [0, 0]


def test_cells_in_a_terminal(tmp_path: Path) -> None:
    from fullspan.people.cli import main

    model = fs.BoltzmannMachine(l2=0.01).fit(pd.DataFrame({"a": [0, 1, 1, 0, 1], "b": [0, 1, 1, 1, 1]}))
    model.save(tmp_path / "m.fsm")
    (tmp_path / "t.csv").write_text("a,b\n,1\n0,\n,\n")
    paths = [str(tmp_path / name) for name in ("m.fsm", "t.csv", "f.csv")]
    assert main(["impute", *paths[:2], "--how", "cells", "-o", paths[2]]) == 0
    found = pd.read_csv(paths[2])
    expected = model.impute(pd.read_csv(paths[1], dtype="Int64"), "cells")
    assert found.to_numpy().tolist() == expected.to_numpy().tolist()


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(2)
    a = rng.integers(0, 2, 400)
    b = np.where(rng.random(400) < 0.85, a, 1 - a).astype(object)
    b[:150] = None
    return pd.DataFrame({"a": a, "b": b, "c": rng.integers(0, 3, 400)})


def test_a_pooled_margin_follows_rubins_rules(table: pd.DataFrame) -> None:
    model = fs.BoltzmannMachine(missing="em", l2=1e-3).fit(table)
    found = model.imputed_margin(table, "b", n_draws=40, random_state=1)
    assert (found.n_rows, found.n_draws, found.levels) == (400, 40, (0, 1))
    draws = model.impute(table, "draw", random_state=1, n_draws=40)
    q = np.array([(draw["b"].astype(int) == 1).mean() for draw in draws])
    within, between = (q * (1 - q)).mean() / 400, (1 + 1 / 40) * q.var(ddof=1)
    assert found.shares[1] == pytest.approx(q.mean(), abs=3 * math.sqrt(between))
    assert found.errors[1] == pytest.approx(math.sqrt(within + between), rel=0.1)
    assert 0.02 < found.missing_information[1] < 0.5
    assert found.freedom[1] == pytest.approx(39 / found.missing_information[1] ** 2)
    low, high = found.interval()[1]
    assert low < found.shares[1] < high
    assert high - low > 2 * 1.95 * math.sqrt(within)
    assert "b, 400 rows, 40 imputations" in str(found)


def test_a_complete_column_has_the_binomial_error(table: pd.DataFrame) -> None:
    model = fs.BoltzmannMachine(missing="em", l2=1e-3).fit(table)
    found = model.imputed_margin(table, "a", n_draws=3)
    q = (table["a"] == 1).mean()
    assert found.shares[1] == pytest.approx(q)
    assert found.errors[1] == pytest.approx(math.sqrt(q * (1 - q) / 400))
    assert found.missing_information.tolist() == [0.0, 0.0]
    assert found.freedom[1] == math.inf
    with pytest.raises(FullspanError, match="n_draws is 1"):
        model.imputed_margin(table, "a", n_draws=1)
    with pytest.raises(FullspanError, match="level is 95"):
        found.interval(95)
