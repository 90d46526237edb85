"""Networks on the command line: query and convert, what they print, what they write and what they refuse."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.running import Done, spawn
from fullspan.estimators.registry import read_fitted as load

Run = Callable[..., Done]

# p(x0, x1, x2) ~ f(x0, x1) g(x1, x2), f = [[3, 1], [1, 3]], g = [[1, 2, 3], [4, 5, 6]]: Z = 4 * 6 + 4 * 15 = 84
MARKOV = "MARKOV 3 2 2 3 2 2 0 1 2 1 2 4 3 1 1 3 6 1 2 3 4 5 6\n"
BIF = """network rain { }
variable rain { type discrete [ 2 ] { yes, no }; }
variable "wet grass" { type discrete [ 2 ] { yes, no }; }
probability ( rain ) { table 0.25, 0.75; }
probability ( "wet grass" | rain ) { (yes) 0.9, 0.1; (no) 0.2, 0.8; }
"""


@pytest.fixture
def uai(tmp_path: Path) -> Path:
    path = tmp_path / "n.uai"
    path.write_text(MARKOV)
    return path


@pytest.fixture
def bif(tmp_path: Path) -> Path:
    path = tmp_path / "rain.bif"
    path.write_text(BIF)
    return path


def refused(done: Done, message: str) -> None:
    assert done.code == 2, (done.code, done.err)
    assert done.out == ""
    assert message in done.err
    assert "Traceback" not in done.err


# -- query ----------------------------------------------------------------------------------------------------


def test_log_z_as_json(uai: Path) -> None:
    """{"log10_z": ..., "log_z": ...}, as a process of its own."""
    done = spawn("query", uai, "--log-z", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out) == {
        "log10_z": pytest.approx(math.log10(84), abs=1e-13),
        "log_z": pytest.approx(math.log(84), abs=1e-13),
    }


def test_evidence_restricts_everything(run: Run, uai: Path, tmp_path: Path) -> None:
    """With x2 = 1 the weights are 4 * 2 + 4 * 5; marginals are in the order of the variables."""
    (tmp_path / "e").write_text("1 2 1")
    found = json.loads(
        run(
            "query", uai, "P(x0=1)", "P(x0 | x1=0)", "--evidence", tmp_path / "e", "--log-z", "--marginals", "--json"
        ).out
    )
    assert list(found) == ["log10_z", "log_z", "marginals", "answers"]
    assert found["log_z"] == pytest.approx(math.log(28), abs=1e-13)
    assert list(found["marginals"]) == ["x0", "x1", "x2"]
    assert found["marginals"]["x0"] == pytest.approx([11 / 28, 17 / 28], abs=1e-13)
    assert found["marginals"]["x1"] == pytest.approx([8 / 28, 20 / 28], abs=1e-13)
    assert found["marginals"]["x2"] == [0, 1, 0]
    number, table = found["answers"]
    assert number == {"query": "P(x0=1)", "probability": pytest.approx(17 / 28, abs=1e-13)}
    assert [row["probability"] for row in table["distribution"]] == pytest.approx([0.75, 0.25], abs=1e-13)


def test_several_samples_of_evidence(run: Run, uai: Path, tmp_path: Path) -> None:
    (tmp_path / "e").write_text("2\n1 2 1\n2 2 1 0 0\n")
    found = json.loads(run("query", uai, "--evidence", tmp_path / "e", "--log-z", "--json").out)
    assert [math.exp(one["log_z"]) for one in found] == pytest.approx([28, 11])
    printed = run("query", uai, "--evidence", tmp_path / "e", "--log-z").out.splitlines()
    assert printed[::3] == ["evidence 0:", "evidence 1:"]


def test_questions_alone_are_a_list_as_for_models(run: Run, bif: Path) -> None:
    done = run("query", bif, "P(rain=yes | 'wet grass'=yes)", "--json")
    assert json.loads(done.out) == [
        {"query": "P(rain=yes | 'wet grass'=yes)", "probability": pytest.approx(0.225 / 0.375)}
    ]


def test_what_people_read(run: Run, bif: Path) -> None:
    done = run("query", bif, "P(rain=yes | 'wet grass'=yes)", "--log-z", "--marginals")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0].startswith("log10 Z = ")
    assert float(lines[0].partition("=")[2]) == pytest.approx(0, abs=1e-12)
    assert [line.split() for line in lines if line.startswith("wet")] == [
        ["wet", "grass=yes", "0.375"],
        ["wet", "grass=no", "0.625"],
    ]
    assert lines[-1] == "P(rain=yes | 'wet grass'=yes) = 0.6"


def test_a_model_file_has_a_log_z_and_marginals_too(run: Run, votes_model: Path, tmp_path: Path) -> None:
    fitted = load(votes_model)
    found = json.loads(run("query", votes_model, "--log-z", "--marginals", "--json").out)
    assert found["log_z"] == pytest.approx(fitted.model.log_z, abs=1e-5)
    party = json.loads(run("query", votes_model, "P(party)", "--json").out)[0]["distribution"]
    assert found["marginals"]["party"] == pytest.approx([row["probability"] for row in party], abs=1e-6)
    (tmp_path / "e").write_text(f"1 {fitted.model.space.position('crime')} 0")
    known = json.loads(run("query", votes_model, "P(party=democrat)", "--evidence", tmp_path / "e", "--json").out)
    asked = json.loads(run("query", votes_model, "P(party=democrat | crime=n)", "--json").out)
    assert known[0]["probability"] == pytest.approx(asked[0]["probability"], abs=1e-9)


def test_what_cannot_be_asked(run: Run, uai: Path, bif: Path, tmp_path: Path) -> None:
    refused(run("query", uai), "no question given")
    refused(run("query", tmp_path / "no.uai", "--log-z"), "no.uai cannot be read: No such file")
    refused(run("query", uai, "P(x7=1)"), "there is no variable 'x7'")
    refused(run("query", uai, "--log-z", "--max-memory", "much"), "is not a size")
    (tmp_path / "e").write_text("1 2 9")
    refused(run("query", uai, "--evidence", tmp_path / "e", "--log-z"), "line 1: variable 2 cannot be in state 9")
    refused(run("query", uai, "--evidence", tmp_path / "none", "--log-z"), "cannot be read")
    uai.write_text(MARKOV.replace("3 1 1 3", "3 1 1 -3"))
    refused(run("query", uai, "--log-z"), "n.uai, line 1: '-3' is not an entry of a factor")
    bif.write_text(BIF.replace("0.8;", "0.7;"))
    refused(run("query", bif, "--log-z"), "line 5: P(wet grass | rain=no) sums to 0.9, not to 1")


def test_impossible_evidence_and_wide_networks(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "n.uai"
    path.write_text("MARKOV 1 2 1 1 0 2 1 0")
    (tmp_path / "e").write_text("1 0 1")
    refused(run("query", path, "--evidence", tmp_path / "e", "--log-z"), "the evidence x0=1 has probability 0")
    pairs = [f"2 {i} {j}" for i in range(45) for j in range(i)]
    path.write_text(f"MARKOV 45 {'2 ' * 45} {len(pairs)} {' '.join(pairs)} {'4 1 2 2 1 ' * len(pairs)}")
    refused(run("query", path, "--log-z"), "width 44, the widest table being over x")


# -- convert --------------------------------------------------------------------------------------------------


def test_from_bif_to_uai_and_to_a_model(run: Run, bif: Path, tmp_path: Path) -> None:
    """UAI loses the names and says so; a model keeps them, shows itself and answers alike."""
    done = run("convert", bif, tmp_path / "rain.uai")
    assert done.code == 0
    assert "2 variables and 2 factors written" in done.err
    assert "UAI files have no names" in done.err
    assert (tmp_path / "rain.uai").read_text().startswith("BAYES\n2\n2 2\n2\n1 0\n2 0 1\n")
    assert "= 0.6\n" in run("query", tmp_path / "rain.uai", "P(x0=0 | x1=0)").out
    assert run("convert", bif, tmp_path / "rain.fsm").code == 0
    assert "= 0.6\n" in run("query", tmp_path / "rain.fsm", "P(rain=yes | 'wet grass'=yes)").out
    shown = run("show", tmp_path / "rain.fsm").out
    assert shown.startswith("2 variables, 4 states\n3 terms in the walsh basis")
    assert "not learned from rows" in shown


def test_from_a_model_to_uai(run: Run, votes_model: Path, tmp_path: Path) -> None:
    """The factors carry the weights: log Z is that of the model file."""
    assert run("convert", votes_model, tmp_path / "v.uai").code == 0
    found = json.loads(run("query", tmp_path / "v.uai", "--log-z", "--json").out)
    assert found["log_z"] == pytest.approx(load(votes_model).model.log_z, abs=1e-5)


def test_what_is_not_converted(run: Run, uai: Path, bif: Path, votes_model: Path, tmp_path: Path) -> None:
    before = sorted(os.listdir(tmp_path))
    refused(run("convert", uai, tmp_path / "n.dsl"), "the formats to convert to are .uai, .bif, .net, .dsc, .xmlbif")
    refused(run("convert", votes_model, tmp_path / "n.fsm"), "copy it")
    refused(run("convert", uai, uai), "is read by this command")
    refused(run("convert", uai, tmp_path / "no" / "n.uai"), "there is no folder")
    bif.write_text(BIF.replace("0.9, 0.1", "1, 0"))
    refused(run("convert", bif, tmp_path / "n.fsm"), "the factor over rain, wet grass forbids rain=yes, wet grass=no")
    assert sorted(os.listdir(tmp_path)) == before
    (tmp_path / "notes.fsm").write_text("mine")
    refused(run("convert", uai, tmp_path / "notes.fsm"), "--force")
    assert run("convert", uai, tmp_path / "notes.fsm", "--force").code == 0


def test_converting_a_conditional_model_warns_of_its_inputs(run: Run, tmp_path: Path) -> None:
    """UAI has no roles: the file is written, and a warning names the inputs that must be given."""
    import numpy as np

    import fullspan as fs

    rows = np.random.default_rng(0).integers(2, size=(80, 3))
    fs.BoltzmannClassifier().fit(rows[:, :2], rows[:, 2]).save(tmp_path / "c.fsm")
    done = run("convert", tmp_path / "c.fsm", tmp_path / "c.uai")
    assert done.code == 0
    assert "learned given x0, x1" in done.err
    fs.FullSpan().fit(rows).save(tmp_path / "j.fsm")
    assert "warning" not in run("convert", tmp_path / "j.fsm", tmp_path / "j.uai").err
