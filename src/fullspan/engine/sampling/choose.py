"""Which compiled form a model is sampled in: matrix, layers, or factors."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from fullspan.engine.sampling.blocks import Blocks
from fullspan.engine.sampling.factors import Factors
from fullspan.engine.sampling.pairwise import PairTerms, Pairwise
from fullspan.engine.sampling.target import Target
from fullspan.model.graph import FactorGraph
from fullspan.model.loglinear import LogLinear

MAX_UNITS = 8192
"""Units up to which couplings are held in one matrix."""
MAX_COLOURS, LEAST_UNITS = 4, 64
"""Colours up to which a machine is swept class by class, and units below which that is not worth it."""


def target_of(model: LogLinear | FactorGraph) -> Target:
    """The form in which a model is sampled fastest.

    Binary units with pairs: one matrix, swept in layers where a few colours do. Everything else: factors.

    Raises
    ------
    FullspanError : a factor forbids a state.
    """
    model.require_single("a Gibbs sampler")
    machine = pairwise_of(model)
    if machine is not None:
        return layered(machine)
    return Factors(FactorGraph.of(model))


def pairwise_of(model: LogLinear | FactorGraph) -> Pairwise | None:
    """The model as a machine of binary units and pairs, or None where it is none or too large for a matrix."""
    if len(model.space) > MAX_UNITS:
        return None
    return _in_pairs(model)


@singledispatch
def _in_pairs(model: Any) -> Pairwise | None:
    """Of a log-linear model; other kinds of models are registered below."""
    terms = PairTerms.of(model.basis, model.terms)
    return None if terms is None else terms.target(model.theta)


_in_pairs.register(FactorGraph, Pairwise.of_graph)


def layered(machine: Pairwise) -> Pairwise | Blocks:
    """The machine, to be swept colour by colour if a few colours do."""
    joined = np.count_nonzero(machine.coupling, axis=1)
    if joined.max(initial=0) == len(machine.bias) - 1 or len(joined) < LEAST_UNITS:
        return machine
    blocks = Blocks(machine)
    return blocks if len(blocks.classes) <= MAX_COLOURS else machine
