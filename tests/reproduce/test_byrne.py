"""Byrne's simulations: a step against its definition by enumeration, the laws of the curves, the figures."""

from __future__ import annotations

import csv as csv_module
import io
import itertools
import json
import math
from xml.etree import ElementTree

import numpy as np
import pytest

from fullspan.arrays import Array
from fullspan.learn.likelihood import Projection
from fullspan.papers import byrne_fig4, byrne_fig5, experiment
from fullspan.papers.byrne import ANEW, EXACT, INEXACT, simulate
from fullspan.papers.byrne_fig5 import abandonments
from fullspan.papers.plots import as_svg, curves
from fullspan.papers.text import Panel, text_plot


def enumerated(visible: int, hidden: int, seed: int, sweeps: int, anew: bool) -> tuple[list[float], list[float]]:
    """Divergences in bits and distances before and after one iteration, straight from the paper's equations."""
    n = visible + hidden
    x = np.array(list(itertools.product((0, 1), repeat=n)))[:, ::-1]
    pairs = list(itertools.combinations(range(n), 2))
    phi = np.array([x[:, i] * x[:, j] for i, j in pairs]).T.astype(float)
    truth, start = np.random.default_rng(seed).normal(size=(2, len(pairs)))

    def machine(w: Array) -> Array:
        p = np.exp(phi @ w)
        return np.asarray(p / p.sum())

    def seen(p: Array) -> Array:
        return np.array([p[(x[:, :visible] == v).all(axis=1)].sum() for v in itertools.product((0, 1), repeat=visible)])

    def divergence(w: Array) -> float:
        a, b = seen(machine(truth)), seen(machine(w))
        return float(a @ np.log2(a / b))

    b = machine(start)
    rows = [int("".join(map(str, state[:visible])), 2) for state in x]
    completed = b / seen(b)[rows] * seen(machine(truth))[rows]
    w = np.zeros(len(pairs)) if anew else start.copy()
    for _ in range(sweeps):
        for k in range(len(pairs)):
            sigma, q = machine(w) @ phi[:, k], completed @ phi[:, k]
            w[k] += math.log((1 - sigma) / sigma * q / (1 - q))
    return [divergence(start), divergence(w)], [float(np.abs(v - truth).sum()) for v in (start, w)]


@pytest.mark.parametrize(("visible", "hidden"), [(3, 2), (2, 3)])
def test_an_inexact_step_is_ten_updates_of_each_weight_from_the_uniform_distribution(visible: int, hidden: int) -> None:
    curve = simulate(visible, hidden, 1, np.random.default_rng(4), INEXACT)
    divergence, distance = enumerated(visible, hidden, 4, 10, anew=True)
    assert curve.divergence == pytest.approx(divergence, rel=1e-9)
    assert curve.distance == pytest.approx(distance, rel=1e-9)


@pytest.mark.parametrize("projection", [EXACT, ANEW])
def test_an_exact_step_is_the_machine_with_the_moments_of_the_completed_data(projection: Projection) -> None:
    curve = simulate(3, 2, 1, np.random.default_rng(4), projection)
    divergence, distance = enumerated(3, 2, 4, 3000, anew=False)
    assert curve.divergence == pytest.approx(divergence, abs=1e-4)
    assert curve.distance == pytest.approx(distance, abs=0.02)


def test_exact_divergences_never_rise() -> None:
    for seed in range(3):
        curve = simulate(3, 3, 60, np.random.default_rng(seed), EXACT)
        assert np.diff(curve.divergence).max() < 0
        assert curve.n_rises == 0


def test_the_same_seed_gives_the_same_curves_and_another_seed_others() -> None:
    a, b, c = (byrne_fig4.run(None, runs=1, iterations=3, seed=s).families[0].curves[0] for s in (5, 5, 6))
    assert (a.divergence == b.divergence).all()
    assert a.divergence[0] != c.divergence[0]


def test_a_small_figure_4() -> None:
    said: list[str] = []
    result = byrne_fig4.run(said.append, runs=2, iterations=12)
    assert len(said) == 4
    value = json.loads(json.dumps(result.to_json()))
    assert [(f["visible"], f["hidden"]) for f in value["families"]] == [(3, 5), (5, 5)]
    assert value["families"][0]["iterations"] == [0, 1, 10, 12]
    assert [f["rises"] for f in value["families"]] == [[0, 0], [0, 0]]
    medians = value["families"][1]["divergence_bits"]["median"]
    assert medians == sorted(medians, reverse=True)
    assert "0 of 24 steps rise" in value["statements"][0]["measured"]
    text = result.to_text()
    assert "in no run do the weights converge" in text
    assert "iteration, logarithmic" in text
    rows = list(csv_module.DictReader(io.StringIO(result.files()["byrne-fig4.csv"])))
    assert len(rows) == 2 * 2 * 13
    last = rows[-1]
    assert (last["visible"], last["run"], last["iteration"]) == ("5", "2", "12")
    assert float(last["divergence_bits"]) == pytest.approx(result.families[1].divergence[1, 12], rel=1e-8)
    assert [len(ax.lines) for ax in result.figures()["byrne-fig4"].axes] == [3] * 4  # two runs and their median


def test_a_small_figure_5() -> None:
    result = experiment("byrne-fig5").run(runs=2, iterations=5, seed=1)
    assert isinstance(result, byrne_fig5.Figure5)
    assert [f.name for f in result.families] == ["exact", "exact anew", "inexact"]
    assert {f.divergence[0, 0] for f in result.families} == {result.exact.divergence[0, 0]}
    measured = dict(result.statements())
    assert "exact: 0 of 10 steps rise" in measured["exact: the divergences strictly decrease"]
    assert "in general" in result.to_text()
    assert (set(result.files()), set(result.figures())) == ({"byrne-fig5.csv"}, {"byrne-fig5"})
    assert len(result.to_json()["families"]) == 3


def test_an_abandoned_minimum_is_a_rise_to_twice_the_best() -> None:
    assert abandonments(np.array([8.0, 4, 2, 3, 1, 1.9])) == 0
    assert abandonments(np.array([8.0, 4, 2, 5, 4.5, 2, 4.1, 9])) == 3


def test_a_text_plot_has_its_ends_and_its_median() -> None:
    values = np.array([[100.0, 10, 1], [100, 10, 0.01], [100, 1, 0.1]])
    lines = text_plot(Panel("falling", values, logarithmic=True), width=3, height=5)
    assert lines[0] == "falling (. runs, * median)"
    assert lines[1:6] == ["    1e2 |*", "        | *", "        | ..", "        |  *", "   1e-2 |  ."]


def test_a_figure_of_zeros_is_drawn_on_a_linear_axis_and_is_the_same_text_each_time() -> None:
    figures = [curves([Panel("flat", np.zeros((2, 3)), logarithmic=True)], 1) for _ in range(2)]
    assert figures[0].axes[0].get_yscale() == "linear"
    first, second = map(as_svg, figures)
    assert first == second
    assert ">flat</text>" in first
    ElementTree.fromstring(first)
