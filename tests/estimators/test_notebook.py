"""Models, terms, answers and residuals as notebooks show them."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import fullspan as fs

ROWS = [["<b>&", "wet"]] * 60 + [["dry", "dry"]] * 30 + [["dry", "wet"]] * 10


class Tags(HTMLParser):
    """Counts tags, and gathers text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.fixture(scope="module")
def model() -> fs.FullSpan:
    return fs.FullSpan().fit(ROWS)


def test_a_fitted_model_shows_its_graph_and_interactions(model: fs.FullSpan) -> None:
    bundle = model._repr_mimebundle_()
    found = Tags(bundle["text/html"])
    assert found.tags.count("svg") == 1
    assert found.tags.count("tr") == 1 + len(model.interactions_)
    assert [one.words in found.texts for one in model.interactions_] == [True]
    assert "FullSpan" in found.texts
    assert "b" not in found.tags  # levels are text, never markup
    assert bundle["text/plain"] == "FullSpan()"


def test_an_unfitted_model_shows_its_parameters_as_scikit_learn_does() -> None:
    assert "sk-" in fs.FullSpan()._repr_mimebundle_()["text/html"]


def test_a_tree_shows_as_well() -> None:
    tree = fs.ChowLiuTree().fit(np.random.default_rng(0).integers(0, 2, (50, 4)))
    assert Tags(tree._repr_html_()).tags.count("line") == 3


def test_an_answer_is_a_table_with_bars(model: fs.FullSpan) -> None:
    """One row for each state, its levels as text, and a bar as long as its probability."""
    answer = model.conditional(["x0", "x1"])
    text = answer._repr_html_()
    assert Tags(text).tags.count("tr") == 5
    assert "&lt;b&gt;&amp;" in text
    assert f"width:{round(120 * answer['<b>&', 'wet'])}px" in text


def test_a_long_answer_shows_the_likeliest() -> None:
    tree = fs.ChowLiuTree().fit(np.random.default_rng(0).integers(0, 2, (50, 7)))
    answer = tree.conditional([f"x{i}" for i in range(7)])
    text = answer._repr_html_()
    assert "the likeliest 50 of 128 states" in text
    assert f"{answer.values.max():.6g}" in text
    assert f"{answer.values.min():.6g}" not in text


def test_residuals_and_terms_are_tables(model: fs.FullSpan) -> None:
    assert Tags(model.terms_._repr_html_()).tags.count("tr") == 1 + len(model.terms_)
    residuals: Any = model.residuals()
    assert Tags(residuals._repr_html_()).tags.count("tr") == 1 + len(residuals)
