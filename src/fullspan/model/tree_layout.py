"""The tables of a tree as free numbers, and log p of complete rows as a matrix product with them.

With t_iul the logit of level l >= 1 of variable i where its parent has level u, against level 0, and
``s_iu = log(1 + sum_l exp t_iul)``,

    log p(x) = - sum_i s_i0 + sum_{i, l} t_i0l [x_i = l] + sum_{i, u, l >= 1} (t_iul - t_i0l) [x_pa(i) = u, x_i = l]
                            - sum_{i, u >= 1} (s_iu - s_i0) [x_pa(i) = u],

so that a batch of rows under a batch of trees of one shape is one product of a 0/1 matrix and a matrix of numbers. Of
rows with missing cells the variables have no parents, and ``[i is seen]`` stands in the first sum.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array, Ints


class TreeLayout:
    """The layout of the logits of a tree, and what its gradient needs.

    Logits are ordered by the number of levels of their variable, then by variable, level of the parent and own level;
    the groups (i, u) likewise. Pairs are ordered by the number of levels of the parent, then by its level.

    Parameters
    ----------
    cards : levels of the variables.
    parents : (n,) of each variable; -1 for none.
    open_cells : whether rows have missing cells; then no variable has a parent.
    put : brings positions to where the arrays are.
    """

    def __init__(self, cards: tuple[int, ...], parents: Ints, open_cells: bool = False, put: Any = np.asarray) -> None:
        self.cards, self.parents, self.open_cells = cards, parents, open_cells
        self.blocks: list[tuple[int, int, int]] = []
        self.groups, self.logits = [np.zeros(0, np.int64)] * len(cards), [np.zeros((0, 0), np.int64)] * len(cards)
        self.n_groups, self.n_logits = self._number()
        self.linked: dict[int, list[int]] = {}
        for i in np.argsort([cards[p] for p in parents.tolist()], kind="stable").tolist():
            if parents[i] >= 0:
                self.linked.setdefault(cards[parents[i]], []).append(i)
        base, first = _firsts(self.logits), _firsts(self.groups)
        pair, pair_base, of_base = self._above(self.logits, base)
        given, given_first, of_first = self._above([own[:, None] for own in self.groups], first)
        self.shapes = [  # (levels of the parent but one, logits, variables)
            (card - 1, sum(cards[i] - 1 for i in own), len(own)) for card, own in self.linked.items()
        ]
        self.n_base, self.n_pair, self.n_first, self.n_given = len(base), len(pair), len(first), len(given)
        group = _joined([np.repeat(g, cards[i] - 1) for i, g in enumerate(self.groups)])
        found = {
            "base": base,
            "pair": pair,
            "pair_base": pair_base,
            "first": first,
            "given": given,
            "given_first": given_first,
            "logit_order": np.argsort(_joined([base, pair])),
            "group_order": np.argsort(_joined([first, given])),
            "of_base": of_base,
            "of_first": of_first,
            "group": group[np.argsort(_joined([own.ravel() for own in self.logits]))],
        }
        self.at = {name: put(values.astype(np.int64)) for name, values in found.items()}

    def _number(self) -> tuple[int, int]:
        """Number the groups and the logits of every variable; how many there are of each."""
        group = logit = 0
        n_rows = [1 if p < 0 else self.cards[p] for p in self.parents.tolist()]
        for card in sorted(set(self.cards)):
            first_group, first_logit = group, logit
            for i in (i for i, c in enumerate(self.cards) if c == card):
                self.groups[i] = group + np.arange(n_rows[i])
                self.logits[i] = logit + np.arange(n_rows[i] * (card - 1)).reshape(n_rows[i], card - 1)
                group, logit = group + n_rows[i], logit + n_rows[i] * (card - 1)
            self.blocks.append((first_logit, group - first_group, card - 1))
        return group, logit

    def _above(self, numbers: list[Ints], firsts: Ints) -> tuple[Ints, Ints, Ints]:
        """Of variables with parents the ``numbers`` [i][u] at all levels u >= 1 of the parent, and those at level 0 for
        each of these; and where each of ``firsts`` stands among the latter, one beyond them for those of no parent."""
        above, below, once = [], [], []
        for card, own in self.linked.items():
            at_first = _joined([numbers[i][0] for i in own])
            above += [numbers[i][u] for u in range(1, card) for i in own]
            below.append(np.tile(at_first, card - 1))
            once.append(at_first)
        position = {int(v): k for k, v in enumerate(_joined(once))}
        return _joined(above), _joined(below), np.array([position.get(int(v), len(position)) for v in firsts])

    def matrix(self, states: NDArray[Any]) -> NDArray[np.bool_]:
        """The 0/1 matrix (m, R) of rows of codes (m, n), -1 for a missing cell."""
        columns = [states[:, i, None] == np.arange(1, card) for i, card in enumerate(self.cards)]
        above: list[NDArray[np.bool_]] = []
        for card, own in self.linked.items():
            for u in range(1, card):
                seen = [states[:, self.parents[i], None] == u for i in own]
                for i, one in zip(own, seen, strict=True):
                    columns.append(one & (states[:, i, None] == np.arange(1, self.cards[i])))
                above += seen
        last = [states >= 0] if self.open_cells else []
        return np.concatenate([*columns, *above, *last], axis=1)

    def log_sums(self, xp: Any, t: Any) -> tuple[Any, Any]:
        """``s`` (N, G), and the probabilities (N, P) of the levels above 0."""
        sums, shares, n = [], [], t.shape[0]
        for first, groups, levels in self.blocks:
            if levels == 0:  # a variable of one level
                sums.append(xp.zeros((n, groups), dtype=t.dtype))
                shares.append(t[:, :0])
                continue
            part = xp.reshape(t[:, first : first + groups * levels], (n, groups, levels))
            top = xp.max(part, axis=2, keepdims=True)
            top = xp.maximum(top, top * 0)
            e = xp.exp(part - top)
            total = xp.exp(-top) + xp.sum(e, axis=2, keepdims=True)
            sums.append((top + xp.log(total))[:, :, 0])
            shares.append(xp.reshape(e / total, (n, groups * levels)))
        return _side_by_side(xp, sums), _side_by_side(xp, shares or [t])  # t (N, 0) where all columns are constant

    def numbers(self, xp: Any, t: Any) -> tuple[Any, Any, Any]:
        """What the 0/1 matrix is multiplied with (N, R), the constants (N, 1), the levels' probabilities (N, P)."""
        at, (s, shares) = self.at, self.log_sums(xp, t)
        first = xp.take(s, at["first"], axis=1)
        parts = [xp.take(t, at["base"], axis=1)]
        if self.n_pair:
            parts.append(xp.take(t, at["pair"], axis=1) - xp.take(t, at["pair_base"], axis=1))
            parts.append(xp.take(s, at["given_first"], axis=1) - xp.take(s, at["given"], axis=1))
        constant = -xp.sum(first, axis=1, keepdims=True)
        if self.open_cells:
            parts, constant = [*parts, -first], constant * 0
        return _side_by_side(xp, parts), constant, shares

    def slope(self, xp: Any, of_numbers: Any, of_constant: Any, shares: Any) -> Any:
        """The gradient of the logits (N, P) from those of the numbers (N, R) and of the constants (N, 1)."""
        at, b, p, g = self.at, self.n_base, self.n_pair, self.n_given
        base, pair, given = of_numbers[:, :b], of_numbers[:, b : b + p], of_numbers[:, b + p : b + p + g]
        seen = (
            of_numbers[:, b + p + g :] if self.open_cells else xp.broadcast_to(of_constant, (len(base), self.n_first))
        )
        first = -seen
        if p:
            base = base - self._summed(xp, pair, 1, "of_base")
            first = first + self._summed(xp, given, 2, "of_first")
            of_t = xp.take(_side_by_side(xp, [base, pair]), at["logit_order"], axis=1)
            of_s = xp.take(_side_by_side(xp, [first, -given]), at["group_order"], axis=1)
        else:
            of_t, of_s = xp.take(base, at["logit_order"], axis=1), xp.take(first, at["group_order"], axis=1)
        return of_t + xp.take(of_s, at["group"], axis=1) * shares

    def _summed(self, xp: Any, values: Any, which: int, to: str) -> Any:
        """Sums over the levels of the parents, 0 for variables without one."""
        parts, start, n = [], 0, values.shape[0]
        for shape in self.shapes:
            size = shape[0] * shape[which]
            parts.append(xp.sum(xp.reshape(values[:, start : start + size], (n, shape[0], shape[which])), axis=1))
            start += size
        parts.append(values[:, :1] * 0)
        return xp.take(_side_by_side(xp, parts), self.at[to], axis=1)

    def tables(self, t: Array) -> list[Array]:
        """``p(x_i | x_parent)`` (N, levels of the parent, levels) of every variable, from logits (N, P)."""
        found = []
        for logits in self.logits:
            own = np.concatenate([np.zeros((len(t), len(logits), 1)), t[:, logits]], axis=2)
            own = np.exp(own - own.max(axis=2, keepdims=True))
            found.append(own / own.sum(axis=2, keepdims=True))
        return found

    def logits_of(self, tables: list[Array]) -> Array:
        """Logits (P,) of one tree with tables (levels of the parent, levels), all positive."""
        t = np.zeros(self.n_logits)
        for logits, table in zip(self.logits, tables, strict=True):
            t[logits] = np.log(table[:, 1:] / table[:, :1])
        return t


def _firsts(numbers: list[Ints]) -> Ints:
    """The numbers of every variable where its parent has level 0."""
    return _joined([np.atleast_1d(own[0]) for own in numbers])


def _joined(parts: list[Ints]) -> Ints:
    return np.concatenate([*parts, np.zeros(0, np.int64)])


def _side_by_side(xp: Any, parts: list[Any]) -> Any:
    return parts[0] if len(parts) == 1 else xp.concatenate(parts, axis=1)
