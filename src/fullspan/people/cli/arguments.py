"""Option values that need reading: lists, JSON, sizes, penalties."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

from fullspan.errors import FullspanError

_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?\s*", re.IGNORECASE)
_POWER = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}


def names(text: str | None) -> list[str] | None:
    """``a,b,"c, d"`` as a list."""
    if text is None:
        return None
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]


def penalty(text: str) -> str | float:
    """A number where the text is one."""
    try:
        return float(text)
    except ValueError:
        return text


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
        raise FullspanError(f"--max-memory {text!r} is no size; write for example 8GiB or 500M")
    return n_bytes


def levels(text: str | None) -> dict[str, list[Any]] | None:
    """``{"size": ["small", "large"]}`` as a dictionary, given as JSON or as the name of a JSON file.

    Raises
    ------
    FullspanError : it is neither.
    """
    if text is None:
        return None
    value = _json("--levels", text)
    if not isinstance(value, dict) or not all(isinstance(v, list) for v in value.values()):
        raise FullspanError('--levels takes one list of levels per column, as in \'{"size": ["small", "large"]}\'')
    for name, listed in value.items():
        if not all(isinstance(level, str | int | float) for level in listed):
            raise FullspanError(f"--levels: the levels of {name!r} are texts, numbers or truth values")
    return value


def bins(text: str | None) -> Any:
    """A number of quantile bins, or ``{"age": 4, "pay": ["width", 5], "tax": [0, 1, 10]}``.

    Raises
    ------
    FullspanError : it is neither.
    """
    if text is None:
        return None
    value = _json("--bins", text)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if not isinstance(value, dict):
        raise FullspanError('--bins takes a number, or one rule per column, as in \'{"age": 4, "pay": [0, 10, 99]}\'')
    return {name: tuple(rule) if isinstance(rule, list) else rule for name, rule in value.items()}


def _json(option: str, text: str) -> Any:
    path = Path(text)
    try:
        if not text.lstrip().startswith(("{", "[")) and path.suffix == ".json":
            text = path.read_text(encoding="utf-8")
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FullspanError(f"{option} is not valid JSON: {error}") from error
