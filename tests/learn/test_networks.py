"""Bayesian networks averaged over their posterior, against enumeration of all networks of three variables."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from fullspan.data import Empirical, Space
from fullspan.learn.networks import STRENGTHS, Families, draw_networks, family_score, family_table, score_of, walk
from fullspan.model.algebra import Basis

CARDS = (2, 3, 2)


def rows_of(n: int, seed: int = 0) -> Empirical:
    """Rows in which the last variable is mostly the parity of the others."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(2, size=n), rng.integers(3, size=n)
    c = np.where(rng.random(n) < 0.85, (a + b) % 2, rng.integers(2, size=n))
    return Empirical.from_codes(np.column_stack([a, b, c]), space=Space.of_cards(CARDS))


def arrays(data: Empirical) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.ascontiguousarray(data.states.T.astype(np.int64)), data.counts.copy(), np.array(data.space.cards)


def networks() -> list[np.ndarray]:
    """All 25 networks of three variables."""
    choices = [[m for m in range(8) if not m >> v & 1] for v in range(3)]
    found = []
    for parents in itertools.product(*choices):
        p = np.array(parents, dtype=np.int64)
        if not any(u != v and p[v] >> u & 1 and walk.is_ancestor(p, v, u) for v in range(3) for u in range(3)):
            found.append(p)
    return found


def predicted(data: Empirical, parents: np.ndarray, strength: float, each: bool) -> np.ndarray:
    """p of all states under the mean of the tables, cell by cell."""
    p = np.ones(CARDS)
    for v in range(3):
        family = [i for i in range(3) if parents[v] >> i & 1]
        for x in np.ndindex(*CARDS):
            same = np.all(data.states[:, family] == np.array(x)[family], axis=1)
            among = data.counts[same].sum()
            own = data.counts[same & (data.states[:, v] == x[v])].sum()
            a = strength / (CARDS[v] if each else CARDS[v] * math.prod(CARDS[i] for i in family))
            p[x] *= (own + a) / (among + a * CARDS[v])
    return p


@pytest.mark.parametrize("each", [False, True])
def test_evidence_is_the_product_of_predictions(each: bool) -> None:
    """The evidence of a family is the product over rows of what the rows before predict of each."""
    data = rows_of(40)
    columns, counts, cards = arrays(data)
    strength, seen, log = 1.7, np.zeros((2, 3, 2)), 0.0
    a = strength / 2 if each else strength / 12
    for state, count in zip(data.states, data.counts, strict=True):
        for _ in range(int(count)):
            here = seen[state[0], state[1]]
            log += math.log((here[state[2]] + a) / (here.sum() + 2 * a))
            here[state[2]] += 1
    found = family_score(columns, counts, cards, 2, 0b011, strength, each, 4096)
    sets = math.log(math.comb(2, 2)) if each else 0.0
    assert found == pytest.approx(log - sets, rel=1e-12)
    assert family_score(columns, counts, cards, 2, 0b011, strength, each, 11) == -np.inf
    assert np.allclose(family_table(columns, counts, cards, 2, 0b011), np.moveaxis(seen, 2, 0).ravel(order="F"))


def test_parents_of_one_number_share_their_prior() -> None:
    """With a prior for each state of the parents, sets of one size are equally likely, and so are the sizes."""
    data = rows_of(40)
    columns, counts, cards = arrays(data)
    nothing = np.zeros_like(counts)
    assert family_score(columns, nothing, cards, 2, 0b001, 1.0, True, 4096) == pytest.approx(-math.log(2))
    assert family_score(columns, nothing, cards, 2, 0b011, 1.0, True, 4096) == pytest.approx(0.0)
    assert family_score(columns, nothing, cards, 2, 0b001, 1.0, False, 4096) == 0.0


@pytest.mark.parametrize("slots", [1, 3, 1 << 14])
def test_scores_that_are_known_are_those_of_their_families(slots: int) -> None:
    """Whatever was asked for before, and however few are kept: each family, strength and variable has its own."""
    data = rows_of(60)
    rng, strengths = np.random.default_rng(0), np.array([0.5, 3.0])
    families = Families.of(*arrays(data), strengths, True, 4096, 1)
    families = families._replace(keys=families.keys[:slots], scores=families.scores[:slots])
    for _ in range(200):
        v, which = int(rng.integers(3)), int(rng.integers(2))
        parents = int(rng.choice([m for m in range(8) if not m >> v & 1]))
        wanted = family_score(*arrays(data), v, parents, float(strengths[which]), True, 4096)
        assert score_of(families, v, parents, which) == (wanted if parents.bit_count() < 2 else -np.inf)


