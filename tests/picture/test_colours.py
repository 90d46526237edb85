"""Colours say what the words say: blue goes with, orange against, grey neither; and each legend names what is drawn."""

from __future__ import annotations

import json
import math
import re
from itertools import product
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

import fullspan as fs
from fullspan.errors import FullspanError
from fullspan.estimators.explain import effects, interaction_graph, weights
from fullspan.estimators.explain.interactions import InteractionTable
from fullspan.model.effects import Effect, Interaction
from fullspan.pictures import svg
from fullspan.pictures.chart import Bars
from fullspan.pictures.legend import DARK, LIGHT, ROLES


def table(n: int = 500) -> pd.DataFrame:
    """``copy`` is as ``a``, ``other`` is not ``b``, three levels of ``c`` follow ``a``, and ``odd`` is a parity."""
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 2, n), rng.integers(0, 2, n)
    noisy = [x ^ (rng.random(n) < 0.15) for x in (a, 1 - b, a ^ b)]
    c = np.where(rng.random(n) < 0.3, rng.integers(0, 3, n), 2 * a)
    return pd.DataFrame({"a": a, "b": b, "copy": noisy[0], "other": noisy[1], "c": c, "odd": noisy[2]}).astype(int)


MODELS: dict[str, Any] = {
    "walsh": lambda: fs.FullSpan(basis="walsh"),
    "monomial": lambda: fs.FullSpan(basis="monomial"),
    "indicator": lambda: fs.FullSpan(basis="indicator"),
    "machine": lambda: fs.BoltzmannMachine(order=2),
    "average": lambda: fs.FullSpan(average=3, random_state=0),
    "tree": lambda: fs.ChowLiuTree(),
}


@pytest.fixture(scope="module", params=list(MODELS))
def model(request: pytest.FixtureRequest) -> Any:
    return MODELS[request.param]().fit(table())


def role_of(words: str) -> str:
    """The colour that the words ask for."""
    pair = re.search(r" goes (with|against) ", words)
    return pair[1] if pair else "neutral"


def elements(text: str, tag: str) -> list[ElementTree.Element]:
    """What is drawn, apart from the legend."""
    root = ElementTree.fromstring(text)
    return [e for g in root if g.get("class") != "key" for e in g.iter(tag)]


def key_marks(text: str) -> dict[str, str]:
    """The legend: words, and the SVG of the mark next to them."""
    keys = [g for g in ElementTree.fromstring(text) if g.get("class") == "key"]
    return {str(g[-1].text): "".join(ElementTree.tostring(e, "unicode") for e in g[:-1]) for g in keys}


def test_the_known_signs_are_found(model: Any) -> None:
    """The tests below would pass for a model that joins nothing."""
    roles = {frozenset(one.variables): role_of(one.words) for one in model.interactions_}
    assert roles[frozenset({"a", "copy"})] == "with"
    assert roles[frozenset({"b", "other"})] == "against"
    assert roles[frozenset({"a", "c"})] == "neutral"  # three levels have no one direction


def test_lines_have_the_colour_of_the_words(model: Any) -> None:
    text = svg.graph(interaction_graph(model), "graph")
    pairs = {" – ".join(one.variables): one for one in model.interactions_ if one.order == 2 and one.has_part}
    drawn = {line[0].text: line for line in elements(text, "line")}
    assert drawn.keys() == pairs.keys()
    for name, line in drawn.items():
        role = role_of(pairs[str(name)].words)
        assert line.get("stroke") == f"var(--{role})"
        assert (line.get("stroke-dasharray") is not None) == (role == "against")


def test_a_wider_line_saves_more_nats(model: Any) -> None:
    widths = {line[0].text: float(line.get("stroke-width", 0)) for line in elements(_graph(model), "line")}
    ordered = [widths[" – ".join(one.variables)] for one in model.interactions_ if one.order == 2 and one.has_part]
    assert ordered == sorted(ordered, reverse=True)
    assert ordered[0] > ordered[-1]


def _graph(model: Any) -> str:
    return svg.graph(interaction_graph(model), "graph")


