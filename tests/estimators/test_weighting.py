"""Raking: weights as R's survey::rake gives them, bounds that keep the margins, and contradictions that are named."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.optimize import minimize

import fullspan as fs
from fullspan.errors import ConvergenceWarning, DataError

RNG = np.random.default_rng(3)
N = 400
FRAME = pd.DataFrame(
    {
        "sex": RNG.choice(["f", "m"], N, p=[0.3, 0.7]),
        "region": RNG.choice([1, 2, 3], N, p=[0.5, 0.3, 0.2]),
        "member": RNG.random(N) < 0.4,
        "design": RNG.uniform(0.5, 3, N),
    }
)
SEX_REGION = {("f", 1): 90.0, ("f", 2): 70.0, ("f", 3): 40.0, ("m", 1): 80.0, ("m", 2): 60.0, ("m", 3): 60.0}
MARGINS = {("sex", "region"): SEX_REGION, "member": {True: 150, False: 250}}


def sums(weights: np.ndarray, *names: str) -> dict:
    return pd.Series(weights).groupby([FRAME[name] for name in names]).sum().to_dict()


@pytest.mark.parametrize("case", ["clus_four", "strat_two"])
def test_weights_are_those_of_survey_rake(case: str, shared_data: Callable[[str], Path]) -> None:
    folder = shared_data(f"raking/{case}.json").parent
    expected = json.loads((folder / f"{case}.json").read_text())
    found = fs.rake(folder / f"{case}.csv", folder / f"{case}.json", expected["weights"])
    table = pd.read_csv(folder / f"{case}.csv")
    assert found.converged
    np.testing.assert_allclose(found.weights, table["raked"], rtol=1e-6)
    assert found.design_effect == pytest.approx(expected["deff_kish"], rel=1e-8)
    assert found.effective_n == pytest.approx(expected["effective_n"], rel=1e-8)
    assert found.weights.sum() == pytest.approx(expected["total"])


def test_several_and_joint_margins_hold_and_odds_ratios_of_the_rows_stay() -> None:
    """The ratio of new to design weight is a product of one factor per cell: the I-projection."""
    found = fs.rake(FRAME, MARGINS, "design")
    assert sums(found.weights, "sex", "region") == pytest.approx(SEX_REGION, rel=1e-9)
    assert sums(found.weights, "member") == pytest.approx({True: 150, False: 250}, rel=1e-9)
    ratio = pd.Series(found.weights / FRAME["design"])
    by_cell = ratio.groupby([FRAME["sex"], FRAME["region"], FRAME["member"]])
    assert by_cell.std().max() < 1e-12
    r = by_cell.mean()
    for cell in itertools.product("fm", (1, 2, 3)):
        assert r[(*cell, True)] / r[(*cell, False)] == pytest.approx(r["f", 1, True] / r["f", 1, False], rel=1e-8)


@pytest.mark.parametrize("bounds_on", ["ratio", "weight"])
def test_bounded_weights_are_the_nearest_within_the_bounds(bounds_on: str) -> None:
    """Against the dual of the same problem, solved by another program."""
    d = FRAME["design"].to_numpy()
    free = fs.rake(FRAME, MARGINS, "design").weights
    before = free / d if bounds_on == "ratio" else free
    low, high = 1.02 * before.min(), 0.97 * before.max()
    found = fs.rake(FRAME, MARGINS, "design", bounds=(low, high), bounds_on=bounds_on)
    assert found.converged
    lo, hi = (np.full(N, low), np.full(N, high)) if bounds_on == "ratio" else (low / d, high / d)
    ratio = found.weights / d
    assert (ratio >= lo - 1e-12).all()
    assert (ratio <= hi + 1e-12).all()
    assert 0 < found.n_at_bound < N
    assert sums(found.weights, "sex", "region") == pytest.approx(SEX_REGION, rel=1e-9)
    cells = [(FRAME["sex"] == s) & (FRAME["region"] == r) for s, r in SEX_REGION] + [FRAME["member"], ~FRAME["member"]]
    a, t = np.array(cells, dtype=float), np.array([*SEX_REGION.values(), 150, 250])

    def dual(x: np.ndarray) -> tuple[float, np.ndarray]:
        u = x @ a
        r = np.clip(np.exp(u), lo, hi)
        integral = (
            r + np.where(np.exp(u) < lo, lo * (u - np.log(lo)), 0) + np.where(np.exp(u) > hi, hi * (u - np.log(hi)), 0)
        )
        return float(d @ integral - x @ t), a @ (d * r) - t

    solved = minimize(dual, np.zeros(len(t)), jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 2000})
    assert np.abs(solved.jac).max() < 1e-5
    np.testing.assert_allclose(ratio, np.clip(np.exp(solved.x @ a), lo, hi), rtol=1e-6)


def test_without_design_weights_a_ratio_of_1_is_the_mean() -> None:
    found = fs.rake(FRAME, {"sex": {"f": 500, "m": 500}}, bounds=(0.5, 2))
    assert found.design.mean() == pytest.approx(2.5)
    assert found.weights.sum() == pytest.approx(1000)
    with pytest.raises(DataError, match=r"the bounds leave sex=f a sum between .* and the margin is 500; widen"):
        fs.rake(FRAME, {"sex": {"f": 500, "m": 500}}, bounds=(0.9, 1.1))


def test_shares_keep_the_sum_of_the_weights() -> None:
    found = fs.rake(FRAME, {"sex": {"f": 0.5, "m": 0.5}}, "design")
    assert found.weights.sum() == pytest.approx(FRAME["design"].sum())
    assert fs.rake(FRAME, {"sex": {"f": 0.5, "m": 0.5}}).weights.sum() == pytest.approx(N)


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "columns", "records", "csv", "parquet"])
def test_every_kind_of_table_keeps_its_kind_and_columns(kind: str, tmp_path: Path) -> None:
    frame = FRAME.rename(columns={"member": "in club"})
    margins = {"sex": {"f": 100, "m": 300}, "in club": {True: 150, False: 250}}
    source = {
        "pandas": lambda: frame,
        "polars": lambda: pl.from_pandas(frame),
        "arrow": lambda: pa.Table.from_pandas(frame),
        "columns": lambda: {name: frame[name].tolist() for name in frame},
        "records": lambda: frame.to_dict("records"),
        "csv": lambda: frame.to_csv(tmp_path / "a.csv", index=False) or tmp_path / "a.csv",
        "parquet": lambda: frame.to_parquet(tmp_path / "a.parquet") or tmp_path / "a.parquet",
    }[kind]()
    found = fs.rake(source, margins, "design")
    expected = fs.rake(frame, margins, frame["design"].to_numpy())
    np.testing.assert_allclose(found.weights, expected.weights)
    table = found.table
    if kind == "records":
        assert list(table[0]) == [*frame, "weight"]
        return
    kinds = {"pandas": pd.DataFrame, "polars": pl.DataFrame}
    assert isinstance(table, kinds.get(kind, pa.Table))
    names = list(table.columns) if kind in kinds else table.column_names
    assert names == [*frame, "weight"]
    np.testing.assert_allclose(np.asarray(table["weight"]), expected.weights)


def test_levels_meet_by_number_and_text(tmp_path: Path) -> None:
    """Codes of a CSV file, of a frame of floats and of JSON are the same levels; one spelled 01 is another."""
    frame = pd.DataFrame({"code": [1.0, 2.0, 2.0, 10.0]})
    csv = tmp_path / "codes.csv"
    csv.write_text("code\n1\n2\n2\n10\n")
    margin = tmp_path / "margin.csv"
    margin.write_text("code,count\n1,5\n2,5\n10,10\n")
    listed = tmp_path / "margins.json"
    listed.write_text(
        '{"margins": [[{"code": "1", "count": 5}, {"code": 2, "count": 5.0}, {"code": 10.0, "count": 10}]]}'
    )
    for table in (frame, csv):
        for margins in (margin, [margin], listed, json.loads(listed.read_text()), {"code": {1: 5, "2": 5, 10: 10}}):
            assert fs.rake(table, margins).weights.tolist() == pytest.approx([5, 2.5, 2.5, 10])
    csv.write_text("code\n01\n2\n2\n10\n")
    with pytest.raises(DataError, match=r"'code' holds '01' in row 1, which is in no margin of 'code'"):
        fs.rake(csv, margin)


def test_missing_cells_are_a_level_where_the_margin_counts_them() -> None:
    frame = pd.DataFrame({"sex": ["f", None, "m", "m"]})
    with pytest.raises(DataError, match=r"missing cell in row 2, and 1 in all; .* as the level"):
        fs.rake(frame, {"sex": {"f": 1, "m": 1}})
    assert fs.rake(frame, {"sex": {"f": 4, None: 2, "m": 4}}).weights.tolist() == pytest.approx([4, 2, 2, 2])


CONTRADICTIONS = [
    ({"sex": {"f": 10, "m": 20}, "member": {True: 10, False: 21}}, r"\(sex\) sums to 30 and \(member\) to 31"),
    (
        {("sex", "region"): SEX_REGION, "sex": {"f": 150, "m": 250}},
        r"sex=. has (200 in \(sex, region\) and 150 in|200 in \(sex, region\) and 250 in) \(sex\)",
    ),
    ({"sex": {"f": 10, "m": 20, "x": 5}}, r"\(sex\) has a count for sex=x, but the table has no rows there"),
    ({"sex": {"f": 10}}, r"holds 'm' in row \d+, which is in no margin of 'sex'"),
    ({("sex", "region"): {k: v for k, v in SEX_REGION.items() if k != ("m", 2)}}, "no count for sex=m, region=2; rows"),
    ({"sex": {"f": -1, "m": 2}}, r"has the count -1 for sex=f; counts are numbers of at least 0"),
    ({"sex": {"f": "many", "m": 2}}, "has the count 'many' for sex=f"),
    ({"sex": {"f": 0, "m": 0}}, "sum to 0"),
    ({"sx": {"f": 1, "m": 1}}, "no column 'sx'; did you mean 'sex'"),
    ({"design": {1: 1}}, "'design' holds the weights, and cannot be in a margin"),
    ([[{"sex": "f", "count": 1}, {"sex": "f", "count": 2}]], "lists sex=f twice"),
    ([[{"sex": "f", "n": 1}]], "none is 'count'"),
    ([], "no margins"),
]


@pytest.mark.parametrize(("margins", "message"), CONTRADICTIONS, ids=range(len(CONTRADICTIONS)))
def test_contradictions_are_named(margins: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        fs.rake(FRAME, margins, "design")


def test_margins_that_no_weights_have_are_refused() -> None:
    """Each margin can be had alone; rows (a, x), (b, y) cannot have unequal ones."""
    rows = {"u": ["a", "a", "b"], "v": ["x", "x", "y"]}
    with pytest.raises(DataError, match=r"no weights have all of them .* the nearest ones miss [uv]=[abxy] by 10 of"):
        fs.rake(rows, {"u": {"a": 60, "b": 40}, "v": {"x": 50, "y": 50}})


def test_too_few_sweeps_are_said() -> None:
    with pytest.warns(ConvergenceWarning, match=r"not converged after 1 sweep: .* differs by .* raise max_iter="):
        found = fs.rake(FRAME, MARGINS, "design", max_iter=1)
    assert not found.converged
    assert "not converged after 1 sweep, a margin differs by" in repr(found)


def test_a_count_of_0_gives_no_weight() -> None:
    found = fs.rake(FRAME, {"sex": {"f": 100, "m": 0}}, "design")
    assert (found.weights[FRAME["sex"] == "m"] == 0).all()
    assert found.weights.sum() == pytest.approx(100)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bounds": (2, 1)}, "bounds is"),
        ({"bounds": 3}, "bounds is 3"),
        ({"bounds_on": "both"}, "bounds_on is 'both'"),
        ({"name": "sex"}, "column 'sex' already"),
        ({"tol": 0}, "tol is 0"),
        ({"max_iter": 0}, "max_iter is 0"),
        ({"weights": "wt"}, "no column 'wt'"),
        ({"weights": [1.0]}, "one weight per row"),
        ({"weights": "sex"}, "'sex' holds the weights"),
    ],
)
def test_bad_arguments_are_refused(options: dict, message: str) -> None:
    with pytest.raises(fs.FullspanError, match=message):
        fs.rake(FRAME, {"member": {True: 1, False: 1}}, **options)


def test_bad_weights_are_named_by_row() -> None:
    frame = FRAME.assign(design=FRAME["design"].where(FRAME.index != 6, -2.0))
    with pytest.raises(DataError, match=r"'design' has the weight -2\.0 in row 7"):
        fs.rake(frame, {"sex": {"f": 1, "m": 1}}, "design")
