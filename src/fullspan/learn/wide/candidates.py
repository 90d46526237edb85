"""What could be added to a model of bounded width, and what each addition is worth.

    a pair as a whole     N KL(p_d(x_i, x_j) || p(x_i, x_j)) less its price, for all pairs, inside a clique or not
    one term of a pair    N gain(q, m), closed form, for pairs of more than two levels
    a longer term         the same, of all products of a term in use and a further variable
    one term of any order the same, of all terms inside a clique, which need no wider table

Both sides are exact: counts of the rows, and the calibrated model. A price is that of the names and one nat per weight.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from fullspan.arrays import Array
from fullspan.engine.elimination.cliques import Cliques
from fullspan.engine.elimination.pairs import level_starts, misfits
from fullspan.learn.wide.counts import Counts
from fullspan.learn.wide.tariff import Tariff
from fullspan.model.algebra.basis import Basis, Term

MAX_ORDER = 12
"""Most variables of a term."""
_EDGE = 1e-12
_MOST_PER_VARIABLE = 20
"""Candidates per variable that are looked at in a round."""


@dataclass(frozen=True)
class Candidate:
    """Terms to be added together; ``net`` is what they gain less their price, in nats of all rows."""

    net: float
    variables: tuple[int, ...]
    terms: tuple[Term, ...]


def two_valued_gain(q: Array, m: Array, zero_one: bool) -> Array:
    """Drop of KL(p_d || p) in nats per row when a term's expectation moves from m to q along its own line."""
    if not zero_one:
        q, m = (1 - q) / 2, (1 - m) / 2
    q, m = np.clip(q, _EDGE, 1 - _EDGE), np.clip(m, _EDGE, 1 - _EDGE)
    return np.asarray(q * np.log(q / m) + (1 - q) * np.log((1 - q) / (1 - m)))


def pair_candidates(
    counts: Counts, p: Array, basis: Basis, in_use: Collection[Term], tariff: Tariff
) -> list[Candidate]:
    """Pairs, and single terms of pairs, that shorten the description, best first; ``p`` are the model's pairs."""
    cards = np.array(counts.cards)
    n, used = len(cards), np.zeros((len(cards), len(cards)))
    for term in in_use:
        if len(term) == 2:
            used[term[0][0], term[1][0]] += 1
    missing = np.outer(cards - 1, cards - 1) - used
    names = tariff.by_order[2] + tariff.by_variable[:, None] + tariff.by_variable[None, :]
    net = counts.total * misfits(counts.pairs, p, counts.cards) - names - missing
    net[(missing <= 0) | np.tri(n, dtype=bool)] = -np.inf
    single, which = _single_terms(counts, p, basis, in_use, names)
    best = np.maximum(net, single)
    rows, columns = np.nonzero(best > 0)
    chosen = np.lexsort((columns, rows, -best[rows, columns]))[: _MOST_PER_VARIABLE * n]
    found = []
    for i, j in zip(rows[chosen].tolist(), columns[chosen].tolist(), strict=True):
        if single[i, j] > net[i, j]:
            terms: tuple[Term, ...] = (which[i, j],)
        else:
            levels = itertools.product(range(1, cards[i]), range(1, cards[j]))
            terms = tuple(t for a, b in levels if (t := ((i, a), (j, b))) not in in_use)
        found.append(Candidate(float(best[i, j]), (i, j), terms))
    return found


def _single_terms(
    counts: Counts, p: Array, basis: Basis, in_use: Collection[Term], names: Array
) -> tuple[Array, dict[tuple[int, int], Term]]:
    """Net gain of the best single term of every pair that has more than one, and which it is."""
    cards, n = counts.cards, len(counts.cards)
    net, which = np.full((n, n), -np.inf), dict[tuple[int, int], Term]()
    many = [i for i in range(n) if cards[i] > 2]
    starts = level_starts(cards)
    local = [basis.local(i).astype(np.float64)[1:] for i in range(n)]
    for i, j in sorted({(min(i, j), max(i, j)) for i in many for j in range(n) if i != j}):
        block = np.ix_(range(starts[i], starts[i + 1]), range(starts[j], starts[j + 1]))
        q, m = local[i] @ counts.pairs[block] @ local[j].T, local[i] @ p[block] @ local[j].T
        gain = counts.total * two_valued_gain(q, m, basis.zero_one) - names[i, j] - 1.0
        for a, b in np.argwhere(gain > 0):
            term: Term = ((i, int(a) + 1), (j, int(b) + 1))
            if gain[a, b] > net[i, j] and term not in in_use:
                net[i, j], which[i, j] = gain[a, b], term
    return net, which


