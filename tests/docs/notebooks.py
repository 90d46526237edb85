"""Pages of the documentation as Jupyter notebooks: those that say ``<!-- notebook -->``.

Text becomes cells of Markdown, without its links to other pages; an example becomes a cell of code with its output:
what it printed when the page was checked, and what it shows. A notebook is one file, so that its pictures are what
examples show.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from docs.examples import ROOT, Block, Execution, Outcome, blocks, executed

MARK = "<!-- notebook -->"
_COMMENT = re.compile(r"^<!--.*-->$|^</?details.*>$", re.MULTILINE)
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!\w+://)[^)\s]+\)")
Cell = dict[str, Any]


def pages() -> list[Path]:
    """The pages that are notebooks as well."""
    return [path for path in sorted((ROOT / "docs").rglob("*.md")) if MARK in path.read_text(encoding="utf-8")]


def notebook(page: Path) -> str:
    """A page as the text of an ``.ipynb`` file."""
    lines, execution = page.read_text(encoding="utf-8").splitlines(), executed(page)
    assert not any("![" in line for line in lines), f"{page.name} is a notebook: show pictures with <!-- shown -->"
    cells = [{"id": f"cell-{k}", **cell} for k, cell in enumerate(_cells(lines, execution))]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def _cells(lines: list[str], execution: Execution) -> Iterator[Cell]:
    outcomes = {outcome.block.start: outcome for outcome in execution.outcomes}
    kept = [(outcome.block.start, outcome.kept.start) for outcome in execution.outcomes if outcome.kept is not None]
    outputs = {output for example, output in kept if output != example}
    numbers, at = count(1), 0
    for block in blocks(lines):
        outcome = outcomes.get(block.start)
        if outcome is None and block.language != "python" and block.start not in outputs:
            continue  # it stays a part of the text
        yield from _text(lines[at : block.start - 1])
        at = block.stop + 1
        if block.start not in outputs:
            yield _code(block, outcome, next(numbers))
    yield from _text(lines[at:])


def _text(lines: list[str]) -> Iterator[Cell]:
    """Markdown without marks."""
    text = re.sub(r"\n{3,}", "\n\n", _LINK.sub(r"\1", _COMMENT.sub("", "\n".join(lines)))).strip()
    if text:
        yield {"cell_type": "markdown", "metadata": {}, "source": text}


def _code(block: Block, outcome: Outcome | None, number: int) -> Cell:
    """A cell of code; commands for the shell begin with an exclamation mark."""
    lines = block.lines
    if block.language == "console":
        lines = [f"!{line[2:]}" for line in lines if line.startswith("$ ")]
    cell = {"cell_type": "code", "metadata": {}, "source": "\n".join(lines)}
    if outcome is None:
        return {**cell, "execution_count": None, "outputs": []}
    printed = [line for line in outcome.printed if block.language != "console" or not line.startswith("$ ")]
    outputs: list[Any] = []
    if printed:
        outputs.append({"output_type": "stream", "name": "stdout", "text": "\n".join(printed) + "\n"})
    if outcome.shown is not None:
        kind, text, png = outcome.shown
        data = {"image/png": png, "text/plain": "a figure"} if png else {kind: text, "text/plain": "a table"}
        outputs.append({"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": number})
    return {**cell, "execution_count": number, "outputs": outputs}
