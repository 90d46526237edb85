"""Bayesian networks in Hugin's, Microsoft's and XML files: what is read, refused with its line, and written."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

import numpy as np
import pytest

import fullspan as fs
from fullspan.data import Space, Variable
from fullspan.errors import ModelFileError
from fullspan.model import FactorGraph
from fullspan.model.files.networks import read_factors

NET = """% made by hand
net
{
  node_size = (50 50);
}
discrete node rain
{
  label = "rain; or none";
  states = ("yes" "no");
}
node grass { states = ( dry damp "not dry" ); }
node light { states = ("on" "off"); }
potential (rain) { data = (0.2 0.8); }
potential ( grass | light rain )
{
  data = (((0.1 0.3 0.6)   % light=on rain=yes
           (0.9 0.08 0.02))
          ((0.2 0.3 0.5)
           (0.8 0.15 0.05)));
}
potential ( light | rain ) { data = ((0.6 0.4) (0.05 0.95)); }
"""
DSC = """belief network "by hand"
// comment
node rain { name: "Rain"; type : discrete [ 2 ] = { "yes", "no" }; position: (1, 2); }
node grass { type: discrete[3] = { dry, damp, "not dry" }; }
node light { type: discrete[2] = { "on", "off" }; }
probability ( rain ) { 0.2, 0.8; }
probability ( grass | light, rain ) {
  (0, 0) : 0.1, 0.3, 0.6;
  (0, 1): 0.9, 0.08, 0.02;
  (1, 1): 0.8, 0.15, 0.05;
  default: 0.2, 0.3, 0.5;
}
probability ( light | rain ) { (0): 0.6, 0.4; (1): 0.05, 0.95; }
"""
XMLBIF = """<?xml version="1.0"?>
<!DOCTYPE BIF [ <!ELEMENT BIF ( NETWORK )*> ]>
<BIF VERSION="0.3"><NETWORK><NAME>by hand</NAME>
<VARIABLE TYPE="nature"><NAME>rain</NAME><OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME><PROPERTY>p</PROPERTY></VARIABLE>
<VARIABLE><NAME>grass</NAME><OUTCOME>dry</OUTCOME><OUTCOME>damp</OUTCOME><OUTCOME>not dry</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>light</NAME><OUTCOME>on</OUTCOME><OUTCOME>off</OUTCOME></VARIABLE>
<DEFINITION><FOR>rain</FOR><TABLE>0.2 0.8</TABLE></DEFINITION>
<DEFINITION><FOR>grass</FOR><GIVEN>light</GIVEN><GIVEN>rain</GIVEN>
<TABLE>0.1 0.3 0.6 <!-- on, yes --> 0.9 0.08 0.02 0.2 0.3 0.5
 0.8 0.15 0.05</TABLE></DEFINITION>
