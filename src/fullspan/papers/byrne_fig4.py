"""Fig. 4 of Byrne 1992: five hidden units with three and with five visible ones, ten runs, 750 iterations each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fullspan.papers import Say
from fullspan.papers.byrne import EXACT, STOPS, Family, csv, family
from fullspan.papers.plots import curves
from fullspan.papers.text import text_plot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HIDDEN = 5
VISIBLE = (3, 5)


@dataclass(frozen=True)
class Figure4:
    """Two families of curves."""

    families: tuple[Family, ...]

    def statements(self) -> list[tuple[str, str]]:
        """What the paper says, and what was measured."""
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

    def to_json(self) -> dict[str, Any]:
        return {
            "experiment": "byrne-fig4",
            "statements": [{"published": a, "measured": b} for a, b in self.statements()],
            "families": [f.to_json() for f in self.families],
        }

    def to_text(self) -> str:
        lines: list[str] = []
        for f in self.families:
            lines += [*f.to_text(), ""]
        for f in self.families:
            for panel in f.panels():
                lines += [*text_plot(panel), ""]
        for published, measured in self.statements():
            lines += [f"published  {published}", f"measured   {measured}"]
        return "\n".join([*lines, "", _NOTE])

    def figures(self) -> dict[str, Figure]:
        panels = [f.panels() for f in self.families]
        return {"byrne-fig4": curves([p for pair in zip(*panels, strict=True) for p in pair], len(panels))}

    def files(self) -> dict[str, str]:
        return {"byrne-fig4.csv": csv(self.families)}


_NOTE = """\
Weights of pairs alone, drawn from the standard normal distribution (the paper does not name its own); divergence
D(P || B_v) in bits. Each iteration projects by IPFP from the machine at hand until moments agree to 1e-5."""


def run(progress: Say | None = None, runs: int = 10, iterations: int = STOPS[-1], seed: int = 0) -> Figure4:
    """Run both configurations; some milliseconds per run and ten iterations."""
    say = progress or (lambda text: None)
    return Figure4(tuple(family(f"{v} visible", v, HIDDEN, runs, iterations, seed, EXACT, say) for v in VISIBLE))
