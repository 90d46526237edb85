"""Rows with missing cells, counted for maximum likelihood from what was observed."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.forms import as_counter, same, write_all
from fullspan.data import Empirical, Space, Variable, count, decode, encode
from fullspan.data.space import MISSING
from fullspan.datasets import house_votes_path
from fullspan.errors import DataError


def holes(frame: pd.DataFrame, seed: int, share: float = 0.3) -> pd.DataFrame:
    """The frame with cells missing at random, in types that have a null."""
    mask = np.random.default_rng(seed).random(frame.shape) < share
    return frame.convert_dtypes().mask(mask)


def as_rows(frame: pd.DataFrame) -> list[tuple[object, ...]]:
    plain = frame.astype(object).where(frame.notna(), None)
    return list(plain.itertuples(index=False, name=None))


def a_frame(n_rows: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "i": rng.integers(-2, 3, n_rows),
            "f": rng.choice([0.5, 1.25, -3.0], n_rows),
            "t": rng.choice(["y", "n", "it's; |a,b|"], n_rows),
            "b": rng.random(n_rows) < 0.3,
        }
    )


def test_every_form_gives_the_same_incomplete_counts(tmp_path):
    """Format is not content, and a missing cell is the same in all of them."""
    frame = holes(a_frame(), seed=2, share=0.45)
    truth = Counter(row for row in as_rows(frame) if set(row) != {None})
    found = {name: count(source, missing="em") for name, source in write_all(frame, tmp_path).items()}
    for name, e in found.items():
        assert as_counter(e) == truth, name
        assert same(e, found["pandas"]), name
    e = found["pandas"]
    assert e.n_missing > 20
    assert e.n_rows == 60
    assert e.n_empty == 60 - truth.total() > 0
    assert e.states.dtype == np.int8


def test_arrays_rows_and_ibis_tables_give_the_same_too():
    codes = np.array([[0, 1, 2], [-1, 1, 0], [0, -1, -1], [-1, 1, 0], [-1, -1, -1], [1, 0, 1]])
    truth = Empirical.from_codes(codes, allow_missing=True)
    assert (truth.n_rows, truth.n_empty, truth.n_missing) == (6, 1, 4)
    floats = np.where(codes < 0, np.nan, codes)
    rows = [[None if c < 0 else int(c) for c in row] for row in codes]
    sources = {
        "floats": floats,
        "objects": np.array(rows, dtype=object),
        "lists": rows,
        "tuples": [tuple(row) for row in rows],
        "pandas": pd.DataFrame(floats, columns=["x0", "x1", "x2"]),
        "polars with NaN": pl.DataFrame(floats, schema=["x0", "x1", "x2"]),
        "polars with null": pl.DataFrame(rows, schema=["x0", "x1", "x2"], orient="row"),
    }
    for name, source in sources.items():
        assert same(count(source, missing="em"), truth), name
    ibis = pytest.importorskip("ibis")
    table = pa.table({f"x{j}": [row[j] for row in rows] for j in range(3)})
    assert same(count(ibis.memtable(table), missing="em"), truth)


def test_complete_tables_are_counted_as_before():
    """Under every choice a complete table has the same states, types and fingerprint."""
    frame = a_frame()
    for options in ({}, {"bins": {"i": 2}}, {"sample_weight": np.arange(60) / 7}, {"levels": {"t": ["n", "y", "z"]}}):
        source = frame.replace({"t": {"it's; |a,b|": "z"}}) if "levels" in options else frame
        found = [count(source, missing=missing, **options) for missing in ("error", "drop", "level", "em")]
        for e in found:
            assert same(e, found[0])
            np.testing.assert_array_equal(e.states, found[0].states)
            assert e.is_complete
            assert (e.n_missing, e.n_empty, e.states.dtype) == (0, 0, np.uint8)


cells = st.one_of(st.none(), st.integers(0, 3))


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(cells, min_size=n, max_size=n), min_size=1, max_size=25)))
def test_dropping_incomplete_patterns_is_drop(rows):
    """The complete part of an "em" count is the "drop" count, and all of it is a Counter over the rows."""
    known = [any(row[j] is not None for row in rows) for j in range(len(rows[0]))]
    if not all(known):
        with pytest.raises(DataError, match="all rows are missing" if not any(known) else "levels are not known"):
            count(rows, missing="em")
        return
    e = count(rows, missing="em")
    assert as_counter(e) == Counter(tuple(row) for row in rows if set(row) != {None})
    assert e.n_missing == sum(row.count(None) for row in rows if set(row) != {None})
    assert e.n_empty == sum(set(row) == {None} for row in rows)
    assert e.total + e.n_empty == e.n_rows == len(rows)
    assert e.is_complete == (e.n_missing == 0)
    complete = (e.states >= 0).all(axis=1)
    if not complete.any():
        with pytest.raises(DataError, match="every one"):
            count(rows, missing="drop")
        return
    dropped = count(rows, missing="drop")
    assert Empirical.from_codes(e.states[complete], e.counts[complete], e.space).fingerprint() == dropped.fingerprint()
    assert e.counts[~complete].sum() + e.n_empty == dropped.n_dropped


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 60), st.integers(0, 2**32 - 1), st.sampled_from([1, 3, 12, 39, 40, 90]))
def test_incomplete_states_are_sorted_and_distinct(m, seed, n):
    """States increase with the last variable most significant and -1 first: densely, by one word, and by several."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(-1, 2, size=(m, n))[rng.integers(0, m, size=m)]
    w = rng.random(m) + 0.1
    space = Space.of_cards([2] * n)
    observed = (codes >= 0).any(axis=1)
    if not observed.any():
        return
    e = Empirical.from_codes(codes, w, space, allow_missing=True)
    order = [tuple(row[::-1]) for row in e.states.tolist()]
    assert order == sorted(set(order))
    truth: dict[tuple[int, ...], float] = {}
    for row, weight in zip(codes[observed].tolist(), w[observed], strict=True):
        truth[tuple(row)] = truth.get(tuple(row), 0.0) + weight
    assert dict(zip(map(tuple, e.states.tolist()), e.counts, strict=True)) == pytest.approx(truth)


