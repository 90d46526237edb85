"""The digits' machine: likelihood grows, pictures are sound files; features of small samples."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fullspan.errors import FullspanError
from fullspan.papers import experiment, rbm_digits
from fullspan.papers.machine_methods import restricted_features
from fullspan.papers.plots import as_svg, contrasted, tiled


def test_pictures_are_laid_out_in_rows() -> None:
    """The k-th picture stands in row k // across, column k % across; zero weights are middle grey."""
    pictures = np.arange(3 * 4).reshape(3, 2, 2) / 12
    sheet = tiled(pictures, 2)
    assert sheet.shape == (5, 5)
    assert np.array_equal(sheet[3:, :2], pictures[2])
    assert contrasted(np.array([[[0.0, -2.0], [1.0, 2.0]]])).tolist() == [[[0.5, 0.0], [0.75, 1.0]]]


def test_the_machine_learns_the_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two epochs lift the likelihood of digits held out above that of independent pixels, by more than its error."""
    monkeypatch.setattr(rbm_digits, "SWEEPS", 5)
    monkeypatch.setattr(rbm_digits, "STEPS", 100)
    result = experiment("rbm-digits").run(iterations=2, seed=1)
    value = result.to_json()
    assert [m["epoch"] for m in value["moments"]] == [0, 1, 2]
    last = value["moments"][-1]
    assert last["log_likelihood"] - 4 * last["error"] > value["independent"] + 1
    assert abs(value["moments"][0]["log_likelihood"] - value["independent"]) < 1
    figures = result.figures()
    assert list(figures) == ["rbm-digits", "rbm-digits-filters", "rbm-digits-samples"]
    images = [ax.images[0].get_array() for ax in figures["rbm-digits-filters"].axes]
    assert [image.shape for image in images] == [(2 * 9 - 1, 16 * 9 - 1)] * 3
    assert "<image" in as_svg(figures["rbm-digits-samples"])
    assert len(result.files()["rbm-digits.csv"].splitlines()) == 4
    assert "independent pixels" in result.to_text()


def test_a_folder_without_digits_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FullspanError, match=r"no mnist10k_bin.npz below"):
        rbm_digits.bits_of(tmp_path)
    np.savez(tmp_path / "mnist10k_bin.npz", other=np.zeros(3))
    with pytest.raises(FullspanError, match="bits_gt05"):
        rbm_digits.bits_of(tmp_path)
    packed = np.packbits(np.eye(784, dtype=np.uint8)[:4], axis=1)
    np.savez(tmp_path / "mnist10k_bin.npz", bits_gt05=packed)
    assert np.array_equal(rbm_digits.bits_of(tmp_path)[1], np.eye(784, dtype=np.int8)[:4])


def test_features_tell_samples_apart() -> None:
    """Features of samples of one kind are nearer to each other than to those of another; the seed fixes them."""
    rng = np.random.default_rng(0)
    rates = [rng.choice([0.02, 0.5], 30) for _ in range(2)]
    samples = [(rng.random((100, 30)) < rates[k % 2]).astype(np.uint8) for k in range(4)]
    features = np.array([restricted_features(s, 40, steps=200)[0] for s in samples])
    distance = np.linalg.norm(features[:, None] - features[None], axis=2)
    assert max(distance[0, 2], distance[1, 3]) < min(distance[0, 1], distance[2, 3], distance[0, 3])
    again, seconds = restricted_features(samples[0], 40, steps=200)
    assert np.array_equal(again, features[0])
    assert seconds > 0
    with pytest.raises(FullspanError, match="at least 1 of each"):
        restricted_features(samples[0], 0)
