"""The figures of the truncated machine in small: the laws of what they measure, and what they write."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from fullspan.errors import FullspanError
from fullspan.papers import experiment, tbm_fig2, tbm_spikes
from fullspan.papers.machine_methods import METHODS
from fullspan.papers.samples import Labelled, read
from fullspan.papers.tbm_fig1 import Cell, Figure1, cells_of, features_by_all, neighbours_accuracy, pair_counts


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Digits and spikes that are neither: ten and seven kinds of random bits, in the files' format."""
    rng = np.random.default_rng(0)
    chance = np.repeat(0.05 + 0.4 * (rng.random((10, 784)) < 0.2), 110, axis=0)
    pixels = rng.random(chance.shape) < chance
    np.savez(tmp_path / "mnist10k_bin.npz", bits_gt0=np.packbits(pixels, axis=1), labels=np.repeat(np.arange(10), 110))
    words = rng.random((300, 50)) < 0.1 + 0.5 * rng.random(50)
    np.savez(tmp_path / "spikes50.npz", bits=np.packbits(words, axis=1))
    return tmp_path


def test_the_accuracy_is_that_of_leave_one_out() -> None:
    rng = np.random.default_rng(1)
    labels = np.repeat(np.arange(3), 15)
    features = rng.normal(size=(45, 2)) + labels[:, None]
    expected = cross_val_score(KNeighborsClassifier(10), features, labels, cv=LeaveOneOut()).mean()
    assert np.isclose(neighbours_accuracy(features, labels), expected)


def test_every_method_learns_the_same_machine_where_all_can() -> None:
    """Many rows of few variables: the descent and the truncated machine agree; the exact one has other states."""
    rng = np.random.default_rng(2)
    rows = (rng.random((100, 3)) < 0.4).astype(np.uint8)
    terms = tuple(((i, 1),) for i in range(3))
    theta = [method.timed(rows, terms, 20_000)[0] for method in METHODS[:3]]
    assert np.allclose(theta[0], theta[1], atol=1e-5)
    odds = np.log(rows.mean(axis=0) / (1 - rows.mean(axis=0)))
    assert np.allclose(theta[2], odds, atol=0.01)


def test_figure_1_in_small(folder: Path) -> None:
    """The machines of samples separate classes that differ."""
    found = experiment("tbm-fig1").run(data=folder, runs=11, rivals=2, weights=100, iterations=20)
    value = found.to_json()
    with_biases = [c for c in value["cells"] if c["data"] == "digits" and c["method"] == "truncated" and c["biases"]]
    assert [c["pairs"] for c in with_biases] == [10, 100]
    assert min(c["accuracy"] for c in with_biases) > 0.9
    rivals = {m.name for m in METHODS if not m.name.startswith("exact")}  # 25 cells have too many states to sum
    assert {c["method"] for c in value["cells"] if c["data"] == "spikes"} == rivals
    assert {c["pairs"] for c in value["cells"] if c["data"] == "spikes"} == {10, 100}
    assert {c["samples"] for c in value["cells"] if c["method"] == "restricted, PCD"} == {2 * 10, 2 * 7}
    without = [c for c in value["cells"] if c["method"] == "fully visible, PCD" and not c["biases"]]
    assert {c["samples"] for c in without} == {10, 7}  # a quarter of the rivals, at least one of each class
    assert all(c["accuracy"] is None for c in value["cells"] if c["method"] != "truncated")
    assert [c["samples"] for c in value["cells"] if "full matrix" in c["method"]] == [1] * 4
    assert sum(len(ax.containers) for ax in found.figures()["tbm-fig1"].axes) == 2 * (8 + 2)
    assert len(found.files()["tbm-fig1.csv"].splitlines()) == 1 + len(value["cells"])
    assert "near 1 above 100 weights" in found.to_text()


def test_processes_share_the_samples(folder: Path) -> None:
    """Features do not depend on who learned them, and come back in the order of the samples."""
    rng = np.random.default_rng(3)
    few = Labelled("digits", read("digits", folder).classes[:2])
    samples = list(few.samples(3, rng))
    terms = (*(((i, 1),) for i in range(784)), ((0, 1), (5, 1)))
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        for method in METHODS[3:5]:
            here = features_by_all([], method, samples, terms, 20)[0]
            there, seconds = features_by_all([pool, pool], method, samples, terms, 20)
            assert np.array_equal(here, there)
            assert (seconds > 0).all()


def test_what_is_done_is_kept_when_it_is_stopped(folder: Path) -> None:
    """Ctrl-C after two rows gives a figure of two rows; before the first there is nothing to keep."""
    for rows in (2, 0):
        said = list[str]()

        def say(text: str, said: list[str] = said, rows: int = rows) -> None:
            said.append(text)
            if len(said) == rows + 1:
                raise KeyboardInterrupt

        if not rows:
            with pytest.raises(KeyboardInterrupt):
                experiment("tbm-fig1").run(say, data=folder, runs=1, rivals=1, weights=10, iterations=5)
            continue
        found = experiment("tbm-fig1").run(say, data=folder, runs=1, rivals=1, weights=10, iterations=5)
        assert len(found.to_json()["cells"]) == rows
        assert found.figures()["tbm-fig1"].axes
        assert "stopped after 2 rows" in said[-1]


