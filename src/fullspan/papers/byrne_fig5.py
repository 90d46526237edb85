"""Fig. 5 of Byrne 1992: exact against inexact alternating minimisation, five hidden and three visible units."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fullspan.arrays import Array
from fullspan.papers import Say
from fullspan.papers.byrne import ANEW, EXACT, INEXACT, STOPS, Compared, Family, family
from fullspan.papers.plots import curves
from fullspan.papers.text import Panel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HIDDEN, VISIBLE = 5, 3
ABANDONED = 2.0
"""Factor above the best divergence so far at which a minimum counts as abandoned."""


_NOTE = """\
exact: IPFP from the machine at hand until moments agree to 1e-5; every weight then lowers the divergence. exact anew:
the same from the uniform distribution, as in the paper. inexact: from the uniform distribution, each weight updated ten
times. All have the same true machines and starts, standard normal weights of pairs alone (the paper does not name its
own); divergence D(P || B_v) in bits."""


class Figure5(Compared):
    """The same runs by three algorithms: ``anew`` is the exact one with IPFP from the uniform distribution."""

    name = "byrne-fig5"
    note = _NOTE

    @property
    def exact(self) -> Family:
        return self.families[0]

    @property
    def anew(self) -> Family:
        return self.families[1]

    @property
    def inexact(self) -> Family:
        return self.families[2]

    def statements(self) -> list[tuple[str, str]]:
        return [*self._of_exact(), *self._of_inexact(), *self._of_both()]

    def _of_exact(self) -> list[tuple[str, str]]:
        exact, tenth = self.exact.divergence, min(10, self.exact.iterations)
        rise = max(float(np.diff(self.anew.divergence, axis=1).max()), 0.0)
        fell = np.median(np.log10(exact[:, 0] / exact[:, tenth])), np.median(np.log10(exact[:, 0] / exact[:, -1]))
        return [
            (
                "exact: the divergences strictly decrease",
                f"exact: {self.exact.n_rises} of {exact[:, 1:].size:,} steps rise; "
                f"exact anew: {self.anew.n_rises}, by {rise:.0e} bits at most",
            ),
            (
                "exact: improves rapidly at first, then slows",
                f"median fall of {fell[0]:.1f} powers of ten in {tenth} iterations, "
                f"{fell[1]:.1f} in all {self.exact.iterations}",
            ),
        ]

    def _of_inexact(self) -> list[tuple[str, str]]:
        exact, inexact = self.exact.divergence, self.inexact.divergence
        ahead, lost, runs = inexact[:, 1:] < exact[:, 1:], [abandonments(row) for row in inexact], len(exact)
        return [
            (
                "inexact: searches for a minimum, explores it, abandons it and begins again",
                f"{sum(n > 0 for n in lost)} of {runs} runs leave a minimum for {ABANDONED:g} times its divergence, "
                f"{np.median(lost):g} times in a run (median); "
                f"{(np.diff(inexact, axis=1) > 0).mean():.0%} of all steps rise",
            ),
            (
                "inexact: sometimes reaches a value sooner",
                f"ahead at some iteration in {int(ahead.any(axis=1).sum())} of {runs} runs, "
                f"in {int(ahead.sum())} of {ahead.size:,} iterations",
            ),
        ]

    def _of_both(self) -> list[tuple[str, str]]:
        exact, inexact = self.exact.divergence, self.inexact.divergence
        return [
            (
                "exact: in general finds slightly better solutions",
                f"lower at the end in {int((exact[:, -1] < inexact[:, -1]).sum())} of {len(exact)} runs; its end is "
                f"below the best that inexact ever met in {int((exact[:, -1] < inexact.min(axis=1)).sum())}",
            ),
            (
                "exact: at a high computational cost",
                f"exact anew takes {self.anew.seconds / self.inexact.seconds:.1f} times the time of inexact, "
                f"exact {self.exact.seconds / self.inexact.seconds:.1f} times",
            ),
        ]

    def panels(self) -> list[Panel]:
        return [f.panels()[0] for f in self.families]

    def figures(self) -> dict[str, Figure]:
        return {self.name: curves(self.panels(), len(self.families))}


def abandonments(divergence: Array) -> int:
    """How often a curve rises to twice the best value since it last did so."""
    count, best = 0, np.inf
    for value in divergence.tolist():
        if value > ABANDONED * best:
            count, best = count + 1, np.inf
        best = min(best, value)
    return count


def run(progress: Say | None = None, runs: int = 10, iterations: int = STOPS[-1], seed: int = 0) -> Figure5:
    """Run the three algorithms on the same machines."""
    say = progress or (lambda text: None)
    families = tuple(
        family(name, VISIBLE, HIDDEN, runs, iterations, seed, projection, say)
        for name, projection in (("exact", EXACT), ("exact anew", ANEW), ("inexact", INEXACT))
    )
    return Figure5(families)
