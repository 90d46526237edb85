"""``fullspan fit --model truncated``, and the other commands on its files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import fullspan as fs
from cli.running import VOTES, Done

Run = Callable[..., Done]
FIT = ("fit", VOTES, "--model", "truncated", "--missing", "drop", "--l2", "0.01")


def test_every_command_knows_its_files(run: Run, tmp_path: Path) -> None:
    """The same machine as in Python, shown, asked, sampled and scored."""
    path = tmp_path / "t.fsm"
    done = run(*FIT, "-o", path, "--min-support", "0.3", "--max-order", "3", "--unseen", "0.01")
    assert done.code == 0, done.err
    machine = fs.TruncatedBoltzmannMachine(min_support=0.3, max_order=3, unseen=0.01, l2=0.01, missing="drop").fit(
        VOTES
    )
    assert fs.load(path).log_likelihood_ == machine.log_likelihood_
    assert f"{machine.n_terms_} weights in the monomial basis, on {machine.n_states_} states" in run("show", path).out
    answer = run("query", path, "P(party=democrat | crime=n)").out
    assert f"{machine.probability('party=democrat | crime=n'):.6g}" in answer
    assert len(run("sample", path, "-n", 5, "--seed", 1).out.splitlines()) == 6
    assert f"{machine.score(VOTES):.6f}" in run("score", path, VOTES).out
    assert run("impute", path, VOTES, "-o", tmp_path / "full.csv").code == 0


def test_patterns_and_pairs(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "t.fsm"
    assert run(*FIT, "-o", path, "--pattern", "party", "--pattern", "party,crime").code == 0
    assert fs.load(path).n_terms_ == 2
    assert run(*FIT, "-o", path, "--pairs", 12, "--seed", 3).code == 0
    assert fs.load(path).n_terms_ == 17 + 12
    assert "'parti'" in run(*FIT, "-o", path, "--pattern", "parti").err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--model", "truncated", "--order", "2"), "--order is for --model boltzmann"),
        (("--model", "truncated", "--hidden", "1"), "--hidden is for --model full-span, boltzmann, "),
        (("--unseen", "0.1"), "--unseen is for --model truncated"),
        (("--model", "truncated", "--min-support", "many"), "a number is needed"),
        (("--model", "truncated", "--solver", "ipf"), "choose one of"),
    ],
)
def test_options_of_others_are_refused(run: Run, tmp_path: Path, options: tuple[str, ...], message: str) -> None:
    done = run("fit", VOTES, "--missing", "drop", "-o", tmp_path / "t.fsm", *options)
    assert done.code == 2
    assert message in " ".join(done.err.replace("│", " ").split())
