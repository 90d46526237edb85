"""BIF networks: the tables that are read, and what is refused, with its line."""

from __future__ import annotations

import contextlib
import gzip
import time
from pathlib import Path

import numpy as np
import pytest

from fullspan.errors import ModelFileError
from fullspan.model.files import read_bif

VARIABLES = """network "a name" { property author = nobody ; }
variable rain { type discrete [ 2 ] { yes, no }; property "position = (1, 2)" ; }
variable "wet grass" { type discrete [3] { dry damp ">=soaked" }; }
variable light { type discrete [ 2 ] { on, off }; }
"""
RAIN = "probability ( rain ) { table 0.2, 0.8; }\n"
GRASS = """probability ( "wet grass" | light, rain ) { // of two parents
  (on, no) 0.9, 0.08, 0.02;
  (off, no) 0.8 0.15 0.05;
  default 0.1, 0.3, 0.6;
}
"""
LIGHT = """probability ( light | rain ) { /* the child
 slowest */ table 0.6, 0.05, 0.4, 0.95; }
"""
TEXT = VARIABLES + RAIN + GRASS + LIGHT


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "network.bif"


def refused(path: Path, text: str) -> str:
    path.write_text(text)
    with pytest.raises(ModelFileError) as caught:
        read_bif(path)
    return str(caught.value)


@pytest.mark.parametrize("packed", [False, True])
def test_tables_have_the_child_last(path: Path, packed: bool) -> None:
    """Rows by levels in any order, a default for the others, and whole tables with the child slowest."""
    path.write_bytes(gzip.compress(TEXT.encode()) if packed else TEXT.encode())
    graph = read_bif(path)
    assert graph.space.names == ("rain", "wet grass", "light")
    assert [v.levels for v in graph.space.variables] == [("yes", "no"), ("dry", "damp", ">=soaked"), ("on", "off")]
    assert graph.scopes == ((0,), (2, 0, 1), (0, 2))
    p = [np.exp(table) for table in graph.tables]
    np.testing.assert_allclose(p[0], [0.2, 0.8], rtol=1e-14)
    grass = [[[0.1, 0.3, 0.6], [0.9, 0.08, 0.02]], [[0.1, 0.3, 0.6], [0.8, 0.15, 0.05]]]
    np.testing.assert_allclose(p[1], grass, rtol=1e-14)
    np.testing.assert_allclose(p[2], [[0.6, 0.4], [0.05, 0.95]], rtol=1e-14)


def test_rounded_distributions_are_divided_by_their_sum(path: Path) -> None:
    path.write_text(TEXT.replace("0.2, 0.8", "0.2, 0.8004"))
    np.testing.assert_allclose(np.exp(read_bif(path).tables[0]), [0.2 / 1.0004, 0.8004 / 1.0004], rtol=1e-14)


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("network", "net", 1, "'network' is expected, not 'net'"),
        ("[ 2 ] { yes", "[ 3 ] { yes", 2, "'rain' should have 3 levels, but 2 are listed"),
        ("[ 2 ] { yes", "[ two ] { yes", 2, "'two' is not the number of levels of 'rain'"),
        ("{ yes, no }", "{ yes, yes }", 2, "lists a level twice"),
        ("variable light", "variable rain", 4, "there are two variables 'rain'"),
        ("type discrete [ 2 ] { on, off };", "", 4, "the variable 'light' has no 'type discrete"),
        ("type discrete [3]", "type continuous [3]", 3, "'discrete' is expected, not 'continuous'"),
        ("( rain )", "( ruin )", 5, "there is no variable 'ruin'"),
        ("0.2, 0.8", "0.2, 0.7", 5, "P(rain) sums to 0.9, not to 1"),
        ("0.2, 0.8", "0.2", 5, "1 probabilities are given; 2 are needed"),
        ("0.2, 0.8", "0.2, 1.8", 5, "1.8 is not a probability"),
        ("0.2, 0.8", "-0.2, 0.8", 5, "-0.2 is not a probability"),
        ("0.2, 0.8", "0.2, nan", 5, "'nan' is not a probability"),
        ("0.2, 0.8", "0.2, 8_0", 5, "'8_0' is not a probability"),
        ("0.2, 0.8;", "0.2, 0.8", 5, "'}' is not a probability"),
        ("table 0.2, 0.8;", "", 5, "P(rain) is not given"),
        ("0.2, 0.8;", "0.2, 0.8; table 0.2, 0.8;", 5, "given twice"),
        ("| light, rain", "| light, light", 6, "occurs twice in the probability of 'wet grass'"),
        ("(on, no)", "(on)", 7, "1 levels are named for the 2 parents"),
        ("(on, no)", "(on, never)", 7, "'rain' has no level 'never'"),
        ("(on, no)", "(off, no)", 8, "the row (off, no) is given twice"),
        ("default 0.1, 0.3, 0.6;", "", 10, "P(wet grass | on, yes) is not given"),
        ("table 0.6, 0.05, 0.4, 0.95", "table 0.6, 0.4, 0.05, 0.95", 12, "the levels of 'light' run fastest"),
        ("/* the", "/ the", 11, "'(' is expected, not '/'"),
        ("slowest */", "slowest", 11, "this comment is not closed"),
        ('"wet grass" {', '"wet grass {', 3, "this quotation mark is not closed"),
        ("probability ( light", "probability ( rain", 11, "the probability of 'rain' is given twice"),
    ],
)
def test_unsound_files_are_refused_with_line_and_reason(path: Path, old: str, new: str, line: int, reason: str) -> None:
    assert old in TEXT
    message = refused(path, TEXT.replace(old, new, 1))
    assert message.startswith(f"{path}, line {line}: "), message
    assert reason in message


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the text ends where 'network' is expected"),
        ("network n {\n}\n", "line 2: the text ends without any variable"),
        (VARIABLES + RAIN, "the text ends without a probability of 'wet grass'"),
        (TEXT + "and more", "line 13: 'probability' is expected, not 'and'"),
        (
            TEXT.replace("( rain ) { table 0.2, 0.8; }", "( rain | light ) { default 0.2, 0.8; }"),
            "it has the cycle rain -> light -> rain",
        ),
    ],
)
def test_unsound_networks_are_refused(path: Path, text: str, reason: str) -> None:
    assert reason in refused(path, text)


