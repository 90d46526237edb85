"""The face that carries the data, against linear programs for single states, R's zeros, and long fits."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, linprog

import generic
from fullspan.arrays import Ints
from fullspan.errors import FullspanError, TooLargeError
from fullspan.learn.likelihood import Face, complete_sets, empty_margins, face_of, integral, null_space
from fullspan.learn.likelihood.boundary import cuts
from fullspan.model.algebra import BASES, Basis, BasisName


def hierarchy(basis: Basis, margins: Iterable[Sequence[int]]) -> Ints:
    """All terms inside some sets of variables."""
    inside = {basis.index(term) for variables in margins for term in basis.subterms(variables) if term}
    return np.array(sorted(inside), dtype=np.int64)


def up_to(basis: Basis, order: int) -> Ints:
    return hierarchy(basis, itertools.combinations(range(len(basis.cards)), order))


def features(basis: Basis, terms: Ints) -> NDArray[np.float64]:
    """Phi (|X|, k) by enumeration."""
    return generic.matrix(basis)[terms].T


def brute_face(basis: Basis, terms: Ints, seen: Ints) -> NDArray[np.bool_]:
    """A state is off the face iff the largest ``c - v.Phi(x)`` of all valid v in a box is positive: one LP a state."""
    phi = features(basis, terms)
    centred = phi - phi[seen[0]]
    on = np.ones(basis.n_states, dtype=bool)
    for x in np.setdiff1d(np.arange(basis.n_states), seen):
        solved = linprog(
            centred[x],
            A_ub=centred,
            b_ub=np.zeros(len(centred)),
            A_eq=centred[seen],
            b_eq=np.zeros(len(seen)),
            bounds=(-1, 1),
        )
        on[x] = solved.fun > -1e-7
    return on


def assert_certifies(face: Face, basis: Basis, terms: Ints, on: NDArray[np.bool_]) -> None:
    """The direction is constant on ``on`` and at least 1 less elsewhere; size and rank are those of ``on``."""
    phi = features(basis, terms)
    values = phi @ face.direction
    top = values[on].max()
    assert np.ptp(values[on]) <= 1e-12 * max(1.0, np.abs(face.direction).max())
    assert (values[~on] <= top - 1 + 1e-9).all()
    assert face.interior == on.all()
    assert face.n_states == on.sum()
    assert face.n_free == np.linalg.matrix_rank(phi[on] - phi[on][0])
    p = np.exp(phi @ face.start() - (phi @ face.start()).max())
    assert (p[~on] == 0).all()
    np.testing.assert_allclose(p[on], 1.0, rtol=1e-10)


@pytest.mark.parametrize("name", BASES)
@pytest.mark.parametrize("cards", [(2, 2, 2, 2, 2), (2, 3, 2, 2), (3, 4, 2), (5, 1, 3)])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_the_face_is_what_no_valid_direction_excludes(name: BasisName, cards: tuple[int, ...], order: int) -> None:
    """F by stages is F by one linear program per state, for tables from nearly empty to nearly full."""
    basis = Basis(name, cards)
    terms, rng = up_to(basis, min(order, len(cards))), np.random.default_rng(len(cards) + 10 * order)
    for size in (1, 2, 3, basis.n_states // 4, basis.n_states // 3, basis.n_states // 2, 3 * basis.n_states // 4):
        seen = rng.choice(basis.n_states, size, replace=False)
        # The bases span the same functions on a hierarchy, and the linear programs are quickest in one of them.
        on = hierarchical_face(cards, order, tuple(seen.tolist()))
        assert_certifies(face_of(basis, terms, seen), basis, terms, on)


@cache
def hierarchical_face(cards: tuple[int, ...], order: int, seen: tuple[int, ...]) -> NDArray[np.bool_]:
    """The face of all terms up to an order, by one linear program per state."""
    basis = Basis("monomial", cards)
    return brute_face(basis, up_to(basis, min(order, len(cards))), np.array(seen))


@pytest.mark.parametrize("name", BASES)
@pytest.mark.parametrize("seed", range(12))
def test_terms_need_not_be_hierarchical(name: BasisName, seed: int) -> None:
    """Any set of single terms, of any order, has a face."""
    rng = np.random.default_rng(seed)
    basis = Basis(name, [(2,) * 6, (2, 3, 2, 3), (4, 2, 3)][seed % 3])
    terms = rng.choice(np.arange(1, basis.n_states), rng.integers(1, basis.n_states // 2), replace=False)
    seen = rng.choice(basis.n_states, rng.integers(1, basis.n_states // 2), replace=False)
    assert_certifies(face_of(basis, terms, seen), basis, terms, brute_face(basis, terms, seen))


@pytest.mark.parametrize("seed", range(5))
def test_a_hierarchical_model_has_one_face_in_every_basis(seed: int) -> None:
    """The bases span the same functions on a hierarchy, so size and rank of the face agree."""
    rng = np.random.default_rng(seed)
    cards = (2, 3, 4, 2, 3)
    seen = rng.choice(math.prod(cards), 40, replace=False)
    margins = [(0, 1, 2), (1, 3), (2, 4), (3, 4)]
    faces = [face_of(Basis(name, cards), hierarchy(Basis(name, cards), margins), seen) for name in BASES]
    assert len({(face.n_states, face.n_free) for face in faces}) == 1
    assert not faces[0].interior


@pytest.mark.parametrize("name", BASES)
def test_zeros_in_opposite_corners_have_no_finite_maximum(name: BasisName) -> None:
    """2x2x2 without the three-way term, 000 and 111 unseen: no margin is empty, and yet (Haberman 1974)."""
    basis = Basis(name, (2, 2, 2))
    terms, seen = up_to(basis, 2), np.arange(1, 7)
    face = face_of(basis, terms, seen)
    assert (face.n_states, face.n_free) == (6, 5)
    assert_certifies(face, basis, terms, np.isin(np.arange(8), seen))
    assert face_of(basis, terms, np.arange(7)).interior  # one corner alone does not matter
    assert face_of(basis, up_to(basis, 3), np.arange(7)).n_states == 7


BASKETS = np.array([[1, 0, 0], [1, 1, 0], [1, 0, 0], [0, 1, 1], [0, 1, 1], [1, 1, 0], [1, 0, 0], [1, 1, 0]])
"""Bread, milk, apple."""


def test_baskets_leave_five_states() -> None:
    """With edges bread-milk and milk-apple, whoever buys no milk buys bread and no apple: 5 states and 3 weights."""
    basis = Basis("monomial", (2, 2, 2))
    terms = hierarchy(basis, [(0, 1), (1, 2)])
    face = face_of(basis, terms, np.unique(BASKETS @ [1, 2, 4]))
    on = np.isin(np.arange(8), [1, 2, 3, 6, 7])  # 100, 010, 110, 011, 111
    assert_certifies(face, basis, terms, on)
    assert (face.n_states, face.n_free) == (5, 3)
    assert np.array_equal(face.diverging, np.flatnonzero(face.direction))


@pytest.mark.parametrize(
    ("cards", "margins", "zeros"),
    [((2, 2, 2), [(0, 1), (1, 2), (0, 2)], [0, 7]), ((3, 2, 2), [(0, 1), (1, 2), (0, 2)], [0, 10, 11])],
)
def test_a_long_fit_goes_to_the_face(cards: tuple[int, ...], margins: list[tuple[int, ...]], zeros: list[int]) -> None:
    """Iterative proportional fitting: probability off the face goes to 0, and stays on it."""
    basis, rng = Basis("monomial", cards), np.random.default_rng(3)
    counts = rng.uniform(1, 5, size=basis.n_states)
    counts[zeros] = 0
    terms = hierarchy(basis, margins)
    on = brute_face(basis, terms, np.flatnonzero(counts))
    face = face_of(basis, terms, np.flatnonzero(counts))
    assert face.n_states == on.sum() < basis.n_states
    shape = tuple(reversed(cards))
    data, p = counts.reshape(shape) / counts.sum(), np.full(shape, 1 / basis.n_states)
    for _ in range(20_000):
        for margin in margins:
            others = tuple(len(cards) - 1 - i for i in range(len(cards)) if i not in margin)
            p = p * data.sum(axis=others, keepdims=True) / np.maximum(p.sum(axis=others, keepdims=True), 1e-300)
    assert p.ravel()[~on].max() < 1e-3 < 0.01 < p.ravel()[on].min()


def test_a_few_rows_of_many_variables() -> None:
    """40 rows, 105 terms, 2^14 states: constraints are added lazily, and the answer is checked on every state."""
    basis = Basis("walsh", (2,) * 14)
    rng = np.random.default_rng(8)
    seen = np.unique((rng.random((40, 14)) < 0.3).astype(int) @ (1 << np.arange(14)))
    terms = up_to(basis, 2)
    face = face_of(basis, terms, seen)
    table = np.zeros(basis.n_states)
    table[terms] = face.direction
    basis.synthesise(table)
    on = table > table.max() - 0.5
    assert on[seen].all()
    assert on.sum() == face.n_states < basis.n_states
    assert np.ptp(table[on]) <= 1e-12
    assert table[~on].max() <= table.max() - 1 + 1e-9
    again = face_of(basis, terms, np.flatnonzero(on))  # seeing all of the face changes nothing
    assert (again.n_states, again.n_free) == (face.n_states, face.n_free)
    assert face_of(basis, terms, seen, seed=1).n_states == face.n_states


def test_full_rank_needs_no_table() -> None:
    """2^40 states: the rank of the states seen shows a finite maximum; less rank needs tables that do not fit."""
    basis, rng = Basis("monomial", (2,) * 40), np.random.default_rng(0)
    terms = up_to(basis, 1)
    assert face_of(basis, terms, rng.integers(1 << 40, size=400)).interior
    with pytest.raises(TooLargeError, match=r"a face among .* GiB may be used; take fewer variables"):
        face_of(basis, terms, rng.integers(1 << 40, size=20), max_memory=1 << 30)


def test_no_terms_are_always_fitted() -> None:
    """The uniform distribution has no weights to diverge."""
    face = face_of(Basis("walsh", (2, 3)), np.empty(0, dtype=np.int64), np.array([4]))
    assert face.interior
    assert (face.n_states, face.n_free) == (6, 0)


@pytest.mark.parametrize(
    ("terms", "seen", "message"),
    [
        ([1, 2], [], "no state was seen"),
        ([1, 1], [0], "distinct indices from 1 to 3"),
        ([0, 1], [0], "distinct indices from 1 to 3"),
        ([4], [0], "distinct indices from 1 to 3"),
        ([1], [4], "states run from 0 to 3, got 4 to 4"),
        ([1], [-1], "states run from 0 to 3"),
    ],
)
def test_what_makes_no_sense_is_refused(terms: list[int], seen: list[int], message: str) -> None:
    """Each refusal says what was given."""
    with pytest.raises(FullspanError, match=message):
        face_of(Basis("walsh", (2, 2)), np.array(terms), np.array(seen))


def test_a_search_that_does_not_end_is_an_error() -> None:
    """The bound on the number of linear programs is never passed in silence."""
    basis = Basis("monomial", (2,) * 14)
    with pytest.raises(
        FullspanError, match=r"1 (linear programs of|stages did not find the face of) 105 terms.*; take fewer"
    ):
        face_of(basis, up_to(basis, 2), np.array([3, 1000, 12000]), max_rounds=1)


def test_stages_that_do_not_end_are_an_error() -> None:
    """The same for the number of stages: one finds the corners, another that there are no more."""
    basis = Basis("monomial", (2, 2, 2))
    with pytest.raises(FullspanError, match="1 stages did not find the face of 6 terms"):
        face_of(basis, up_to(basis, 2), np.arange(1, 7), max_rounds=1)


def test_a_direction_lost_in_rounding_is_an_error() -> None:
    """No direction is returned that the check on all states does not confirm."""
    with pytest.raises(FullspanError, match=r"of 1 diverging weights is lost in rounding \(gap .*, error 0.0e\+00\)"):
        face_of(Basis("walsh", (2,)), np.array([1]), np.array([1]), rounding=-1.0)


def test_a_failing_solver_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the solver says is passed on."""
    monkeypatch.setattr(cuts, "linprog", lambda *_, **__: OptimizeResult(status=4, message="numerical trouble"))
    with pytest.raises(FullspanError, match="a linear program of 1 terms failed: numerical trouble; take fewer"):
        face_of(Basis("walsh", (2,)), np.array([1]), np.array([1]))


