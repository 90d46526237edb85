"""Time to the first paint of the explorer, and of its answers at 300 columns: ``python benchmarks/bench_explorer.py``.

Models of every kind are served to Debian's Chromium (needs ``make setup`` and ``chromium``): seconds until something
is painted, until the interactions and the variables stand there, and until the graph does. Then each question is asked
of a planted network of 300 two-level columns, in this process: milliseconds of a first call, which may compile, and the
median of five further ones, each with other evidence. ``--columns`` changes the size.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from bench_wide_answers import learned, planted
from report import seconds, table

import fullspan as fs
from fullspan.people.web import Explorer, Pool, guarded_app, host_names, server_config


def models(folder: Path, wide: Path) -> dict[str, Path]:
    """A file of every kind of model that the explorer takes."""
    votes, narrow = fs.datasets.house_votes_path(), planted(12, 1000, np.random.default_rng(0)).states
    kinds = {
        "FullSpan": lambda: fs.FullSpan(missing="em").fit(votes),
        "average": lambda: fs.FullSpan(average=2, missing="drop", random_state=0).fit(votes),
        "BoltzmannMachine": lambda: fs.BoltzmannMachine(l2=0.01).fit(narrow),
        "TruncatedBoltzmannMachine": lambda: fs.TruncatedBoltzmannMachine(min_support=0.2).fit(narrow),
        "ChowLiuTree, 500 columns": lambda: fs.ChowLiuTree().fit(planted(500, 2000, np.random.default_rng(1)).states),
        "HiddenChowLiuTree": lambda: fs.HiddenChowLiuTree(n_states=4, restarts=1, random_state=0).fit(narrow),
        "FullSpanMixture": lambda: fs.FullSpanMixture(runs=[(3, 1)], restarts=1, random_state=0).fit(narrow),
    }
    found = {"log-linear, 300 columns": wide}
    for k, (name, fit) in enumerate(kinds.items()):
        fit().save(folder / f"{k}.fsm")
        found[name] = folder / f"{k}.fsm"
    fs.GraphModel.of(fs.load(found["ChowLiuTree, 500 columns"])).save(folder / "network.uai")
    return {**found, "network, 500 columns": folder / "network.uai"}


@contextmanager
def served(paths: dict[str, Path]) -> Iterator[str]:
    """The models on a server in a thread; its address."""
    import socket
    import threading

    import uvicorn

    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    pool = Pool(paths, size=1)
    pool.ready()
    server = uvicorn.Server(server_config(guarded_app(pool, host_names("127.0.0.1", port), None)))
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{port}/"
    finally:
        server.should_exit = True
        thread.join()
        pool.close()


PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime / 1000"


def paints(paths: dict[str, Path], repeats: int) -> list[dict[str, Any]]:
    """Seconds until each model stands on the page, medians."""
    from playwright.sync_api import sync_playwright

    rows = []
    with served({str(k): path for k, path in enumerate(paths.values())}) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--headless", "--no-sandbox"])
        for k, name in enumerate(paths):
            paint, listed, drawn = [], [], []
            for _ in range(repeats):
                for tab, selector, times in (
                    ("Interactions", ".interactions tbody tr", listed),
                    ("Graph", ".node", drawn),
                ):
                    page = browser.new_page(viewport={"width": 1300, "height": 900})

                    def shown(page: Any = page, tab: str = tab, selector: str = selector, k: int = k) -> None:
                        page.goto(f"{address}#model={k}&tab={tab}")
                        page.wait_for_selector(selector)
                        page.wait_for_selector(".variables li")

                    times.append(seconds(shown))
                    paint.append(page.evaluate(PAINT))
                    page.close()
            medians = (statistics.median(times) for times in (paint, listed, drawn))
            rows.append({"model": name, **dict(zip(("first paint", "interactions", "graph"), medians, strict=True))})
        browser.close()
    return rows


def answers(path: Path) -> list[dict[str, Any]]:
    """Milliseconds of each question."""
    explorer = Explorer(path)
    names, link = explorer.space.names, explorer.joined.links[0].row.variables
    asked: dict[str, Callable[[int], Any]] = {
        "what follows from evidence, all columns": lambda k: explorer.consequences({names[k]: 1}, order="changed"),
        "P(A | B)": lambda k: explorer.ask(f"P({names[-1]} | {names[k]}=1)", {}),
        "which further column tells most": lambda k: explorer.what_if(names[k], {}, 30),
        "other shares of a column": lambda k: explorer.margins({names[k]: [0.3, 0.7]}),
        "one interaction": lambda k: explorer.effect(list(link)),
        "interactions, searched and sorted": lambda k: explorer.interactions(search=names[k], sort="ratio"),
        "the graph": lambda k: explorer.graph(limit=500),
        "one row of 20 cells": lambda k: explorer.row(", ".join(f"{name}=0" for name in names[k : k + 20])),
        "ten drawn rows": lambda k: explorer.sample(10, k, {}),
    }
    rows = []
    for what, ask in asked.items():
        first, *more = [1000 * seconds(lambda k=k, ask=ask: ask(k)) for k in range(6)]
        rows.append({"answer": what, "first, ms": first, "then, ms": statistics.median(more)})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--columns", type=int, default=300)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        wide = Path(folder, "wide.fsm")
        learned(given.columns, 5000).save(wide)
        table(f"answers at {given.columns} columns", answers(wide))
        table("seconds to the page", paints(models(Path(folder), wide), given.repeats))


if __name__ == "__main__":
    main()
