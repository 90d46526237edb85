"""Tokens give back every cell, whatever the batches."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from fullspan.data.relations import read_tokens

cells = st.one_of(
    st.lists(st.lists(st.sampled_from([5, 6]), min_size=1, max_size=6), min_size=1, max_size=4),
    st.lists(st.lists(st.sampled_from([-1, 0, 1, 7, None]), min_size=1, max_size=6), min_size=1, max_size=4),
    st.lists(st.lists(st.integers(0, 300), min_size=1, max_size=200), min_size=1, max_size=3),
)


@settings(max_examples=60, deadline=None)
@given(cells)
def test_values_at_codes_are_the_cells(batches):
    """values[codes] is the column, over batches that differ in range, size and nulls; values are distinct."""
    tables = [pa.record_batch({"k0": pa.array(b, pa.int64()), "n": pa.array([1] * len(b))}) for b in batches]
    tokens = read_tokens(iter(tables), 1)
    flat = [cell for batch in batches for cell in batch]
    assert [tokens.values[0][c] for c in tokens.codes[0]] == flat
    assert set(tokens.values[0]) == set(flat)
    assert len(tokens.values[0]) == len(set(flat))
    assert tokens.measures["n"].sum() == len(flat)
    assert tokens.complete


def test_text_booleans_dictionaries_and_nan():
    for column in (
        pa.array(["b", None, "a", "b"]),
        pa.array([True, None, False, True]),
        pa.array(["b", None, "a", "b"]).dictionary_encode(),
    ):
        tokens = read_tokens([pa.record_batch({"k0": column})], 1)
        assert [tokens.values[0][c] for c in tokens.codes[0]] == column.to_pylist()
    tokens = read_tokens([pa.record_batch({"k0": pa.array([1.5, float("nan"), None, 1.5])})], 1)
    assert [tokens.values[0][c] for c in tokens.codes[0]] == [1.5, None, None, 1.5]
