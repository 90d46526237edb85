"""Sugiyama, Tsuda and Nakahara, Fig. 3: the features of samples' machines in the plane, by t-SNE.

Each sample of Fig. 1 is a point, coloured by its class; 1,000 pairs for the digits, 100 for the spikes, with biases and
without.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fullspan.data.space import Space
from fullspan.learn.truncated.domain import random_pairs
from fullspan.model.algebra.blas import one_core
from fullspan.papers import Say
from fullspan.papers.machine_methods import METHODS
from fullspan.papers.plots import Cloud, clouds
from fullspan.papers.samples import read
from fullspan.papers.tbm_fig1 import features_of, neighbours_accuracy
from fullspan.papers.text import columns

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WEIGHTS = {"digits": 1000, "spikes": 100}
PERPLEXITY = 30.0


@dataclass(frozen=True)
class Figure3:
    """Two pictures of each set, and how well the classes are apart in each."""

    clouds: tuple[Cloud, ...]
    pairs: tuple[int, ...]
    accuracy: tuple[tuple[float, float], ...]
    """By 10 neighbours: of the features, and of the plane."""

    def to_json(self) -> dict[str, Any]:
        rows = zip(self.clouds, self.pairs, self.accuracy, strict=True)
        found = [{"data": c.title, "pairs": k, "accuracy": a, "accuracy_in_the_plane": b} for c, k, (a, b) in rows]
        return {"experiment": "tbm-fig3", "pictures": found}

    def to_text(self) -> str:
        rows = zip(self.clouds, self.pairs, self.accuracy, strict=True)
        table = [(c.title, str(len(c.points)), str(k), f"{a:.3f}", f"{b:.3f}") for c, k, (a, b) in rows]
        head = ("data", "samples", "pairs", "accuracy", "in the plane")
        return "\n".join([*columns(head, table), "", "published: classes are clearly separated in both sets."])

    def figures(self) -> dict[str, Figure]:
        return {"tbm-fig3": clouds(self.clouds)}

    def files(self) -> dict[str, str]:
        lines = ["data,biases,class,x,y"]
        for c in self.clouds:
            lines += [
                f"{c.title.replace(', ', ',').replace(' biases', '')},{k},{x:.6g},{y:.6g}"
                for (x, y), k in zip(c.points.tolist(), c.labels.tolist(), strict=True)
            ]
        return {"tbm-fig3.csv": "\n".join(lines) + "\n"}


def plane(features: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """t-SNE (van der Maaten and Hinton 2008) of the features, scaled to a unit spread."""
    from sklearn.manifold import TSNE

    scale = float(features.std()) or 1.0
    perplexity = min(PERPLEXITY, (len(features) - 1) / 3)
    found = TSNE(perplexity=perplexity, init="pca", random_state=seed).fit_transform(features / scale)
    return np.asarray(found, dtype=np.float64)


def run(progress: Say | None = None, data: Path | None = None, runs: int = 50, seed: int = 0) -> Figure3:
    """Draw both pictures with ``runs`` samples of each class."""
    say = progress or (lambda text: None)
    sets = [read(name, data) for name in WEIGHTS]
    rng = np.random.default_rng(seed)
    clouds, pairs, accuracy = [], [], []
    for labelled in sets:
        n = labelled.n_variables
        count = min(WEIGHTS[labelled.name], n * (n - 1) // 2)
        samples = list(labelled.samples(runs, rng))
        labels = np.array([label for label, _ in samples])
        terms = tuple(random_pairs(Space.of_cards((2,) * n), count, rng))
        for biases in (True, False):
            title = f"{labelled.name}, {'with' if biases else 'without'} biases"
            say(f"{title}: {len(samples)} machines of {count:,} pairs, and t-SNE")
            used = terms if biases else tuple(term for term in terms if len(term) == 2)
            with one_core():
                features, _ = features_of(METHODS[0], samples, used, 0)
            points = plane(features, seed)
            clouds.append(Cloud(title, points, labels))
            pairs.append(count)
            accuracy.append((neighbours_accuracy(features, labels), neighbours_accuracy(points, labels)))
    return Figure3(tuple(clouds), tuple(pairs), tuple(accuracy))