def test_what_a_rival_takes_is_compared_with_ours() -> None:
    """``times`` is the ratio of mean times, at the same weights."""
    cells = (
        Cell("digits", "truncated", True, 10, np.array([1.0, 3.0]), 0.9),
        Cell("digits", "truncated", False, 10, np.array([8.0]), 0.9),
        Cell("digits", "fully visible, PCD", True, 10, np.array([50.0]), math.nan),
    )
    figure = Figure1(50, 10, cells)
    assert figure.times(cells[2]) == 25.0
    assert "25.0         -" in figure.to_text()
    assert "0.9" in figure.files()["tbm-fig1.csv"]


def test_figure_2_in_small() -> None:
    """The variance is |B|/2N to a factor, over four orders of N."""
    found = tbm_fig2.run(runs=10, variables=20)
    assert len(found.trials) == 7
    for t in found.trials:
        assert t.found.n_infinite == 0
        assert 0.6 < t.found.variance / t.found.bound < 1.6
    assert found.trials[0].found.n_terms == 50
    assert len(found.files()["tbm-fig2.csv"].splitlines()) == 8
    figure = found.figures()["tbm-fig2"]
    assert [len(ax.containers) for ax in figure.axes] == [2, 2]
    assert {text.get_text() for text in figure.legends[0].texts} == {"variance, s.d.", "|B|/2N"}
    assert all((ax.get_xscale(), ax.get_yscale()) == ("log", "log") for ax in figure.axes)
    assert "ratio" in found.to_text()


def test_figure_3_in_small(folder: Path) -> None:
    found = experiment("tbm-fig3").run(data=folder, runs=4)
    files = found.files()
    axes = found.figures()["tbm-fig3"].axes
    assert sum(len(line.get_xdata()) for ax in axes for line in ax.lines) == 2 * 4 * 17
    assert len(files["tbm-fig3.csv"].splitlines()) == 1 + 2 * 4 * 17
    assert files["tbm-fig3.csv"].splitlines()[1].startswith("digits,with,0,")
    assert [p["pairs"] for p in found.to_json()["pictures"]] == [1000, 1000, 100, 100]
    assert "clearly separated" in found.to_text()


def test_counts_of_pairs_stop_at_all_of_them() -> None:
    assert pair_counts(784, 100_000) == [10, 100, 1000, 10_000, 100_000]
    assert pair_counts(25, 100_000) == [10, 100, 300]
    assert pair_counts(25, 100) == [10, 100]
    assert pair_counts(4, 100) == [6]


def test_a_file_without_the_arrays_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "spikes50.npz", other=np.zeros(3))
    with pytest.raises(FullspanError, match="does not hold bits"):
        read("spikes", tmp_path)


def test_digits_are_told_apart(shared_data: Callable[[str], Path]) -> None:
    """Published: accuracy near 1. Twelve samples of three digits, biases and 100 pairs."""
    digits = read("digits", shared_data("mnist"))
    few = Labelled("digits", digits.classes[:3])
    rng = np.random.default_rng(0)
    cells = list(cells_of(few, 12, 1, 100, 10, rng, [], lambda text: None))
    chosen = [c for c in cells if c.method == "truncated" and c.biases and c.pairs == 100]
    assert chosen[0].accuracy > 0.9


def test_spikes_in_small(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rates of cells tell populations apart, and a penalty keeps all fits finite."""
    monkeypatch.setattr(tbm_spikes, "SETTINGS", ((100, 0.0), (100, 0.1)))
    monkeypatch.setattr(tbm_spikes, "CELLS", (7,))
    found = experiment("tbm-spikes").run(data=folder, runs=11)
    value = found.to_json()["settings"]
    assert [(s["biases"], s["rows"], s["l2"]) for s in value] == [
        (biases, 100, l2) for biases in (False, True) for l2 in (0.0, 0.1)
    ]
    assert min(s["rates"] for s in value) > 0.95
    assert all(s["at_infinity"] == 0.0 for s in value if s["l2"])
    assert "by rates" in found.to_text()


def test_the_spread_of_rare_cells_is_that_within_classes() -> None:
    """Two classes far apart: only differences inside a class count, and only those of cells that seldom fire."""
    found = np.array([[0.0, 1.0], [2.0, 4.0], [90.0, 1.0], [90.0, 1.0]])
    rates = np.array([[0.01, 0.5]] * 4)
    share = tbm_spikes.spread_of_rare(found, rates, np.array([0, 0, 1, 1]), 100)
    assert np.isclose(share, 1.0 / (1.0 + 2.25))