@pytest.mark.parametrize("name", BASES)
def test_empty_cells_are_counted(name: BasisName) -> None:
    """The direction of the empty margins is minus the number of empty cells that a state lies in."""
    basis = Basis(name, (3, 2, 4, 2))
    margins = [(0, 1), (1, 2, 3)]
    seen = np.array([0, 5, 7, 11, 20, 26, 33, 40, 41])
    rng = np.random.default_rng(2)
    extra = np.setdiff1d(up_to(basis, 3), hierarchy(basis, margins))[::5]  # single terms complete no set
    terms = rng.permutation(np.concatenate([hierarchy(basis, margins), extra]))
    assert sorted(complete_sets(basis, terms)) == margins
    digits = np.arange(basis.n_states)[:, None] // basis.strides % basis.cards
    expected = np.zeros(basis.n_states)
    for margin in margins:
        full = {tuple(row) for row in digits[seen][:, margin]}
        expected -= [tuple(row) not in full for row in digits[:, margin]]
    values = features(basis, terms) @ empty_margins(basis, terms, seen)
    np.testing.assert_allclose(values - values[seen[0]], expected, atol=1e-12)


def test_null_spaces_of_integers_are_integers() -> None:
    """A u = 0 exactly, and as many as the rank leaves, also for no rows and for rows of zeros."""
    rng = np.random.default_rng(1)
    for rows in (
        rng.integers(-1, 2, size=(9, 4)) @ rng.integers(-1, 2, size=(4, 7)),
        np.zeros((3, 4)),
        np.ones((0, 3)),
    ):
        pivots, null = null_space(rows.astype(float))
        assert len(pivots) == np.linalg.matrix_rank(rows) == rows.shape[1] - null.shape[1]
        assert not (rows @ null).any()
        assert np.array_equal(null, np.rint(null))
    np.testing.assert_array_equal(integral(np.array([[1 / 3, np.pi], [0.5, 1.0]])), [[2, np.pi], [3, 1]])


