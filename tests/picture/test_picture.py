"""Pictures: what is placed where, and that both renderings show the same."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

import fullspan as fs
from fullspan.errors import FullspanError
from fullspan.estimators.explain import interaction_graph, weights
from fullspan.estimators.explain.pictures import effects
from fullspan.pictures import svg
from fullspan.pictures.chart import ticks
from fullspan.pictures.interactions import MAX_NODES, Hyperedge, InteractionGraph


def rows_of(n: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 2, n), rng.integers(0, 2, n)
    c = a ^ (rng.random(n) < 0.1)
    d = 1 - (b ^ (rng.random(n) < 0.1))
    return np.stack([a, b, c, d], axis=1).astype(int)


@pytest.fixture(scope="module")
def model() -> Any:
    return fs.FullSpan().fit(rows_of(400))


def test_labels_do_not_overlap_and_stay_inside() -> None:
    """No two labels of a graph of 30 nodes cover each other."""
    rng = np.random.default_rng(0)
    names = [f"variable {i}" for i in range(30)]
    pairs = [Hyperedge((names[i], names[int(rng.integers(0, i))]), float(rng.random())) for i in range(1, 30)]
    picture = InteractionGraph.of(names, pairs)
    gap = np.abs(picture.at[:, None] - picture.at[None])
    room = (picture.sizes[:, None] + picture.sizes[None]) / 2
    clash = (gap < 0.999 * room).all(axis=2)
    np.fill_diagonal(clash, False)
    assert not clash.any()
    assert ((picture.at >= 0) & (picture.at <= 1)).all()


LONG = [f"a_name_that_is_much_longer_than_a_line_and_ends_in_{i:02}" for i in range(40)]


@pytest.mark.parametrize("n_pairs", [0, 1, 39])
def test_long_names_do_not_overlap_either(n_pairs: int) -> None:
    """Forty names of two lines, joined or alone: the picture grows until each has its place."""
    rng = np.random.default_rng(0)
    pairs = [Hyperedge((LONG[i + 1], LONG[int(rng.integers(0, i + 1))]), float(rng.random())) for i in range(n_pairs)]
    picture = InteractionGraph.of(LONG, pairs)
    gap = np.abs(picture.at[:, None] - picture.at[None])
    room = (picture.sizes[:, None] + picture.sizes[None]) / 2
    clash = (gap < 0.999 * room).all(axis=2)
    np.fill_diagonal(clash, False)
    assert not clash.any()
    assert ((picture.at - picture.sizes / 2 >= -1e-9) & (picture.at + picture.sizes / 2 <= 1 + 1e-9)).all()


def test_long_names_stay_apart_from_each_other_and_are_whole_on_request() -> None:
    """Names that differ at their end have different labels, and the whole name is there for a pointer."""
    picture = InteractionGraph.of(LONG, [])
    assert len(set(picture.labels)) == 40
    assert all(len(label) <= 4 and max(map(len, label)) <= 22 for label in picture.labels)
    titles = [t.text for t in ElementTree.fromstring(svg.graph(picture, "g")).iter("title")]
    assert titles == LONG
    assert InteractionGraph.of(["hours_of_television_per_week"], []).labels == (("hours_of_", "television_per_week"),)


def test_a_given_model_has_lines_of_one_width_and_no_legend_of_widths() -> None:
    """Without nats saved there is nothing that widths could say."""
    picture = InteractionGraph.of("abc", [Hyperedge(("a", "b"), np.nan, 1), Hyperedge(("b", "c"), np.nan, -1)])
    assert [key.text for key in picture.keys] == ["goes with", "goes against"]
    assert InteractionGraph.of("abc", []).keys == ()


def test_a_large_graph_shows_its_strongest_part() -> None:
    """Of a thousand variables the strongest are drawn, and the others are counted."""
    names = [f"x{i}" for i in range(1000)]
    picture = InteractionGraph.of(names, [Hyperedge((f"x{i}", f"x{i + 1}"), float(i)) for i in range(999)])
    assert len(picture.names) <= MAX_NODES
    assert "x999" in picture.names
    assert picture.left_out[0] == 1000 - len(picture.names)


def test_the_direction_is_that_of_the_data(model: Any) -> None:
    """x2 copies x0, and x3 is the opposite of x1: one full line, one dashed; and one in the legend."""
    picture = interaction_graph(model)
    directions = {frozenset(picture.names[i] for i in e.nodes): e.direction for e in picture.edges}
    assert directions[frozenset({"x0", "x2"})] == 1
    assert directions[frozenset({"x1", "x3"})] == -1
    assert svg.graph(picture, "g").count("stroke-dasharray") == sum(w < 0 for w in directions.values()) + 1


def test_ticks_are_round_and_within() -> None:
    for low, high in ((-0.3, 12.7), (3.7094, 3.7116), (0.0, 1e-9), (-5e6, 1.0)):
        found = ticks(low, high)
        assert 2 <= len(found) <= 12
        assert all(low - 1e-12 <= t <= high + 1e-12 for t in found)
    assert ticks(0, 2, whole=True) == [0.0, 1.0, 2.0]


def test_svg_has_a_bar_for_every_term(model: Any) -> None:
    text = svg.bars(weights(model))
    keys = [key for key in weights(model).keys if key.mark == "bar"]
    assert len(re.findall("<rect", text)) == min(len(model.terms_), 20) + len(keys)


def test_matplotlib_draws_the_same() -> None:
    """Every plot_ method returns axes with what the report shows, on axes given or new."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    rows = rows_of(400)
    model = fs.FullSpan().fit(rows)
    picture = interaction_graph(model)
    ax = model.plot_interactions()
    assert {text.get_text() for text in ax.texts} == set(picture.names)
    assert len(ax.lines) == len(picture.edges)
    assert len(model.plot_terms(top=2).patches) == 2
    own = plt.subplots()[1]
    assert model.plot_calibration(rows, ax=own) is own
    assert own.get_xlabel() == "predicted"
    assert len(model.plot_information().patches) == len({1, *(row.order for row in model.terms_)})
    assert model.plot_learning().get_ylabel() == "cost, nats per row"
    plt.close("all")


