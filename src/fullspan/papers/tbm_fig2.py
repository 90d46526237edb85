"""Sugiyama, Tsuda and Nakahara, Fig. 2: the variance of a fit against |B|/2N, as rows or variables grow.

A truth on 1,000 random states is projected onto the patterns with a support of 0.37 (order up to 2), and so are samples
of N rows of it: their mean divergence from the projected truth is the variance. The paper's truth is drawn from the
uniform distribution. Here 0 and the patterns, which the space needs as states, have 5 % of it, so that fits are finite.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fullspan.arrays import Array
from fullspan.data.space import Space
from fullspan.learn.truncated.mining import frequent_patterns
from fullspan.model.algebra.basis import Basis
from fullspan.model.algebra.inclusion import states_of_terms
from fullspan.papers import Say
from fullspan.papers.plots import Line, LogPanel, log_panels
from fullspan.papers.text import columns
from fullspan.query.geometry import BiasVariance, Manifold, bias_variance

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STATES, SUPPORT, ORDER, SHARE = 1000, 0.37, 2, 0.05
FIXED_VARIABLES, FIXED_ROWS = 50, 100_000
ROWS = (100, 1000, 10_000, 100_000, 1_000_000)
VARIABLES = (10, 20, 50, 100, 200, 500, 1000)


@dataclass(frozen=True)
class Trial:
    """One setting."""

    panel: str
    n_variables: int
    found: BiasVariance

    def to_json(self) -> dict[str, Any]:
        f = self.found
        return {
            "panel": self.panel,
            "variables": self.n_variables,
            "rows": f.n_rows,
            "weights": f.n_terms,
            "bias": f.bias,
            "variance": f.variance,
            "spread": f.spread,
            "bound": f.bound,
            "infinite": f.n_infinite,
        }


@dataclass(frozen=True)
class Figure2:
    """Both panels."""

    repeats: int
    trials: tuple[Trial, ...]

    def to_json(self) -> dict[str, Any]:
        return {"experiment": "tbm-fig2", "repeats": self.repeats, "trials": [t.to_json() for t in self.trials]}

    def to_text(self) -> str:
        head = ("panel", "variables", "rows", "|B|", "variance", "s.d.", "|B|/2N", "ratio", "at infinity")
        rows = []
        for t in self.trials:
            f = t.found
            rows.append(
                (
                    t.panel,
                    str(t.n_variables),
                    f"{f.n_rows:,}",
                    str(f.n_terms),
                    f"{f.variance:.3e}",
                    f"{f.spread:.1e}",
                    f"{f.bound:.3e}",
                    f"{f.variance / f.bound:.3f}",
                    str(f.n_infinite),
                )
            )
        return "\n".join([f"{self.repeats} draws each", "", *columns(head, rows), "", _NOTE])

    def figures(self) -> dict[str, Figure]:
        return {"tbm-fig2": log_panels(self.panels())}

    def files(self) -> dict[str, str]:
        records = [t.to_json() for t in self.trials]
        lines = [",".join(records[0]), *(",".join(f"{v}" for v in r.values()) for r in records)]
        return {"tbm-fig2.csv": "\n".join(lines) + "\n"}

    def panels(self) -> list[LogPanel]:
        """Variance over rows, and over variables, as in the figure."""
        out = []
        for panel, label in (("a", "rows"), ("b", "variables")):
            some = [t for t in self.trials if t.panel == panel]
            x = tuple(float(t.found.n_rows if panel == "a" else t.n_variables) for t in some)
            variance, spread, bound = (
                tuple(float(getattr(t.found, name)) for t in some) for name in ("variance", "spread", "bound")
            )
            fixed = f"{FIXED_VARIABLES} variables" if panel == "a" else f"{FIXED_ROWS:,} rows"
            lines = Line("variance, s.d.", x, variance, spread, dashed=True), Line("|B|/2N", x, bound)
            out.append(LogPanel(f"({panel}) {fixed}", label, "nats", lines))
        return out


_NOTE = """\
published: the variance lies on |B|/2N in all settings, and slightly below it in some.
The bound is the limit for large N where the truth is in the model. Elsewhere the limit is tr(g^-1 C)/2N, with C the
covariance of the patterns under the truth and g the metric of the model. Draws whose fit lies at infinity have no
finite divergence, and are counted apart."""


def truth(n: int, rng: np.random.Generator) -> tuple[Manifold, Array]:
    """A manifold on 1,000 random states, 0 and the frequent patterns, and probabilities of these states."""
    drawn = np.unique(rng.integers(2, size=(4 * STATES, n), dtype=np.uint8), axis=0)
    states = rng.permutation(drawn)[:STATES]
    weights = rng.random(len(states))
    weights /= weights.sum()
    cards = (2,) * n
    terms = tuple(frequent_patterns(states, weights, cards, SUPPORT / (1 - SHARE), ORDER))
    first = np.concatenate([np.zeros((1, n), dtype=np.uint8), states_of_terms(terms, n)])
    known = {row.tobytes() for row in first}
    apart = np.array([row.tobytes() not in known for row in states])
    extra = rng.random(len(first))
    p = np.concatenate([SHARE * extra / extra.sum(), (1 - SHARE) * weights[apart] / weights[apart].sum()])
    whole = np.concatenate([first, states[apart]])
    return Manifold(Space.of_cards(cards), Basis("monomial", cards), terms, whole), p


def trials(repeats: int, most: int, rng: np.random.Generator, say: Say) -> Iterator[Trial]:
    """Panel (a) over rows, panel (b) over variables up to ``most``."""
    manifold, p = truth(FIXED_VARIABLES, rng)
    for rows in ROWS:
        say(f"{FIXED_VARIABLES} variables, {rows:,} rows")
        yield Trial("a", FIXED_VARIABLES, bias_variance(manifold, p, rows, repeats, rng))
    for n in (v for v in VARIABLES if v <= most):
        say(f"{n} variables, {FIXED_ROWS:,} rows")
        manifold, p = truth(n, rng)
        yield Trial("b", n, bias_variance(manifold, p, FIXED_ROWS, repeats, rng))


def run(progress: Say | None = None, runs: int = 100, variables: int = 1000, seed: int = 0) -> Figure2:
    """Run both panels with ``runs`` draws each, and up to ``variables`` variables."""
    say = progress or (lambda text: None)
    return Figure2(runs, tuple(trials(runs, variables, np.random.default_rng(seed), say)))
