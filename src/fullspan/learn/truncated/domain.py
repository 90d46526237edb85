"""The parameter domain B: which patterns have a weight.

Frequent ones, by order and support; those of a list; or all single items and a random subset of the pairs.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fullspan.data.canonical import canonical_columns
from fullspan.data.space import Space
from fullspan.errors import FullspanError
from fullspan.learn.likelihood.structure import position_of
from fullspan.learn.truncated.mining import frequent_patterns
from fullspan.model.algebra.basis import Basis, Term

if TYPE_CHECKING:
    from fullspan.data import Empirical
    from fullspan.learn.truncated.fit import TruncatedOptions


def domain(data: Empirical, options: TruncatedOptions) -> tuple[Term, ...]:
    """The terms, sorted by order, so that no term comes before its parts.

    Raises
    ------
    FullspanError : there is none, or a pattern names an unknown variable or level or is listed twice.
    TooLargeError : the candidates would not fit into memory.
    """
    space, o = data.space, options
    if o.patterns is not None and o.n_pairs is not None:
        raise FullspanError("patterns= and n_pairs= both say which patterns have a weight; leave one of them out")
    if o.patterns is not None:
        terms = given_patterns(space, o.patterns)
    elif o.n_pairs is not None:
        terms = _drawn(data, o.n_pairs, o.seed)
    else:
        least = min_count(o.min_support, data.total)
        terms = frequent_patterns(data.states, data.counts, space.cards, least, o.max_order, o.max_memory)
    if not terms:
        raise FullspanError(_why_empty(data, options))
    return tuple(terms)


def min_count(min_support: Any, total: float) -> float:
    """Weight of rows that a share from 0 to 1, or a whole number of rows, stands for.

    Raises
    ------
    FullspanError : it is neither.
    """
    if _is_whole(min_support) and min_support >= 1:
        return float(min_support)
    if isinstance(min_support, float | np.floating) and 0.0 < min_support <= 1.0:
        return float(min_support) * total * (1 - 1e-12)
    raise FullspanError(
        f"min_support is {min_support!r}; a share of the rows above 0.0 and up to 1.0 is needed, or a whole number of "
        "rows of at least 1"
    )


def given_patterns(space: Space, patterns: Any) -> list[Term]:
    """Terms of a list: names, sets of names, or ``{name: level}``.

    A set of names stands for all combinations of their levels but the first ones.

    Raises
    ------
    FullspanError : a name or level is unknown or the first one, a pattern is empty or is listed twice.
    """
    if isinstance(patterns, str) or not isinstance(patterns, Iterable):
        raise FullspanError(f"patterns is {patterns!r}; a list is needed, such as [['a'], ['a', 'b']]")
    basis, found = Basis("monomial", space.cards), []
    for pattern in patterns:
        if isinstance(pattern, Mapping):
            found.append(_of_levels(space, pattern))
            continue
        names = [pattern] if isinstance(pattern, str | numbers.Integral) else list(pattern)
        variables = sorted({position_of(space, name, "a pattern") for name in names})
        if not variables:
            raise FullspanError("a pattern of patterns= is empty; name at least one variable in each")
        terms = [term for term in basis.subterms(variables) if len(term) == len(variables)]
        if not terms:
            constant = next(space.names[i] for i in variables if space.cards[i] == 1)
            raise FullspanError(
                f"the pattern {names!r} has {constant!r}, which has one level only and can have no weight"
            )
        found += terms
    if len(set(found)) < len(found):
        twice = next(term for term in found if found.count(term) > 1)
        named = {space.names[i]: space.variables[i].levels[level] for i, level in twice}
        raise FullspanError(f"the pattern {named} is listed twice in patterns=; leave one out")
    return sorted(found, key=lambda term: (len(term), term))


def _of_levels(space: Space, pattern: Mapping[Any, Any]) -> Term:
    term = []
    for name, level in pattern.items():
        i = position_of(space, name, "a pattern")
        code = space.variables[i].code(level)
        if code == 0:
            raise FullspanError(
                f"the pattern {dict(pattern)!r} has {space.names[i]!r} at its first level, which is what is left out; "
                f"name another of {list(space.variables[i].levels)}"
            )
        term.append((i, code))
    if not term:
        raise FullspanError("a pattern of patterns= is empty; name at least one variable in each")
    return tuple(sorted(term))


def _drawn(data: Empirical, n_pairs: Any, seed: Any) -> list[Term]:
    """Random pairs that do not depend on the order of the columns."""
    order = canonical_columns(data)
    terms = random_pairs(data.space.reordered(order), n_pairs, np.random.default_rng(seed))
    own = (tuple(sorted((order[i], level) for i, level in term)) for term in terms)
    return sorted(own, key=lambda term: (len(term), term))


def random_pairs(space: Space, n_pairs: Any, rng: np.random.Generator) -> list[Term]:
    """All single items, and ``n_pairs`` pairs of items of two variables, drawn without replacement.

    Raises
    ------
    FullspanError : it is no whole number, or there are fewer pairs.
    """
    items = [(i, level) for i, card in enumerate(space.cards) for level in range(1, card)]
    first, second = np.triu_indices(len(items), 1)
    variable = np.array([i for i, _ in items], dtype=np.int64)
    apart = np.flatnonzero(variable[first] != variable[second]) if len(items) else np.zeros(0, dtype=np.int64)
    if not _is_whole(n_pairs) or not 0 <= n_pairs <= len(apart):
        raise FullspanError(f"n_pairs is {n_pairs!r}; a whole number from 0 to the {len(apart):,} pairs there are")
    chosen = np.sort(rng.choice(apart, int(n_pairs), replace=False))
    pairs = zip(first[chosen].tolist(), second[chosen].tolist(), strict=True)
    return [*((item,) for item in items), *((items[a], items[b]) for a, b in pairs)]


def _is_whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _why_empty(data: Empirical, options: TruncatedOptions) -> str:
    if not any(card > 1 for card in data.space.cards):
        return f"no variable varies (n_samples={data.n_rows}): the space is one state, and there is nothing to learn"
    if options.patterns is not None:
        return "patterns= is empty: without a weight there is nothing to learn; list at least one pattern"
    return (
        f"no pattern is in enough rows for min_support={options.min_support!r} of {data.total:g} rows; lower it, or "
        "list patterns="
    )
