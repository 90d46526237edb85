"""UAI networks and evidence: what is read, what comes back, and what is refused, with its line."""

from __future__ import annotations

import contextlib
import gzip
import math
from pathlib import Path

import numpy as np
import pytest

from fullspan.data import Space
from fullspan.errors import ModelFileError
from fullspan.model import FactorGraph
from fullspan.model.files import MAX_CARD, read_bytes, read_evidence, read_uai, write_uai

MARKOV = """MARKOV
3
2 2 3
2
2 0 1
2 2 1

4
 0.1 0.2
 0.3 0.4
6
 1 2
 3 4
 5e-1 0
"""
BAYES = """BAYES
2
2 3
2
1 0
2 0 1
2 0.25 0.75
6 0.5 0.25 0.25
  0.1 0.2 0.7
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "network.uai"


def test_the_last_variable_of_a_scope_is_fastest(path: Path) -> None:
    """Entries are in C order of the scope as it is listed, which need not increase."""
    path.write_text(MARKOV)
    graph = read_uai(path)
    assert graph.space == Space.of_cards((2, 2, 3))
    assert graph.scopes == ((0, 1), (2, 1))
    np.testing.assert_allclose(np.exp(graph.tables[0]), [[0.1, 0.2], [0.3, 0.4]], rtol=1e-15)
    np.testing.assert_allclose(np.exp(graph.tables[1]), [[1, 2], [3, 4], [0.5, 0]], rtol=1e-15)
    assert graph.tables[1][2, 1] == -math.inf


def test_white_space_and_packing_do_not_matter(path: Path) -> None:
    """One line, DOS line ends or gzip: the same network."""
    path.write_text(MARKOV)
    expected = read_uai(path)
    for data in (
        " ".join(MARKOV.split()).encode(),
        MARKOV.replace("\n", "\r\n").encode(),
        gzip.compress(MARKOV.encode(), mtime=0),
    ):
        path.write_bytes(data)
        again = read_uai(path)
        assert again.scopes == expected.scopes
        assert np.array_equal(again.values, expected.values)


def test_what_was_written_comes_back(path: Path) -> None:
    """Scopes exactly, entries to rounding, over all sizes of numbers; a constant factor and forbidden states too."""
    rng = np.random.default_rng(5)
    cards = (2, 1, 4, 3)
    scopes = ((3, 0, 2), (), (1,), (2, 3), (2, 3))
    tables = [rng.normal(scale=100, size=[cards[i] for i in scope]) for scope in scopes]
    tables[3][1, 2] = -math.inf
    graph = FactorGraph(Space.of_cards(cards), scopes, tuple(tables))
    write_uai(graph, path)
    assert path.read_text().startswith("MARKOV\n")
    again = read_uai(path)
    assert again.space == graph.space
    assert again.scopes == graph.scopes
    np.testing.assert_allclose(again.values, graph.values, rtol=1e-13)


def test_a_bayesian_network_stays_one(path: Path, tmp_path: Path) -> None:
    """It is written as BAYES, child last, and reads the same."""
    path.write_text(BAYES)
    graph = read_uai(path)
    write_uai(graph, tmp_path / "again.uai")
    assert (tmp_path / "again.uai").read_text().startswith("BAYES\n")
    np.testing.assert_allclose(read_uai(tmp_path / "again.uai").values, graph.values, rtol=1e-13)


def test_factors_beyond_doubles_are_not_written(path: Path) -> None:
    """exp(-800) would be 0, which forbids a state."""
    graph = FactorGraph(Space.of_cards((2,)), ((0,),), (np.array([0.0, -800.0]),))
    with pytest.raises(ModelFileError, match=r"factor over x0 goes from exp\(-800\) to exp\(0\)"):
        write_uai(graph, path)
    assert not path.exists()


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("", 1, "ends before MARKOV or BAYES"),
        ("MARKOW\n3", 1, "begins with 'MARKOW'"),
        ("MARKOV\n\n0", 3, "the number of variables is 0"),
        ("MARKOV\ntwo", 2, "'two' is not the number of variables"),
        ("MARKOV\n-2", 2, "'-2' is not the number of variables"),
        ("MARKOV\n2\n2", 3, "1 of 2 numbers are left"),
        ("MARKOV\n1000000000000\n2 2\n", 3, "2 of 1000000000000 numbers are left"),
        (f"MARKOV\n{'9' * 5000}\n2", 2, "is not the number of variables"),
        ("MARKOV\n2\n2 0\n0", 3, "variable 1 has 0 levels"),
        (f"MARKOV\n2\n2 {MAX_CARD + 1}\n0", 3, f"variable 1 has {MAX_CARD + 1} levels"),
        (f"MARKOV\n300\n{f'{MAX_CARD} ' * 300}\n0", 3, "levels together"),
        ("MARKOV\n2\n2 2\n1_0\n", 4, "'1_0' is neither a number"),
        ("MARKOV\n2\n2 2\n1\n2 0 2\n4 1 1 1 1", 5, "factor 0 names variable 2; there are 2"),
        ("MARKOV\n2\n2 2\n1\n2 1 1\n4 1 1 1 1", 5, "factor 0 names a variable twice: 1 1"),
        ("MARKOV\n2\n2 2\n1000000000\n2 0 1\n", 5, "ends before the size of a scope"),
        ("MARKOV\n2\n2 2\n1\n2 0 1\n3 1 1 1", 6, "factor 0 over 0 1 has 4 entries, but 3 are announced"),
        (f"MARKOV\n12\n{'10 ' * 12}\n1\n12 {' '.join(map(str, range(12)))}\n1000000000000 1", 6, "1 of 1000000000000"),
        ("MARKOV\n2\n2 2\n1\n2 0 1\n\n4 1 1\n1\n", 8, "ends before all entries of a factor: 3 of 4"),
        ("MARKOV\n2\n2 2\n1\n2 0 1\n4 1 1 1 1\n\n7", 8, "'7' stands after the end"),
        ("MARKOV\n2\n2 2\n1\n2 0 1\n4 1 1\n1 x", 7, "'x' is not a number"),
        ("MARKOV\n2\n2 2\n1\n2 0 1\n4 1 1\n-0.5 1", 7, "'-0.5' is not an entry"),
        ("MARKOV\n2\n2 2\n1\n2 0 1\n4 1 1\n1 nan", 7, "'nan' is not an entry"),
        ("MARKOV\n2\n2 2\n1\n2 0 1\n4 1 1\n1 1e999", 7, "'1e999' is not an entry"),
        ("BAYES\n2\n2 2\n1\n1 0\n2 .5 .5", 1, "1 factors for 2 variables"),
        ("BAYES\n2\n2 2\n2\n1 0\n2 1 0\n2 .5 .5\n4 .5 .5 .5 .5", 8, "factors 0 and 1 both end with 'x0'"),
        ("BAYES\n2\n2 2\n2\n1 0\n2 0 1\n2 .5 .5\n4 .5 .5 .5 .6", 8, r"P(x1 | x0=1) sums to 1.1, not to 1"),
        ("BAYES\n1\n2\n1\n0\n1 1", 6, "factor 0 has no variable"),
        ("BAYES\n2\n2 2\n2\n2 1 0\n2 0 1\n4 .5 .5 .5 .5\n4 .5 .5 .5 .5", 7, "cycle: x0 -> x1 -> x0"),
        (f"MARKOV\n70\n{'1 ' * 70}\n1\n70 {' '.join(map(str, range(70)))}\n1 1", 5, "factor 0 is over 70 variables"),
        ("MARKOV\n2\n2 \x00\n0", 3, "'\\x00' is not the levels"),
    ],
)
def test_unsound_files_are_refused_with_line_and_reason(path: Path, text: str, line: int, reason: str) -> None:
    path.write_bytes(text.encode())
    with pytest.raises(ModelFileError) as caught:
        read_uai(path)
    assert str(caught.value).startswith(f"{path}, line {line}: ")
    assert reason in str(caught.value)


def test_every_truncation_is_refused(path: Path) -> None:
    """No proper beginning of a file, cut between words, is a network."""
    words = MARKOV.split()
    for n in range(len(words)):
        path.write_text(" ".join(words[:n]))
        with pytest.raises(ModelFileError, match="line 1: "):
            read_uai(path)


@pytest.mark.parametrize("text", [MARKOV, BAYES])
def test_no_damage_leads_to_another_error(path: Path, text: str) -> None:
    """Words changed, dropped and doubled at random: a network is read or refused."""
    rng = np.random.default_rng(11)
    odd = ["", "0", "1", "-1", "2 2", "7", "1e400", "1e-400", "x", "0x1", "99999999999999999999", "\u00b2", "."]
    for _ in range(500):
        words = text.split()
        for k in rng.integers(len(words), size=rng.integers(1, 4)):
            words[k] = odd[rng.integers(len(odd))]
        path.write_text("\n".join(words))
        with contextlib.suppress(ModelFileError):
            read_uai(path)


def test_rounded_distributions_are_accepted(path: Path) -> None:
    """A sum of 1 up to 1e-3 is rounding, and the entries stay as they are."""
    path.write_text(BAYES.replace("0.2 0.7", "0.2 0.6995"))
    assert np.exp(read_uai(path).tables[1][1, 2]) == pytest.approx(0.6995, rel=1e-14)


@pytest.mark.parametrize(
    "data", [b"\x1f\x8b", gzip.compress(MARKOV.encode(), mtime=0)[:-9], b"\x1f\x8b\x08" + b"\x00" * 30]
)
def test_damaged_gzip_is_refused(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    with pytest.raises(ModelFileError, match="not a valid gzip file"):
        read_uai(path)


def test_what_is_no_file_is_refused(path: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="cannot be read: No such file"):
        read_uai(path)
    with pytest.raises(ModelFileError, match="is not a file"):
        read_uai(tmp_path)


def test_a_small_file_that_unpacks_to_a_large_text_is_refused(path: Path) -> None:
    """The limit counts what comes out of a gzipped file, not what lies on the disk."""
    path.write_bytes(gzip.compress(b" " * (2 << 20)))
    assert path.stat().st_size < 1 << 14
    with pytest.raises(ModelFileError, match="larger than 1 MiB"):
        read_bytes(path, 1 << 20, unpack=True)


# -- evidence -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "samples"),
    [
        ("0", [{}]),
        ("2 1 0 2 1\n", [{1: 0, 2: 1}]),
        ("1\n2 1 0 2 1\n", [{1: 0, 2: 1}]),
        ("1\n0\n", [{}]),
        ("3\n1 1 0\n0\n2 0 1 2 2", [{1: 0}, {}, {0: 1, 2: 2}]),
    ],
)
def test_both_layouts_of_evidence(tmp_path: Path, text: str, samples: list[dict[int, int]]) -> None:
    """One sample, or their number first."""
    path = tmp_path / "network.uai.evid"
    path.write_text(text)
    assert read_evidence(path, Space.of_cards((2, 2, 3))) == samples


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("", 1, "ends before the number of variables seen"),
        ("0 0", 1, "neither 0 pairs"),
        ("99999999999 1 1", 1, "neither 99999999999 pairs"),
        ("1 3 0", 1, "there is no variable 3; there are 3"),
        ("1\n2 3", 2, "variable 2 cannot be in state 3; it has 3 levels"),
        ("2 1 0\n1 1", 2, "variable 1 is listed twice"),
        ("1 1 x", 1, "'x' is not 1 pairs of variable and state"),
        ("1 -1 0", 1, "'-1' is not"),
        ("1\n1 1 0\n5", 3, "'5' stands after the end"),
        ("2\n1 1 0\n3 1 1 0", 3, "3 pairs"),
    ],
)
def test_unsound_evidence_is_refused(tmp_path: Path, text: str, line: int, reason: str) -> None:
    path = tmp_path / "e.evid"
    path.write_text(text)
    with pytest.raises(ModelFileError) as caught:
        read_evidence(path, Space.of_cards((2, 2, 3)))
    assert str(caught.value).startswith(f"{path}, line {line}: "), caught.value
    assert reason in str(caught.value)