def test_the_legend_of_a_graph_names_what_is_drawn_and_nothing_else(model: Any) -> None:
    text = _graph(model)
    found = key_marks(text)
    roles = {str(line.get("stroke"))[6:-1] for line in elements(text, "line")}
    words = {"with": "goes with", "against": "goes against", "neutral": "no single direction"}
    named = {words[role] for role in roles}
    assert {key for key in found if key in words.values()} == named
    for role in roles:
        assert f"var(--{role})" in found[words[role]]
        assert ("dasharray" in found[words[role]]) == (role == "against")
    shades = {str(e.get("fill")) for e in elements(text, "polygon")}
    assert ("three or more variables" in found) == bool(shades)
    assert all(shade in found["three or more variables"] for shade in shades)
    assert len(found) == len(named) + bool(shades) + 1  # and the widths
    what = "nats shared" if isinstance(model, fs.ChowLiuTree) else "nats saved"
    assert any(key.startswith(f"thicker: more {what}") for key in found)


def test_bars_have_the_colour_of_the_words(model: Any) -> None:
    rows = [one for one in model.interactions_[:20] if one.effects]
    drawn = elements(svg.bars(effects(model)), "rect")
    assert [rect.get("fill") for rect in drawn] == [f"var(--{role_of(one.words)})" for one in rows]
    ends = [(one.effects[0].log_ratio > 0) for one in rows]
    zero = [float(rect.get("x", 0)) for rect, right in zip(drawn, ends, strict=True) if right]
    assert max(zero) - min(zero) < 0.2  # what is above 1 begins at the line of 0, the others end there
    found = key_marks(svg.bars(effects(model)))
    roles = {role_of(one.words) for one in rows}
    words = {"with": "goes with", "against": "goes against", "neutral": "cell ratio"}
    errors = any(math.isfinite(one.effects[0].standard_error) for one in rows)
    whisker = "95 % interval (posterior)" if isinstance(model, fs.FullSpan) else "95 % interval"
    assert set(found) == {words[role] for role in roles} | ({whisker} if errors else set())


def test_weights_have_the_colour_of_the_words(model: Any) -> None:
    """By the words, not by the sign of the weight, which depends on the basis."""
    if isinstance(model, fs.ChowLiuTree):
        with pytest.raises(FullspanError, match="has no weights"):
            weights(model)
        return
    rows = list(model.terms_[:20])
    fills = [rect.get("fill") for rect in elements(svg.bars(weights(model)), "rect")]
    assert fills == [f"var(--{role_of(row.words) if row.order == 2 else 'neutral'})" for row in rows]


def test_matplotlib_has_the_same_colours_and_legend(model: Any) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.colors import same_color

    ax = model.plot_interactions()
    pairs = [one for one in model.interactions_ if one.order == 2 and one.has_part]
    for line, one in zip(ax.lines[::-1], pairs, strict=True):
        role = role_of(one.words)
        assert same_color(line.get_color(), LIGHT[role])
        assert line.get_linestyle() == ("--" if role == "against" else "-")
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == list(key_marks(_graph(model)))
    for axes, picture in ((model.plot_effects(), effects(model)), *_terms(model)):
        assert [patch.get_facecolor() for patch in axes.patches] == [
            pytest.approx(matplotlib.colors.to_rgba(LIGHT[role])) for role in picture.roles
        ]
        assert [text.get_text() for text in axes.get_legend().get_texts()] == [key.text for key in picture.keys]
    plt.close("all")


def _terms(model: Any) -> list[tuple[Any, Bars]]:
    return [] if isinstance(model, fs.ChowLiuTree) else [(model.plot_terms(), weights(model))]


def test_a_notebook_has_the_legend_and_coloured_words(model: Any) -> None:
    text = model._repr_html_()
    for key in key_marks(_graph(model)):
        assert key in text
    rows = re.findall(
        r"<td[^>]*>([^<]* goes (with|against) [^<]*)</td>.*?<span style=\"[^\"]*background:([^;]+);", text
    )
    assert rows
    assert all(colour == LIGHT[word] for _, word, colour in rows)