def test_types_hold_every_code():
    """128 levels fit 8 signed bits, 129 do not; a complete table stays unsigned."""
    for card, dtype in [(128, np.int8), (129, np.int16), (2**15, np.int16), (2**15 + 1, np.int32)]:
        e = Empirical.from_codes([[card - 1, 0], [-1, 0]], space=Space.of_cards([card, 1]), allow_missing=True)
        assert e.states.dtype == dtype
        assert e.states.tolist() == [[-1, 0], [card - 1, 0]]
    assert Empirical.from_codes([[0], [1]], allow_missing=True).states.dtype == np.uint8


def test_a_missing_cell_is_no_level(csv_file):
    """The fingerprint tells a missing cell from every level; a level "(missing)" of a given space takes the cells."""
    space = Space.of_cards([3, 2])
    seen = {Empirical.from_codes([[c, 1]], space=space, allow_missing=True).fingerprint() for c in (-1, 0, 1, 2)}
    assert len(seen) == 4
    with_level = Space((Variable("a", (0, 1, MISSING)), Variable("b", (0, 1))))
    e = count(csv_file("a,b\n1,0\n?,0\n?,\n"), space=with_level, missing="em")
    assert as_counter(e) == {(1, 0): 1, (MISSING, 0): 1, (MISSING, None): 1}


def test_weights_count_columns_bins_and_levels(csv_file):
    """Counts and weights are summed per pattern; missing cells are counted by row of the table."""
    path = csv_file("a,x,n\nu,1,3\n?,1,2\nu,,0\nNA,5,0.5\n,1,1.5\nNA,?,7\nv,9,0\n")
    e = count(path, missing="em", count_column="n", bins={"x": [0, 2, 9]}, levels={"a": ["v", "u", "w"]})
    assert as_counter(e) == {("u", "[0, 2)"): 3, (None, "[0, 2)"): 3.5, (None, "[2, 9]"): 0.5}
    assert e.space.variables[0].levels == ("v", "u", "w")
    assert (e.n_rows, e.n_empty, e.n_missing, e.total) == (7, 1, 3, 7.0)
    weighted = count([[0, None], [0, 1], [0, None]], missing="em", sample_weight=[0.25, 1, 2])
    assert as_counter(weighted) == {(0, None): 2.25, (0, 1): 1}
    only_declares = count([[0, None], [0, 1]], missing="em", sample_weight=[0, 2])
    assert only_declares.is_complete
    assert (only_declares.n_missing, only_declares.states.dtype) == (0, np.uint8)


