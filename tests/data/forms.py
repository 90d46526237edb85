"""The same table in every form the library reads, and counts as a person would write them."""

from __future__ import annotations

import gzip
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as pf
import pyarrow.parquet as pq

from fullspan.data import Empirical


def as_counter(e: Empirical) -> dict[tuple[object, ...], float]:
    """Counts by tuple of levels, None for a missing cell."""
    levels = [dict(enumerate(v.levels)) | {-1: None} for v in e.space.variables]
    rows = [tuple(ls[c] for ls, c in zip(levels, row, strict=True)) for row in e.states]
    assert len(set(rows)) == len(rows)
    return dict(zip(rows, e.counts.tolist(), strict=True))


def same(a: Empirical, b: Empirical) -> bool:
    """Whether data, numbers of rows and types agree."""
    numbers = [(e.n_rows, e.n_dropped, e.n_empty, e.n_missing, e.states.dtype) for e in (a, b)]
    return a.fingerprint() == b.fingerprint() and numbers[0] == numbers[1]


def write_all(frame: pd.DataFrame, folder: Path) -> dict[str, object]:
    """The same table in every form the library reads."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    text = frame.to_csv(index=False)
    lines = frame.to_json(orient="records", lines=True)
    (folder / "t.csv").write_text(text)
    (folder / "semicolon.csv").write_text(frame.to_csv(index=False, sep=";"))
    (folder / "t.tsv").write_text(frame.to_csv(index=False, sep="\t"))
    (folder / "crlf.csv").write_bytes(("\ufeff" + text).replace("\n", "\r\n").encode())
    (folder / "t.jsonl").write_text(lines)
    (folder / "t.json").write_text(frame.to_json(orient="records"))
    pq.write_table(table, folder / "t.parquet", row_group_size=7)
    pf.write_feather(table, folder / "t.feather")
    with pa.ipc.new_file(folder / "t.arrow", table.schema) as writer:
        writer.write_table(table, max_chunksize=5)
    for name in ("t.csv", "t.tsv", "t.jsonl"):
        (folder / f"{name}.gz").write_bytes(gzip.compress((folder / name).read_bytes()))
    names = ["t.csv", "semicolon.csv", "t.tsv", "crlf.csv", "t.jsonl", "t.json", "t.parquet", "t.feather", "t.arrow"]
    names += ["t.csv.gz", "t.tsv.gz", "t.jsonl.gz"]
    return {
        **{name: folder / name for name in names},
        "str path": str(folder / "t.csv"),
        "pandas": frame,
        "polars": pl.from_arrow(table),
        "lazy": pl.from_arrow(table).lazy(),
        "arrow": table,
        "batch": table.to_batches()[0],
        "dicts": frame.to_dict(orient="records"),
        "columns": frame.to_dict(orient="list"),
    }
