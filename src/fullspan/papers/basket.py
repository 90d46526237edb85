"""Eight baskets of bread, milk and apples: a Boltzmann machine whose maximum likelihood lies at infinity.

M. Sugiyama's lecture on Boltzmann machines learns the machine with edges Bread-Milk and Milk-Apple from eight baskets,
and prints its probabilities to ten digits. No basket is empty, and none holds an apple without milk; both can be made
as rare as one likes by weights that grow along (Bread, Milk, -Apple, -Bread&Milk, Milk&Apple). So the likelihood has
no maximum, only a limit, and what a learner prints is where it stopped.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data import Empirical
from fullspan.data.space import Space, Variable
from fullspan.learn.likelihood.machine import fit_machine
from fullspan.learn.likelihood.options import MachineOptions
from fullspan.model import Fitted
from fullspan.papers import Say
from fullspan.papers.text import columns

NAMES = ("Bread", "Milk", "Apple")
BASKETS = ((1, 0, 0), (1, 1, 0), (1, 0, 0), (0, 1, 1), (0, 1, 1), (1, 1, 0), (1, 0, 0), (1, 1, 0))
EDGES = (("Bread", "Milk"), ("Milk", "Apple"))
PUBLISHED = {
    (0, 0, 0): 0.0000300109,
    (1, 0, 0): 0.3749599867,
    (0, 1, 0): 0.1499903954,
    (0, 0, 1): 0.0000000016,
    (1, 1, 0): 0.2250096042,
    (1, 0, 1): 0.0000200043,
    (0, 1, 1): 0.0999895960,
    (1, 1, 1): 0.1500004008,
}
"""Learned probabilities as the lecture prints them, by (Bread, Milk, Apple)."""
PUBLISHED_WEIGHTS = (9.43, 8.52, -9.84, -9.03, 9.43)
"""Of Bread, Milk, Apple, Bread&Milk, Milk&Apple."""
RATE = 1.0
"""The eps of gradient ascent; the lecture does not name its own."""
ABSENT = 1e-300
"""Probability below which a state is off the limit."""


@dataclass(frozen=True)
class Stopped:
    """Gradient ascent that was stopped: weights, probabilities by state index, steps, largest difference left."""

    weights: Array
    p: Array
    steps: int
    difference: float


@dataclass(frozen=True)
class Basket:
    """The data, the limit, and the machine at which a learner stops."""

    states: NDArray[np.int64]
    share: Array
    limit: Array
    stopped: Stopped
    published_difference: float
    terms: tuple[str, ...]
    diverging: tuple[bool, ...]
    likelihood: tuple[float, float]

    @property
    def published(self) -> Array:
        return np.array([PUBLISHED[tuple(state)] for state in self.states.tolist()])

    def to_json(self) -> dict[str, Any]:
        names = ("data", "published", "limit", "limit_as_fraction", "stopped")
        fractions = [str(as_fraction(p)) for p in self.limit]
        rows = zip(self.share, self.published, self.limit, fractions, self.stopped.p, strict=True)
        states = [dict(zip(NAMES, state, strict=True)) for state in self.states.tolist()]
        weights = zip(self.terms, PUBLISHED_WEIGHTS, self.stopped.weights.tolist(), self.diverging, strict=True)
        return {
            "experiment": "basket",
            "rows": [s | dict(zip(names, map(_plain, row), strict=True)) for s, row in zip(states, rows, strict=True)],
            "weights": [dict(zip(("term", "published", "stopped", "diverges"), w, strict=True)) for w in weights],
            "gradient_ascent": {
                "rate": RATE,
                "steps": self.stopped.steps,
                "difference": self.stopped.difference,
                "published_difference": self.published_difference,
            },
            "log_likelihood_per_basket": {"limit": self.likelihood[0], "stopped": self.likelihood[1]},
        }

    def to_text(self) -> str:
        head = (*NAMES, "data", "published", "limit", "limit", "stopped")
        rows = [
            (*map(str, state), f"{d:.3f}" if d else "-", f"{a:.10f}", f"{b:.10f}", str(as_fraction(b)), f"{c:.10f}")
            for state, d, a, b, c in zip(
                self.states.tolist(), self.share, self.published, self.limit, self.stopped.p, strict=True
            )
        ]
        weights = [
            (term, f"{a:.2f}", f"{b:.2f}", "diverges" if lost else "finite")
            for term, a, b, lost in zip(
                self.terms, PUBLISHED_WEIGHTS, self.stopped.weights, self.diverging, strict=True
            )
        ]
        note = _NOTE.format(
            difference=self.published_difference,
            steps=self.stopped.steps,
            rate=RATE,
            agreement=float(np.abs(self.stopped.p - self.published).max()),
            limit=self.likelihood[0],
            stopped=self.likelihood[1],
        )
        table = columns(head, rows, ())
        return "\n".join([*table, "", *columns(("weight", "published", "stopped", "in the limit"), weights), "", note])


_NOTE = """\
published: the learned probabilities of the lecture.
limit: the supremum of the likelihood, which no finite weights reach; this package finds the states that vanish and
  fits the rest exactly.