def test_empty_rows_and_empty_columns():
    """A row without a cell is left out; a column without one needs its levels, and is then a hidden variable."""
    frame = pd.DataFrame({"a": [0, 1, None], "h": [None, None, None]})
    with pytest.raises(DataError, match=r"no cell of 'h' is observed in 3 rows.* levels= .*hidden variable.* columns="):
        count(frame, missing="em")
    hidden = count(frame, missing="em", levels={"h": ["lo", "hi"]})
    observed = count(frame, missing="em", columns=["a"])
    assert (observed.n_rows, observed.n_empty, observed.is_complete, observed.total) == (3, 1, True, 2.0)
    assert hidden.fingerprint() == observed.with_hidden([Variable("h", ("lo", "hi"))]).fingerprint()
    declared = frame.assign(h=pd.Categorical([None] * 3, categories=["lo", "hi"]))
    assert same(count(declared, missing="em"), hidden)
    binned = count(frame.astype(float), missing="em", bins={"h": [0, 1, 2]})
    assert binned.space.cards == (2, 2)
    space = Space((Variable("a", (0, 1)), Variable("h", (0, 1))))
    for options in ({"space": space}, {"levels": {"a": [0, 1]}}, {}):
        with pytest.raises(DataError, match="all rows are missing: not one of the 2 rows"):
            count(pd.DataFrame({"a": [None] * 2, "h": [None] * 2}), missing="em", **options)
    with pytest.raises(DataError, match="sum to 0"):
        count(frame, missing="em", columns=["a"], sample_weight=[0, 0, 1])


@pytest.mark.parametrize(
    ("codes", "options", "words"),
    [
        ([[-1, 0]], {}, ["code -1", "'x0'", "allow_missing=True"]),
        ([[0, -2]], {"allow_missing": True}, ["code -2", "0 to 0", "-1 for a missing cell"]),
        ([[0, -1], [1, -1]], {"allow_missing": True}, ["'x1'", "2 rows", "space="]),
        ([[-1, -1]], {"allow_missing": True}, ["all rows are missing"]),
        ([[-1, -1]], {"allow_missing": True, "space": Space.of_cards([2, 2])}, ["all rows are missing"]),
        ([[0, 1], [-1, -1]], {"allow_missing": True, "weights": [0, 1]}, ["sum to 0"]),
    ],
)
def test_from_codes_errors(codes, options, words):
    with pytest.raises(DataError) as error:
        Empirical.from_codes(codes, **options)
    assert all(word in str(error.value) for word in words), error.value


def test_codes_of_the_largest_unsigned_number():
    """255 in 8 bits is a level like any other."""
    assert Empirical.from_codes(np.array([[255], [0]], dtype=np.uint8)).space.cards == (256,)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 50), st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 7, 64, 65, 130]))
def test_patterns_partition_the_rows(m, seed, n):
    """Each state is in the one pattern of its missing cells, in order, with its count; complete states come first."""
    rng = np.random.default_rng(seed)
    masks = rng.random((3, n)) < 0.4
    codes = np.where(masks[rng.integers(0, 3, size=m)], -1, rng.integers(0, 3, size=(m, n)))
    if not (codes >= 0).any():
        return
    e = Empirical.from_codes(codes, rng.random(m) + 0.1, Space.of_cards([3] * n), allow_missing=True)
    patterns = list(e.patterns())
    assert len({p.missing for p in patterns}) == len(patterns)
    keys = [sum(2**i for i in p.missing) for p in patterns]
    assert keys == sorted(keys)
    for p in patterns:
        assert sorted(p.missing + p.observed) == list(range(n))
        chosen = np.flatnonzero([np.flatnonzero(s < 0).tolist() == list(p.missing) for s in e.states])
        np.testing.assert_array_equal(p.states, e.states[chosen])
        np.testing.assert_array_equal(p.counts, e.counts[chosen])
    assert sum(len(p.counts) for p in patterns) == len(e.counts)


def test_complete_data_are_one_pattern():
    e = Empirical.from_codes([[0, 1], [1, 0], [1, 0]])
    (only,) = e.patterns()
    assert only.missing == ()
    assert only.observed == (0, 1)
    np.testing.assert_array_equal(only.states, e.states)


def test_patterns_of_many_rows():
    """100,000 rows of 20 variables, 10 % missing: as many rows in each of thousands of patterns as a Counter finds."""
    rng = np.random.default_rng(5)
    codes = np.where(rng.random((100_000, 20)) < 0.1, -1, rng.integers(0, 4, size=(100_000, 20)))
    e = Empirical.from_codes(codes, allow_missing=True)
    truth = Counter(tuple(np.flatnonzero(row).tolist()) for row in codes < 0)
    assert len(truth) > 1000
    assert {p.missing: p.counts.sum() for p in e.patterns()} == truth


