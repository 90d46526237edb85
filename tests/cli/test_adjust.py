"""``fullspan adjust``: other margins from files and texts; what cannot be done leaves no file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import fullspan as fs
from cli.running import Done

HOUSE = "party: democrat=1, republican=2"


def test_the_new_model_has_the_margin_and_what_moves_most_is_printed(
    run: Callable[..., Done], votes_model: Path, tmp_path: Path
) -> None:
    out = tmp_path / "other.fsm"
    done = run("adjust", votes_model, "--margins", HOUSE, "--top", "2", "-o", out)
    assert done.code == 0, done.err
    old, new = fs.load(votes_model), fs.load(out)
    assert new.probability("party=republican") == pytest.approx(2 / 3, rel=1e-10)
    question = "crime=y | party=republican"
    assert new.probability(question) == pytest.approx(old.probability(question), rel=1e-10)
    rows = [line.split() for line in done.out.splitlines()[2:-1]]
    assert rows[1] == ["party=republican", f"{old.probability('party=republican'):.3f}", "0.667"]
    assert len(rows) == 4
    assert done.out.splitlines()[-1] == f"... and {len(old.space_) - 2} more columns"
    third = rows[2][0]
    assert rows[2][1:] == [f"{old.probability(third):.3f}", f"{new.probability(third):.3f}"]


def test_files_texts_and_json(run: Callable[..., Done], votes_model: Path, tmp_path: Path) -> None:
    """A margin of two columns written out is that of a file; the shares add up to those of the new model."""
    cells = {("n", "n"): 10, ("n", "y"): 30, ("y", "n"): 40, ("y", "y"): 20}
    rows = [{"crime": a, "water": b, "count": n} for (a, b), n in cells.items()]
    (tmp_path / "pair.json").write_text(json.dumps({"margins": [rows]}))
    text = "crime, water: " + ", ".join(f"{a}, {b}={n}" for (a, b), n in cells.items())
    said = []
    for margin, name in ((tmp_path / "pair.json", "a.fsm"), (text, "b.fsm")):
        done = run("adjust", votes_model, "--margins", margin, "--json", "-o", tmp_path / name)
        assert done.code == 0, done.err
        said.append(json.loads(done.out))
    assert said[0] == said[1]
    new = fs.load(tmp_path / "b.fsm")
    assert new.probability("crime=y, water=n") == pytest.approx(0.4, rel=1e-10)
    for move in said[0]:
        assert sum(move["after"]) == pytest.approx(1)
        event = f"{move['column']}={move['levels'][0]}"
        assert move["after"][0] == pytest.approx(new.probability(event), rel=1e-9)


def test_a_network_stays_one(run: Callable[..., Done], votes_model: Path, tmp_path: Path) -> None:
    assert run("convert", votes_model, "-o", tmp_path / "v.uai").code == 0
    done = run("adjust", tmp_path / "v.uai", "--margins", "x0: 0=1, 1=2", "-o", tmp_path / "w.uai")
    assert done.code == 0, done.err
    assert fs.read_graph(tmp_path / "w.uai").probability({"x0": 1}) == pytest.approx(2 / 3, rel=1e-9)


@pytest.mark.parametrize(
    ("margins", "message"),
    [
        (["party: democrat=1"], "no count for party=republican"),
        (["pary: democrat=1, republican=1"], "did you mean 'party'"),
        (["party: democrat=1, republican=1, green=1"], "no level 'green'"),
        (["party: democrat=1, republican=2", "crime: y=2, n=3"], "contradictory margins"),
        (["party: democrat=0.3, republican=0.6"], "sums to 0.9; shares sum to 1"),
        (["party: democrat, republican=2"], "no level 'democrat, republican'"),
        (["crime, water: y=1"], "each cell is level, level=count"),
        (["party: democrat=-1, republican=2"], "count '-1' for party=democrat"),
        (["party: democrat=1, republican=x"], "cannot be read from 'republican=x'"),
        (["house.json"], "there is no file 'house.json'"),
        ([": a=1"], "named by its variables"),
    ],
)  # fmt: skip
def test_nothing_is_written_where_it_cannot_be(
    run: Callable[..., Done], votes_model: Path, tmp_path: Path, margins: list[str], message: str
) -> None:
    done = run("adjust", votes_model, *(x for m in margins for x in ("--margins", m)), "-o", tmp_path / "no.fsm")
    assert done.code == 2
    assert message in " ".join(done.err.split())
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_no_model_is_not_replaced(run: Callable[..., Done], votes_model: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    done = run("adjust", votes_model, "--margins", HOUSE, "-o", tmp_path / "notes.txt")
    assert done.code == 2
    assert (tmp_path / "notes.txt").read_text() == "mine"