def test_truncations_are_refused(path: Path) -> None:
    """Cut anywhere before the last brace, a file is no network."""
    whole = TEXT.rstrip()
    for n in range(0, len(whole), 3):
        refused(path, whole[:n])


def test_tables_are_not_allocated_by_what_a_header_says(path: Path) -> None:
    """Thirty parents of ten levels each would take 10^31 numbers."""
    levels = ", ".join(f"l{i}" for i in range(10))
    variables = "".join(f"variable v{i} {{ type discrete [ 10 ] {{ {levels} }}; }}\n" for i in range(31))
    parents = ", ".join(f"v{i}" for i in range(1, 31))
    text = f"network n {{ }}\n{variables}probability ( v0 | {parents} ) {{ default {', '.join(['0.1'] * 10)}; }}\n"
    assert "all tables together may have" in refused(path, text)


def test_very_many_parents_are_refused(path: Path) -> None:
    """Also where each has one level, so that the table would be small."""
    variables = "".join(f"variable v{i} {{ type discrete [ 1 ] {{ a }}; }}\n" for i in range(71))
    parents = ", ".join(f"v{i}" for i in range(1, 71))
    text = f"network n {{ }}\n{variables}probability ( v0 | {parents} ) {{ table 1; }}"
    assert "'v0' has 70 parents; up to 31" in refused(path, text)


def test_no_damage_leads_to_another_error(path: Path) -> None:
    """Letters changed, dropped and doubled at random: a network is read or refused."""
    rng = np.random.default_rng(12)
    odd = [*'{}()[]|,;"/*0.19-e \n', "", "table", "default", "property", "²", "1e999"]
    for _ in range(150):
        letters = list(TEXT)
        for k in rng.integers(len(letters), size=rng.integers(1, 4)):
            letters[k] = odd[rng.integers(len(odd))]
        path.write_text("".join(letters))
        with contextlib.suppress(ModelFileError):
            read_bif(path)


@pytest.mark.parametrize("text", ["/* " * 200_000, '"a" ' * 100_000, "1" * 400_000 + "x", "(" * 400_000])
def test_hostile_texts_take_linear_time(path: Path, text: str) -> None:
    path.write_text(f"network n {{ }} variable a {{ type discrete [ 1 ] {{ b }}; }} probability ( a ) {{ table {text}")
    start = time.perf_counter()
    with pytest.raises(ModelFileError):
        read_bif(path)
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize("data", [b"\xff\xfe", b"network n { }\n\x80"])
def test_bytes_that_are_no_text(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    with pytest.raises(ModelFileError, match="not UTF-8"):
        read_bif(path)
