"""Fig. 4 of Byrne 1992: five hidden units with three and with five visible ones, ten runs, 750 iterations each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fullspan.papers import Say
from fullspan.papers.byrne import EXACT, STOPS, Compared, family
from fullspan.papers.plots import curves
from fullspan.papers.text import Panel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HIDDEN = 5
VISIBLE = (3, 5)


_NOTE = """\
Weights of pairs alone, drawn from the standard normal distribution (the paper does not name its own); divergence
D(P || B_v) in bits. Each iteration projects by IPFP from the machine at hand until moments agree to 1e-5."""


class Figure4(Compared):
    """Two families of curves."""

    name = "byrne-fig4"
    note = _NOTE

    def statements(self) -> list[tuple[str, str]]:
        out = []
        for f in self.families:
            start, end = f.distance[:, 0], f.distance[:, -1]
            size = f"{f.visible} visible"
            out.append(
                (
                    f"{size}: the divergence falls from iteration to iteration (eq. 23)",
                    f"{f.n_rises} of {f.divergence[:, 1:].size:,} steps rise; it fell to "
                    f"{np.median(f.divergence[:, -1]):.1e} bits (median), {f.divergence[:, -1].max():.1e} (worst)",
                )
            )
            out.append(
                (
                    f"{size}: in no run do the weights converge to the true ones",
                    f"l1 distance at the end {end.min():.1f} to {end.max():.1f}, at the start "
                    f"{start.min():.1f} to {start.max():.1f}; further away than at the start in "
                    f"{int((end > start).sum())} of {len(end)} runs",
                )
            )
        return out

    def panels(self) -> list[Panel]:
        return [panel for f in self.families for panel in f.panels()]

    def figures(self) -> dict[str, Figure]:
        by_row = zip(*(f.panels() for f in self.families), strict=True)
        return {self.name: curves([panel for row in by_row for panel in row], len(self.families))}


def run(progress: Say | None = None, runs: int = 10, iterations: int = STOPS[-1], seed: int = 0) -> Figure4:
    """Run both configurations; some milliseconds per run and ten iterations."""
    say = progress or (lambda text: None)
    return Figure4(tuple(family(f"{v} visible", v, HIDDEN, runs, iterations, seed, EXACT, say) for v in VISIBLE))
