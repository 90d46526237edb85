"""``fullspan query``: several questions at once, names, and what is not a probability."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.running import Done

Run = Callable[..., Done]


def test_good_questions_are_answered_though_others_are_bad(run: Run, votes_model: Path) -> None:
    done = run("query", votes_model, "P(party=whig)", "P(party=democrat | crime=n)", "P(Party)", "P(party)")
    assert done.code == 2
    assert "P(party=democrat | crime=n) = 0." in done.out
    assert "P(party):" in done.out
    assert "'party' has no level 'whig'" in done.err
    assert "no variable 'Party' (did you mean 'party'?)" in done.err
    assert done.err.count("fullspan: ") == 2
    assert "and 5 more (fullspan query MODEL --names lists all)" in done.err


def test_errors_are_entries_of_the_json(run: Run, votes_model: Path) -> None:
    done = run("query", votes_model, "P(party=whig)", "P(party=democrat)", "--json")
    bad, good = json.loads(done.out)
    assert done.code == 2
    assert bad["query"] == "P(party=whig)"
    assert "has no level 'whig'" in bad["error"]
    assert "probability" not in bad
    assert 0 < good["probability"] < 1
    assert "has no level 'whig'" in done.err


def test_networks_answer_the_good_questions(run: Run, votes_model: Path, tmp_path: Path) -> None:
    network, evidence = tmp_path / "votes.uai", tmp_path / "e.evid"
    assert run("convert", votes_model, "-o", network).code == 0
    evidence.write_text("1 1 0\n")
    done = run("query", network, "P(x0=0)", "P(y0=1)", "--evidence", evidence, "--log-z", "--json")
    found = json.loads(done.out)
    assert done.code == 2
    assert "probability" in found["answers"][0]
    assert "no variable 'y0'" in found["answers"][1]["error"]
    assert "no variable 'y0'" in done.err


def test_chains_answer_the_good_questions(run: Run, votes_model: Path) -> None:
    done = run("query", votes_model, "P(party=democrat)", "P(partei)", "H(party)", "--gibbs", "--seed", 1, "--json")
    good, bad, other = json.loads(done.out)["answers"]
    assert done.code == 2
    assert good["error"] > 0
    assert "did you mean 'party'" in bad["error"]
    assert "chains estimate probabilities only" in other["error"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--gibbs", "--max-memory", "1GiB"), "--max-memory applies only to exact answers"),
        (("--seed", 1), "--seed applies only to Gibbs chains"),
        (("--seed", 1, "--log-z"), "--seed applies only to Gibbs chains"),
    ],
)
def test_options_that_would_change_nothing_are_refused(
    run: Run, votes_model: Path, options: tuple[object, ...], message: str
) -> None:
    done = run("query", votes_model, "P(party=democrat)", *options)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_all_names_and_levels(run: Run, votes_model: Path) -> None:
    lines = run("query", votes_model, "--names").out.splitlines()
    assert len(lines) == 17
    assert lines[0] == "party: democrat, republican"
    listed = json.loads(run("query", votes_model, "--names", "--json").out)["variables"]
    assert listed[0] == {"name": "party", "levels": ["democrat", "republican"]}
    assert len(listed) == 17
    both = run("query", votes_model, "P(party=democrat)", "--names", "--json")
    assert both.code == 2
    assert "one document" in both.err


def test_entropy_information_and_modes(run: Run, votes_model: Path) -> None:
    questions = ("H(party)", "H(party | crime)", "I(party; crime)", "mode(party | crime=y)", "mode(| crime=y)")
    plain, known, information, mode, whole = json.loads(run("query", votes_model, *questions, "--json").out)
    assert information["mutual_information"] == pytest.approx(plain["entropy"] - known["entropy"], abs=1e-12)
    assert plain["unit"] == "nats"
    assert mode["mode"] == {"party": "republican"}
    assert mode["probability"] == pytest.approx(math.exp(mode["log_prob"]))
    assert whole["mode"]["crime"] == "y"
    assert len(whole["mode"]) == 17
    shown = run("query", votes_model, *questions).out
    assert f"H(party) = {plain['entropy']:.6g} nats" in shown
    assert "mode(party | crime=y):" in shown
    assert f"its probability: {mode['probability']:.6g}" in shown


def test_unions_are_sums_of_cells(run: Run, votes_model: Path) -> None:
    """P(A or B) = P(A) + P(B) - P(A, B)."""
    a, b = "party=democrat", "crime=y"
    union, p, q, both = (
        x["probability"] for x in json.loads(run("query", votes_model, f"{a} or {b}", a, b, f"{a}, {b}", "--json").out)
    )
    assert union == pytest.approx(p + q - both, rel=1e-12)


def test_comparisons_in_a_binned_column(run: Run, tmp_path: Path) -> None:
    rows = "\n".join(f"{age},{'yes' if age >= 40 else 'no'},{age % 3}" for age in range(10, 80))
    (tmp_path / "t.csv").write_text(f"age,old,third\n{rows}\n")
    model = tmp_path / "t.fsm"
    fitted = run(
        "fit", tmp_path / "t.csv", "-o", model, "-q", "--bins", '{"age": [10, 40, 60, 79]}', "--model", "chow-liu"
    )
    assert fitted.code == 0, fitted.err
    done = run("query", model, "P(age >= 40)", "P(age in 10..60)", "P(third > 0)", "age in {12, 50}", "--json")
    ranges = [x["probability"] for x in json.loads(done.out)]
    assert ranges == pytest.approx([40 / 70, 50 / 70, 46 / 70, 50 / 70], abs=0.02)
    cut = run("query", model, "P(age > 50)").out.splitlines()
    assert float(cut[0].split(" = ")[1]) == pytest.approx(29 / 70, abs=0.02)
    assert cut[1] == "  age: 45 % of the rows in the bin [40, 60) have age > 50"
    for question, message in (
        ("P(age < 5)", "5 is outside the bins of 'age', which run from 10 to 79"),
        ("P(old > no)", "the levels of 'old' (no, yes) have no order"),
    ):
        done = run("query", model, question)
        assert done.code == 2
        assert message in done.err
