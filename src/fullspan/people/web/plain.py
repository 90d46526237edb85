"""Answers in JSON's types."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable
from typing import Any, Literal

import numpy as np

from fullspan.arrays import Array
from fullspan.data.space import Variable
from fullspan.estimators.explain.interactions import NATS_SAVED, as_dict
from fullspan.estimators.explain.links import Link
from fullspan.model.effects.interaction import Effect, factor
from fullspan.pictures.shares import Shares

Sort = Literal["strength", "words", "order", "ratio", "chosen"]
Format = Literal["csv", "parquet"]


def numbers(values: Any) -> list[float]:
    return [float(x) for x in values]


def finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def plain(row: dict[str, Any]) -> dict[str, Any]:
    return {k: finite(v) if isinstance(v, float) else v for k, v in row.items()}


def distance(p: Array, q: Array) -> float:
    """Total variation."""
    return float(np.abs(p - q).sum()) / 2


def link_row(link: Link, measure: str) -> dict[str, Any]:
    """A link in JSON's types; a model without odds ratios or nats saved has null for them."""
    row = plain(as_dict(link.row)) | {"strength": link.strength, "approximate": link.approximate, "kind": link.kind}
    row["words"] = link.row.remarked
    row["nats_saved"] = row["nats_saved"] if measure == NATS_SAVED else None
    return row


def effect_row(effect: Effect) -> dict[str, Any]:
    """An effect with its interval, in JSON's types."""
    low, high = effect.interval()
    words = f"{', '.join(effect.events)}: {factor(effect.log_ratio)}"
    return plain({"events": list(effect.events), "words": words, "ratio": effect.ratio, "low": low, "high": high})


def shares_table(found: Shares) -> dict[str, Any]:
    """Shares with the data and their 95 % intervals, in JSON's types."""
    rows: list[dict[str, Any]] = []
    for r, label in enumerate(found.rows):
        each = range(len(found.columns))
        ends = [found.interval(r, k) for k in each]
        rows.append({
            "label": label,
            "model": numbers(found.model[r]),
            "data": [finite(found.data(r, k)) for k in each],
            "low": [finite(low) for low, _ in ends],
            "high": [finite(high) for _, high in ends],
            "n": None if found.totals is None else float(found.totals[r]),
        })  # fmt: skip
    return {"title": found.title, "heading": found.heading, "columns": list(found.columns), "rows": rows,
            "left_out": found.left_out}  # fmt: skip


def as_file(table: Any, kind: Literal["csv", "parquet"]) -> bytes:
    """An Arrow table as the bytes of a file."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    sink = pa.BufferOutputStream()
    (csv.write_csv if kind == "csv" else parquet.write_table)(table, sink)
    return bytes(sink.getvalue())


def moves_of(now: Any, joint: Any, levels: Any) -> dict[str, Any]:
    """``P(target | level)`` of every level from ``joint`` (target, level); and the mean distance from now."""
    total = joint.sum(axis=0)
    shares = np.where(total > 0, joint / np.where(total > 0, total, 1.0), now[:, None])
    each = [
        {"level": level, "probability": float(total[j]), "target": numbers(shares[:, j])}
        for j, level in enumerate(levels)
    ]
    return {"levels": each, "moves": float(total @ np.abs(shares - now[:, None]).sum(axis=0)) / 2}


def searched(link: Link) -> str:
    return " ".join([link.row.remarked, *link.row.variables]).casefold()


def log_ratio_of(link: Link) -> float:
    return abs(link.row.effects[0].log_ratio) if link.row.effects else 0.0


SORTED: dict[Sort, Callable[[Link], Any]] = {
    "strength": lambda link: link.strength,
    "words": lambda link: link.row.words.casefold(),
    "order": lambda link: link.row.order,
    "ratio": log_ratio_of,
    "chosen": lambda link: link.row.chosen,
}


def row_text(cells: Iterable[tuple[Variable, int]]) -> str:
    """A row as text that can be pasted: ``age=30, sex=f``; cells of code -1 are left out."""
    line = io.StringIO()
    for variable, code in cells:
        if code >= 0:
            line.write(", " if line.tell() else "")
            csv.writer(line, lineterminator="").writerow([f"{variable.name}={variable.levels[code]}"])
    return line.getvalue()
