"""scikit-learn's own checks, and the tools people use with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import KBinsDiscretizer
from sklearn.utils.estimator_checks import parametrize_with_checks

from fullspan import BoltzmannMachine, FullSpan
from fullspan.errors import DataError

EXPECTED_FAILURES = {
    "check_estimators_nan_inf": "a missing cell is refused, as demanded, but the message names the columns, how many "
    "cells each lacks and what to do, in words that suit text too, where the check looks for the letters NaN",
    "check_sample_weight_equivalence_on_dense_data": "its 30 columns have 2^30 states when cut in two, which needs "
    "gigabytes, and the bins of repeated rows differ; contract/test_estimators.py checks the law on discrete data",
}


CHECKED = [FullSpan(bins=2, max_memory=1 << 27), BoltzmannMachine(order=1, bins=2, max_memory=1 << 27)]


@parametrize_with_checks(CHECKED, expected_failed_checks=lambda _: EXPECTED_FAILURES)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    """The checks use continuous columns, which a model of discrete data cuts in two; a test takes 128 MiB at most."""
    check(estimator)


def data(rows: int = 400, seed: int = 0) -> np.ndarray:
    """Three bits: the third follows the first, the second is noise."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(2, size=(2, rows))
    return np.stack([a, b, np.where(rng.random(rows) < 0.85, a, 1 - a)], axis=1)


@pytest.mark.parametrize("model", [FullSpan(), BoltzmannMachine(), BoltzmannMachine(hidden=1, l2=1e-3, random_state=0)])
def test_cross_validation_prefers_a_model_to_chance(model: Any) -> None:
    scores = cross_val_score(model, data(), cv=4)
    assert scores.shape == (4,)
    assert scores.mean() > -3 * np.log(2) + 0.1


def test_a_grid_search_over_penalties() -> None:
    search = GridSearchCV(FullSpan(levels={f"x{i}": [0, 1] for i in range(3)}), {"penalty": [1.0, 1e3]}, cv=3)
    search.fit(data())
    assert search.best_params_ == {"penalty": 1.0}


def test_a_grid_search_over_machines() -> None:
    search = GridSearchCV(BoltzmannMachine(), {"order": [1, 2], "l2": [0.0, 10.0]}, cv=3)
    assert search.fit(data()).best_params_ == {"order": 2, "l2": 0.0}


@pytest.mark.parametrize("last", [FullSpan(), BoltzmannMachine(l2=1e-3)])
def test_the_end_of_a_pipeline(last: Any) -> None:
    numbers = np.random.default_rng(1).normal(size=(300, 2)) @ np.array([[1, 1], [0, 0.5]])
    steps = [
        ("cut", KBinsDiscretizer(3, encode="ordinal", quantile_method="averaged_inverted_cdf")),
        ("model", last),
    ]
    model = Pipeline(steps).fit(numbers)
    assert np.isclose(model.score(numbers), model.score_samples(numbers).mean())


def test_what_is_no_table_is_refused() -> None:
    import scipy.sparse

    with pytest.raises(TypeError, match=r"use X\.toarray"):
        FullSpan().fit(scipy.sparse.eye(3))
    with pytest.raises(DataError, match="Complex data not supported"):
        FullSpan().fit(np.eye(3) * 1j)


def test_names_are_kept_where_there_are_any() -> None:
    import pandas as pd

    frame = pd.DataFrame(data(), columns=["a", "b", "c"])
    model = FullSpan().fit(frame)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert model.n_features_in_ == 3
    assert np.array_equal(model.score_samples(frame[["c", "a", "b"]]), model.score_samples(frame))
    model.fit(data())
    assert not hasattr(model, "feature_names_in_")