def longer_candidates(
    counts: Counts, basis: Basis, terms: Sequence[Term], moments: Array, tariff: Tariff
) -> list[Candidate]:
    """Products of a term in use and one more variable that shorten the description, best first.

    ``moments`` are ``<Phi_y Phi_z>`` of the terms in use under the model.
    """
    single = [k for k, term in enumerate(terms) if len(term) == 1]
    joint = [k for k, term in enumerate(terms) if 1 < len(term) < len(tariff.by_order) - 1]
    if not joint:
        return []
    q = counts.products(basis, [terms[k] for k in joint], [terms[k] for k in single])
    gain = counts.total * two_valued_gain(q, moments[np.ix_(joint, single)], basis.zero_one)
    found, in_use = dict[Term, float](), set(terms)
    names = np.array([tariff.name([i for i, _ in terms[k]]) for k in joint])
    least = tariff.by_order[1:] - tariff.by_order[:-1]
    for a, b in np.argwhere(gain > (names + least.min())[:, None]):
        (i, j), own = terms[single[b]][0], terms[joint[a]]
        term = tuple(sorted((*own, (i, j))))
        if term in in_use or any(i == other for other, _ in own):
            continue
        net = float(gain[a, b]) - tariff.name([v for v, _ in term]) - 1.0
        if net > 0:
            found[term] = net
    return _ordered(found)


def _ordered(found: dict[Term, float]) -> list[Candidate]:
    """Single terms as candidates, best first."""
    ordered = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return [Candidate(net, tuple(i for i, _ in term), (term,)) for term, net in ordered]


class CliqueTerms:
    """Terms of order three and more inside the cliques of one graph, with their expectations in the data."""

    def __init__(self, counts: Counts, cliques: Cliques, basis: Basis) -> None:
        self.counts, self.cliques, self.basis = counts, cliques, basis
        self._data = {k: self._transformed(counts.table(m), k) for k, m in enumerate(cliques.members) if len(m) > 2}

    def _transformed(self, p: Array, k: int) -> Array:
        """Expectations of all terms inside a clique, by their components."""
        for axis, i in enumerate(self.cliques.members[k]):
            local = self.basis.local(i).astype(np.float64)
            p = np.moveaxis(np.tensordot(local, p, (1, axis)), 0, axis)
        return p

    def candidates(self, tables: Sequence[Array], in_use: Collection[Term], tariff: Tariff) -> list[Candidate]:
        """Terms that shorten the description, best first."""
        found: dict[Term, float] = {}
        for k, q in self._data.items():
            members = self.cliques.members[k]
            net = self.counts.total * two_valued_gain(q, self._transformed(tables[k], k), self.basis.zero_one)
            net -= self._prices(members, tariff)
            for place in np.argwhere(net > 0):
                term = tuple((members[axis], int(j)) for axis, j in enumerate(place) if j)
                if term not in in_use:
                    found[term] = float(net[tuple(place)])
        return _ordered(found)

    def _prices(self, members: Sequence[int], tariff: Tariff) -> Array:
        """Nats for each term inside a clique, infinite for fewer than three variables."""
        order, levels = np.zeros((1,) * len(members), dtype=np.int64), np.zeros((1,) * len(members))
        for axis, i in enumerate(members):
            shape = [1] * len(members)
            shape[axis] = self.counts.cards[i]
            here = (np.arange(self.counts.cards[i]) > 0).reshape(shape)
            order = order + here
            levels = levels + here * tariff.by_variable[i]
        by_order = np.full(max(len(tariff.by_order), len(members) + 1), np.inf)
        by_order[3 : len(tariff.by_order)] = tariff.by_order[3:]
        return np.asarray(by_order[order] + levels + 1.0)


Admits = Callable[[Sequence[int]], bool]


def forest(candidates: Sequence[Candidate], admits: Admits, share: float) -> tuple[list[Candidate], list[Candidate]]:
    """Pairs without a cycle among them, best first, that the graph admits; and those that it refused.

    A pair that is worth less than a share of the best one of both its variables waits: what is better for them may make
    it superfluous.
    """
    root: dict[int, int] = {}

    def found(i: int) -> int:
        while (above := root.get(i, i)) != i:
            i = above
        return i

    best: dict[int, float] = {}
    taken, refused = list[Candidate](), list[Candidate]()
    for candidate in candidates:
        i, j = candidate.variables
        best.setdefault(i, candidate.net)
        best.setdefault(j, candidate.net)
        if candidate.net < share * min(best[i], best[j]) or found(i) == found(j):
            continue
        if admits((i, j)):
            root[found(i)] = found(j)
            taken.append(candidate)
        else:
            refused.append(candidate)
    return taken, refused


def apart(candidates: Sequence[Candidate], share: float, most: int) -> list[Candidate]:
    """The best candidates that share at most one variable with each other and are worth a share of the best."""
    taken = list[Candidate]()
    for candidate in candidates:
        if candidate.net < share * candidates[0].net or len(taken) == most:
            break
        if all(len({*candidate.variables} & {*other.variables}) <= 1 for other in taken):
            taken.append(candidate)
    return taken
