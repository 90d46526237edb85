"""``fullspan rake``: the table with weights, in the formats of the file; contradictions leave no file."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.running import Done
from fullspan.people.cli.running import files

TABLE = 'id,sex,note\n007,f,"a, b"\n008,m,\n009,m,x\n010,f,NA\n'


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    path.write_text(TABLE)
    return path


def test_cells_stay_as_they_are_and_a_column_is_added(run: Callable[..., Done], table: Path) -> None:
    margin = table.with_name("sex.csv")
    margin.write_text("sex,count\nf,30\nm,10\n")
    out = table.with_name("weighted.csv")
    done = run("rake", table, "--margins", margin, "-o", out)
    assert done.code == 0, done.err
    rows = list(csv.reader(out.read_text().splitlines()))
    assert [row[:-1] for row in rows] == list(csv.reader(TABLE.splitlines()))
    assert [row[-1] for row in rows] == ["weight", "15.0", "5.0", "5.0", "15.0"]
    assert "design effect (Kish) 1.2500, effective sample size 3.2 of 4 rows" in done.out
    assert "4 rows with a column 'weight' written" in done.err


def test_json_says_the_same(run: Callable[..., Done], table: Path) -> None:
    margins = table.with_name("margins.json")
    margins.write_text(json.dumps({"margins": [[{"sex": "f", "count": 0.75}, {"sex": "m", "count": 0.25}]]}))
    done = run("rake", table, "--margins", margins, "--json", "--name", "w", "-o", table.with_name("w.jsonl"))
    assert done.code == 0, done.err
    assert json.loads(done.out)["effective_n"] == pytest.approx(3.2)
    assert [json.loads(line)["w"] for line in table.with_name("w.jsonl").read_text().splitlines()] == pytest.approx(
        [1.5, 0.5, 0.5, 1.5]
    )


@pytest.mark.parametrize(
    ("margins", "options", "message"),
    [
        ('{"margins": [[{"sex": "f", "count": 1}]]}', [], "holds 'm' in row 2"),
        ('{"margins": [[{"sex": "f", "count": 1}, {"sex": "m", "count": 1}, {"sex": "x", "count": 1}]]}', [], "sex=x"),
        ('{"margins": 3}', [], "no list 'margins'"),
        ("{", [], "not valid JSON"),
        ('{"margins": [[{"sex": "f", "count": 1}, {"sex": "m", "count": 9}]]}', ["--bounds", "0.9,1.1"], "sex=f"),
        ('{"margins": [[{"sex": "f", "count": 1}, {"sex": "m", "count": 9}]]}', ["--bounds", "2"], "two numbers"),
        (
            '{"margins": [[{"sex": "f", "count": 1}, {"sex": "m", "count": 9}]]}',
            ["--name", "id"],
            "column 'id' already",
        ),
        ('{"margins": [[{"sex": "f", "count": 1}, {"sex": "m", "count": 9}]]}', ["--weights", "w"], "no column 'w'"),
    ],
)
def test_nothing_is_written_where_it_cannot_be(
    run: Callable[..., Done], table: Path, margins: str, options: list[str], message: str
) -> None:
    table.with_name("margins.json").write_text(margins)
    out = table.with_name("weighted.csv")
    done = run("rake", table, "--margins", table.with_name("margins.json"), "-o", out, *options)
    assert done.code == 2
    assert message in " ".join(done.err.split())
    assert sorted(path.name for path in table.parent.iterdir()) == ["margins.json", "table.csv"]


def test_large_files_hold_the_same_cells(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import pyarrow as pa

    texts = ["x", None, 'q"uote', "com,ma", "line\nbreak", " blank ", "é", "NULL", "#c", "-", "tab\tbed", "it's", "007"]
    numbers = [1.0, 0.1, 1e-5, 1e16, 1e22, -0.0, None, 123456789.12345679, 1 / 3, 5e-324, 2.5e15, 1e-300, 3.0]
    table = pa.table({"a b": texts, "n,": numbers, "i": list(range(13))})
    read = []
    for many in (100, 1):
        monkeypatch.setattr(files, "ROWS_IN_PYTHON", many)
        for suffix, delimiter in ((".csv", ","), (".tsv", "\t")):
            path = tmp_path / f"o'{many}{suffix}"
            files.write_table(table, path)
            with path.open(newline="") as file:
                read.append(list(csv.reader(file, delimiter=delimiter)))
    assert all(rows == read[0] for rows in read)
    assert len(read[0]) == 14
