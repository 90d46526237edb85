"""Small tables are served by NumPy, others by compiled kernels: the two are twins, and no result depends on which."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from fullspan.data import Empirical, Space
from fullspan.engine.dual import lookup, partition, plain, scan
from fullspan.engine.sampling import two_layers
from fullspan.engine.sampling.layers import fused
from fullspan.engine.sampling.layers import plain as layer_loops
from fullspan.learn.search import Options, code, fit_search, margins
from fullspan.model.algebra import Basis, BasisName
from generic import ALL_BASES, CARDS, DTYPES, always_compiled, distribution, matrix, tolerance, weights

every_space = pytest.mark.parametrize("cards", CARDS, ids=str)
every_basis = pytest.mark.parametrize("name", ALL_BASES)


def moments(basis: Basis, seed: int) -> Any:
    return matrix(basis) @ distribution(basis, weights(basis, seed))


@every_space
@every_basis
def test_look_ups_are_those_of_the_kernels(
    name: BasisName, cards: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Margins of sets of one size with variables of different kinds, and second moments."""
    basis = Basis(name, cards)
    eta, rng = moments(basis, 1), np.random.default_rng(2)
    sets = np.array([rng.permutation(len(cards))[: min(2, len(cards))] for _ in range(6)], dtype=np.int64)
    y, z = rng.integers(basis.n_states, size=(2, 9))
    in_numpy = lookup.margins(basis, eta, sets), lookup.products(basis, eta, y, z)
    always_compiled(monkeypatch)
    np.testing.assert_allclose(in_numpy[0], lookup.margins(basis, eta, sets), rtol=0, atol=1e-12)
    np.testing.assert_allclose(in_numpy[1], lookup.products(basis, eta, y, z), rtol=0, atol=1e-12)
    np.testing.assert_allclose(in_numpy[0].sum(axis=1), 1.0, rtol=0, atol=1e-12)


def test_divergences_are_those_of_the_kernels() -> None:
    rng = np.random.default_rng(3)
    data, model = rng.dirichlet(np.ones(8), size=(2, 40))
    data[:5, 0], model[5:9, 1] = 0.0, 0.0
    least = rng.uniform(0, 1, size=40)
    found = plain.divergences(data, model, least)
    np.testing.assert_allclose(found, lookup.divergences(data, model, least), rtol=1e-12, atol=0)
    assert 0 < np.count_nonzero(found) < 40


@pytest.mark.parametrize("dtype", DTYPES)
def test_normalising_is_that_of_the_kernel(dtype: Any) -> None:
    """Where an exponent is far below the others too: no probability is zero."""
    exponents = np.random.default_rng(4).normal(scale=30, size=777).astype(dtype)
    exponents[3] = -2e3
    by_numpy, by_kernel = exponents.copy(), exponents.copy()
    log_z = partition.exp_normalised_plain(by_numpy)
    assert log_z == pytest.approx(
        partition.exp_normalised_kernel(by_kernel), rel=1e-6 if dtype is np.float32 else 1e-13
    )
    np.testing.assert_allclose(by_numpy, by_kernel, rtol=20 * tolerance(dtype), atol=0)
    assert by_numpy.min() > 0


@pytest.mark.parametrize("zero_one", [False, True])
@pytest.mark.parametrize("l1", [0.0, 0.1])
def test_gains_are_those_of_the_kernel(zero_one: bool, l1: float) -> None:
    low = 0.0 if zero_one else -1.0
    eta, d = np.random.default_rng(5).uniform(low, 1.0, size=(2, 50))
    eta[0], d[1], d[2] = low, low, 1.0
    each = [scan.term_gain(b, a, l1, zero_one) for a, b in zip(eta, d, strict=True)]
    np.testing.assert_allclose(plain.term_gains(eta, d, l1, zero_one), each, rtol=1e-12, atol=1e-15)


def test_masks_inside_masks_are_counted_as_the_kernel_does() -> None:
    used, masks = np.random.default_rng(6).integers(1, 1 << 9, size=(2, 200))
    assert margins.count_inside_plain(used, masks).tolist() == margins.count_inside(used, masks).tolist()


def tables(seed: int, cards: tuple[int, ...], n_rows: int) -> Empirical:
    """Rows in which each column follows the one before now and then."""
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(card, size=n_rows) for card in cards], axis=1)
    for i in range(1, len(cards)):
        follows = rng.random(n_rows) < 0.6
        codes[follows, i] = codes[follows, i - 1] % cards[i]
    return Empirical.from_codes(codes, space=Space.of_cards(cards))


