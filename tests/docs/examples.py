"""Run the examples in README.md and docs/; check their output, or write it in place (``make readme``).

Blocks of one file run in order, in one empty folder that holds the bundled table as ``votes.csv``:

* ```` ```python ````: run in one namespace. What it prints is the ```` ```text ```` block right after it, if any;
  lines that begin with ``>>>`` are a session, with the output below each statement.
* ```` ```console ````: each line ``$ command`` is run by the shell, and its output is what follows.
* ``<!-- shown -->`` after a block of Python shows the value of its last line as a notebook does: the site has its HTML,
  or its figure, with the words after ``shown:`` for those who do not see it.
* ``<!-- not run -->`` on the line before a block leaves it alone.
* Pictures (``.svg``, ``.png``) that an example leaves in the folder are those the page shows: the site takes them, and
  ``make readme`` renews those that are kept in a file.

Timings are not compared, and numbers may differ by 0.1 % or by one in their last digit.
"""

from __future__ import annotations

import ast
import base64
import code
import contextlib
import functools
import html
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
SKIP = "<!-- not run -->"
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("SOURCE_DATE_EPOCH", "0")  # a picture has no date, so that drawing it again gives the same file
SHOWN = re.compile(r"<!-- shown(?:: (?P<words>.*))? -->")
_TERMINAL = {"COLUMNS": "100"}
_FENCE = re.compile(r"^```(\w*)\s*$")
_RULE = re.compile("─+")
_TIMING = re.compile(r"\b\d+(\.\d+)? ?(s|ms|µs|seconds?)\b")
_PICTURE = re.compile(r"!\[[^\]]*\]\(([^)\s]+\.(?:svg|png))\)")
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


def documents() -> list[Path]:
    """The Markdown files with examples."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@dataclass
class Block:
    """A fenced block: its language, the lines within, where the first of these stands, and whether to run it."""

    language: str
    lines: list[str]
    start: int
    run: bool

    @property
    def stop(self) -> int:
        return self.start + len(self.lines)


def blocks(lines: list[str]) -> list[Block]:
    """All fenced blocks of a document."""
    found: list[Block] = []
    open_at: tuple[str, int] | None = None
    for i, line in enumerate(lines):
        fence = _FENCE.match(line)
        if fence is None:
            continue
        if open_at is None:
            open_at = (fence[1], i)
        else:
            language, at = open_at
            run = at == 0 or lines[at - 1].strip() != SKIP
            found.append(Block(language, lines[at + 1 : i], at + 1, run))
            open_at = None
    return found


@dataclass
class Expected:
    """Output as documented, where it stands, and as it came out now."""

    block: Block
    found: list[str]

    def differences(self) -> list[str]:
        """Lines that disagree, as a person reads them; empty where all is well."""
        want, got = _stripped(self.block.lines), _stripped(self.found)
        pairs = zip(want + [""] * (len(got) - len(want)), got + [""] * (len(want) - len(got)), strict=True)
        return [f"line {self.block.start + 1 + i}: {a!r} != {b!r}" for i, (a, b) in enumerate(pairs) if not agree(a, b)]


def _stripped(lines: list[str]) -> list[str]:
    kept = [line.rstrip() for line in lines]
    while kept and not kept[-1]:
        kept.pop()
    return kept


def agree(a: str, b: str) -> bool:
    """Whether two lines are the same but for timings, spacing and the last digits of numbers.

    A rule below a heading is as wide as its table, which a timing may widen.
    """
    a, b = (" ".join(_RULE.sub("─", _TIMING.sub("<time>", line)).split()) for line in (a, b))
    if _NUMBER.sub("#", a) != _NUMBER.sub("#", b):
        return False
    return all(_close(x, y) for x, y in zip(_NUMBER.findall(a), _NUMBER.findall(b), strict=True))


def _close(x: str, y: str) -> bool:
    if "." not in x and "." not in y:
        return x == y
    unit = 10.0 ** -len(x.partition(".")[2].partition("e")[0])
    return abs(float(x) - float(y)) <= max(1.01 * unit * ("e" not in x), 1e-3 * abs(float(x)))


class Shown(NamedTuple):
    """A value as a notebook shows it: HTML, or a picture as SVG and, as notebooks trust no SVG, as PNG in base64."""

    kind: str
    text: str
    png: str = ""

    def html(self, words: str = "") -> str:
        """As a part of a page; a picture with words for those who do not see it."""
        if self.kind == "text/html":
            return f'<div class="shown">{self.text}</div>'
        data = base64.b64encode(self.text.encode()).decode()
        return f'<img class="shown" alt="{html.escape(words)}" src="data:{self.kind};base64,{data}">'


@dataclass
class Outcome:
    """A block that was run: what it printed, the block of the page that keeps this, and what it shows."""

    block: Block
    printed: list[str]
    kept: Block | None = None
    shown: Shown | None = None


@dataclass
class Execution:
    """What the examples of a document print, and the pictures they draw, by the names of their files."""

    outcomes: list[Outcome]
    pictures: dict[str, bytes]

    @property
    def expected(self) -> list[Expected]:
        """The output that the page keeps, in its order."""
        return [Expected(outcome.kept, outcome.printed) for outcome in self.outcomes if outcome.kept is not None]

    @property
    def shown(self) -> list[Shown]:
        """What the page shows, in its order."""
        return [outcome.shown for outcome in self.outcomes if outcome.shown is not None]

    def differences(self) -> list[str]:
        """Lines that disagree with the document; empty where all is well."""
        return [line for expected in self.expected for line in expected.differences()]


def run(document: Path) -> Execution:
    """Run a document's examples."""
    lines = document.read_text(encoding="utf-8").splitlines()
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(ROOT / "src/fullspan/datasets/house-votes-84.csv", Path(folder) / "votes.csv")
        os.chdir(folder)
        try:
            return Execution(list(_run_blocks(lines, document)), _pictures(Path(folder)))
        finally:
            os.chdir(here)
            if "matplotlib.pyplot" in sys.modules:
                sys.modules["matplotlib.pyplot"].close("all")


