"""Em on hidden trees by an array library, as on a graphics card, against the compiled passes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fullspan.data import Empirical, Space
from fullspan.engine.sampling.layers import Device
from fullspan.learn.trees import TreeOptions, fit_hidden_tree, hidden_tree

CARDS = (2, 3, 2, 4, 2, 2)
OPTIONS = TreeOptions(n_states=4, restarts=2, max_iter=6, tol=0.0, seed=3, dtype=np.float64)


def rows(n_rows: int, seed: int, *, missing: bool) -> Empirical:
    rng = np.random.default_rng(seed)
    kind = rng.integers(3, size=n_rows)
    found = np.stack([(kind * (i + 1) + rng.integers(2, size=n_rows)) % card for i, card in enumerate(CARDS)], axis=1)
    if missing:
        found[rng.random(found.shape) < 0.1] = -1
        found[(found < 0).all(axis=1), 0] = 0
    return Empirical.from_codes(found, space=Space.of_cards(CARDS), allow_missing=True)


@pytest.mark.parametrize("missing", [False, True])
def test_a_fixed_schedule_ends_at_the_same_tree(monkeypatch: pytest.MonkeyPatch, missing: bool) -> None:
    """Every iteration's objective and the tables at the end are the same to rounding, double and single precision."""
    train, valid = rows(300, 0, missing=missing), rows(100, 1, missing=missing)
    expected = fit_hidden_tree(train, OPTIONS, valid)
    for dtype, tolerance in (("float64", 1e-10), ("float32", 1e-4)):

        def card(name: str, kind: str, rng: Any, dtype: str = dtype) -> Device:
            return Device(np, dtype, lambda shape, kind: rng.random(shape))

        monkeypatch.setattr(hidden_tree, "device", card)
        found = fit_hidden_tree(train, replace(OPTIONS, device="cuda"), valid)
        objective = [step.cost for step in found.history]
        np.testing.assert_allclose(objective, [step.cost for step in expected.history], atol=tolerance)
        np.testing.assert_allclose(found.model.transitions, expected.model.transitions, atol=10 * tolerance)
        assert found.validation == pytest.approx(expected.validation, abs=tolerance)
        assert found.log_likelihood == pytest.approx(expected.log_likelihood, abs=tolerance)


def test_without_rows_held_out_and_without_smoothing(monkeypatch: pytest.MonkeyPatch) -> None:
    data, options = rows(200, 2, missing=False), replace(OPTIONS, smoothing=0.0, restarts=1)
    expected = fit_hidden_tree(data, options)
    monkeypatch.setattr(hidden_tree, "device", lambda *own: Device(np, "float64", lambda shape, kind: np.zeros(shape)))
    found = fit_hidden_tree(data, replace(options, device="cuda"))
    assert found.log_likelihood == pytest.approx(expected.log_likelihood, abs=1e-9)
