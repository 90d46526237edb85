"""Hidden units as people write them."""

from __future__ import annotations

from typing import Any

import pytest

from fullspan.errors import FullspanError
from fullspan.estimators.inputs import hidden_variables


def test_a_number_names_or_levels() -> None:
    assert [(v.name, v.levels) for v in hidden_variables(2)] == [("h1", (0, 1)), ("h2", (0, 1))]
    assert [(v.name, v.levels) for v in hidden_variables(["mood"])] == [("mood", (0, 1))]
    assert [(v.name, v.levels) for v in hidden_variables({"c": ("a", "b", "d")})] == [("c", ("a", "b", "d"))]
    assert hidden_variables(0) == ()


@pytest.mark.parametrize(
    ("hidden", "message"),
    [
        (-1, "hidden is -1"),
        (1.5, "hidden is 1.5"),
        (True, "hidden is True"),
        ("mood", "hidden is 'mood'"),
        (["a", "a"], "hidden names 'a' twice"),
        ({"c": ["only"]}, "has 1 level; two or more"),
    ],
)
def test_anything_else_is_refused(hidden: Any, message: str) -> None:
    with pytest.raises(FullspanError, match=message):
        hidden_variables(hidden)