<DEFINITION><FOR>light</FOR><GIVEN>rain</GIVEN><TABLE>0.6 0.4 0.05 0.95</TABLE></DEFINITION>
</NETWORK></BIF>
"""
TEXTS = {".net": NET, ".dsc": DSC, ".xmlbif": XMLBIF}
LIGHT = [[0.6, 0.4], [0.05, 0.95]]
GRASS = [[[0.1, 0.3, 0.6], [0.9, 0.08, 0.02]], [[0.2, 0.3, 0.5], [0.8, 0.15, 0.05]]]


@pytest.mark.parametrize("kind", TEXTS)
def test_tables_have_the_child_last(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"n{kind}"
    path.write_text(TEXTS[kind])
    graph = read_factors(path)
    assert graph.space.names == ("rain", "grass", "light")
    assert [v.levels for v in graph.space.variables] == [("yes", "no"), ("dry", "damp", "not dry"), ("on", "off")]
    assert graph.scopes == ((0,), (2, 0, 1), (0, 2))
    for table, expected in zip(graph.tables, ([0.2, 0.8], GRASS, LIGHT), strict=True):
        np.testing.assert_allclose(np.exp(table), expected, rtol=1e-14)


@pytest.mark.parametrize(
    ("kind", "old", "new", "line", "reason"),
    [
        (".net", "net\n{", "class A\n{", 2, "'net' is expected, not 'class'"),
        (".net", "node light", "utility light", 12, "'node' or 'potential' is expected, not 'utility'"),
        (".net", "node light", "node rain", 12, "there are two variables 'rain'"),
        (".net", '{ states = ("on" "off"); }', "{ }", 12, "the node 'light' has no 'states"),
        (".net", "(0.2 0.8)", "(0.2 0.7)", 13, "P(rain) sums to 0.9, not to 1"),
        (".net", "(0.2 0.8)", "((0.2 0.8)", 13, "'(' is not closed"),
        (".net", "(0.9 0.08 0.02)", "(0.9 0.1)", 17, "2 numbers where a list of 3, one for each state, is expected"),
        (".net", "(0.2 0.8)", "(0.2 normal)", 13, "'normal' is not a probability"),
        (".net", "( light | rain )", "( light | rein )", 21, "there is no variable 'rein'"),
        (".net", "( light | rain )", "( light rain )", 21, "'|' is expected, not 'rain'"),
        (".net", "(0.6 0.4) (0.05 0.95)", "(0.6 0.05) (0.4 0.95)", 21, "the levels of 'light' run slowest"),
        (".net", '"rain; or', '"rain; or \n', 8, "this quotation mark is not closed"),
        (".dsc", "belief", "beliefs", 1, "'network' is expected, not 'beliefs'"),
        (".dsc", "[ 2 ]", "[ 3 ]", 3, "'rain' should have 3 levels, but 2 are listed"),
        (".dsc", "node light", "nodes light", 5, "'node' or 'probability' is expected, not 'nodes'"),
        (".dsc", "(0, 1): 0.9", "(0, 2): 0.9", 9, "the parents of 'grass' have no level 2 there"),
        (".dsc", "(0, 1): 0.9", "(0): 0.9", 9, "1 levels are named for the 2 parents of 'grass'"),
        (".dsc", "(0, 1): 0.9", "(0, 0): 0.9", 9, "the row (on, yes) is given twice"),
        (".dsc", "default: 0.2, 0.3, 0.5;", "", 12, "P(grass | off, yes) is not given"),
        (".dsc", "discrete[2]", "continuous[2]", 5, "'discrete' is expected, not 'continuous'"),
        (".xmlbif", "<BIF ", "<BIFF ", 3, "<BIF> is expected, not <BIFF>"),
        (".xmlbif", "</OUTCOME>", "</OUT>", 4, "mismatched tag"),
        (".xmlbif", '"nature"><NAME>light', '"utility"><NAME>light', 6, "'light' is of the type 'utility'"),
        (".xmlbif", "0.2 0.8", "0.2 0.x8", 7, "'0.x8' is not a probability"),
        (".xmlbif", "0.2 0.8", "0.2 0.3 0.5", 7, "3 probabilities are given; 2 are needed"),
        (".xmlbif", "0.2 0.8", "0.2 nan", 7, "nan is not a probability"),
        (".xmlbif", "<FOR>light</FOR>", "", 11, "a definition has 0 <FOR>; one is needed"),
        (".xmlbif", "0.6 0.4 0.05 0.95", "0.6 0.05 0.4 0.95", 11, "the levels of 'light' run slowest"),
        (".xmlbif", "<!ELEMENT BIF ( NETWORK )*>", '<!ENTITY a "b">', 2, "the file declares the entity 'a'"),
        (".xmlbif", 'version="1.0"', 'version="1.0" encoding="klingon"', 1, "unknown encoding"),
    ],
)
def test_unsound_files_are_refused_with_line_and_reason(
    tmp_path: Path, kind: str, old: str, new: str, line: int, reason: str
) -> None:
    path = tmp_path / f"n{kind}"
    assert old in TEXTS[kind]
    path.write_text(TEXTS[kind].replace(old, new, 1))
    with pytest.raises(ModelFileError) as caught:
        read_factors(path)
    assert str(caught.value).startswith(f"{path}, line {line}: "), caught.value
    assert reason in str(caught.value)


@pytest.mark.parametrize("kind", TEXTS)
def test_no_damage_leads_to_another_error(tmp_path: Path, kind: str) -> None:
    """Cut anywhere before the end, or with letters changed, dropped and doubled: a network is read or refused."""
    path, rng = tmp_path / f"n{kind}", np.random.default_rng(12)
    whole = TEXTS[kind].rstrip()
    for n in range(0, len(whole), 19):
        path.write_text(whole[:n])
        with pytest.raises(ModelFileError):
            read_factors(path)
    odd = [*'{}()[]|,;:="<>/%0.19-e \n', "", "data", "default", "²", "1e999", "<TABLE>"]
    for _ in range(60):
        letters = list(whole)
        for k in rng.integers(len(letters), size=rng.integers(1, 4)):
            letters[k] = odd[rng.integers(len(odd))]
        path.write_text("".join(letters))
        with contextlib.suppress(ModelFileError):
            read_factors(path)


@pytest.mark.parametrize(
    ("kind", "start", "more"),
    [
        (".net", "net { } node a { states = (b); } potential (a) { data = ", "("),
        (".dsc", "network node a { type: discrete[1] = {b}; } probability (a) { ", "(0"),
        (".xmlbif", "<BIF><NETWORK>", "<A>"),
        (".xmlbif", "<BIF><NETWORK><DEFINITION><TABLE>", "1<!---->"),
    ],
)
def test_hostile_texts_take_linear_time(tmp_path: Path, kind: str, start: str, more: str) -> None:
    path = tmp_path / f"n{kind}"
    path.write_text(start + more * 200_000)
    started = time.perf_counter()
    with pytest.raises(ModelFileError):
        read_factors(path)
    assert time.perf_counter() - started < 5


# -- written --------------------------------------------------------------------------------------------------


def markov() -> FactorGraph:
    """A cycle of four variables with one that is alone, a name of two words and levels that are numbers."""
    rng = np.random.default_rng(3)
    levels = {"a": ("x", "y"), "two words": ("<3", "3-5", ">5 & more"), "c": (0, 1), "d": ("t", "f"), "e": (1.5, 2.5)}
    space = Space(tuple(Variable(name, own) for name, own in levels.items()))
    scopes = ((0, 1), (1, 2), (3, 2), (0, 3), (4,))
    return FactorGraph(space, scopes, tuple(rng.normal(size=[space.cards[i] for i in s]) for s in scopes))


@pytest.mark.parametrize("kind", [".bif", ".net", ".dsc", ".xmlbif", ".bifxml"])
def test_any_network_is_written_as_a_bayesian_one(tmp_path: Path, kind: str) -> None:
    """The same distribution comes back, levels as text; a Bayesian network keeps its tables to rounding."""
    network = fs.GraphModel(markov())
    network.save(tmp_path / f"n{kind}")
    found = fs.read_graph(tmp_path / f"n{kind}")
    assert found.log_z() == pytest.approx(0.0, abs=1e-12)
    codes = np.array(list(np.ndindex(network.space.cards)))
    np.testing.assert_allclose(found.log_prob(codes), network.log_prob(codes), atol=1e-12)
    assert [v.levels for v in found.space.variables] == [tuple(map(str, v.levels)) for v in network.space.variables]
    found.save(tmp_path / f"again{kind}")
    assert fs.read_graph(tmp_path / f"again{kind}").graph.scopes == found.graph.scopes
    for again, own in zip(fs.read_graph(tmp_path / f"again{kind}").graph.tables, found.graph.tables, strict=True):
        np.testing.assert_allclose(again, own, rtol=1e-15, atol=1e-15)


@pytest.mark.parametrize(
    ("name", "levels", "reason"),
    [
        ('a"b', ("x", "y"), "holds a quotation mark"),
        ("a", ("x\n", "y"), "control character"),
        ("a", (1, "1"), "two levels of 'a' are the same as text"),
    ],
)
def test_what_a_format_cannot_hold_is_not_written(tmp_path: Path, name: str, levels: tuple, reason: str) -> None:
    graph = FactorGraph(Space((Variable(name, levels),)), ((0,),), (np.log([0.4, 0.6]),))
    with pytest.raises(ModelFileError, match=reason):
        fs.GraphModel(graph).save(tmp_path / "n.net")
    assert not list(tmp_path.iterdir())


@pytest.mark.filterwarnings("ignore:builtin type:DeprecationWarning")
@pytest.mark.parametrize("kind", [".bif", ".net", ".bifxml"])
def test_pyagrum_reads_what_is_written_and_writes_what_is_read(tmp_path: Path, kind: str) -> None:
    gum = pytest.importorskip("pyagrum")
    graph = markov()
    plain = FactorGraph(
        Space(tuple(Variable(f"v{i}", ("p", "q", "r")[: v.card]) for i, v in enumerate(graph.space.variables))),
        graph.scopes,
        graph.tables,
    )
    network = fs.GraphModel(plain)
    network.save(tmp_path / f"n{kind}")
    theirs = gum.loadBN(str(tmp_path / f"n{kind}"))
    inference = gum.LazyPropagation(theirs)
    inference.setEvidence({"v3": "q"})
    assert inference.posterior("v1").toarray() == pytest.approx(network.conditional("v1", "v3=q").values, abs=1e-6)
    gum.saveBN(theirs, str(tmp_path / f"back{kind}"))
    back = fs.read_graph(tmp_path / f"back{kind}")
    assert back.conditional("v1", "v3=q").values == pytest.approx(network.conditional("v1", "v3=q").values, abs=1e-5)
