"""Missing cells filled in: accuracy and log-loss of 20 % of the cells of five tables, removed completely at random.

``FullSpan(missing="em")`` and its average learn from the table with its gaps. Accuracy is that of the likeliest value
of each cell, log-loss that of the probabilities; the accuracy of the likeliest completions is beside it. Rivals: the
most frequent level (with the shares of the column); chained logistic regressions, which is scikit-learn's
``IterativeImputer`` for categories; and missForest with gradient boosting: chained ``HistGradientBoostingClassifier``.
The chains go three rounds from the most frequent levels.

    python benchmarks/bench_impute.py DATA [--set car ...] [--rows 2000] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from report import table, write
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder

import fullspan as fs

SETS = ["housevotes84", "titanic_passengers", "bnsample_asia", "income_esl", "car"]
ROUNDS, FLOOR = 3, 1e-6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--set", nargs="*", default=SETS)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    meta = json.loads((options.data / "meta.json").read_text())
    found = []
    for name in options.set:
        codes = np.load(options.data / f"{name}.npz")["codes"].astype(int)
        rng = np.random.default_rng(0)
        codes = codes[rng.permutation(len(codes))[: options.rows]]
        cards = meta[name]["cards"]
        removed = (rng.random(codes.shape) < 0.2) & (codes != 255)
        gaps = np.where(removed | (codes == 255), -1, codes)
        rows = [scored(how, fill, gaps, cards, codes, removed) for how, fill in METHODS.items()]
        found += [{"table": name, **row} for row in rows]
        table(f"{name}, {len(codes)} rows, {removed.sum()} cells removed", rows)
    write(options.json, found)


Chances = list[np.ndarray]


def scored(
    how: str, fill: Callable[..., tuple[Chances, np.ndarray | None]], gaps: Any, cards: Any, codes: Any, removed: Any
) -> dict[str, Any]:
    start = time.process_time()
    chances, joint = fill(gaps, cards)
    seconds = time.process_time() - start
    right = loss = 0.0
    for j, p in enumerate(chances):
        own = codes[removed[:, j], j]
        part = p[removed[:, j]]
        right += float((part.argmax(axis=1) == own).sum())
        loss -= float(np.log(np.maximum(part[np.arange(len(own)), own], FLOOR)).sum())
    n = removed.sum()
    return {
        "method": how,
        "accuracy": f"{right / n:.4f}",
        "of completions": "" if joint is None else f"{(joint == codes)[removed].mean():.4f}",
        "log-loss": f"{loss / n:.4f}",
        "cpu s": f"{seconds:.1f}",
    }


def frequent(gaps: np.ndarray, cards: Any) -> tuple[Chances, None]:
    found = []
    for j, card in enumerate(cards):
        shares = np.bincount(gaps[gaps[:, j] >= 0, j], minlength=card) + 0.5
        found.append(np.tile(shares / shares.sum(), (len(gaps), 1)))
    return found, None


def full_span(gaps: np.ndarray, cards: Any, **options: Any) -> tuple[Chances, np.ndarray]:
    levels = {f"x{j}": list(range(card)) for j, card in enumerate(cards)}
    array = np.where(gaps < 0, np.nan, gaps.astype(float))
    model = fs.FullSpan(missing="em", levels=levels, max_levels=256, random_state=0, **options).fit(array)
    means = model.impute(array, "mean")
    return list(means.values()), model.impute(array, "mode").astype(int)


def chained(gaps: np.ndarray, cards: Any, learner: Callable[[], Any], hot: bool) -> tuple[Chances, None]:
    """Every column from the others as they are filled in so far, round after round (missForest's loop)."""
    start, _ = frequent(gaps, cards)
    filled = np.stack([np.where(g < 0, p.argmax(axis=1), g) for g, p in zip(gaps.T, start, strict=True)], axis=1)
    found = start
    for _ in range(ROUNDS):
        for j, card in enumerate(cards):
            known = gaps[:, j] >= 0
            if known.all() or len(np.unique(gaps[known, j])) < 2:
                continue
            others = np.delete(filled, j, axis=1)
            if hot:
                others = OneHotEncoder(handle_unknown="ignore").fit_transform(others)
            model = learner().fit(others[known], gaps[known, j])
            p = np.zeros((len(gaps), card))
            p[:, model.classes_.astype(int)] = model.predict_proba(others)
            found[j] = p
            filled[~known, j] = p[~known].argmax(axis=1)
    return found, None


METHODS: dict[str, Callable[..., tuple[Chances, Any]]] = {
    "most frequent": frequent,
    "FullSpan": full_span,
    "FullSpan, average of 8": lambda g, c: full_span(g, c, average=8),
    "chained logistic": lambda g, c: chained(g, c, lambda: LogisticRegression(max_iter=500), True),
    "missForest (boosting)": lambda g, c: chained(
        g, c, lambda: HistGradientBoostingClassifier(max_iter=50, random_state=0), False
    ),
}

if __name__ == "__main__":
    main()
