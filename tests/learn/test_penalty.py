"""What terms cost, by hand."""

from __future__ import annotations

from math import inf, log

import numpy as np
import pytest

from fullspan.errors import FullspanError
from fullspan.learn.search import prices

CARDS, N = (2, 3, 5, 2), 250.0
TERM = ((1, 2), (2, 4))
WEIGHT = log(N) / 2


@pytest.mark.parametrize(
    ("penalty", "nats"),
    [
        ("mdl", WEIGHT + log(4 * 2) + log(4 * 4)),
        ("combinatorial", WEIGHT + log(4) + log(6) + log(2) + log(4)),
        ("bic", WEIGHT),
        (2.5, 2.5 * (WEIGHT + log(4 * 2) + log(4 * 4))),
        (0, 0.0),
    ],
)
def test_prices_by_hand(penalty: str | float, nats: float) -> None:
    """r_y of eq. 2.5 and its relatives, in nats per row."""
    assert prices(CARDS, N, penalty)(TERM) == pytest.approx(nats / N)


def test_the_part_for_the_weight_is_known() -> None:
    assert prices(CARDS, N).weight == pytest.approx(WEIGHT / N)
    assert prices(CARDS, N, 3.0).weight == pytest.approx(3 * WEIGHT / N)


def test_the_constant_is_free_and_one_level_names_nothing() -> None:
    assert prices(CARDS, N)(()) == 0
    assert np.isfinite(prices((1, 2), N).by_variable).all()


def test_high_orders_are_not_for_sale() -> None:
    limited = prices(CARDS, N, max_order=1)
    assert limited(((0, 1),)) == prices(CARDS, N)(((0, 1),))
    assert limited(TERM) == inf


@pytest.mark.parametrize("penalty", [-1.0, inf, float("nan")])
def test_bad_factors_are_refused(penalty: float) -> None:
    with pytest.raises(FullspanError, match="a factor must be a finite number of at least 0"):
        prices(CARDS, N, penalty)


@pytest.mark.parametrize("penalty", ["aic", True])
def test_unknown_penalties_are_refused(penalty: str) -> None:
    with pytest.raises(FullspanError, match="is unknown; choose mdl, combinatorial, bic or a factor"):
        prices(CARDS, N, penalty)
