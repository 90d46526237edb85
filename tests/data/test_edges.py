"""Cells, names and line ends at the edge of what a table may hold: read as they are, or refused by name."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import fullspan as fs
from fullspan.data import count, decode, encode
from fullspan.errors import DataError, QueryError

LONG = "7" * 5000


def written(tmp_path, data, name="t.csv"):
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


@pytest.mark.parametrize(
    ("cells", "levels"),
    [
        ([LONG, "1"], ("1", LONG)),
        (["1e300", "2"], (2.0, 1e300)),
        (["1" * 25, "2"], (2, int("1" * 25))),
    ],
)
def test_numbers_beyond_what_a_number_holds(tmp_path, cells, levels):
    """Whole numbers of thousands of digits are text; all are decoded again."""
    counts = count(written(tmp_path, "a\n" + "\n".join(cells) + "\n"))
    assert counts.space.variables[0].levels == levels
    codes = encode({"a": list(levels) if isinstance(levels[0], str) else cells}, counts.space)
    assert sorted(codes[:, 0].tolist()) == [0, 1]
    for like in (None, np.empty((0, 0)), pd.DataFrame()):
        assert len(decode(codes, counts.space, like=like)) == 2


def test_a_number_beyond_double_precision_is_refused(tmp_path):
    with pytest.raises(DataError, match="column 'a' holds 1e999, and levels are finite numbers"):
        count(written(tmp_path, "a\n1e999\n2\n"))


def test_a_model_of_huge_numbers_samples_and_saves(tmp_path):
    model = fs.ChowLiuTree().fit(pd.DataFrame({"a": [1e300, 1.0, 1e300], "b": [0, 1, 0]}))
    assert model.sample(3, random_state=0)["a"].isin([1e300, 1.0]).all()
    model.save(tmp_path / "m.fsm")
    assert fs.load(tmp_path / "m.fsm").space_ == model.space_
    with pytest.raises(QueryError, match="no level"):
        model.probability({"a": 10**5000})
    with pytest.raises(QueryError, match="no level"):
        model.probability({"b": 10**400})


@pytest.mark.parametrize(
    "table",
    [
        [["\ud800"], ["x"]],
        {"\ud800": [1, 2]},
        {"a": ["\udc00", "x"]},
        [{"a\ud800": 1}],
        pd.DataFrame({"a": ["\ud800", "x"]}, dtype=object),
        np.array([["\ud800"], ["x"]], dtype=object),
        np.array([["\ud800"], ["x"]]),
    ],
)
def test_half_a_surrogate_pair_is_no_text(table):
    with pytest.raises(DataError, match="surrogate"):
        count(table)


def test_half_a_surrogate_pair_in_json(tmp_path):
    path = written(tmp_path, json.dumps({"a": "\ud800"}) + "\n" + json.dumps({"a": "x"}) + "\n", "t.jsonl")
    with pytest.raises(DataError, match="cannot be read"):
        count(path)


@pytest.mark.parametrize(
    "data",
    [
        b"a,b\n1,x\n2,y\n",
        b"a,b\r\n1,x\r\n2,y\r\n",
        b"a,b\r1,x\r2,y\r",
        b"\xef\xbb\xbfa,b\n1,x\n2,y",
        b"a,b\n1,x\n2,y\n\n\n",
    ],
)
def test_line_ends_marks_and_blank_lines_at_the_end(tmp_path, data):
    counts = count(written(tmp_path, data))
    assert [(v.name, v.levels) for v in counts.space.variables] == [("a", (1, 2)), ("b", ("x", "y"))]
    assert counts.total == 2


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"a,b\r\n1,x\r\n2,y\n3,z\r\n", "line 3 .* ends in LF, line 1 in CRLF"),
        (b"a,b\n1,x\r\n2,y\n", "line 2 .* ends in CRLF, line 1 in LF"),
        (b'a,b\n1,"x\r\ny"\n2,y\n3,z\rq\n', "line 4 .* ends in CR, line 1 in LF"),
        (b"a,b\n" + b"1,x\n" * 20_000 + b"2,y\r\n" + b"1,x\n" * 5, "line 20002 .* ends in CRLF"),
    ],
)
def test_mixed_line_ends_are_refused_with_the_line(tmp_path, data, words):
    with pytest.raises(DataError, match=words):
        count(written(tmp_path, data))


def test_nul_bytes(tmp_path):
    with pytest.raises(DataError, match=r"header .* NUL byte"):
        count(written(tmp_path, b"a,b\0\n1,x\n"))
    assert count(written(tmp_path, b"a,b\n1,x\0y\n")).space.variables[1].levels == ("x\0y",)


def test_twenty_thousand_columns_are_refused_before_they_crash_the_counting(tmp_path):
    names = ",".join(f"c{i}" for i in range(20_000))
    path = written(tmp_path, names + "\n" + ",".join("1" for _ in range(20_000)) + "\n")
    script = f"from fullspan.data import count; count({str(path)!r})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert "DataError: rows of 20,000 columns take 322,564 bytes to count, the limit is 262,144" in done.stderr
