"""Files of trees: exact round trips, and refusals that name the place."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullspan.data import Empirical, Space
from fullspan.errors import ModelFileError
from fullspan.learn.trees import fit_chow_liu
from fullspan.model import FittedTree
from fullspan.model.files import checksum, log_linear, tree
from trees import CARDS, generic_tree


def fitted(hidden: bool) -> FittedTree:
    rng = np.random.default_rng(0)
    rows = np.stack([rng.integers(card, size=40) for card in CARDS], axis=1)
    plain = fit_chow_liu(Empirical.from_codes(rows, space=Space.of_cards(CARDS)), 0.0)
    return replace(plain, model=generic_tree(4), validation=-3.25) if hidden else plain


@pytest.mark.parametrize("hidden", [True, False])
def test_a_file_brings_the_same_tree_back(tmp_path: Path, hidden: bool) -> None:
    """Every number returns bit for bit."""
    before, path = fitted(hidden), tmp_path / "tree.fsm"
    tree.write(before, path)
    after = tree.read(path)
    for name in ("parents", "order", "prior", "transitions", "emissions"):
        assert np.array_equal(getattr(after.model, name), getattr(before.model, name))
    assert after.model.space == before.model.space
    assert after.model.is_observed is not hidden
    assert np.array_equal(after.mutual_information, before.mutual_information)
    assert after.log_likelihood == before.log_likelihood
    assert np.isnan(after.validation) if not hidden else after.validation == -3.25
    assert (after.settings, after.total, after.history) == (before.settings, before.total, before.history)


def test_a_tree_is_no_log_linear_model(tmp_path: Path) -> None:
    tree.write(fitted(False), tmp_path / "tree.fsm")
    with pytest.raises(ModelFileError, match=r'kind "tree", where "log-linear" is needed; fullspan\.load'):
        log_linear.read(tmp_path / "tree.fsm")


def _row(document: dict[str, Any]) -> list[float]:
    row: list[float] = document["tree"]["nodes"][0]["transition"][0]
    return row


CHANGES: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "kind": (lambda d: d.update(kind="forest"), 'kind "forest", where "tree" is needed'),
    "cycle": (lambda d: d["tree"].update(parents=[3, -1, 1, 0, 3]), "cycle"),
    "two roots": (lambda d: d["tree"].update(parents=[-1, -1, 1, 1, 3]), "one root|'transition' is missing"),
    "parent out of range": (lambda d: d["tree"].update(parents=[9, -1, 1, 1, 3]), r"parents\[0\]"),
    "too few nodes": (lambda d: d["tree"]["nodes"].pop(), "one per variable"),
    "negative": (lambda d: _row(d).__setitem__(0, -0.5), r"nodes\[0\].transition\[0\]\[0\]: -0.5 is less"),
    "no probability": (lambda d: _row(d).__setitem__(0, 0.9), "sum to 1"),
    "shape": (lambda d: _row(d).append(0.0), "3 rows and 3 columns"),
    "flag": (lambda d: d["tree"].update(observed=1), "true or false"),
    "information": (lambda d: d["fit"].update(mutual_information=[0.0]), "one per variable"),
    "huge": (lambda d: d["tree"].update(prior=[1.0] + [0.0] * 20_000), "need more than"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_holds_no_tree_is_refused(tmp_path: Path, change: str) -> None:
    path = tmp_path / "tree.fsm"
    tree.write(fitted(True), path)
    document = json.loads(path.read_text())
    alter, message = CHANGES[change]
    alter(document)
    document["checksum"] = checksum(document)
    path.write_text(json.dumps(document))
    with pytest.raises(ModelFileError, match=message):
        tree.read(path)


def test_damage_is_found(tmp_path: Path) -> None:
    path = tmp_path / "tree.fsm"
    tree.write(fitted(True), path)
    path.write_text(path.read_text().replace('"total": 40.0', '"total": 41.0'))
    with pytest.raises(ModelFileError, match="checksum"):
        tree.read(path)
