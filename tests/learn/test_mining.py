"""Frequent patterns against enumeration."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fullspan.errors import TooLargeError
from fullspan.learn.truncated import frequent_patterns
from fullspan.model.algebra import Term


def by_enumeration(
    states: np.ndarray, counts: np.ndarray, cards: tuple[int, ...], least: float, order: int
) -> set[Term]:
    found = set()
    for k in range(1, order + 1):
        for variables in itertools.combinations(range(len(cards)), k):
            for levels in itertools.product(*(range(1, cards[i]) for i in variables)):
                rows = np.all(states[:, list(variables)] == levels, axis=1)
                if counts[rows].sum() >= least:
                    found.add(tuple(zip(variables, levels, strict=True)))
    return found


@pytest.mark.parametrize("cards", [(2,) * 7, (3, 2, 4, 1, 2), (2,)])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("order", [1, 2, 4])
def test_they_are_all_sets_in_enough_rows(cards: tuple[int, ...], weighted: bool, order: int) -> None:
    """A pattern is listed iff the rows that contain it weigh min_count; parts come before the whole."""
    rng = np.random.default_rng(3)
    states = np.stack([rng.integers(card, size=150) for card in cards], axis=1).astype(np.uint8)
    counts = rng.random(150) * 3 if weighted else np.ones(150)
    for least in (4.0, 17.5, 60.0):
        found = frequent_patterns(states, counts, cards, least, order)
        assert len(set(found)) == len(found)
        assert set(found) == by_enumeration(states, counts, cards, least, order)
        assert [len(term) for term in found] == sorted(len(term) for term in found)


def test_too_many_candidates_are_refused_before_they_are_made() -> None:
    with pytest.raises(TooLargeError, match=r"candidate patterns of order 2.*raise min_support"):
        frequent_patterns(np.ones((3, 400), dtype=np.uint8), np.ones(3), (2,) * 400, 1, 2, max_memory=1 << 16)


def test_groceries_up_to_order_four(shared_data: Callable[[str], Path]) -> None:
    """The counts of patterns in 1 % of 9,835 baskets that every textbook on the set has: 88, 213, 32."""
    held = np.load(shared_data("categorical/groceries_bits.npz"))
    bits = np.unpackbits(held["bits"], axis=1)[:, : int(held["n"])]
    found = frequent_patterns(bits, np.ones(len(bits)), (2,) * bits.shape[1], 0.01 * len(bits), 4)
    assert np.bincount([len(term) for term in found])[1:].tolist() == [88, 213, 32]
