"""The pictures of docs/explorer.md, taken of the page itself: ``python web/screenshots.py`` (needs Debian's chromium).

The 1984 House votes are fitted and served; the pictures are written to docs/figures, in 256 colours to keep them small.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

import fullspan as fs

FIGURES = Path(__file__).resolve().parents[1] / "docs" / "figures"
SIZE = {"width": 1180, "height": 860}


@contextmanager
def served(*arguments: str) -> Iterator[str]:
    """The address of a server with these arguments."""
    command = [sys.executable, "-m", "fullspan", "serve", *arguments, "--port", "0", "--workers", "1"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            yield next(found[0] for line in process.stderr if (found := re.search(r"http://[\d.:]+/", line)))
        finally:
            process.terminate()


def keep(page: Any, name: str) -> None:
    """Write what the page shows."""
    page.mouse.move(1, 1)
    page.wait_for_timeout(700)  # bars move for a while
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    picture = picture.quantize(256, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    picture.save(FIGURES / f"{name}.png", optimize=True)
    print(FIGURES / f"{name}.png", (FIGURES / f"{name}.png").stat().st_size)


def main() -> None:
    votes = fs.datasets.house_votes_path()
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        model = Path(folder, "votes.fsm")
        fs.FullSpan(missing="em").fit(votes).save(model)
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--headless", "--no-sandbox"])
        page = browser.new_page(viewport=SIZE)
        with served(str(model), "--data", str(votes)) as address:
            page.goto(address)
            page.click("button.words >> nth=0")
            page.wait_for_selector(".shares")
            keep(page, "explorer-interaction")
            page.goto(f'{address}#tab=Graph&given={{"party":"republican"}}&order=changed')
            page.wait_for_selector(".node.clamped")
            keep(page, "explorer-graph")
        browser.close()


if __name__ == "__main__":
    main()