def reference(shared_data: Callable[[str], Path], table: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(shared_data("contingency/reference.json").read_text())[table]
    return content


@pytest.mark.parametrize("name", BASES)
@pytest.mark.parametrize("table", ["Titanic", "Caesar", "mildew", "DaytonSurvey", "reinis", "Rochdale"])
def test_cells_off_the_face_are_those_that_r_fits_with_zero(
    shared_data: Callable[[str], Path], table: str, name: BasisName
) -> None:
    """R's fitted counts after up to 20,000 rounds vanish off the face, and nowhere else by more than a slow tail."""
    entry = reference(shared_data, table)
    cards, names = tuple(entry["dims"]), entry["variables"]
    basis = Basis(name, cards)
    flat = np.array(entry["counts_C_order"]).reshape(cards).transpose().ravel()  # variable 0 fastest
    for fit in entry["fits"].values():
        terms = hierarchy(basis, [[names.index(v) for v in margin] for margin in fit["margins"]])
        face = face_of(basis, terms, np.flatnonzero(flat))
        fitted = np.array(fit["fitted_C_order"]).reshape(cards).transpose().ravel()
        table_values = features(basis, terms) @ face.direction
        on = table_values > table_values.max() - 0.5
        assert on.sum() == face.n_states
        assert fitted[~on].max(initial=0.0) < 0.02
        assert fitted[on].min() > 1e-6


def test_nltcs_is_finite_in_pairs_and_not_in_triples(shared_data: Callable[[str], Path]) -> None:
    """16 binary variables: all pairs have full rank; three variables never show one of their patterns."""
    with np.load(shared_data("debd/nltcs.npz")) as data:
        rows = np.unpackbits(data["train"], axis=1)[:, :16].astype(np.int64)
    seen = np.unique(rows @ (1 << np.arange(16)))
    for name in ("monomial", "walsh"):
        basis = Basis(name, (2,) * 16)
        assert face_of(basis, up_to(basis, 2), seen).interior
        face = face_of(basis, up_to(basis, 3), seen)
        assert (face.n_states, face.n_free) == (7 << 13, 695)
