"""A mixture of many trees of one shape: what remains of a continuous latent variable that is summed over points.

    p(x) = sum_z pi_z prod_i p_z(x_i | x_parent(i)),      z = 1 ... K

All trees have the same edges, so that K of them are arrays, and rows under all of them one product of matrices. Where
no variable has a parent, this is the latent class model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data.space import Space
from fullspan.errors import FullspanError
from fullspan.model.loglinear import checked_codes
from fullspan.model.tree_layout import TreeLayout

_TOLERANCE = 1e-6
_HELD_NUMBERS = 1 << 23
"""Numbers of a block of rows under all trees."""


@dataclass(frozen=True, eq=False)
class LatentTrees:
    """Trees over the same edges, with shares.

    Parameters
    ----------
    space : the variables.
    parents : (n,) the parent of each variable, -1 for none.
    shares : (K,), above 0 and of sum 1.
    logits : (K, P) in the order of :class:`fullspan.model.tree_layout.TreeLayout`; in single precision, as learned, or
        in double.

    Raises
    ------
    FullspanError : shapes disagree, the parents form a cycle, or the shares are no probabilities.

    Examples
    --------
    >>> space = Space.of_cards((2, 2))
    >>> both = LatentTrees(space, [-1, -1], [0.5, 0.5], [[0.0, 0.0], [100.0, 100.0]])
    >>> np.exp(both.log_weight([[1, 1]])).round(3).tolist()
    [0.625]
    """

    kind: ClassVar[str] = "latent trees"
    space: Space
    parents: NDArray[np.int64]
    shares: Array
    logits: NDArray[Any]
    order: NDArray[np.int64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        parents = np.array(self.parents, dtype=np.int64)
        n = len(self.space)
        if parents.shape != (n,) or parents.min(initial=-1) < -1 or parents.max(initial=-1) >= n:
            raise FullspanError(f"the parents of {n} variables are as many numbers from -1 to {n - 1}")
        order = _parents_first(parents)
        if len(order) < n:
            lost = sorted(set(range(n)) - set(order))
            raise FullspanError(f"the parents of variables {lost[:6]} form a cycle; trees have none")
        shares, logits = np.array(self.shares, dtype=np.float64), np.array(self.logits)
        if logits.dtype != np.float32:
            logits = logits.astype(np.float64)
        own: dict[str, NDArray[Any]] = {
            "parents": parents,
            "order": np.array(order, dtype=np.int64),
            "shares": shares,
            "logits": logits,
        }
        for name, values in own.items():
            values.flags.writeable = False
            object.__setattr__(self, name, values)
        if logits.shape != (len(shares), self.layout.n_logits) or not len(shares) or not np.isfinite(logits).all():
            shape = (len(shares), self.layout.n_logits)
            raise FullspanError(f"the logits are {shape} finite numbers; the shape is {logits.shape}")
        if not ((shares > 0).all() and abs(shares.sum() - 1) <= _TOLERANCE):
            raise FullspanError("the shares of trees are positive and sum to 1")

    @cached_property
    def layout(self) -> TreeLayout:
        """Where the logits stand."""
        return TreeLayout(self.space.cards, self.parents)

    def factors_alone(self) -> None:
        """None: the variable that chooses the tree is hidden."""

    def reordered(self, order: Sequence[int]) -> LatentTrees:
        """The same trees of the variables in another order."""
        own = list(order)
        place = np.append(np.argsort(own), -1)  # no parent, -1, stays
        parents, space = place[self.parents[own]], self.space.reordered(order)
        layout, logits = TreeLayout(space.cards, parents), np.empty_like(self.logits)
        for new, old in enumerate(own):
            logits[:, layout.logits[new].ravel()] = self.logits[:, self.layout.logits[old].ravel()]
        return LatentTrees(space, parents, self.shares, logits)

    @cached_property
    def tables(self) -> tuple[Array, ...]:
        """``p_z(x_i | x_parent)`` of every variable, (K, levels of the parent, levels); one row without a parent."""
        return tuple(self.layout.tables(self.logits.astype(np.float64)))

    @property
    def width(self) -> int:
        """Most variables of a table, less one."""
        return int((self.parents >= 0).any())

    @property
    def n_parameters(self) -> int:
        """Free probabilities of all trees, and the shares but one."""
        return int(self.logits.size) + len(self.shares) - 1

    @property
    def approach(self) -> str:
        """What it is, in words."""
        return f"{len(self.shares)} trees of one shape"

    def log_weight(self, states: Any) -> Array:
        """``log p(x)`` of complete states (m, n) -> (m,), in nats."""
        rows = checked_codes(states, self.space)
        numbers, constant, _ = self.layout.numbers(np, self.logits.astype(np.float64))
        constant = constant[:, 0] + np.log(self.shares)
        out, step = np.empty(len(rows)), max(_HELD_NUMBERS // max(len(self.shares), numbers.shape[1]), 1)
        for start in range(0, len(rows), step):
            block = slice(start, start + step)
            joint = self.layout.matrix(rows[block]).astype(np.float64) @ numbers.T + constant
            top = joint.max(axis=1)
            out[block] = top + np.log(np.exp(joint - top[:, None]).sum(axis=1))
        return out


def _parents_first(parents: NDArray[np.int64]) -> list[int]:
    children: list[list[int]] = [[] for _ in parents]
    for i, p in enumerate(parents.tolist()):
        if p >= 0:
            children[p].append(i)
    order = np.flatnonzero(parents < 0).tolist()
    for i in order:
        order += children[i]
    return order
