"""Option values with a form of their own: sizes, levels, bins, edges, hidden variables."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fullspan.errors import FullspanError
from fullspan.people.cli.options.values import names, read_json

MARGINS_HELP = "A JSON file of margins, a CSV file with one margin, or 'sex: f=510, m=490'. May be repeated."
WEIGHTS_HELP = "Column of row weights; by default the one that the model was fitted with, if the table has it."


class Device(enum.StrEnum):
    """Where the tables live."""

    auto = "auto"
    cpu = "cpu"
    cuda = "cuda"
    sharded = "sharded"


_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?\s*", re.IGNORECASE)
_POWER = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}


def size(text: str | None) -> int | None:
    """Bytes from ``8GiB``, ``500M`` or a plain number.

    Raises
    ------
    FullspanError : it is no size, or less than one byte.
    """
    if text is None:
        return None
    match = _SIZE.fullmatch(text)
    n_bytes = 0 if match is None else int(float(match[1]) * 2 ** _POWER[match[2].lower()])
    if n_bytes < 1:
        raise FullspanError(f"--max-memory {text!r} is not a size; write for example 8GiB or 500M")
    return n_bytes


def levels(text: str) -> dict[str, list[Any]]:
    """``{"size": ["small", "large"]}`` as a dictionary, given as JSON or as the name of a JSON file.

    Raises
    ------
    FullspanError : it is neither.
    """
    value = _json("levels", text)
    if not isinstance(value, dict) or not all(isinstance(v, list) for v in value.values()):
        raise FullspanError('--levels takes one list of levels per column, as in \'{"size": ["small", "large"]}\'')
    for name, listed in value.items():
        if not all(isinstance(level, str | int | float) for level in listed):
            raise FullspanError(f"--levels: the levels of {name!r} are texts, numbers or truth values")
    return value


def bins(text: str) -> Any:
    """A number of quantile bins, or ``{"age": 4, "pay": ["width", 5], "tax": [0, 1, 10]}``.

    Raises
    ------
    FullspanError : it is neither.
    """
    value = _json("bins", text)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if not isinstance(value, dict):
        raise FullspanError('--bins takes a number, or one rule per column, as in \'{"age": 4, "pay": [0, 10, 99]}\'')
    return {name: tuple(rule) if isinstance(rule, list) else rule for name, rule in value.items()}


def _json(option: str, text: str) -> Any:
    path = Path(text)
    if not text.lstrip().startswith(("{", "[")) and path.suffix == ".json":
        text = path.read_text(encoding="utf-8")
    return read_json(option, text)


def privacy(text: str) -> Any:
    """``1`` or ``1,1e-9`` as a budget, epsilon and delta.

    Raises
    ------
    FullspanError : it is none.
    """
    from fullspan.learn.private.accountant import Privacy

    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not 1 <= len(numbers) <= 2:
        raise FullspanError(f"--private is {text!r}; give epsilon, or epsilon,delta, such as 1,1e-9")
    return Privacy(**dict(zip(("epsilon", "delta"), numbers, strict=False)))  # type: ignore[arg-type]


def seed(text: str) -> int:
    """A whole number of at least 0.

    Raises
    ------
    FullspanError : it is none.
    """
    if not text.strip().isdigit():
        raise FullspanError(f"--seed is {text!r}; a whole number of at least 0 is needed")
    return int(text)


def hidden(text: str) -> int | list[str]:
    """A number of hidden variables, or their names."""
    return int(text) if text.strip().isdigit() else names(text)


def hidden_names(text: str) -> list[str]:
    """The names of hidden nodes: h1, h2, ... of a number."""
    given = hidden(text)
    return given if isinstance(given, list) else [f"h{i + 1}" for i in range(given)]


def units(text: str) -> int:
    """A number of hidden units.

    Raises
    ------
    FullspanError : it is none.
    """
    if not text.strip().isdigit():
        raise FullspanError(f"--hidden is {text!r}; with one layer it is a number of units, 64")
    return int(text)


def layers(text: str) -> list[int]:
    """A number of hidden units for each layer.

    Raises
    ------
    FullspanError : it is not that.
    """
    sizes = [size.strip() for size in text.split(",")]
    if not all(size.isdigit() for size in sizes):
        raise FullspanError(f"--hidden is {text!r}; with several layers it is a number of units for each layer, 64,32")
    return [int(size) for size in sizes]


def edge(text: str, known: Callable[[], Sequence[str]]) -> tuple[str, str]:
    """Two names joined by a comma or a hyphen; names may hold hyphens as long as one reading fits.

    Parameters
    ----------
    known : gives the names that there are; called only where several hyphens leave a choice.

    Raises
    ------
    FullspanError : no reading fits the names, or several do.
    """
    listed = names(text)
    if len(listed) == 2:
        return listed[0], listed[1]
    cuts = [(text[: m.start()].strip(), text[m.end() :].strip()) for m in re.finditer("-", text)]
    if len(cuts) == 1:
        return cuts[0]  # the learner says which name is unknown
    there = set(known()) if cuts else set()
    fitting = [pair for pair in cuts if set(pair) <= there]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise FullspanError(f"--edge {text!r} has {len(fitting)} readings; separate the names by a comma")
    raise FullspanError(f"--edge {text!r} is not an edge between two variables; write for example --edge party-crime")


def edges_of_file(path: Path) -> list[tuple[str, str]]:
    """The edges of a file: one per line, two names separated by a comma or blanks; # begins a comment.

    Raises
    ------
    FullspanError : a line is no edge.
    """
    edges = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        pair = names(line)
        if len(pair) != 2:
            pair = line.split()
        if len(pair) != 2:
            raise FullspanError(f"line {number} of {str(path)!r} is {line!r}; two names are needed, a,b or a b")
        edges.append((pair[0], pair[1]))
    return edges
