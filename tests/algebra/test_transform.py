"""Transforms against explicit matrices, on every basis, shape, precision and grouping of variables."""

from __future__ import annotations

import numpy as np
import pytest

from fullspan.errors import FullspanError
from fullspan.model.algebra import Basis, BasisName, transform
from generic import ALL_BASES, CARDS, DTYPES, always_compiled, matrix, tolerance

pytestmark = [
    pytest.mark.parametrize("cards", CARDS, ids=str),
    pytest.mark.parametrize("name", ALL_BASES),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("group", [1, 4, 16, 1024, "matrices", "pairs"])
def test_the_three_maps_are_their_matrices(
    name: BasisName, cards: tuple[int, ...], dtype: type[np.floating], group: int | str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """analyse = T, invert = T^-1, synthesise = T^t, however the variables are grouped."""
    if group == "pairs":
        monkeypatch.setattr(transform, "PAIRWISE_NUMBERS", 0)
    elif group != "matrices":
        monkeypatch.setattr(transform, "GROUP_STATES", group)
        always_compiled(monkeypatch)
        if group in (4, 16):  # threads share even these small tables
            monkeypatch.setattr(transform, "_SHARED_ENTRIES", 0)
    basis = Basis(name, cards)
    table = np.random.default_rng(3).normal(size=basis.n_states)
    t = matrix(basis)
    for method, expected in (
        (basis.analyse, t @ table),
        (basis.invert, np.linalg.solve(t, table)),
        (basis.synthesise, t.T @ table),
    ):
        work = table.astype(dtype)
        method(work)
        scale = np.abs(table).sum()
        np.testing.assert_allclose(work, expected, rtol=0, atol=tolerance(dtype) * scale)


@pytest.mark.parametrize("dtype", DTYPES)
def test_analyse_and_invert_undo_each_other(name: BasisName, cards: tuple[int, ...], dtype: type[np.floating]) -> None:
    basis = Basis(name, cards)
    p = np.random.default_rng(4).dirichlet(np.full(basis.n_states, 0.6)).astype(dtype)
    work = p.copy()
    basis.analyse(work)
    basis.invert(work)
    np.testing.assert_allclose(work, p, rtol=0, atol=tolerance(dtype))
    basis.invert(work)
    basis.analyse(work)
    np.testing.assert_allclose(work, p, rtol=0, atol=tolerance(dtype))


def test_a_row_of_tables_is_transformed_at_once(name: BasisName, cards: tuple[int, ...]) -> None:
    basis = Basis(name, cards)
    tables = np.random.default_rng(6).normal(size=(3, basis.n_states))
    expected = tables.copy()
    for row in expected:
        basis.invert(row)
    transform.transform_plain(tables.reshape(-1), np.array(cards), basis.kinds, transform.INVERT)
    np.testing.assert_allclose(tables, expected, rtol=0, atol=1e-11)


def test_synthesis_is_the_adjoint_of_analysis(name: BasisName, cards: tuple[int, ...]) -> None:
    """<theta, T p> = <T^t theta, p>."""
    basis = Basis(name, cards)
    rng = np.random.default_rng(5)
    theta, p = rng.normal(size=(2, basis.n_states))
    eta, energy = p.copy(), theta.copy()
    basis.analyse(eta)
    basis.synthesise(energy)
    assert theta @ eta == pytest.approx(energy @ p, rel=1e-10)


def test_a_table_of_the_wrong_shape_is_refused(name: BasisName, cards: tuple[int, ...]) -> None:
    basis = Basis(name, cards)
    with pytest.raises(FullspanError, match=f"flat table of {basis.n_states} entries"):
        basis.analyse(np.zeros(basis.n_states + 1))