class Stated:
    """An estimator with interactions at the boundary."""

    n_terms_ = 3
    interactions_ = InteractionTable(
        (
            Interaction(("a", "b"), 9.0, False, "odds ratio", (Effect(("a=1", "b=1"), math.inf),)),
            Interaction(("a", "c"), 8.0, False, "odds ratio", (Effect(("a=1", "c=1"), -20.0, 0.3),)),
            Interaction(("b", "c"), 7.0, False, "odds ratio", (Effect(("b=1", "c=1"), 1.2, 0.3),)),
        )
    )


def test_what_is_at_the_boundary_is_an_arrow_with_words() -> None:
    """No number stands for infinity: the bar goes to the edge, beyond every other, and the words say why."""
    picture = effects(Stated())
    text = svg.bars(picture)
    arrows = [path.get("fill") for path in elements(text, "path") if path.get("d", "").endswith("z")]
    assert arrows == ["var(--with)", "var(--against)"]
    low, high = picture.range()
    assert low < 0
    assert high > 1.2 + 1.96 * 0.3
    assert high < 3
    said = [str(t.text) for t in elements(text, "text")]
    assert "×∞, at the boundary: no finite maximum" in said
    assert "beyond ÷10^6, near the boundary" in said
    assert set(key_marks(text)) == {"goes with", "goes against", "95 % interval", "near or at the boundary"}


def test_numbers_stand_clear_of_whiskers() -> None:
    """The texts at the right begin where no bar or whisker can be."""
    text = svg.bars(effects(Stated()))
    starts = [float(t.get("x", 0)) for t in elements(text, "text") if t.get("text-anchor") == "start"]
    ends = [float(x) for path in elements(text, "path") for x in re.findall(r"[MH]([\d.]+)", path.get("d", ""))]
    assert len(starts) == 3
    assert max(ends) < min(starts)


def test_long_whiskers_stop_at_the_boundary() -> None:
    """A standard error of 100 does not make every other bar a line."""
    picture = Bars("t", "x", ("a", "b"), (1.0, 2.0), (0.5, 100.0), limit=10.0)
    assert picture.range() == pytest.approx((-10.6, 10.6))
    assert picture.whiskers(0) == (0.5, 1.5)
    assert picture.whiskers(1) == (-10.0, 10.0)


def test_every_role_has_a_colour_and_blue_is_with() -> None:
    for role in ROLES.values():
        assert role in LIGHT
        assert role in DARK
    red, green, blue = (int(LIGHT["with"][k : k + 2], 16) for k in (1, 3, 5))
    assert blue > green > red
    red, green, blue = (int(LIGHT["against"][k : k + 2], 16) for k in (1, 3, 5))
    assert red > green > blue


def test_a_model_with_hidden_variables_has_no_effects_to_plot() -> None:
    rows = table(120)[["a", "b", "copy"]]
    mixture = fs.FullSpanMixture(runs=[(2, 1)], restarts=1, validation_fraction=0, random_state=0).fit(rows)
    picture = interaction_graph(mixture)
    assert [key.text for key in picture.keys][:1] == ["pair of variables"]
    with pytest.raises(FullspanError, match="FullSpanMixture has no odds ratios to plot"):
        mixture.plot_effects()


def test_a_bar_of_berkeley_is_what_r_finds(shared_data: Any) -> None:
    """Admission and gender given the department: bar, whisker, colour and place are those of R's glm."""
    found = json.loads(shared_data("effects/ucb.json").read_text(encoding="utf-8"))
    levels = list(found["variables"].values())
    states = [state[::-1] for state in product(*levels[::-1])]
    rows = pd.DataFrame(states, columns=list(found["variables"])).assign(n=found["cells"])
    picture = effects(fs.BoltzmannMachine(order=2, count_column="n", levels=found["variables"]).fit(rows))
    (odds,) = found["odds_ratios"]
    lost = found["nats_lost_when_dropped_and_refitted"]
    assert sorted(lost, key=lambda name: -lost[name])[-1] == "Admit:Gender"
    assert picture.labels[-1] == "Admit=Rejected, Gender=Female"
    assert picture.values[-1] == pytest.approx(math.log(odds["odds_ratio"]), abs=1e-6)
    ends = picture.whiskers(len(picture.labels) - 1)
    assert ends == pytest.approx((math.log(odds["low"]), math.log(odds["high"])), abs=1e-4)
    assert picture.roles == ("neutral", "neutral", "against")