def test_with_hidden_appends_variables_never_observed():
    """The same rows and counts over a larger space; no cell of the new variables is observed, types grow as needed."""
    e = count([[0, 1], [None, 1], [1, 0]], missing="em")
    hidden = [Variable("h", ("lo", "hi")), Variable("g", tuple(range(200)))]
    larger = e.with_hidden(hidden)
    assert larger.space.names == ("x0", "x1", "h", "g")
    assert larger.states.dtype == np.int16
    np.testing.assert_array_equal(larger.states[:, :2], e.states)
    assert (larger.states[:, 2:] == -1).all()
    np.testing.assert_array_equal(larger.counts, e.counts)
    assert (larger.n_rows, larger.n_missing) == (3, 1)
    again = Empirical.from_codes(larger.states, larger.counts, larger.space, allow_missing=True)
    np.testing.assert_array_equal(again.states, larger.states)  # it is sorted as it stands
    assert {p.missing for p in larger.patterns()} == {(2, 3), (0, 2, 3)}
    complete = count([[0, 1], [1, 1]])
    assert complete.is_complete
    assert not complete.with_hidden(hidden[:1]).is_complete
    assert complete.with_hidden([]) is complete
    with pytest.raises(ValueError, match="read-only"):
        larger.states[0, 0] = 1


def test_hidden_names_are_new():
    e = count([[0, 1], [1, 1]])
    with pytest.raises(DataError, match="hidden variable 'x1' has the name of an observed one"):
        e.with_hidden([Variable("x1", (0, 1))])
    with pytest.raises(DataError, match="two variables are named 'h'"):
        e.with_hidden([Variable("h", (0, 1)), Variable("h", (0, 1))])


def test_decode_and_encode_keep_missing_cells():
    """States with -1 go to a frame and back."""
    e = count(holes(a_frame(), seed=4), missing="em")
    for like in (pd.DataFrame(), pl.DataFrame(), None, np.zeros((1, 1))):
        frame = decode(e.states, e.space, like=like)
        np.testing.assert_array_equal(encode(frame, e.space, allow_missing=True), e.states)


def test_votes_keep_every_row():
    """house-votes-84: 435 rows with 392 missing cells; 232 of them are complete."""
    e = count(house_votes_path(), missing="em")
    assert (e.n_rows, e.n_missing, e.n_empty, e.n_dropped, e.total) == (435, 392, 0, 0, 435.0)
    complete, *others = e.patterns()
    assert complete.missing == ()
    assert complete.counts.sum() == 232
    assert sum((p.counts.sum() * len(p.missing)) for p in others) == 392
    assert e.space == count(house_votes_path(), missing="drop").space


def test_published_tables_with_missing_cells(shared_data):
    """Tables of R's package cat: number of missing cells, weight of the rows, and of the empty ones."""
    tables = json.loads(shared_data("missing/reference.json").read_text())
    assert tables
    for name, table in tables.items():
        rows, w = table["rows"], np.array(table["weights"], dtype=float)
        levels = {f"x{j}": list(range(1, d + 1)) for j, d in enumerate(table["dims"])}
        e = count(rows, missing="em", sample_weight=w, levels=levels)
        empty = np.array([all(c is None for c in row) for row in rows])
        n_missing = e.counts @ (e.states < 0).sum(axis=1) + w[empty].sum() * len(levels)
        assert n_missing == table["n_missing_cells"], name
        assert e.total + w[empty].sum() == table["N"], name
        assert e.n_empty == empty.sum()


def test_coded_tables_with_missing_cells(shared_data):
    """Real tables with 255 for a missing cell: from codes and from floating-point arrays the same."""
    for name in ("housevotes84", "income_esl", "mushroom"):
        with np.load(shared_data(f"categorical/{name}.npz")) as file:
            codes = next(array for array in file.values() if array.ndim == 2)
        signed = np.where(codes == 255, -1, codes.astype(np.int64))
        e = Empirical.from_codes(signed, allow_missing=True)
        assert e.n_missing == (codes == 255).sum() > 0
        levels = {f"x{j}": list(range(card)) for j, card in enumerate(e.space.cards)}
        assert same(count(np.where(signed < 0, np.nan, signed), missing="em", levels=levels), e)


def test_the_text_of_the_missing_level_is_not_merged_with_missing_cells():
    with pytest.raises(DataError, match="column 'a' holds the text '\\(missing\\)' and missing cells"):
        count({"a": ["x", "(missing)", None]}, missing="level")
    merged = count({"a": ["x", "(missing)", None]}, missing="level", na_values=["(missing)"])
    assert merged.space.variables[0].levels == ("x", "(missing)")
    assert merged.counts.tolist() == [1.0, 2.0]
