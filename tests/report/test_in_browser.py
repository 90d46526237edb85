"""A report in Chromium: nothing wider than a telephone, ink on white paper in print, whole labels."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fullspan as fs
from fullspan.people.report import gather
from fullspan.people.report.page import page
from skipping import skip_tests

QUESTION = "the government should do more for pensioners"
ANSWERS = ["strongly disagree", "disagree", "neither agree nor disagree", "agree", "strongly agree"]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    rng = np.random.default_rng(0)
    place = rng.integers(0, 5, 300)
    trust = np.array(["low", "medium", "high"])[np.clip(place // 2 + rng.integers(0, 2, 300), 0, 2)]
    rows = pd.DataFrame(
        {QUESTION: np.array(ANSWERS)[place], "trust_in_institutions": trust, "sex": rng.integers(0, 2, 300)}
    )
    model = fs.FullSpan(levels={QUESTION: ANSWERS, "trust_in_institutions": ["low", "medium", "high"]}).fit(rows)
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(page(gather(model, rows, title="survey")), encoding="utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if (chromium := shutil.which("chromium")) is None:
        skip_tests("browser", "no Chromium found; apt-get install chromium")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        yield running
        running.close()


@pytest.mark.parametrize("width", [360, 768, 1200])
def test_nothing_is_wider_than_the_screen(browser: Any, report: str, width: int) -> None:
    """Neither the page nor a label in a picture; hidden pictures have no width."""
    tab = browser.new_page(viewport={"width": width, "height": 800})
    tab.goto(report)
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    outside = """[...document.querySelectorAll('svg')].flatMap(svg => {
        const box = svg.getBoundingClientRect();
        return [...svg.querySelectorAll('text')].filter(t => {
            const r = t.getBoundingClientRect();
            return r.width && (r.left < box.left - 1 || r.right > box.right + 1);
        }).map(t => t.textContent) })"""
    assert tab.evaluate(outside) == []
    assert (
        tab.evaluate("[...document.querySelectorAll('svg')].filter(s => s.getBoundingClientRect().width).length") >= 4
    )
    tab.close()


def test_paper_is_white_and_has_no_navigation(browser: Any, report: str) -> None:
    """Also where the screen is dark."""
    tab = browser.new_page(color_scheme="dark")
    tab.goto(report)
    colour = "getComputedStyle(document.body).backgroundColor"
    assert tab.evaluate(colour) != "rgb(255, 255, 255)"
    tab.emulate_media(media="print")
    assert tab.evaluate(colour) == "rgb(255, 255, 255)"
    assert not tab.is_visible("nav")
    assert tab.is_visible("text=What was found.")
    tab.close()