@pytest.mark.parametrize("each", [False, True])
def test_climbing_ends_where_no_move_gains(each: bool) -> None:
    """No arc that is added, removed or turned around makes the network that is reached more likely."""
    data = rows_of(300)
    columns, counts, cards = arrays(data)
    parents = np.zeros(3, dtype=np.int64)
    families = Families.of(columns, counts, cards, np.array([2.0]), each, 4096, 3)
    walk.hill_climb(families, parents, 0)
    reached = walk.start(families, parents, 0)[0].sum()
    assert parents[2] == 0b011 or any(p.bit_count() == 2 for p in map(int, parents))
    for other in networks():
        changed = sum((int(p) ^ int(q)).bit_count() for p, q in zip(parents, other, strict=True))
        if changed == 1 or (changed == 2 and np.count_nonzero(parents != other) == 2):
            assert walk.start(families, other, 0)[0].sum() <= reached + 1e-9


@pytest.mark.parametrize("spread", ["all", "each"])
def test_average_is_that_of_the_posterior(spread: str) -> None:
    """Draws predict as the enumerated posterior over all networks and strengths does, up to their number."""
    data, each = rows_of(25, seed=4), spread == "each"
    columns, counts, cards = arrays(data)
    families = Families.of(columns, counts, cards, STRENGTHS, each, 4096, 3)
    weights, tables = [], []
    for parents in networks():
        for s, strength in enumerate(STRENGTHS):
            weights.append(walk.start(families, parents, s)[0].sum())
            tables.append(predicted(data, parents, float(strength), each))
    share = np.exp(np.array(weights) - np.logaddexp.reduce(weights))
    wanted = np.tensordot(share, np.array(tables), axes=1)
    every = np.array(list(np.ndindex(*CARDS)))
    draws = [
        np.exp(draw_networks(data, Basis("walsh", CARDS), spread, np.random.default_rng(s)).log_prob(every))  # type: ignore[arg-type]
        for s in range(40)
    ]
    spread_of_mean = np.std(draws, axis=0) / math.sqrt(40)
    assert np.abs(np.mean(draws, axis=0) - wanted.ravel()).max() < 5 * spread_of_mean.max() + 1e-3
    assert np.abs(np.mean(draws, axis=0) - wanted.ravel()).max() < 0.01


@pytest.mark.parametrize("basis", ["walsh", "indicator", "monomial"])
def test_networks_are_log_linear_models(basis: str) -> None:
    """Each network, written in a basis, is the product of its tables; its terms lie inside its families."""
    data = rows_of(60)
    found = draw_networks(data, Basis(basis, CARDS), "each", np.random.default_rng(1))  # type: ignore[arg-type]
    every = np.array(list(np.ndindex(*CARDS)))
    for g, (_, model) in enumerate(found.models()):
        p = predicted(data, found.parents[g], float(found.strengths[g]), each=True)
        assert np.allclose(np.exp(model.log_prob(every)), p.ravel(), rtol=1e-10)
    mean = sum(share * np.exp(model.log_prob(every)) for share, model in found.models())
    assert np.allclose(np.exp(found.log_prob(every)), mean, rtol=1e-10)
    small = draw_networks(data, Basis(basis, CARDS), "each", np.random.default_rng(1), max_family=2)  # type: ignore[arg-type]
    assert max(len(term) for _, model in small.models() for term in model.terms) <= 2


@pytest.mark.parametrize("each", [False, True])
def test_a_column_of_many_levels_stands_alone(each: bool) -> None:
    """More levels than a table of few rows may have cells: it has no parents and no children, the others go on."""
    rng = np.random.default_rng(0)
    a = rng.integers(2, size=60)
    rows = np.column_stack([rng.integers(100, size=60), a, a])
    data = Empirical.from_codes(rows, space=Space.of_cards((100, 2, 2)))
    families = Families.of(*arrays(data), np.array([1.0]), each, 64, 3)
    scores, _ = walk.start(families, np.zeros(3, dtype=np.int64), 0)
    assert np.isfinite(scores).all()
    assert family_score(*arrays(data), 0, 0b010, 1.0, each, 64) == -math.inf
    networks = draw_networks(data, Basis("walsh", (100, 2, 2)), "each" if each else "all", rng, draws=4)
    log = networks.log_prob(data.states)
    assert np.isfinite(log).all()
    assert float(data.counts @ log) / 60 > -math.log(100 * 4) + 0.4  # the pair is found
    for _, model in networks.models():
        assert model.log_prob([[99, 1, 0]])[0] < model.log_prob([[99, 1, 1]])[0]
