"""The border between spins s = 2x - 1 and the Walsh basis, in which level 0 has spin +1."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from fullspan.data import Space
from fullspan.engine.elimination import Decimation
from fullspan.errors import FullspanError
from fullspan.model import LogLinear
from fullspan.model.algebra import Basis
from fullspan.model.ising import Ising, levels_of, spins_of


def test_a_machine_and_its_log_linear_model_give_every_state_the_same_probability() -> None:
    rng = np.random.default_rng(0)
    edges = np.array([(0, 1), (3, 1), (2, 3)])
    machine = Ising(4, edges, rng.normal(size=3), rng.normal(size=4))
    log_z = Decimation(4, edges).log_z(machine.couplings, machine.fields)
    model = machine.loglinear(Space.of_cards((2,) * 4), log_z)
    states = np.array(list(itertools.product((0, 1), repeat=4)))
    s = 2 * states - 1
    exponent = s @ machine.fields + (s[:, machine.edges[:, 0]] * s[:, machine.edges[:, 1]]) @ machine.couplings
    assert model.log_prob(states) == pytest.approx(exponent - np.logaddexp.reduce(exponent), abs=1e-13)
    back = Ising.of(model)
    assert (back.fields == machine.fields).all()
    assert (back.couplings == machine.couplings).all()
    assert np.sort(back.edges).tolist() == np.sort(machine.edges).tolist()


def test_levels_and_spins() -> None:
    codes = np.array([[0, 1, -1], [1, 1, 0]])
    assert spins_of(codes).tolist() == [[-1, 1, 0], [1, 1, -1]]
    assert (levels_of(spins_of(codes)) == codes).all()


def test_models_that_are_no_machines_of_spins_are_refused() -> None:
    wide = LogLinear(Space.of_cards((2, 3)), Basis("walsh", (2, 3)), (((0, 1),),), np.array([0.1]), 0.0)
    with pytest.raises(FullspanError, match="up to 3 levels"):
        Ising.of(wide)
    zero_one = LogLinear(Space.of_cards((2,)), Basis("monomial", (2,)), (((0, 1),),), np.array([0.1]), 0.0)
    with pytest.raises(FullspanError, match="monomial"):
        Ising.of(zero_one)
    triple = (((0, 1), (1, 1), (2, 1)),)
    third = LogLinear(Space.of_cards((2,) * 3), Basis("walsh", (2,) * 3), triple, np.array([0.1]), 0.0)
    with pytest.raises(FullspanError, match="x0, x1, x2 has 3 variables"):
        Ising.of(third)