def test_matplotlib_cuts_nothing_off_and_reads_no_formulas() -> None:
    """At the default size every label, number and legend lies within the figure, and dollars are dollars."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    rows = pd.DataFrame(rows_of(400), columns=["$a$", LONG[0], LONG[1], "$d"])
    model = fs.FullSpan().fit(rows)
    for ax in (model.plot_interactions(), model.plot_effects(), model.plot_terms(), model.plot_calibration(rows)):
        ax.figure.canvas.draw()
        whole, drawn = ax.figure.bbox, ax.get_tightbbox()
        assert drawn.x0 >= whole.x0 - 1
        assert drawn.y0 >= whole.y0 - 1
        assert drawn.x1 <= whole.x1 + 1
        assert drawn.y1 <= whole.y1 + 1
        assert not any(text.get_parse_math() for text in (*ax.texts, *ax.get_yticklabels()) if "$" in text.get_text())
    plt.close("all")


def test_what_cannot_be_drawn_is_said() -> None:
    tree = fs.ChowLiuTree().fit(rows_of(50))
    with pytest.raises(FullspanError, match="plot_interactions shows which variables it joins"):
        tree.plot_terms()
    with pytest.raises(FullspanError, match="one step"):
        tree.plot_learning()


def test_altair_charts_hold_the_same_data(model: Any) -> None:
    """Bars with their whiskers, arrows at the boundary, lines and names: what Matplotlib draws, by another package."""
    pytest.importorskip("altair")
    picture, shown = interaction_graph(model), model.plot_interactions(backend="altair").to_dict()
    drawn = [layer["data"]["values"] for layer in shown["layer"]]
    assert [row["name"] for row in drawn[-1]] == list(picture.names)
    assert len(next(rows for rows in drawn if "pair" in rows[0])) == len(picture.edges)
    found = effects(model)
    bars = model.plot_effects(backend="altair").to_dict()["layer"][0]["data"]["values"]
    assert [row["value"] for row in bars] == pytest.approx(found.values)
    assert [(row["low"], row["high"]) for row in bars] == [found.whiskers(k) for k in range(len(bars))]
    curve = model.plot_calibration(rows_of(400), backend="altair").to_dict()["layer"]
    assert curve[-1]["encoding"]["y"]["field"] == "low"
    with pytest.warns(fs.errors.BoundaryWarning):
        never = fs.BoltzmannMachine().fit([[0, 0]] * 5 + [[1, 1]] * 5 + [[0, 1]] * 5)
    *_, arrows = never.plot_effects(backend="altair").to_dict()["layer"]
    assert [row["arrow"] for row in arrows["data"]["values"]] == ["triangle-right"]


def test_only_known_packages_draw(model: Any) -> None:
    with pytest.raises(FullspanError, match="choose 'matplotlib' or 'altair'"):
        model.plot_effects(backend="ggplot")  # type: ignore[arg-type]
    with pytest.raises(FullspanError, match="ax= is for Matplotlib"):
        model.plot_effects(ax=object(), backend="altair")
