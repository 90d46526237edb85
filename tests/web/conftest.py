"""Small models, written once, and a browser."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fullspan as fs
from skipping import skip_tests

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def rows_of(n: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, n)
    b = np.where(rng.random(n) < 0.8, a, rng.integers(0, 3, n))
    c = np.where(rng.random(n) < 0.7, 1 - a, rng.integers(0, 2, n))
    return pd.DataFrame({"rain": np.array(["no", "yes"])[a], "b": b, "umbrella & hat": c})


@pytest.fixture(scope="session")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A machine, and a tree of the same columns."""
    folder = tmp_path_factory.mktemp("models")
    fs.BoltzmannMachine(l2=0.01).fit(rows_of(300)).save(folder / "one.fsm")
    fs.ChowLiuTree().fit(rows_of(200, seed=1)).save(folder / "two.fsm")
    return {"one": folder / "one.fsm", "two": folder / "two.fsm"}


@pytest.fixture(scope="session")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A mixture, a hidden tree and an average of the same columns."""
    folder, rows = tmp_path_factory.mktemp("mixed"), rows_of(200, seed=2)
    fs.FullSpanMixture(runs=[(2, 1)], restarts=1, random_state=0).fit(rows).save(folder / "mixture.fsm")
    fs.HiddenChowLiuTree(n_states=2, restarts=1, random_state=0).fit(rows).save(folder / "hidden.fsm")
    fs.FullSpan(average=2, random_state=0).fit(rows).save(folder / "average.fsm")
    return {name: folder / f"{name}.fsm" for name in ("mixture", "hidden", "average")}


@pytest.fixture(scope="session")
def chromium() -> str:
    """Debian's Chromium; none is ever downloaded. Asked for first, so that no model is learned in vain."""
    for package in ("fastapi", "playwright", "axe_playwright_python"):
        if importlib.util.find_spec(package) is None:
            skip_tests("browser", f"no {package} found; make setup")
    if (found := shutil.which("chromium")) is None:
        skip_tests("browser", "no Chromium found; apt-get install chromium")
    return found


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Any]:
    from playwright import sync_api

    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()
