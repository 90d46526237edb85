"""Time of conditional questions: ``python benchmarks/bench_queries.py [variables] [terms]``.

A random model of binary variables, terms of order 1 to 4; then 1,000 questions ``P(A=a | B=b, C=c)`` by dictionary,
by text and as one array of codes, and what an answer costs that goes through elimination instead of look-ups.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

from fullspan.data.space import Space
from fullspan.engine.elimination.sums import Sums
from fullspan.model import LogLinear
from fullspan.model.algebra.basis import Basis
from fullspan.query.distributions.log_linear import LogLinearDistribution

N_QUESTIONS = 1_000


def random_model(n: int, k: int, rng: np.random.Generator) -> LogLinear:
    """k random terms with weights of standard deviation 0.3."""
    terms: set[tuple[tuple[int, int], ...]] = set()
    while len(terms) < k:
        chosen = rng.choice(n, size=rng.integers(1, 5), replace=False)
        terms.add(tuple((int(i), 1) for i in sorted(chosen)))
    space = Space.of_cards((2,) * n)
    model = LogLinear(space, Basis("walsh", space.cards), tuple(sorted(terms)), rng.normal(scale=0.3, size=k), 0.0)
    log_z = Sums(model).log_z()
    return LogLinear(space, model.basis, model.terms, model.theta, log_z)


def best(action: Callable[[], object], repeats: int = 5) -> float:
    """Least milliseconds of several runs."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


def main(n: int = 20, k: int = 60) -> None:
    rng = np.random.default_rng(1)
    model = random_model(n, k, rng)
    oracle = LogLinearDistribution(model)
    triples = np.array([rng.choice(n, 3, replace=False) for _ in range(N_QUESTIONS)])
    codes = rng.integers(2, size=(N_QUESTIONS, 3))
    names = model.space.names
    events = [{names[t[0]]: int(x[0])} for t, x in zip(triples, codes, strict=True)]
    givens = [
        {names[i]: int(v) for i, v in zip(t[1:], x[1:], strict=True)} for t, x in zip(triples, codes, strict=True)
    ]
    texts = [
        f"P({names[a]}={x} | {names[b]}={y}, {names[c]}={z})"
        for (a, b, c), (x, y, z) in zip(triples, codes, strict=True)
    ]
    left, right = np.full((N_QUESTIONS, n), -1), np.full((N_QUESTIONS, n), -1)
    rows = np.arange(N_QUESTIONS)
    left[rows, triples[:, 0]] = codes[:, 0]
    for column in (1, 2):
        right[rows, triples[:, column]] = codes[:, column]

    start = time.perf_counter()
    oracle.probability(events[0], givens[0])
    oracle.conditionals(left, right)
    print(f"n = {n}, {k} terms; table and compilation once: {time.perf_counter() - start:.2f} s")
    by_dict = best(lambda: [oracle.probability(e, g) for e, g in zip(events, givens, strict=True)])
    by_text = best(lambda: [oracle.probability(text) for text in texts])
    by_rows = best(lambda: oracle.conditionals(left, right))
    print(
        f"{N_QUESTIONS} conditionals of three variables: by dictionary {by_dict:.1f} ms, by text {by_text:.1f} ms, "
        f"as one array {by_rows:.1f} ms"
    )
    one = best(lambda: oracle._summed((), {0: (1,), 1: (1,), 2: (0,)}, {1: (1,), 2: (0,)}, True))
    print(
        f"one conditional by elimination: {one:.1f} ms; mode: {best(oracle.mode):.1f} ms; "
        f"10,000 samples: {best(lambda: oracle.sample(10_000, np.random.default_rng(0))):.1f} ms"
    )
    single = [oracle.probability(e, g) for e, g in zip(events, givens, strict=True)]
    print(f"largest difference between both: {np.abs(np.array(single) - oracle.conditionals(left, right)).max():.1e}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
