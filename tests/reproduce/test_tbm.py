"""The figures of the truncated machine in small: the laws of what they measure, and what they write."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from fullspan.errors import FullspanError
from fullspan.reproduce import experiment, tbm_fig2
from fullspan.reproduce.machine_methods import METHODS
from fullspan.reproduce.samples import Labelled, read
from fullspan.reproduce.tbm_fig1 import cells_of, neighbours_accuracy, pair_counts


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
    """Samples of classes that differ are told apart by their machines."""
    found = experiment("tbm-fig1").run(data=folder, runs=11, weights=100, iterations=20)
    value = found.to_json()
    with_biases = [c for c in value["cells"] if c["data"] == "digits" and c["method"] == "truncated" and c["biases"]]
    assert [c["pairs"] for c in with_biases] == [10, 100]
    assert min(c["accuracy"] for c in with_biases) > 0.9
    assert {c["method"] for c in value["cells"] if c["data"] == "spikes"} == {m.name for m in METHODS}
    assert {c["pairs"] for c in value["cells"] if c["data"] == "spikes"} == {10, 21}
    assert len(found.files()["tbm-fig1.csv"].splitlines()) == 1 + len(value["cells"])
    assert "near 1 above 100 weights" in found.to_text()


def test_figure_2_in_small() -> None:
    """The variance is |B|/2N to a factor, over four orders of N."""
    found = tbm_fig2.run(runs=10, variables=20)
    assert len(found.trials) == 7
    for t in found.trials:
        assert t.found.n_infinite == 0
        assert 0.6 < t.found.variance / t.found.bound < 1.6
    assert found.trials[0].found.n_terms == 50
    assert len(found.files()["tbm-fig2.csv"].splitlines()) == 8
    assert "ratio" in found.to_text()


def test_figure_3_in_small(folder: Path) -> None:
    found = experiment("tbm-fig3").run(data=folder, runs=4)
    files = found.files()
    picture = ElementTree.fromstring(files["tbm-fig3.svg"])
    assert len(picture.findall(".//{http://www.w3.org/2000/svg}circle")) == 4 * 17
    assert len(files["tbm-fig3.csv"].splitlines()) == 1 + 4 * 17
    assert [p["pairs"] for p in found.to_json()["pictures"]] == [1000, 21]
    assert "clearly separated" in found.to_text()


def test_counts_of_pairs_stop_at_all_of_them() -> None:
    assert pair_counts(784, 100_000) == [10, 100, 1000, 10_000, 100_000]
    assert pair_counts(7, 100_000) == [10, 21]


def test_a_file_without_the_arrays_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "spikes50.npz", other=np.zeros(3))
    with pytest.raises(FullspanError, match="does not hold bits"):
        read("spikes", tmp_path)


def test_digits_are_told_apart(shared_data: Callable[[str], Path]) -> None:
    """Published: accuracy near 1. Twelve samples of three digits, biases and 100 pairs."""
    digits = read("digits", shared_data("mnist"))
    few = Labelled("digits", digits.classes[:3])
    rng = np.random.default_rng(0)
    cells = list(cells_of(few, 12, 100, 10, rng, lambda text: None))
    chosen = [c for c in cells if c.method == "truncated" and c.biases and c.pairs == 100]
    assert chosen[0].accuracy > 0.9