stopped: the lecture's Algorithm 1, theta <- theta + eps (eta_data - eta), eps = {rate:g}, from 0, stopped after
  {steps:,} steps, when no expectation differed from the data's by more than {difference:.4e}: what is left in the
  published table.
So the published 0.37496, 0.14999, 0.22501, 0.09999, 0.15000 are no maximum. They come from stopping, agree with ours
to {agreement:.0e}, and ever more steps lead to 0.375, 0.15, 0.225, 0.1, 0.15 and zeros, while the weights that diverge
grow without bound. Log-likelihood per basket: limit {limit:.6f}, stopped {stopped:.6f} nats."""


def run(progress: Say | None = None) -> Basket:
    """Fit the machine in the limit, and by gradient ascent as far as the lecture went; about two seconds."""
    say = progress or (lambda text: None)
    data = baskets()
    say("the limit")
    fitted = fit_machine(data, MachineOptions(graph=EDGES))
    states = np.array(list(PUBLISHED), dtype=np.int64)
    phi = fitted.model.basis.evaluate(fitted.model.terms, states).astype(np.float64)
    share = np.array([BASKETS.count(state) for state in PUBLISHED]) / len(BASKETS)
    limit = np.exp(fitted.model.log_prob(states))
    limit[limit < ABSENT] = 0.0
    published = np.array(list(PUBLISHED.values()))
    accuracy = float(np.abs((share - published / published.sum()) @ phi).max())
    say("gradient ascent")
    stopped = ascend(phi, share @ phi, accuracy)
    seen = share > 0
    likelihood = tuple(float(share[seen] @ np.log(p[seen])) for p in (limit, stopped.p))
    diverging = tuple(y in fitted.diverging for y in range(phi.shape[1]))
    return Basket(states, share, limit, stopped, accuracy, _labels(fitted), diverging, (likelihood[0], likelihood[1]))


def baskets() -> Empirical:
    """The eight baskets, counted."""
    space = Space(tuple(Variable(name, ("0", "1")) for name in NAMES))
    return Empirical.from_codes(np.array(BASKETS), space=space)


def ascend(phi: Array, d: Array, difference: float, max_steps: int = 10_000_000) -> Stopped:
    """Plain gradient ascent from 0 on the likelihood of features ``phi`` (states, k), until expectations agree."""
    theta = np.zeros(len(d))
    for step in range(max_steps):
        exponent = phi @ theta
        p = np.exp(exponent - exponent.max())
        p /= p.sum()
        gradient = d - p @ phi
        left = float(np.abs(gradient).max())
        if left <= difference:
            return Stopped(theta, p, step, left)
        theta = theta + RATE * gradient
    raise ArithmeticError(f"after {max_steps} steps expectations still differ by {left}")


def as_fraction(p: float) -> Fraction:
    """The fraction of small denominator that p is, to rounding."""
    return Fraction(p).limit_denominator(1000)


def _labels(fitted: Fitted) -> tuple[str, ...]:
    return tuple("&".join(NAMES[i] for i, _ in term) for term in fitted.model.terms)


def _plain(value: Any) -> Any:
    return float(value) if isinstance(value, np.floating) else value
