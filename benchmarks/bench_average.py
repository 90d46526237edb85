"""Averages and shrinkage against rivals on real tables: held-out log-likelihood in nats per row.

    python benchmarks/bench_average.py DATA                      # 5-fold, all small tables of DATA/categorical
    python benchmarks/bench_average.py DATA --sets asia --rows 50 200 1000      # learning curves
    python benchmarks/bench_average.py DATA --sets car --only FullSpan average=16 "pyAgrum BDeu"   # some methods alone
    python benchmarks/bench_average.py DATA --nltcs              # debd/nltcs: the test rows are scored once
    python benchmarks/bench_average.py DATA --spikes             # neural/spikes15_time: first half, second half

DATA is a folder with ``categorical/`` (coded tables, 255 for a missing cell, levels in meta.json), ``debd/`` and
``neural/``. Rows with missing cells are left out. Rivals: independent and saturated with a Dirichlet prior (its
strength by leave-one-out), Chow–Liu tree, exact pairwise machine with one pseudo-row of ridge, hidden Chow–Liu tree,
and, if pyAgrum is there, hill climbing by BIC and BDeu. Differences are to the best, with the standard error over rows.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import fullspan as fs

SETS = ("titanic_passengers", "bnsample_asia", "car", "tic_tac_toe", "housevotes84", "nursery", "zoo")
NLTCS = {"average": 16, "penalty": 0.25, "basis": "walsh", "shrinkage": "evidence"}
"""Chosen on the validation rows: penalties of 0.25 with shrinkage, and of 1 without."""
Rows = np.ndarray


def table(folder: Path, name: str) -> tuple[Rows, tuple[int, ...]]:
    """The complete rows of a coded table, and the numbers of levels."""
    meta = json.loads((folder / "categorical" / "meta.json").read_text())[name]
    codes = np.load(folder / "categorical" / f"{name}.npz")["codes"].astype(np.int64)
    cards = tuple(len(meta["levels"][v]) for v in meta["variables"])
    return codes[(codes != 255).all(axis=1)], cards


def bits(path: Path, *names: str) -> list[Rows]:
    """Packed rows of bits."""
    data = np.load(path)
    n = int(data["nvars"] if "nvars" in data.files else data["n"])
    return [np.unpackbits(data[name], axis=1)[:, :n].astype(np.int64) for name in names]


def independent(train: Rows, test: Rows, cards: tuple[int, ...]) -> Rows:
    columns = [(np.bincount(train[:, i], minlength=c) + 0.5) / (len(train) + 0.5 * c) for i, c in enumerate(cards)]
    return sum(np.log(p)[test[:, i]] for i, p in enumerate(columns))


def saturated(train: Rows, test: Rows, cards: tuple[int, ...]) -> Rows:
    """(count + a p_independent) / (N + a), a by leave-one-out."""
    index = lambda rows: np.ravel_multi_index(tuple(rows.T), cards)  # noqa: E731
    counts = dict(zip(*np.unique(index(train), return_counts=True), strict=True))
    seen = np.array([counts.get(i, 0) for i in index(test)])
    others = np.array([counts[i] for i in index(train)]) - 1
    inside, outside = (np.exp(independent(train, rows, cards)) for rows in (train, test))
    fits = [(np.log((others + a * inside) / (len(train) - 1 + a)).mean(), a) for a in 10.0 ** np.arange(-1, 5.1, 0.25)]
    a = max(fits)[1]
    return np.log((seen + a * outside) / (len(train) + a))


def agrum(train: Rows, test: Rows, cards: tuple[int, ...], score: str) -> Rows:
    """pyAgrum's greedy hill climbing, parameters smoothed by half a row."""
    import pandas as pd
    import pyagrum as gum

    template, names = gum.BayesNet(), [f"v{i}" for i in range(len(cards))]
    for name, card in zip(names, cards, strict=True):
        template.add(gum.RangeVariable(name, "", 0, card - 1))
    frame = pd.DataFrame(train, columns=names)
    learner = gum.BNLearner(frame, template)
    learner.useGreedyHillClimbing()
    getattr(learner, f"useScore{score}")()
    if score == "BDeu":
        learner.useNoPrior()
    graph = learner.learnDAG()
    smoothed = gum.BNLearner(frame, template)
    smoothed.useSmoothingPrior(0.5)
    net, total = smoothed.learnParameters(graph), np.zeros(len(test))
    for name in names:
        cpt = net.cpt(name)
        total += np.log(cpt.toarray()[tuple(test[:, int(v[1:])] for v in reversed(cpt.names))])
    return total


