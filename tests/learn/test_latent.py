"""A continuous latent variable: the layout of the tables, the gradient of the likelihood, and what is learned."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fullspan.data import Empirical, Space
from fullspan.engine.sampling.layers import Device
from fullspan.errors import FullspanError
from fullspan.learn.latent import LatentOptions, fit, fit_latent
from fullspan.learn.latent.decoder import backward, forward, initial
from fullspan.learn.latent.points import lattice, waves
from fullspan.model.latent_trees import LatentTrees
from fullspan.model.tree_layout import TreeLayout

LAYOUTS = {
    "tree": ((2, 3, 4, 2, 3), (-1, 0, 1, 1, 2), False),
    "one level": ((2, 1, 3), (1, -1, 0), False),
    "columns": ((2, 3, 2), (-1, -1, -1), False),
    "missing cells": ((2, 3, 2), (-1, -1, -1), True),
}
QUICK = LatentOptions(points=16, hidden=8, dimensions=2, steps=150, batch=64, seed=0)


@pytest.fixture(params=LAYOUTS)
def layout(request: pytest.FixtureRequest) -> TreeLayout:
    cards, parents, open_cells = LAYOUTS[request.param]
    return TreeLayout(cards, np.array(parents), open_cells)


def rows_of(layout: TreeLayout, rng: np.random.Generator) -> NDArray[np.int64]:
    rows = np.stack([rng.integers(card, size=7) for card in layout.cards], axis=1)
    if layout.open_cells:
        rows[0, 1], rows[2] = -1, (-1, 0, -1)
    return rows


def classes(n_rows: int, n: int = 12, seed: int = 0) -> Empirical:
    """Rows of two classes, whose columns are independent given the class."""
    each, rng = np.random.default_rng(9).random((2, n)), np.random.default_rng(seed)
    p = np.where(rng.random((n_rows, 1)) < 0.4, *each)
    return Empirical.from_codes((rng.random((n_rows, n)) < p).astype(int), space=Space.of_cards((2,) * n))


def test_a_row_is_a_product_of_its_tables(layout: TreeLayout) -> None:
    """log p(row) = sum_i log p(x_i | x_parent) over the cells that are seen, for every tree at once."""
    rng = np.random.default_rng(1)
    rows, t = rows_of(layout, rng), rng.normal(size=(3, layout.n_logits))
    numbers, constant, _ = layout.numbers(np, t)
    found, tables = layout.matrix(rows) @ numbers.T + constant.T, layout.tables(t)
    for r, k in itertools.product(range(len(rows)), range(3)):
        expected = sum(
            np.log(tables[i][k, rows[r, p] if p >= 0 else 0, rows[r, i]])
            for i, p in enumerate(layout.parents)
            if rows[r, i] >= 0
        )
        assert found[r, k] == pytest.approx(expected, abs=1e-12)


def test_the_gradient_is_that_of_finite_differences(layout: TreeLayout) -> None:
    rng = np.random.default_rng(2)
    x, weight = layout.matrix(rows_of(layout, rng)).astype(float), rng.normal(size=(7, 4))
    points = waves(lattice(4, 2), 1)
    network = initial(points.shape[1], 5, rng.normal(size=layout.n_logits), rng)

    def value(network: dict[str, Any]) -> float:
        numbers, constant, _ = layout.numbers(np, forward(np, network, points)[0])
        return float(np.sum(weight * (x @ numbers.T + constant.T)))

    t, kept = forward(np, network, points)
    shares = layout.numbers(np, t)[2]
    slope = layout.slope(np, weight.T @ x, weight.sum(axis=0)[:, None], shares)
    found, _ = backward(np, network, kept, slope)
    for name, values in network.items():
        where = tuple(rng.integers(size) for size in values.shape)
        step = np.zeros_like(values)
        step[where] = 1e-5
        there, back = ({**network, name: values + sign * step} for sign in (1, -1))
        assert found[name][where] == pytest.approx((value(there) - value(back)) / 2e-5, rel=1e-4, abs=1e-6)


def test_points_fill_the_torus_evenly() -> None:
    """The mean of a smooth function over a lattice is its integral, to far less than random points give."""
    points = (lattice(512, 3) + np.array([0.1, 0.7, 0.3])) % 1.0
    assert np.abs(waves(points, 2).mean(axis=0)).max() < 0.01


def test_classes_are_found_and_the_score_is_that_of_the_model() -> None:
    """Rows held out are likelier than under the tree it starts from; the same seed gives the same model."""
    train, valid = classes(600), classes(600, seed=1)
    found = fit_latent(train, QUICK, valid)
    assert found.validation > -found.history[0].cost + 0.15
    assert found.validation == pytest.approx(float(valid.counts @ found.model.log_weight(valid.states)) / 600, abs=1e-5)
    again = fit_latent(train, QUICK, valid)
    np.testing.assert_array_equal(again.model.logits, found.model.logits)


def test_missing_cells_are_left_out_and_columns_stand_alone() -> None:
    data = classes(200)
    states = data.states.astype(np.int64)
    states[::3, 2] = -1
    found = fit_latent(Empirical(data.space, states, data.counts, data.n_rows), QUICK)
    assert (found.model.parents == -1).all()


def test_any_array_library_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A device with functions of an array library only, as a graphics card has, takes the same steps."""
    data = classes(200)
    expected = fit_latent(data, QUICK)
    card = lambda name, dtype, rng: Device(np, dtype, lambda shape, kind: rng.random(shape))  # noqa: E731
    monkeypatch.setattr(fit, "device", card)
    found = fit_latent(data, QUICK)
    np.testing.assert_allclose(found.model.logits, expected.model.logits, atol=1e-5)


def test_it_is_stopped_by_a_person_and_by_the_time() -> None:
    """What was best by then is kept."""
    data, seen = classes(200), []

    def watch(step: Any) -> None:
        seen.append(step)
        if len(seen) == 4:
            raise KeyboardInterrupt

    assert fit_latent(data, QUICK, watch=watch).status == "interrupted"
    assert len(seen) == 4
    late = fit_latent(data, LatentOptions(points=8, hidden=4, max_seconds=1e-6, seed=0))
    assert late.status in ("time limit", "max_iter")
    assert isinstance(late.model, LatentTrees)
    with pytest.raises(FullspanError, match="points is 0"):
        LatentOptions(points=0)


def test_trees_that_are_none_are_refused() -> None:
    space = Space.of_cards((2, 2))
    for parents, shares, logits, words in (
        ([1, 0], [1.0], np.zeros((1, 4)), "cycle"),
        ([-1, 5], [1.0], np.zeros((1, 2)), "from -1 to 1"),
        ([-1, -1], [0.5, 0.4], np.zeros((2, 2)), "sum to 1"),
        ([-1, -1], [1.0], np.zeros((1, 3)), "finite numbers"),
    ):
        with pytest.raises(FullspanError, match=words):
            LatentTrees(space, np.array(parents), np.array(shares), logits)
