"""Learners against answers nobody here wrote."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fullspan.data import Empirical, Space
from fullspan.engine.dual import DualTable
from fullspan.learn.search import Options, Problem, as_theta, fit_search, prices, refit
from fullspan.model.algebra import Basis


def split(path: Path, part: str) -> NDArray[Any]:
    with np.load(path) as data:
        return np.unpackbits(data[part], axis=1)[:, : int(data["nvars"])]


def test_nltcs_is_described_nearly_as_well_as_by_the_best_published_models(
    shared_data: Callable[[str], Path],
) -> None:
    """Test log-likelihood above -6.03: exact pairwise has -6.028, exact 3-way -6.009, Chow-Liu -6.76."""
    path = shared_data("debd/nltcs.npz")
    space = Space.of_cards((2,) * 16)
    train = Empirical.from_codes(split(path, "train"), space=space)
    full = fit_search(train, Options(basis="walsh"))
    test = split(path, "test")
    assert full.model.log_prob(test).mean() > -6.03
    paper = fit_search(train, Options(basis="walsh", search="paper"))
    assert -6.10 < paper.model.log_prob(test).mean() < full.model.log_prob(test).mean()


@pytest.mark.parametrize("order", [1, 2])
def test_joint_refit_agrees_with_loglin(shared_data: Callable[[str], Path], order: int) -> None:
    """All terms up to an order on nltcs: log-likelihood and log Z of R's iterative proportional fitting."""
    reference = json.loads(shared_data("reference_loglin_binary/loglin_exact_reference.json").read_text())
    expected = reference["nltcs"][f"all_{order}way"]
    rows = split(shared_data("debd/nltcs.npz"), "train")
    space, basis = Space.of_cards((2,) * 16), Basis("monomial", (2,) * 16)
    data = Empirical.from_codes(rows, space=space)
    engine = DualTable(basis)
    engine.set_data(space.index(data.states), data.counts)
    tariff = prices(basis.cards, data.total)
    engine.set_prices(tariff)
    y = np.array([i for i in range(1, 1 << 16) if i.bit_count() <= order])
    engine.set_theta(as_theta(y, np.zeros(len(y))))
    problem = Problem(engine, tariff, reference["nltcs"]["empirical_entropy_train_nats"], data.total)
    assert refit(problem, 1e-10)
    assert -problem.divergence() - problem.entropy == pytest.approx(expected["avg_loglik_nats"]["train"], abs=1e-6)
    assert engine.log_z == pytest.approx(expected["logZ_with_energy_zero_at_all_zero_state"], abs=1e-3)
    main = [engine.theta[1 << i] for i in range(16)]
    np.testing.assert_allclose(main, expected["theta1"], atol=2e-2)