@pytest.mark.parametrize("search", ["full", "paper"])
@pytest.mark.parametrize("basis", [*ALL_BASES, "auto"])
@pytest.mark.parametrize(("seed", "cards"), [(1, (2,) * 6), (2, (3, 2, 4, 2)), (3, (2,) * 11), (4, (5, 3))], ids=str)
def test_a_fit_does_not_depend_on_which_of_them_serves(
    search: Any, basis: Any, seed: int, cards: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same terms, and the same weights to rounding."""
    data = tables(seed, cards, 400)
    in_numpy = fit_search(data, Options(search=search, basis=basis)).model
    always_compiled(monkeypatch)
    compiled = fit_search(data, Options(search=search, basis=basis)).model
    assert in_numpy.basis == compiled.basis
    assert in_numpy.terms == compiled.terms
    assert compiled.terms
    np.testing.assert_allclose(in_numpy.theta, compiled.theta, rtol=0, atol=1e-9)


def test_a_small_fit_compiles_nothing_and_does_not_depend_on_what_was_compiled() -> None:
    """Numba is not even imported; where it is, the weights are the same to the last bit."""
    script = (
        "import sys, numpy as np, fullspan as fs\n"
        "p = np.exp(np.random.default_rng(0).normal(0, 0.8, (2,) * 5)).ravel()\n"
        "cells = np.random.default_rng(1).choice(32, size=3000, p=p / p.sum())[:, None] >> np.arange(5) & 1\n"
        "fitted = lambda: [fs.FullSpan(search=s).fit(cells).model_.theta for s in ('full', 'paper')]\n"
        "model = fs.FullSpan().fit(cells)\n"
        "model.terms_, model.interactions_, model.probability('x0=1 | x1=0'), model.summary()\n"
        "first, imported = fitted(), 'numba' in sys.modules\n"
        "import numba\n"
        "same = all(np.array_equal(a, b) for a, b in zip(first, fitted(), strict=True))\n"
        "print(len(first[0]), imported, same)"
    )
    run = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    n_terms, *rest = run.stdout.split()
    assert int(n_terms) > 5
    assert rest == ["False", "True"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_units_are_those_of_the_kernels(dtype: Any) -> None:
    """Means, sums, an ascent, and draws by the same random numbers: of thousands, at most one may be rounded apart."""
    rng = np.random.default_rng(7)
    raw, bias = rng.normal(scale=3, size=(90, 41)).astype(dtype), rng.normal(size=41).astype(dtype)
    found = []
    for loops in (layer_loops, fused):
        mean, drawn, total = np.zeros_like(raw), np.zeros(raw.shape, dtype=np.int8), np.zeros(90)
        loops.means(raw, bias, dtype(0.7), 2, 40, mean)
        loops.draws(raw, bias, dtype(0.7), 2, 40, np.uint32(123456789), np.uint32(4000000000), drawn)
        loops.soft_pluses(raw, bias, dtype(0.7), 2, 40, total)
        weights, velocity = raw.copy(), raw[::-1].copy()
        left, right = raw[:, :2].copy(), raw[:2].copy()
        loops.ascend(weights, velocity, raw * dtype(0.1), left, right, dtype(0.1), dtype(0.9), dtype(0.01))
        found.append((mean, drawn, total, weights, velocity))
    for plain_part, compiled_part in zip(*found, strict=True):
        if plain_part.dtype == np.int8:
            assert np.count_nonzero(plain_part != compiled_part) <= 1
            assert 0.3 < plain_part.mean() < 0.7
        else:
            np.testing.assert_allclose(plain_part, compiled_part, rtol=0, atol=50 * tolerance(dtype))


@pytest.mark.parametrize("groups", [None, ([1, 3, 1, 2], [2, 1, 4, 1])])
def test_two_layers_are_summed_as_by_the_kernel(groups: Any) -> None:
    rng = np.random.default_rng(8)
    weights, a, c = rng.normal(size=(7, 8)), rng.normal(size=7), rng.normal(size=8)
    sizes = () if groups is None else tuple(np.array(part) for part in groups)
    listed = two_layers.two_layers(weights, a, c, *sizes)
    assert listed == pytest.approx(two_layers.two_layers(weights, a, c, *sizes, few=0), rel=1e-13)


def test_a_code_of_weights_is_that_of_the_kernel() -> None:
    rng = np.random.default_rng(9)
    theta, noise = np.r_[rng.normal(0.8, 0.1, size=12), rng.normal(0, 0.05, size=30)], rng.uniform(0.001, 0.01, size=42)
    starts = [code.Code(0.3, 0.0, 0.1), code.Code(0.3, 0.5, 0.1)]
    for start, found in zip(starts, code.maximised(theta, noise, starts), strict=True):
        one = code.maximised_one(theta, noise, start.share, start.size, start.variance, start.size > 0)
        np.testing.assert_allclose((found.share, found.size, found.variance), one, rtol=1e-9)
