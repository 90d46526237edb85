"""Machines against answers of other software: R's loglin on contingency tables, cat on incomplete ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullspan.data import Empirical, Space, Variable
from fullspan.learn.likelihood import MachineOptions, fit_machine
from fullspan.model.goodness import Goodness

Find = Callable[[str], Path]
TABLES = (
    "HairEyeColor",
    "UCBAdmissions",
    "Titanic",
    "reinis",
    "Rochdale",
    "mildew",
    "lizard",
    "DaytonSurvey",
    "PreSex",
    "Hoyt",
    "Caesar",
)
INCOMPLETE = (
    "crimes_2way_saturated",
    "belt_2way",
    "older_2way",
    "housevotes_Class_V1_V7_2way",
    "titanic_pclass_survived_sex_age_2way",
)


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("solver", ["newton", "ipf"])
@pytest.mark.parametrize("name", TABLES)
def test_contingency_tables(name: str, solver: str, shared_data: Find) -> None:
    """Interior fits: G2 and cells to 1e-6, and df. At the boundary the likelihood is at least as high."""
    table = read(shared_data("contingency/reference.json"))[name]
    space = Space(tuple(Variable(v, tuple(table["levels"][v])) for v in table["variables"]))
    counts = np.array(table["counts_C_order"], dtype=float).reshape(table["dims"])
    data = Empirical.from_table(counts, space)
    for fit in table["fits"].values():
        fitted = fit_machine(data, MachineOptions(margins=fit["margins"], solver=solver))
        assert fitted.status == "converged"
        assert isinstance(fitted.goodness, Goodness)
        assert fitted.goodness.nominal_df == fit["df_loglin"]
        p = np.exp(fitted.model.log_prob(space.states(np.arange(space.n_states)))).reshape(space.cards, order="F")
        cells = np.array(fit["fitted_C_order"]).reshape(table["dims"])
        if fit["zero_cells_in_some_margin"]:
            assert -1e-3 < fitted.goodness.g2 - fit["G2"] < 1e-8
            assert fitted.diverging
            np.testing.assert_allclose(p * data.total, cells, atol=1e-4)
        else:
            assert fitted.goodness.g2 == pytest.approx(fit["G2"], abs=1e-6)
            assert fitted.goodness.pearson == pytest.approx(float(fit["pearson_X2"]), rel=1e-6)
            assert fitted.goodness.df == fit["df_loglin"]
            assert not fitted.diverging
            np.testing.assert_allclose(p * data.total, cells, rtol=1e-6)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("name", ["nltcs", "spikes15_time"])
def test_binary_machines(name: str, order: int, shared_data: Find) -> None:
    """Log-likelihood to 1e-7 per row, weights to 1e-5 in 0/1 coding, log Z with the energy of the zero state 0."""
    reference = read(shared_data("reference_loglin_binary/loglin_exact_reference.json"))[name]
    file, key = ("debd/nltcs.npz", "train") if name == "nltcs" else ("neural/spikes15_time.npz", "bits")
    with np.load(shared_data(file)) as arrays:
        rows = np.unpackbits(arrays[key], axis=1)[:, : reference["n_vars"]].astype(np.int64)
    fitted, wanted = fit_machine(Empirical.from_codes(rows), MachineOptions(order=order)), reference[f"all_{order}way"]
    assert fitted.status == "converged"
    assert isinstance(fitted.goodness, Goodness)
    assert fitted.goodness.log_likelihood / len(rows) == pytest.approx(wanted["avg_loglik_nats"]["train"], abs=1e-7)
    assert fitted.goodness.g2 == pytest.approx(wanted["G2"], abs=1e-6 * len(rows))
    assert fitted.model.log_z == pytest.approx(wanted["logZ_with_energy_zero_at_all_zero_state"], abs=1e-6)
    weights = fitted.model.weights
    for i, theta in enumerate(wanted.get("theta1", [])):
        assert weights[((i, 1),)] == pytest.approx(theta, abs=1e-5)
    for i, j, theta in wanted.get("theta2_upper", []):
        assert weights[((i, 1), (j, 1))] == pytest.approx(theta, abs=1e-5)


@pytest.mark.parametrize("em", ["auto", "exact"])
@pytest.mark.parametrize("name", INCOMPLETE)
def test_incomplete_tables(name: str, em: str, shared_data: Find) -> None:
    """Observed-data log-likelihood to 1e-5, or higher; alternation needs thousands of steps on one of them."""
    if (name, em) == ("belt_2way", "exact"):
        pytest.skip("half of its cells are missing: em alone takes minutes")
    table = read(shared_data("missing/reference.json"))[name]
    rows = np.array([[-1 if cell is None else cell - 1 for cell in row] for row in table["rows"]])
    weights = np.array(table["weights"], dtype=float)
    data = Empirical.from_codes(rows, weights, Space.of_cards(table["dims"]), allow_missing=True)
    fitted = fit_machine(data, MachineOptions(order=table["order"], em=em, tol=1e-9))
    assert fitted.status == "converged"
    assert isinstance(fitted.goodness, Goodness)
    assert fitted.goodness.log_likelihood > table["obs_loglik_nats"] - 1e-5
    p = np.exp(fitted.model.log_prob(data.space.states(np.arange(data.space.n_states))))
    cells = p.reshape(data.space.cards, order="F").ravel()
    np.testing.assert_allclose(cells, table["fitted_prob_C_order"], atol=1e-4)
