"""Factors as log-linear models, against enumeration; and every format by its suffix."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest

from fullspan.data import Space
from fullspan.errors import FullspanError, ModelFileError, TooLargeError
from fullspan.model import FactorGraph, LogLinear
from fullspan.model.algebra import BASES, Basis, BasisName
from fullspan.model.files import factors_of, read_factors
from fullspan.model.files.networks import suffix
from fullspan.model.log_linear_form import log_linear_form

CARDS = (2, 3, 4, 5)
STATES = np.array(list(itertools.product(*map(range, CARDS))))


def graph(seed: int = 3) -> FactorGraph:
    rng = np.random.default_rng(seed)
    scopes = ((2, 0), (), (1,), (3, 1, 2), (1,))
    return FactorGraph(Space.of_cards(CARDS), scopes, tuple(rng.normal(size=[CARDS[i] for i in s]) for s in scopes))


@pytest.mark.parametrize("basis", BASES)
def test_the_form_has_the_same_distribution(basis: BasisName) -> None:
    """log p(x) = sum_f g_f(x_f) - log Z at every state, and log Z of the form is that of its weights alone."""
    log_weight = graph().log_weight(STATES)
    log_z = float(np.logaddexp.reduce(log_weight))
    form = log_linear_form(graph(), log_z, basis)
    np.testing.assert_allclose(form.log_prob(STATES), log_weight - log_z, atol=1e-12)
    assert form.log_z == pytest.approx(float(np.logaddexp.reduce(-form.energy(STATES))), abs=1e-12)


@pytest.mark.parametrize("basis", BASES)
def test_terms_come_back_from_their_tables(basis: BasisName) -> None:
    """log-linear -> factors -> log-linear keeps terms, weights and log Z; no term appears that was not there."""
    algebra = Basis(basis, CARDS)
    terms = (((0, 1),), ((0, 1), (2, 3)), ((1, 1), (3, 4)), ((1, 2), (2, 1), (3, 2)), ((3, 1),))
    theta = np.random.default_rng(2).normal(size=len(terms))
    model = LogLinear(Space.of_cards(CARDS), algebra, terms, theta, 0.75)
    again = log_linear_form(factors_of(model), 0.75, basis)
    assert set(again.terms) == set(terms)
    assert [again.weights[term] for term in terms] == pytest.approx(theta.tolist(), abs=1e-13)
    assert again.log_z == pytest.approx(0.75, abs=1e-13)


def test_forbidden_states_have_no_form() -> None:
    table = np.array([[0.0, 1.0], [2.0, -math.inf]])
    with pytest.raises(FullspanError, match="the factor over x0, x1 forbids x0=1, x1=1, and a log-linear model"):
        log_linear_form(FactorGraph(Space.of_cards((2, 2)), ((0, 1),), (table,)), 0.0)


def test_very_many_levels_have_no_form() -> None:
    wide = FactorGraph(Space.of_cards((2, 5000)), ((1,),), (np.zeros(5000),))
    with pytest.raises(FullspanError, match="'x1' has 5,000 levels"):
        log_linear_form(wide, 0.0)


def test_a_term_over_very_many_variables_is_refused() -> None:
    cards = (2,) * 60
    model = LogLinear(Space.of_cards(cards), Basis("walsh", cards), (tuple((i, 1) for i in range(60)),), np.ones(1), 0)
    with pytest.raises(TooLargeError, match="over 60 variables"):
        factors_of(model)


def test_formats_are_known_by_their_suffix(tmp_path: Path) -> None:
    assert [suffix(name) for name in ("a.UAI", "b.bif.gz", "c.fsm", "d.gz", "e")] == [".uai", ".bif", ".fsm", "", ""]
    path = tmp_path / "network.xml"
    path.write_text("")
    with pytest.raises(ModelFileError, match="not a valid model file"):
        read_factors(path)
