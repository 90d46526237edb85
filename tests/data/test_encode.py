"""Rows to codes and back."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullspan.data import Space, Variable, count, decode, decode_columns, encode
from fullspan.data.space import MISSING
from fullspan.data.tables import binned_variable
from fullspan.errors import DataError

SPACE = Space(
    (
        Variable("i", (-1, 0, 2)),
        Variable("f", (0.5, 1.25)),
        Variable("t", ("007", "b", "it's")),
        Variable("b", (False, True)),
        binned_variable("x", [0, 1.5, 2, 9]),
        Variable("m", (1, 2, MISSING)),
    )
)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 30), st.integers(0, 2**32 - 1), st.sampled_from(["pandas", "polars", "arrow", "array", "dict"]))
def test_encode_inverts_decode(n_rows, seed, kind):
    """encode(decode(codes)) = codes, for every kind of frame."""
    codes = np.random.default_rng(seed).integers(0, SPACE.cards, size=(n_rows, len(SPACE)))
    likes = {"pandas": pd.DataFrame(), "polars": pl.DataFrame(), "arrow": None, "array": np.zeros((1, 1))}
    frame = decode_columns(codes, SPACE) if kind == "dict" else decode(codes, SPACE, like=likes[kind])
    assert encode(_untyped(frame), SPACE).tolist() == codes.tolist()


def _untyped(frame):
    """Columns that mix numbers and "(missing)" as text: a typed table cannot hold both."""
    if isinstance(frame, dict):
        return {k: [str(x) for x in v] if k == "m" else v for k, v in frame.items()}
    if isinstance(frame, pd.DataFrame):
        return frame.assign(m=frame["m"].map(str))
    if isinstance(frame, np.ndarray):
        frame = frame.copy()
        frame[:, 5] = [str(x) for x in frame[:, 5]]
    return frame


def test_encode_reads_a_csv_written_from_decoded_codes(tmp_path):
    codes = np.random.default_rng(5).integers(0, SPACE.cards, size=(50, len(SPACE)))
    decode(codes, SPACE, like=pd.DataFrame()).to_csv(tmp_path / "t.csv", index=False)
    assert encode(tmp_path / "t.csv", SPACE).tolist() == codes.tolist()


def test_row_order_is_kept_over_many_batches(tmp_path):
    codes = np.random.default_rng(2).integers(0, 3, size=(600_000, 2))
    table = pa.table({"x0": codes[:, 0], "x1": codes[:, 1]})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=10_000)
    space = Space.of_cards([3, 3])
    np.testing.assert_array_equal(encode(tmp_path / "t.parquet", space), codes)
    np.testing.assert_array_equal(encode(codes, space), codes)


def test_dictionaries_and_absent_columns():
    space = Space((Variable("a", (0, 1)), Variable("b", ("n", "y"))))
    assert encode({"b": "y", "a": 1, "other": [3][0]}, space).tolist() == [[1, 1]]
    assert encode([{"b": "y"}, {"a": 0}], space, allow_missing=True).tolist() == [[-1, 1], [0, -1]]
    with pytest.raises(DataError, match="none of the model's columns: a, b; its columns are: z"):
        encode({"z": 3}, space, allow_missing=True)
    assert encode(pd.DataFrame({"a": [1], "b": ["y"]}), space, allow_missing=True, columns=["b"]).tolist() == [[-1, 1]]
    assert encode(np.array([["y"]]), space, allow_missing=True, columns=["b"]).tolist() == [[-1, 1]]
    assert encode(pd.DataFrame({"a": [1, None], "b": ["y", "n"]}), space, allow_missing=True).tolist() == [
        [1, 1],
        [-1, 0],
    ]


def test_a_known_level_is_never_missing(csv_file):
    space = Space((Variable("a", ("?", "x")), Variable("b", (0, 1))))
    assert encode(csv_file("a,b\n?,0\nx,?\n"), space, allow_missing=True).tolist() == [[0, 0], [1, -1]]


def test_levels_match_by_text_and_by_number():
    space = Space((Variable("a", (1, 2)), Variable("b", ("1", "2"))))
    assert encode([{"a": "1", "b": 2}], space).tolist() == [[0, 1]]
    assert encode([{"a": 2.0, "b": 1.0}], space).tolist() == [[1, 0]]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (pd.DataFrame({"a": [0, 1, 7, 7], "b": ["n"] * 4}), ["'a'", "7", "row 3", "0, 1"]),
        (pd.DataFrame({"a": [0, None], "b": ["n", "n"]}), ["'a'", "missing", "row 2"]),
        (pd.DataFrame({"a": [0]}), ["no column 'b'"]),
        (np.zeros((2, 3)), ["3 columns", "2 variables"]),
        (pd.DataFrame({"a": [[0]], "b": ["n"]}), ["'a'", "nested"]),
        ([], ["no rows"]),
    ],
)
def test_encode_errors_say_where(source, words):
    space = Space((Variable("a", (0, 1)), Variable("b", ("n", "y"))))
    with pytest.raises(DataError) as error:
        encode(source, space)
    assert all(word in str(error.value) for word in words), error.value


def test_encode_columns_errors():
    space = Space.of_cards([2, 2])
    with pytest.raises(DataError, match="not a variable"):
        encode(np.zeros((1, 1)), space, columns=["q"], allow_missing=True)
    with pytest.raises(DataError, match=r"1 columns and columns= names 2"):
        encode(np.zeros((1, 1)), space, columns=["x0", "x1"], allow_missing=True)


def test_decode_dtypes_and_missing_codes():
    columns = decode_columns(np.array([[0, 1, 0, 1, 0, 0], [-1, -1, -1, -1, -1, -1]]), SPACE)
    assert [c.dtype.kind for c in columns.values()] == ["f", "f", "O", "O", "O", "O"]
    assert np.isnan(columns["i"][1])
    assert columns["t"].tolist() == ["007", None]
    whole = decode_columns(np.zeros((1, 6), int), SPACE)
    assert [c.dtype.kind for c in whole.values()] == ["i", "f", "O", "b", "O", "O"]
    big = Space((Variable("a", (1, 2**70)),))
    assert decode_columns(np.array([[1]]), big)["a"].tolist() == [2**70]


def test_decode_keeps_the_kind_and_the_index():
    like = pd.DataFrame({"q": [1, 2]}, index=["r", "s"])
    space = Space.of_cards([2, 3])
    codes = np.array([[0, 2], [1, 1]])
    assert decode(codes, space, like=like).index.tolist() == ["r", "s"]
    assert decode(codes[:1], space, like=like).index.tolist() == [0]
    assert isinstance(decode(codes, space, like=pl.DataFrame()), pl.DataFrame)
    assert isinstance(decode(codes, space), pa.Table)
    assert decode(codes, space, like=codes).tolist() == codes.tolist()
    assert count(decode(codes, space)).total == 2


@pytest.mark.parametrize(("codes", "words"), [(np.zeros((1, 3), int), "(1, 3)"), (np.array([[0, 0], [0, 3]]), "row 2")])
def test_decode_errors(codes, words):
    with pytest.raises(DataError) as error:
        decode(codes, Space.of_cards([2, 3]))
    assert words in str(error.value)