def methods(cards: tuple[int, ...], k: int, quick: bool) -> dict[str, Callable[[Rows, Rows], Rows]]:
    """Every method: from training rows to log-probabilities of test rows."""
    levels = {f"x{i}": list(range(c)) for i, c in enumerate(cards)}

    def ours(kind: Any, **options: Any) -> Callable[[Rows, Rows], Rows]:
        return lambda train, test: kind(levels=levels, **options).fit(train).score_samples(test)

    found: dict[str, Callable[[Rows, Rows], Rows]] = {
        "independent": lambda train, test: independent(train, test, cards),
        "saturated": lambda train, test: saturated(train, test, cards),
        "Chow-Liu": ours(fs.ChowLiuTree),
        "pairwise": lambda train, test: ours(fs.BoltzmannMachine, l2=1 / len(train))(train, test),
    }
    if not quick:
        found["hidden Chow-Liu"] = ours(fs.HiddenChowLiuTree, random_state=0)
    for score in ("BIC", "BDeu") if has_agrum() else ():
        found[f"pyAgrum {score}"] = lambda train, test, score=score: agrum(train, test, cards, score)
    found["FullSpan"] = ours(fs.FullSpan)
    found[f"average={k}"] = ours(fs.FullSpan, average=k, random_state=0)
    if math.prod(cards) <= 1 << 20:
        found["shrinkage"] = ours(fs.FullSpan, shrinkage="evidence", random_state=0)
        found[f"average={k}, shrinkage"] = ours(fs.FullSpan, average=k, shrinkage="evidence", random_state=0)
    return found


def has_agrum() -> bool:
    try:
        import pyagrum  # noqa: F401
    except ImportError:
        return False
    return True


def compare(
    title: str, splits: Iterator[tuple[Rows, Rows]], cards: tuple[int, ...], k: int, quick: bool, only: list[str]
) -> None:
    """Print all methods, or those named, best first."""
    scores: dict[str, list[Rows]] = {}
    seconds: dict[str, float] = {}
    for train, test in splits:
        for name, method in methods(cards, k, quick).items():
            if only and name not in only:
                continue
            started = time.perf_counter()
            scores.setdefault(name, []).append(method(train, test))
            seconds[name] = seconds.get(name, 0.0) + time.perf_counter() - started
    rows = {name: np.concatenate(parts) for name, parts in scores.items()}
    best = max(rows, key=lambda name: rows[name].mean())
    print(f"\n{title}\n", flush=True)
    for name in sorted(rows, key=lambda name: -rows[name].mean()):
        d = rows[name] - rows[best]
        error = d.std() / math.sqrt(len(d))
        print(f"{name:26s} {rows[name].mean():9.4f} {d.mean():9.4f} ± {error:.4f} {seconds[name]:8.1f} s", flush=True)


def folds(rows: Rows, n: int = 5) -> Iterator[tuple[Rows, Rows]]:
    parts = np.array_split(np.random.default_rng(0).permutation(len(rows)), n)
    for part in parts:
        yield np.delete(rows, part, axis=0), rows[part]


def draws(rows: Rows, n: int, times: int = 5) -> Iterator[tuple[Rows, Rows]]:
    """Training sets of n rows, each tested on up to 2,000 others."""
    rng = np.random.default_rng(0)
    for _ in range(times):
        order = rng.permutation(len(rows))
        yield rows[order[:n]], rows[order[n:]][:2000]


def nltcs(folder: Path, **options: Any) -> None:
    """Fit the training rows, and those with the validation rows; score the test rows once for each."""
    train, valid, test = bits(folder / "debd" / "nltcs.npz", "train", "valid", "test")
    for title, rows in (("train", train), ("train and valid", np.concatenate([train, valid]))):
        started = time.perf_counter()
        model = fs.FullSpan(random_state=0, **(NLTCS | options)).fit(rows)
        seconds = time.perf_counter() - started
        score = model.score_samples(test)
        shares = {name: round(share, 2) for name, share in model.fitted_.settings["shares"].items()}
        print(
            f"nltcs, fitted to {title}: test {score.mean():.4f} ± {score.std() / math.sqrt(len(score)):.4f}, "
            f"out of bag {model.oob_score_:.4f}, shares {shares}, {seconds:.0f} s",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--rows", nargs="*", type=int, default=[])
    parser.add_argument("--average", type=int, default=16)
    parser.add_argument("--quick", action="store_true", help="leave out hidden Chow–Liu trees")
    parser.add_argument("--only", nargs="*", default=[], help="the methods by name")
    parser.add_argument("--nltcs", action="store_true")
    parser.add_argument("--spikes", action="store_true")
    given = parser.parse_args()
    if given.data is None:
        print("left out: it needs a folder of data sets")
        return
    warnings.simplefilter("ignore")
    if given.nltcs:
        nltcs(given.data)
        return
    if given.spikes:
        (rows,) = bits(given.data / "neural" / "spikes15_time.npz", "bits")
        half = len(rows) // 2
        halves = iter([(rows[:half], rows[half:])])
        compare("spikes15_time, halves by time", halves, (2,) * 15, given.average, given.quick, given.only)
        return
    for name in given.sets:
        rows, cards = table(given.data, name)
        if not given.rows:
            compare(f"{name}, 5-fold of {len(rows):,} rows", folds(rows), cards, given.average, given.quick, given.only)
        for n in (n for n in given.rows if n < len(rows)):
            compare(f"{name}, {n} rows, five times", draws(rows, n), cards, given.average, given.quick, given.only)


if __name__ == "__main__":
    main()