executed = functools.cache(run)
"""The same, once in a process: a page's output is checked, and its pictures shown, from one run."""


def _pictures(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.suffix in (".svg", ".png")}


def _run_blocks(lines: list[str], document: Path) -> Iterator[Outcome]:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    found = blocks(lines)
    for block, after in zip(found, [*found[1:], None], strict=False):  # a page may have none
        if not block.run:
            continue
        if block.language == "console":
            yield Outcome(block, _console(block.lines), block)
        elif block.language == "python" and any(line.startswith(">>> ") for line in block.lines):
            yield Outcome(block, _session(block.lines, namespace), block)
        elif block.language == "python":
            below = next((line for line in lines[block.stop + 1 :] if line.strip() not in ("", "</details>")), "")
            shows = SHOWN.fullmatch(below) is not None
            printed, value = _script(block, namespace, document)
            prints = after is not None and after.language == "text" and after.start - block.stop <= 3 and after.run
            yield Outcome(block, printed, after if prints else None, shown(value) if shows else None)


def _script(block: Block, namespace: dict[str, Any], document: Path) -> tuple[list[str], Any]:
    """What a block prints, and the value of its last line, None unless that is an expression."""
    body = ast.parse("\n" * block.start + "\n".join(block.lines), str(document)).body
    last = ast.Expression(body.pop().value) if body and isinstance(body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(ast.Module(body, []), str(document), "exec"), namespace)
        value = None if last is None else eval(compile(last, str(document), "eval"), namespace)
    return out.getvalue().splitlines(), value


def shown(value: Any) -> Shown:
    """A value as a notebook shows it: axes as their figure, anything else as its HTML."""
    figure = getattr(value, "figure", value)
    if hasattr(figure, "savefig"):
        figure.savefig(drawn := io.StringIO(), format="svg", bbox_inches="tight")
        figure.savefig(pixels := io.BytesIO(), format="png", bbox_inches="tight")
        return Shown("image/svg+xml", drawn.getvalue(), base64.b64encode(pixels.getvalue()).decode())
    return Shown("text/html", value._repr_html_())


def _session(lines: list[str], namespace: dict[str, Any]) -> list[str]:
    """A ``>>>`` session typed again: prompts and statements as documented, output as it comes."""
    console = code.InteractiveConsole(namespace)
    shown: list[str] = []
    more = False
    for line in lines:
        if not line.startswith((">>>", "...")):
            if more:
                more = _type(console, "", shown)
            continue
        if line.startswith(">>>") and more:
            more = _type(console, "", shown)
        shown.append(line)
        more = _type(console, line[4:], shown)
    if more:
        _type(console, "", shown)
    return shown


def _type(console: code.InteractiveConsole, line: str, shown: list[str]) -> bool:
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        more = console.push(line)
    shown.extend(out.getvalue().splitlines())
    return more


def _console(lines: list[str]) -> list[str]:
    shown: list[str] = []
    commands = "\n".join(lines).replace("\\\n", "\\\r").split("\n")
    for command in (line for line in commands if line.startswith("$ ")):
        shown.extend(command.split("\r"))
        shown.extend(_shell(command[2:].replace("\r", "\n")))
    return shown


def _shell(command: str) -> list[str]:
    """What a command prints. One of fullspan's own is run in this process, which has imported what it needs."""
    found = shlex.shlex(command, posix=True, punctuation_chars=True)
    found.whitespace_split = True
    words = list(found)
    if words[0] == "fullspan" and not any(c in "".join(words) + command for c in "$`*~|") and not {">", "<"} & {*words}:
        return _own(words[1:])
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(
        ["bash", "-c", command],
        env={**os.environ, "PATH": path, **_TERMINAL},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )
    return done.stdout.splitlines()


def _own(words: list[str]) -> list[str]:
    from fullspan.people.cli import main

    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    screen = contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), mock.patch.dict(os.environ, _TERMINAL)
    with screen[0], screen[1], screen[2], warnings.catch_warnings():
        warnings.simplefilter("default")
        main(words)
    assert isinstance(out.buffer, io.BytesIO)
    return out.buffer.getvalue().decode("utf-8").splitlines()


def rewrite(document: Path) -> bool:
    """Put the real output and pictures in place of those kept; returns whether anything changed."""
    import matplotlib as mpl

    before = document.read_text(encoding="utf-8")
    lines = before.splitlines()
    with mpl.rc_context({"svg.hashsalt": "fullspan"}):
        execution = run(document)
    for expected in reversed(execution.expected):
        if expected.differences():
            lines[expected.block.start : expected.block.stop] = _stripped(expected.found)
    after = "\n".join(lines) + "\n" if lines else before
    if after != before:
        document.write_text(after, encoding="utf-8")
    return _renew_pictures(document, execution.pictures) or after != before


def _renew_pictures(document: Path, drawn: dict[str, bytes]) -> bool:
    """Overwrite the picture files that a document shows and its examples draw."""
    shown = {document.parent / link for link in _PICTURE.findall(document.read_text(encoding="utf-8"))}
    stale = [p for p in shown if p.name in drawn and p.exists() and p.read_bytes() != drawn[p.name]]
    for path in stale:
        path.write_bytes(drawn[path.name])
    return bool(stale)


if __name__ == "__main__":
    for path in [Path(name).resolve() for name in sys.argv[1:]] or documents():
        print(f"{path.relative_to(ROOT)}: {'rewritten' if rewrite(path) else 'unchanged'}")
