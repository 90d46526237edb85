"""Counts of parts add up to those of the whole."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fullspan as fs
from fullspan.data import Empirical, count
from fullspan.errors import DataError, FullspanError


def table(seed: int = 0, n: int = 400) -> pd.DataFrame:
    """Text, whole numbers, numbers to be cut and truth values that depend on each other; some cells are missing."""
    rng = np.random.default_rng(seed)
    k = rng.integers(5, size=n)
    return pd.DataFrame(
        {
            "text": np.array(list("abcde"), dtype=object)[(k + rng.integers(2, size=n)) % 5],
            "k": k,
            "number": np.round(rng.normal(k), 2),
            "flag": pd.array(np.where(rng.random(n) < 0.05, None, rng.random(n) < 0.2 * k), dtype="boolean"),
            "w": rng.integers(4, size=n) / 2,
        }
    )


READINGS: list[dict[str, Any]] = [
    {"columns": ["text", "k"]},
    {"columns": ["text", "k", "flag"], "missing": "drop"},
    {"columns": ["flag", "text"], "missing": "level"},
    {"columns": ["k", "flag"], "missing": "em"},
    {"columns": ["k", "number"], "bins": {"number": [-2.0, 0.5, 3.0]}, "sample_weight": "w"},
    {"columns": ["text", "k"], "levels": {"text": list("edcba")}},
]


@pytest.mark.parametrize("options", READINGS, ids=lambda o: "-".join(o))
@pytest.mark.parametrize("order", ["shuffled", "sorted"])
def test_counts_of_parts_are_counts_of_the_whole(options: dict[str, Any], order: str) -> None:
    """Same variables, states and counts to the last byte, though a part of sorted rows has seen few of the levels."""
    frame = table() if order == "shuffled" else table().sort_values(["k", "text"])
    whole = count(frame, **options)
    parts = [count(frame.iloc[start : start + 57], **options) for start in range(0, 400, 57)]
    if order == "sorted" and "levels" not in options:
        assert len({part.space for part in parts}) > 1
    together = Empirical.merge(*parts)
    assert together.space == whole.space
    assert together.fingerprint() == whole.fingerprint()
    for name in ("n_rows", "n_dropped", "n_empty", "n_missing"):
        assert getattr(together, name) == getattr(whole, name)


def test_addition_has_no_order_and_travels() -> None:
    """(a + b) + c = a + (b + c) = c + b + a, also when the parts come from elsewhere."""
    frame = table().sort_values("k")
    a, b, c = (count(frame.iloc[i::3], columns=["text", "k"]) for i in range(3))
    b = pickle.loads(pickle.dumps(b))
    prints = {x.fingerprint() for x in ((a + b) + c, a + (b + c), c + b + a, Empirical.merge(a, b, c))}
    assert prints == {count(frame, columns=["text", "k"]).fingerprint()}
    turned = count(frame.iloc[1::3], columns=["k", "text"])
    assert (a + turned).space.names == ("text", "k")
    assert (a + turned).fingerprint() == (a + b).fingerprint()


def test_levels_are_numbers_of_one_kind() -> None:
    """Whole numbers in one part and halves in another are floating-point levels, as in the whole."""
    parts = [count([[0.0], [2.0]]), count([[0.5], [2.0]])]
    assert parts[0].space.variables[0].levels == (0, 2)
    assert (parts[0] + parts[1]).fingerprint() == count([[0.0], [2.0], [0.5], [2.0]]).fingerprint()


def test_what_does_not_add_up_is_refused() -> None:
    """Other variables, bins, types and orders; the message names the column and the remedy."""
    e = count([["a", 1]])
    with pytest.raises(DataError, match="different variables: 'x1' is not in both"):
        e + count([["a"]])
    with pytest.raises(DataError, match=r"other bins in another part.*bins=\{'x0': \[0\.0, 1\.0, 2\.0\]\}"):
        count([[0.3], [1.5]], bins={"x0": [0, 1, 2]}) + count([[0.3], [1.5]], bins={"x0": [0, 1, 3]})
    with pytest.raises(DataError, match=r"levels of 'x0' in different types or orders: \[1\] and \['a'\]"):
        count([[1]]) + count([["a"]])
    with pytest.raises(DataError, match="same levels="):
        count([["a"]], levels={"x0": ["b", "a"]}) + count([["a"]], levels={"x0": ["a", "b"]})
    with pytest.raises(DataError, match="no counts to add"):
        Empirical.merge()
    with pytest.raises(TypeError):
        e + 1


@pytest.mark.parametrize("settings", [{}, {"search": "paper", "basis": "walsh"}], ids=["full", "paper"])
def test_learning_from_parts_is_learning_from_the_whole(settings: dict[str, Any]) -> None:
    """partial_fit on parts has the terms, weights and measures of fit on all rows, and of the added counts."""
    frame = table().sort_values("k")
    reading: dict[str, Any] = {
        "columns": ["text", "flag", "number"],
        "bins": {"number": [-2, 0.5, 3]},
        "missing": "level",
    }
    whole = fs.FullSpan(**settings, **reading).fit(frame)
    stream = fs.FullSpan(**settings, **reading)
    parts = [frame.iloc[start : start + 150] for start in range(0, 400, 150)]
    stream.partial_fit(parts[0])
    early = stream.model_
    stream.partial_fit(parts[1], learn=False)
    assert stream.model_ is early
    stream.partial_fit(parts[2])
    counted = fs.FullSpan(**settings).partial_fit(Empirical.merge(*(count(p, **reading) for p in parts)))
    for model in (stream, counted):
        assert model.model_.weights == whole.model_.weights
        assert model.description_length_ == whole.description_length_
        assert model.fitted_.fingerprint == whole.fitted_.fingerprint
        assert model.fitted_.n_rows == 400
    assert whole.n_terms_ > 1
    assert stream.score(frame) == pytest.approx(whole.score(frame))


def test_bins_of_the_first_part_stand() -> None:
    """Quantiles are those of the first table; later ones are cut at the same edges."""
    frame = table()
    stream = fs.FullSpan(columns=["k", "number"], bins={"number": 3}).partial_fit(frame.iloc[:100])
    edges = stream.space_.variables[1].edges
    stream.partial_fit(frame.iloc[100:])
    assert stream.space_.variables[1].edges == edges
    again = fs.FullSpan(columns=["k", "number"], bins={"number": list(edges)}).fit(frame)
    assert stream.fitted_.fingerprint == again.fitted_.fingerprint


def test_fit_begins_anew_and_a_file_has_no_counts(tmp_path) -> None:
    """fit forgets what came before and partial_fit goes on from it; weights count; a model file cannot go on."""
    rows = [[0, 0], [1, 1], [0, 1]] * 20
    model = fs.FullSpan().partial_fit(rows).fit(rows[:30])
    assert model.fitted_.total == 30
    model.partial_fit(rows[30:], sample_weight=np.full(30, 2.0))
    assert model.fitted_.total == 90
    with pytest.raises(DataError, match="different variables"):
        model.partial_fit([[0]])
    assert model.fitted_.total == 90
    model.save(tmp_path / "m.fsm")
    with pytest.raises(FullspanError, match="holds no counts"):
        fs.load(tmp_path / "m.fsm").partial_fit(rows)


@pytest.mark.parametrize("error", [KeyboardInterrupt, FullspanError], ids=["interrupted", "refused"])
@pytest.mark.parametrize("stage", ["_learn", "_accept"])
def test_rows_of_a_call_that_raises_are_not_counted(
    error: type[BaseException], stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A partial_fit that raises leaves counts, model and attributes as they were: repeated, it counts its rows once."""
    rows = table()[["text", "flag"]].dropna()
    stream = fs.FullSpan().partial_fit(rows.iloc[:25])
    before = dict(vars(stream))

    def fails(*_: Any, **__: Any) -> None:
        raise error("stopped")

    with monkeypatch.context() as patch:
        patch.setattr(fs.FullSpan, stage, fails)
        with pytest.raises(error):
            stream.partial_fit(rows.iloc[25:50])
    assert vars(stream) == before
    assert stream.partial_fit(rows.iloc[25:50]).fitted_.total == 50
    assert stream.model_.weights == fs.FullSpan().fit(rows.iloc[:50]).model_.weights


def test_a_first_call_that_raises_leaves_no_counts() -> None:
    """Real refusals, without a patch: a table beyond max_memory, twice; the next call starts at 0."""
    rows = [[0, 0], [1, 1], [0, 1]] * 20
    stream = fs.FullSpan(engine="table", max_memory=1)
    for _ in range(2):
        with pytest.raises(FullspanError, match="memory"):
            stream.partial_fit(rows)
    assert stream.set_params(max_memory=None).partial_fit(rows).fitted_.total == 60


def test_weights_with_counts_are_refused() -> None:
    """Counts are weighted already; weights of 0 are refused for a table, first or later."""
    rows = [[0, 0], [1, 1], [0, 1]] * 20
    stream = fs.FullSpan().partial_fit(rows)
    for weights in (np.zeros(60), np.full(60, 2.0)):
        with pytest.raises(DataError, match="counts were given with sample_weight="):
            stream.partial_fit(count(rows), sample_weight=weights)
    for model in (stream, fs.FullSpan()):
        with pytest.raises(DataError, match="every sample weight is zero"):
            model.partial_fit(rows, sample_weight=np.zeros(60))
    assert stream.partial_fit(rows, sample_weight=np.r_[np.zeros(30), np.ones(30)]).fitted_.total == 90
