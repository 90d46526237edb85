"""Rows are recognised again, in whole and in part, and fresh rows are not, however often they coincide by chance."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from fullspan.data import Empirical, Space, count
from fullspan.data.row_sketch import ALIKE, FEW, MAX_HASHES, UNCLEAR, RowSketch
from fullspan.datasets import house_votes_path

Codes = np.ndarray


def draw(rng: np.random.Generator, rows: int, columns: int, noise: float = 0.2) -> Codes:
    """Columns that copy one hidden column with some noise: common rows and many rare ones."""
    return (rng.integers(0, 2, (rows, 1)) ^ (rng.random((rows, columns)) < noise)).astype(np.int64)


def counted(codes: Codes) -> Empirical:
    return Empirical.from_codes(codes, space=Space.of_cards((2,) * codes.shape[1]))


def stored(codes: Codes) -> RowSketch:
    """As a file keeps it."""
    found = RowSketch.from_json(json.loads(json.dumps(RowSketch.of(counted(codes)).to_json())))
    assert found is not None
    return found


@pytest.mark.parametrize(("rows", "columns"), [(500, 10), (2000, 12), (6000, 14), (6000, 30)])
@pytest.mark.parametrize("seed", range(3))
def test_fresh_rows_are_not_called_training_rows(rows: int, columns: int, seed: int) -> None:
    """A fresh draw of the same distribution, of which up to nine tenths coincide with training rows."""
    rng = np.random.default_rng(seed)
    sketch = stored(draw(rng, rows, columns))
    for size in (rows // 4, 3 * rows):
        assert not sketch.share(counted(draw(rng, size, columns))) > 0.05


@pytest.mark.parametrize(("rows", "columns"), [(500, 10), (2000, 12), (6000, 14), (6000, 30)])
def test_a_subset_and_a_superset_are_recognised(rows: int, columns: int) -> None:
    rng = np.random.default_rng(1)
    train = draw(rng, rows, columns)
    sketch = stored(train)
    assert sketch.share(counted(train)) == 1.0
    assert sketch.share(counted(train[: rows // 2])) > 0.95
    both = np.concatenate([train, draw(rng, rows, columns)])
    assert sketch.share(counted(both)) == pytest.approx(0.5, abs=0.1)
    if rows < 6000:  # a quarter of so few rows is within the reach of chance
        return
    part = np.concatenate([train[: rows // 5], draw(rng, rows // 5 * 3, columns)])
    assert sketch.share(counted(part)) == pytest.approx(0.25, abs=0.1)


def test_other_rows_that_are_common_are_not_called_training_rows() -> None:
    """A table of only the commonest rows coincides wholly with the training rows, and carries no information."""
    rng = np.random.default_rng(2)
    sketch = stored(draw(rng, 4000, 10))
    fresh = draw(rng, 4000, 10)
    common = fresh[np.isin(fresh.sum(axis=1), (0, 1, 9, 10))]
    assert not sketch.share(counted(common)) > 0.05


def test_few_states_are_not_judged_but_the_same_table_is() -> None:
    """Eight states seen a hundred times each say nothing about single rows."""
    rng = np.random.default_rng(3)
    train = draw(rng, 800, 3)
    sketch = stored(train)
    assert math.isnan(sketch.share(counted(train[:400])))
    assert math.isnan(sketch.share(counted(draw(rng, 400, 3))))
    assert sketch.share(counted(train)) == 1.0


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_said_of_few_rows_and_of_rows_that_recur(seed: int) -> None:
    """Of ninety-six states and three hundred rows half are not found, and fresh rows neither: both are unknown."""
    rng = np.random.default_rng(seed)
    space = Space.of_cards((4, 4, 3, 2))
    p = rng.dirichlet(np.full(96, 0.3))
    codes = np.array(np.unravel_index(rng.choice(96, 450, p=p), space.cards)).T
    sketch = RowSketch.of(Empirical.from_codes(codes[:300], space=space))
    for part in (codes[:150], codes[300:]):
        share, why, *_ = sketch.judge(Empirical.from_codes(part, space=space))
        assert math.isnan(share)
        assert why == ALIKE
    wide = draw(rng, 400, 40)
    assert stored(wide).judge(counted(draw(rng, 6, 40)))[1] == FEW
    assert stored(wide).judge(counted(draw(rng, 100, 40)))[:2] == (0.0, "")


def test_the_order_of_columns_and_the_type_of_levels_do_not_matter() -> None:
    rng = np.random.default_rng(4)
    rows = draw(rng, 300, 12)
    frame = {f"c{j}": rows[:, j] for j in range(12)}
    sketch = RowSketch.of(count(frame))
    turned = {name: frame[name].astype(str) for name in reversed(frame)}
    assert sketch.share(count(turned)) == 1.0
    assert sketch.share(count({name: values[:100] for name, values in turned.items()})) == 1.0


def test_the_record_stays_small_and_damage_is_no_record() -> None:
    rng = np.random.default_rng(5)
    record = RowSketch.of(counted(draw(rng, 20_000, 40))).to_json()
    assert len(json.dumps(record)) < 10 * MAX_HASHES
    assert RowSketch.from_json({**record, "hashes": "?"}) is None
    assert RowSketch.from_json({**record, "hashes": "AAAA"}) is None
    assert RowSketch.from_json({**record, "n_once": -1}) is None
    assert RowSketch.from_json(None) is None


def test_a_table_with_some_training_rows_is_never_called_held_out() -> None:
    """A third of the votes, within all of them: hardly enough to be sure, too many for chance."""
    votes = count(house_votes_path(), missing="em")
    fresh = []
    for seed in range(5):
        rows = np.random.default_rng(seed).permutation(np.repeat(votes.states, votes.counts.astype(int), axis=0))
        learned, rest = (
            Empirical.from_codes(part, space=votes.space, allow_missing=True) for part in (rows[:145], rows[145:])
        )
        share, why, *_ = RowSketch.of(learned).judge(votes)
        assert share > 0.05 or why == UNCLEAR
        fresh.append(RowSketch.of(learned).share(rest))
    assert fresh.count(0.0) >= 4
    assert not max(fresh) > 0.05


def test_rows_with_missing_cells_were_not_learned_from_if_the_model_had_none() -> None:
    rng = np.random.default_rng(6)
    train = draw(rng, 400, 15)
    holes = train.copy()
    holes[200:, 3] = -1
    table = Empirical.from_codes(holes, space=Space.of_cards((2,) * 15), allow_missing=True)
    assert stored(train).share(table) == 0.5


def test_fractional_weights_are_recognised_as_a_whole_only() -> None:
    rng = np.random.default_rng(7)
    rows, weights = draw(rng, 300, 12), rng.random(300)
    data = Empirical.from_codes(rows, weights)
    sketch = RowSketch.of(data)
    assert sketch.share(data) == 1.0
    assert math.isnan(sketch.share(counted(rows[:100])))
