"""One rule for rows: all kinds of models count those they were learned from, and numbers compared are of the same."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fullspan as fs
from fullspan.errors import FullspanError

HIDDEN = {"n_states": 3, "restarts": 1, "tol": 1e-2, "random_state": 0}
KINDS: dict[str, Any] = {
    "full span": lambda **o: fs.FullSpan(**o),
    "machine": lambda **o: fs.BoltzmannMachine(**o),
    "decimatable": lambda **o: fs.DecimatableBoltzmannMachine([("a", "b"), ("b", "c")], **o),
    "truncated": lambda **o: fs.TruncatedBoltzmannMachine(**o),
    "tree": lambda **o: fs.ChowLiuTree(**o),
    "hidden tree": lambda **o: fs.HiddenChowLiuTree(**HIDDEN, **o),
    "mixture": lambda **o: fs.FullSpanMixture(runs=[(2, 1)], restarts=1, random_state=0, **o),
    "restricted": lambda **o: fs.RestrictedBoltzmannMachine(n_hidden=2, max_iter=2, random_state=0, **o),
    "deep": lambda **o: fs.DeepBoltzmannMachine(layers=[2, 2], max_iter=2, random_state=0, **o),
}
HOLD_OUT = ("hidden tree", "mixture")
"""Kinds that hold out rows of their own."""


def table(n: int = 200) -> pd.DataFrame:
    """Three columns of words, each like the one before it; in the first 20 rows a cell is missing."""
    rng = np.random.default_rng(0)
    codes = np.cumsum(rng.random((n, 3)) < [0.5, 0.2, 0.2], axis=1) % 2
    frame = pd.DataFrame(np.array(["no", "yes"])[codes], columns=list("abc"))
    frame.loc[:19, "b"] = None
    return frame


def first_line(model: Any) -> str:
    return str(model._shown(5).blocks[0]).splitlines()[0]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_counts_the_rows_it_was_learned_from(kind: str) -> None:
    """Dropped rows are not among them; lines with a count are as many rows as it says."""
    model = KINDS[kind](missing="drop").fit(table())
    assert model.fitted_.total == 180
    assert "180 rows (20 dropped: missing cells), 3 variables" in first_line(model)
    counted = table().dropna().value_counts().rename("n").reset_index()
    assert "180 rows, 3 variables" in first_line(KINDS[kind](count_column="n").fit(counted))
    dropped = table().value_counts(dropna=False).rename("n").reset_index()
    n_lines = int(dropped["b"].isna().sum())
    words = f"180 rows ({n_lines} lines dropped: missing cells), 3 variables"
    assert words in first_line(KINDS[kind](count_column="n", missing="drop").fit(dropped))


@pytest.mark.parametrize("kind", HOLD_OUT)
@pytest.mark.parametrize("missing", ["drop", "em"])
def test_the_likelihood_is_of_all_rows_given(kind: str, missing: str) -> None:
    """As its baselines and the score are; the rows held out included."""
    rows = table()
    model = KINDS[kind](missing=missing, validation_fraction=0.3).fit(rows)
    fitted = model.fitted_
    assert not math.isnan(fitted.validation)
    assert fitted.total == (180 if missing == "drop" else 200)
    assert fitted.log_likelihood == pytest.approx(model.score(rows), abs=1e-6)
    assert model.log_likelihood_ == pytest.approx(fitted.total * fitted.log_likelihood)


@pytest.mark.parametrize("kind", HOLD_OUT)
def test_description_lengths_are_of_the_same_rows(kind: str) -> None:
    """Also those of models that hold out rows; of a file from before, with fewer rows, a note says so."""
    rows = table().dropna()
    model, other = KINDS[kind](validation_fraction=0.3).fit(rows), fs.BoltzmannMachine().fit(rows)
    found = fs.compare({"own": model, "other": other}, rows, baselines=False)
    length = 0.5 * model.n_parameters_ * math.log(180) - 180 * model.score(rows)
    assert next(row for row in found if row.name == "own").description_length == pytest.approx(length, abs=1e-3)
    assert found.same_rows
    model.fitted_ = replace(model.fitted_, total=130.0)
    assert not fs.compare({"own": model, "other": other}, rows, baselines=False).same_rows


def test_a_model_of_complete_rows_only_is_left_out_with_a_sentence() -> None:
    """Where cells are missing; the others are compared, and without missing cells it is too."""
    rows = table()
    models = {"deep": KINDS["deep"](missing="drop").fit(rows), "tree": fs.ChowLiuTree(missing="drop").fit(rows)}
    found = fs.compare(models, rows, baselines=False)
    assert [row.name for row in found] == ["tree"]
    assert "deep: left out, because it scores complete rows only, and 20 of 200 rows have missing cells" in repr(found)
    assert len(fs.compare(models, rows.dropna(), baselines=False)) == 2
    with pytest.raises(FullspanError, match="impute"):
        fs.compare({"deep": models["deep"]}, rows, baselines=False)
