"""The lecture's baskets: the limit in closed form, and gradient ascent that arrives where the lecture did."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fullspan.papers.basket import BASKETS, PUBLISHED, PUBLISHED_WEIGHTS, Basket, ascend, baskets, run


@pytest.fixture(scope="module")
def result() -> Basket:
    return run()


def test_the_limit_is_the_markov_chain_of_the_margins(result: Basket) -> None:
    """Bread-Milk-Apple is a chain: its maximum is p(b, m) p(m, a) / p(m), with the data's margins."""
    data = np.array(BASKETS)
    for (b, m, a), p in zip(result.states, result.limit, strict=True):
        milk = data[:, 1] == m
        expected = (milk & (data[:, 0] == b)).mean() * (milk & (data[:, 2] == a)).mean() / milk.mean()
        assert p == pytest.approx(expected, abs=1e-12)
    assert result.limit.tolist() == pytest.approx([0, 0.375, 0.15, 0, 0.225, 0, 0.1, 0.15], abs=1e-12)
    assert (result.limit == 0).sum() == 3


def test_stopped_ascent_is_what_was_published(result: Basket) -> None:
    published = np.array(list(PUBLISHED.values()))
    assert np.abs(result.stopped.p - published).max() < 2e-9
    assert np.abs(result.stopped.weights - PUBLISHED_WEIGHTS).max() < 0.006
    assert 1e-5 < result.stopped.difference <= result.published_difference < 1.01e-5
    assert np.abs(result.limit - published).max() > 1e-5


def test_all_weights_diverge_and_the_limit_is_more_likely(result: Basket) -> None:
    assert result.terms == ("Bread", "Milk", "Apple", "Bread&Milk", "Milk&Apple")
    assert result.diverging == (True,) * 5
    assert result.likelihood[0] > result.likelihood[1]


def test_ascent_matches_expectations_where_the_maximum_is_finite() -> None:
    phi = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]])
    d = np.array([0.3, 0.6])
    found = ascend(phi, d, 1e-8)
    assert found.p @ phi == pytest.approx(d, abs=1e-8)
    with pytest.raises(ArithmeticError, match="after 3 steps"):
        ascend(phi, d, 1e-8, 3)


def test_data_and_text(result: Basket) -> None:
    assert baskets().total == 8
    value = json.loads(json.dumps(result.to_json()))
    assert value["rows"][1] == {
        "Bread": 1,
        "Milk": 0,
        "Apple": 0,
        "data": 0.375,
        "published": 0.3749599867,
        "limit": pytest.approx(0.375),
        "limit_as_fraction": "3/8",
        "stopped": pytest.approx(0.37496, abs=1e-7),
    }
    assert [w["diverges"] for w in value["weights"]] == [True] * 5
    text = result.to_text()
    assert "come from stopping" in text
    assert "3/20" in text
