"""``BoltzmannClassifier()`` against logistic regression and gradient boosting: log-loss and accuracy of rows left out.

Every table is predicted in one column from all others, in repeated stratified folds; missing cells are a level.
Logistic regression is scikit-learn's on indicators of all levels, as it comes (``C=1``) and with C chosen by shuffled
five-fold log-loss; gradient boosting is ``HistGradientBoostingClassifier`` with categorical columns. Processor seconds
are per fit. Classes of fewer than ten rows are left out, and of large tables the first ``--rows`` in a random order are
taken.

    python benchmarks/bench_classifier.py DATA [--set car ...] [--repeats 2] [--rows 3000] [--json FILE]

DATA is a folder with ``meta.json`` and ``.npz`` files of codes, 255 where a cell is missing.
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
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

import fullspan as fs

TARGETS = {
    "car": "class",
    "nursery": "class",
    "mushroom": "class",
    "tic_tac_toe": "class",
    "housevotes84": "class",
    "zoo": "type",
    "income_esl": "income",
    "titanic_passengers": "survived",
}
"""Columns to predict, by the beginning of their name; of other tables the last."""
LEAST = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--set", nargs="*", default=[])
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    meta = json.loads((options.data / "meta.json").read_text())
    found = []
    for name in [*(options.set or [*meta, "spikes"])]:
        X, y, target = spikes() if name == "spikes" else read(options.data, name, meta[name])
        X, y = chosen(X, y, options.rows)
        rows = scores(X, y, options.repeats)
        found += [{"table": f"{name}: {target}", "rows": len(y), "classes": len(np.unique(y)), **row} for row in rows]
        table(f"{name}: {target}, {len(y)} rows", rows)
    write(options.json, found)


def read(folder: Path, name: str, meta: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, str]:
    file = np.load(folder / f"{name}.npz")
    codes = file["codes"] if "codes" in file else np.unpackbits(file["bits"], axis=1)[:, : int(file["n"])]
    names = meta["variables"]
    wanted = TARGETS.get(name, "")
    j = next((k for k, own in enumerate(names) if wanted and own.lower().startswith(wanted)), _last_that_varies(codes))
    known = codes[:, j] != 255
    return np.delete(codes, j, axis=1)[known].astype(int), codes[known, j].astype(int), str(names[j])


def _last_that_varies(codes: np.ndarray) -> int:
    """The last column whose second most frequent level has at least one row in fifty."""
    shares = [np.sort(np.bincount(column[column != 255]))[::-1] / len(codes) for column in codes.T]
    return max(j for j, own in enumerate(shares) if len(own) > 1 and own[1] >= 0.02)


def spikes() -> tuple[np.ndarray, np.ndarray, str]:
    rows = np.loadtxt(fs.datasets.spikes_path(), delimiter=",", skiprows=1, dtype=int)
    return rows[:, :-1], rows[:, -1], "the last cell"


def chosen(X: np.ndarray, y: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    order = np.random.default_rng(0).permutation(len(y))[:most]
    X, y = X[order], y[order]
    kept = np.bincount(y)[y] >= LEAST
    return X[kept], y[kept]


def methods(X: np.ndarray) -> dict[str, Callable[[], Any]]:
    levels = [np.unique(column) for column in X.T]
    hot = OneHotEncoder(categories=levels)
    inner = StratifiedKFold(5, shuffle=True, random_state=0)
    few = [j for j, own in enumerate(levels) if len(own) <= 250]
    codes = make_column_transformer((OrdinalEncoder(categories=levels), list(range(len(levels)))))
    return {
        "BoltzmannClassifier": lambda: fs.BoltzmannClassifier(
            levels={f"x{j}": own.tolist() for j, own in enumerate(levels)}, max_levels=256
        ),
        "logistic, C=1": lambda: make_pipeline(hot, LogisticRegression(max_iter=2000)),
        "logistic, C by CV": lambda: make_pipeline(
            hot, LogisticRegressionCV(max_iter=2000, scoring="neg_log_loss", cv=inner)
        ),
        "gradient boosting": lambda: make_pipeline(
            codes, HistGradientBoostingClassifier(categorical_features=few, random_state=0)
        ),
    }


def scores(X: np.ndarray, y: np.ndarray, repeats: int) -> list[dict[str, Any]]:
    folds = list(RepeatedStratifiedKFold(n_splits=5, n_repeats=repeats, random_state=1).split(X, y))
    found = []
    for name, make in methods(X).items():
        losses, right, seconds = [], [], 0.0
        for train, test in folds:
            start = time.process_time()
            model = make().fit(X[train], y[train])
            seconds += time.process_time() - start
            p = model.predict_proba(X[test])
            own = np.searchsorted(model.classes_, y[test])
            losses.append(-np.log(np.maximum(p[np.arange(len(test)), own], 1e-15)).mean())
            right.append((p.argmax(axis=1) == own).mean())
        found.append(
            {
                "method": name,
                "log-loss": f"{np.mean(losses):.4f}",
                "accuracy": f"{np.mean(right):.4f}",
                "cpu s": f"{seconds / len(folds):.2f}",
            }
        )
    return found


if __name__ == "__main__":
    main()
