"""JSON from a stranger: every value is asked for by type, and every refusal names the file and the place."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fullspan.errors import FullspanError, ModelFileError
from fullspan.model.files.disk import read_bytes

MAX_BYTES = 64 << 20
"""Largest file that is read; parsed JSON takes up to some twenty times as much memory."""

_TABLE = re.compile(r"\.(csv|tsv|parquet|jsonl|ndjson|arrow|feather)(\.gz)?$", re.IGNORECASE)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


@dataclass(frozen=True)
class Node:
    """A value inside a JSON document, and where it stands."""

    value: Any
    file: str
    place: str = ""

    def refuse(self, problem: str) -> ModelFileError:
        """The error that names file and place."""
        where = f" at {self.place}" if self.place else ""
        return ModelFileError(f"{self.file} is not a valid model file{where}: {problem}")

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """What the library refuses while a part of the file is made into an object is refused at this place."""
        try:
            yield
        except ModelFileError:
            raise
        except FullspanError as error:
            raise self.refuse(str(error)) from error

    def __getitem__(self, key: str) -> Node:
        if not isinstance(self.value, dict):
            raise self._expected("an object")
        if key not in self.value:
            raise self.refuse(f"{key!r} is missing")
        return Node(self.value[key], self.file, f"{self.place}.{key}" if self.place else key)

    def fields(self) -> dict[str, Node]:
        """The members of an object."""
        if not isinstance(self.value, dict):
            raise self._expected("an object")
        dot = f"{self.place}." if self.place else ""
        return {key: Node(value, self.file, f"{dot}{key}") for key, value in self.value.items()}

    def items(self) -> Iterator[Node]:
        """The members of a list."""
        if not isinstance(self.value, list):
            raise self._expected("a list")
        return (Node(value, self.file, f"{self.place}[{i}]") for i, value in enumerate(self.value))

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self._expected("text")
        return self.value

    def truth(self) -> bool:
        if not isinstance(self.value, bool):
            raise self._expected("true or false")
        return self.value

    def whole(self, least: int, most: int = 2**63 - 1) -> int:
        """An integer in a range; 1.0 and true are none."""
        # True is an int in Python.
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            raise self._expected("a whole number")
        if not least <= self.value <= most:
            raise self.refuse(f"{shown(self.value)} is not between {least} and {most}")
        return self.value

    def number(self, least: float = -math.inf) -> float:
        """A finite number."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise self._expected("a number")
        # float() of an integer of many thousand digits raises, or takes its time.
        if isinstance(self.value, int) and abs(self.value) > 2**63:
            raise self.refuse(f"{shown(self.value)} is too large")
        if self.value < least:
            raise self.refuse(f"{self.value} is less than {least}")
        return float(self.value)

    def number_or_nan(self) -> float:
        """A finite number, or null for one that is not known."""
        return math.nan if self.value is None else self.number()

    def _expected(self, kind: str) -> ModelFileError:
        return self.refuse(f"{kind} is needed, not {shown(self.value)}")


def shown(value: Any) -> str:
    """A short form for messages."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    if isinstance(value, int) and abs(value) >= 10**30:
        return "a number of very many digits"
    # Escaped: what a file holds is shown on terminals.
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:37] + "..."


def read_json(path: Path) -> Node:
    """The document in a file.

    Raises
    ------
    ModelFileError : it cannot be read, is no regular file, is too large, or is not strict JSON: truncated, nested too
        deeply, with a repeated key, NaN, a number beyond double precision, or half a surrogate pair.
    """
    try:
        text = read_bytes(path, MAX_BYTES).decode("utf-8")
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_constant, parse_float=_finite)
        # A search in the text is quick; only a file that has an escape of this kind is walked through.
        if _SURROGATE.search(text):
            _refuse_surrogates(value, path)
        return Node(value, str(path))
    except ModelFileError:
        raise
    except RecursionError as error:
        raise ModelFileError(f"{path} is not a valid model file: it is nested too deeply") from error
    except ValueError as error:  # JSON, UTF-8 and integers of too many digits
        if _TABLE.search(path.name):
            raise ModelFileError(
                f"{path} is a table, not a model file; fullspan fit {path.name} -o model.fsm learns a model of it"
            ) from error
        raise ModelFileError(f"{path} is not a valid model file, or is cut short: {error}") from error


def _refuse_surrogates(value: Any, path: Path) -> None:
    """Refuse text that no file or terminal could take."""
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        raise ModelFileError(
            f"{path} is not a valid model file: a text in it holds {half!r}, half of a surrogate pair"
        ) from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # A repeated key would hide one of two values, and which one differs from program to program.
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {twice!r} occurs twice in one object")
    return members


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {text[:40]} is too large")
    return value
