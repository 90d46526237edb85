"""``fullspan fit``: options reach the learner, nothing is lost on Ctrl-C, a checkpoint resumes."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from cli.running import COMMAND, VOTES, Done, spawn
from fullspan.data import count
from fullspan.estimators.inputs import Reading
from fullspan.estimators.registry import read_fitted as load
from fullspan.people.cli import main
from fullspan.people.cli.running.interrupt import remembered

Run = Callable[..., Done]
SMALL = "a,b,n\nx,0,40\nx,1,10\ny,0,10\ny,1,40\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    path.write_text(SMALL)
    return path


def test_it_prints_a_summary_and_the_strongest_terms(votes_model: Path, tmp_path: Path) -> None:
    done = spawn("fit", VOTES, "-o", tmp_path / "m.fsm", "--missing", "drop")
    assert done.code == 0
    assert done.out.startswith("232 rows (203 dropped: missing cells), 17 variables, 131,072 states\n")
    assert "nats saved" in done.out
    assert re.search(r"^log-likelihood -\d\.\d+ nats per row, \d\.\d+ above independent columns and", done.out, re.M)
    assert "divergence" not in done.out  # 232 rows in 131,072 states
    assert load(tmp_path / "m.fsm").model.terms == load(votes_model).model.terms


def test_json_holds_the_same_facts(run: Run, table: Path, tmp_path: Path) -> None:
    done = run("fit", table, "-o", tmp_path / "m.fsm", "--count-column", "n", "--json")
    facts = json.loads(done.out)
    fitted = load(tmp_path / "m.fsm")
    assert facts["total"] == fitted.total == 100
    assert facts["n_terms"] == len(fitted.model.terms)
    assert facts["n_states"] == 4
    assert facts["divergence"] == fitted.divergence
    assert facts["file"] == str(tmp_path / "m.fsm")


@pytest.mark.parametrize("options", [["--engine", "elimination"], ["--model", "chow-liu"], ["--model", "restricted"]])
def test_a_fit_without_the_table_says_so_in_one_line(run: Run, options: list[str], tmp_path: Path) -> None:
    """And so does ``show``, in the same words; by the table there is no such line."""
    path = tmp_path / "m.fsm"
    columns = ["--missing", "drop", "--columns", "party,crime,water,budget,duty_free"]
    done = (
        run("fit", VOTES, "-o", path, *columns, *options, "--seed", "0")
        if "restricted" in options
        else run("fit", VOTES, "-o", path, *columns, *options)
    )
    lines = [line for line in (done.out + done.err).splitlines() if "largest pairwise misfit" in line]
    assert len(lines) == 1
    assert lines[0] in run("show", path).out
    misfit = json.loads(run("show", path, "--json").out)["pairwise_misfit"]
    rows = count(VOTES, missing="drop", columns=columns[-1].split(","))
    seen = [rows.states[:, rows.space.position(name)] for name in misfit["cell"]]
    wanted = [rows.space.variables[rows.space.position(n)].code(level) for n, level in misfit["cell"].items()]
    share = rows.counts[(seen[0] == wanted[0]) & (seen[1] == wanted[1])].sum() / rows.total
    assert misfit["data"] == pytest.approx(share)
    assert misfit["model"] != misfit["data"]
    assert "misfit" not in run("fit", VOTES, "-o", tmp_path / "t.fsm", *columns).out


def test_an_early_end_is_a_sentence_with_a_remedy(run: Run, tmp_path: Path) -> None:
    options = ["--model", "boltzmann", "--solver", "gradient", "--max-iter", "1", "--columns", "party,crime,water"]
    done = run("fit", VOTES, "-o", tmp_path / "m.fsm", "--missing", "drop", *options)
    assert "iteration limit: the solver stopped at its limit of iterations" in done.out
    assert "Remedy: use a higher max_iter" in done.out


def test_quiet_prints_nothing(run: Run, table: Path, tmp_path: Path) -> None:
    done = run("fit", table, "-o", tmp_path / "m.fsm", "--count-column", "n", "-q")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_every_option_reaches_the_model(run: Run, table: Path, tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "--missing": "drop",
        "--search": "paper",
        "--basis": "monomial",
        "--penalty": "2.0",
        "--l1": "0.001",
        "--epsilon": "0.01",
        "--max-order": "1",
        "--dtype": "float64",
        "--max-memory": "1GiB",
        "--columns": "b,a",
        "--levels": '{"a": ["y", "x", "z"]}',
        "--count-column": "n",
    }
    flat = [part for pair in options.items() for part in pair]
    assert run("fit", table, "-o", tmp_path / "m.fsm", *flat).code == 0
    fitted = load(tmp_path / "m.fsm")
    assert fitted.model.space.names == ("b", "a")
    assert fitted.model.space.variables[1].levels == ("y", "x", "z")
    assert fitted.model.basis.name == "monomial"
    assert max(map(len, fitted.model.terms), default=0) <= 1
    expected = {"search": "paper", "penalty": 2.0, "l1": 0.001, "epsilon": 0.01, "missing": "drop", "count_column": "n"}
    assert {key: fitted.settings[key] for key in expected} == expected


def test_numbers_are_cut_into_bins(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "numbers.csv"
    path.write_text("x,y\n" + "".join(f"{i},{'ab'[i > 50]}\n" for i in range(100)))
    assert run("fit", path, "-o", tmp_path / "m.fsm", "--bins", '{"x": [0, 50.5, 99]}').code == 0
    assert load(tmp_path / "m.fsm").model.space.variables[0].levels == ("[0, 50.5)", "[50.5, 99]")


def test_missing_cells_are_named_with_the_way_out(run: Run, tmp_path: Path) -> None:
    done = run("fit", VOTES, "-o", tmp_path / "m.fsm")
    assert done.code == 2
    assert "48 cells '?' in water" in done.err
    assert "Use --missing drop to leave those rows out, --missing level to count" in done.err
    assert "--missing em to learn" in done.err
    assert "or --columns to leave" in done.err
    assert os.listdir(tmp_path) == []


def test_cells_not_observed_are_summed_over(run: Run, tmp_path: Path) -> None:
    done = run("fit", VOTES, "-o", tmp_path / "m.fsm", "--missing", "em", "--columns", "party,water,crime")
    assert done.code == 0
    assert "435 rows, 3 variables" in done.out
    assert load(tmp_path / "m.fsm").total == 435


def test_a_level_for_missing_cells(run: Run, tmp_path: Path) -> None:
    done = run("fit", VOTES, "-o", tmp_path / "m.fsm", "--missing", "level", "--columns", "party,water,crime")
    assert done.code == 0
    assert load(tmp_path / "m.fsm").model.space.variables[1].levels == ("n", "y", "(missing)")


# -- interruption -------------------------------------------------------------------------------------------------


def endless(*arguments: object) -> list[str]:
    """A fit that buys every term it can: it takes far longer than a test waits."""
    greedy = ["--search", "paper", "--penalty", "0", "--epsilon", "1e-12"]
    return [*COMMAND, "fit", str(VOTES), "--missing", "drop", *greedy, *map(str, arguments)]


def interrupted(command: list[str], sign: Path) -> subprocess.CompletedProcess[str]:
    """Run a command, press Ctrl-C once a file is there, and wait."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 240
        while not sign.exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        assert sign.exists(), process.communicate()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def test_ctrl_c_keeps_the_best_model_so_far_and_a_checkpoint_resumes(run: Run, tmp_path: Path) -> None:
    model, checkpoint = tmp_path / "m.fsm", tmp_path / "c.fsm"
    done = interrupted(endless("-o", model, "--checkpoint", checkpoint, "--checkpoint-every", 0), checkpoint)
    assert done.returncode == 130, done.stderr
    assert "interrupted; the best model so far is in" in done.stderr
    assert "Traceback" not in done.stderr
    kept = load(model)
    assert kept.status == "interrupted"
    assert sorted(os.listdir(tmp_path)) == ["c.fsm", "m.fsm"]

    n_terms = len(load(checkpoint).model.terms)
    assert n_terms > 0
    again = run("fit", VOTES, "--missing", "drop", "-o", model, "--checkpoint", checkpoint, "--resume")
    assert again.code == 0
    assert f"resuming from {str(checkpoint)!r}: {n_terms} terms" in again.err
    assert load(model).status == "converged"


def test_ctrl_c_while_counting_saves_nothing(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("fullspan.estimators.inputs.reading.Reading.count", stop)
    done = run("fit", VOTES, "-o", tmp_path / "m.fsm")
    assert (done.code, done.err) == (130, "fullspan: interrupted\n")
    assert os.listdir(tmp_path) == []


def test_an_interrupt_while_modules_are_imported_leaves_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Pressed:
        @staticmethod
        def find_spec(name: str, *_: object) -> None:
            if name == "fullspan.people.cli.app":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "fullspan.people.cli.app", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Pressed, *sys.meta_path])
    assert main(["--version"]) == 130
    assert capsys.readouterr().err == "fullspan: interrupted\n"


def lost_interrupt() -> None:
    """Ctrl-C while C code runs Python: the exception vanishes."""
    with contextlib.suppress(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_ctrl_c_lost_before_the_search_saves_nothing(
    run: Run, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counting, handler = Reading.count, signal.getsignal(signal.SIGINT)

    def counted(*arguments: Any) -> Any:
        lost_interrupt()
        return counting(*arguments)

    monkeypatch.setattr(Reading, "count", counted)
    done = run("fit", table, "-o", tmp_path / "m.fsm", "--count-column", "n")
    assert (done.code, done.err) == (130, "fullspan: interrupted\n")
    assert os.listdir(tmp_path) == ["table.csv"]
    assert signal.getsignal(signal.SIGINT) is handler


def test_ctrl_c_lost_in_the_search_stops_it_at_the_next_move(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fullspan.learn.base.reporter.Reporter._report", lambda *_: lost_interrupt())
    done = run(*endless("-o", tmp_path / "m.fsm")[len(COMMAND) :])
    assert done.code == 130
    assert len(load(tmp_path / "m.fsm").history) == 2


def test_ctrl_c_after_learning_keeps_the_model(
    run: Run, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is measured of a learned model is worth less than the model."""
    arguments = ("fit", table, "--count-column", "n", "-o")
    assert run(*arguments, tmp_path / "whole.fsm").code == 0

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    for part in ("fullspan.estimators.density.recorded", "fullspan.learn.effects.explain.explained"):
        with monkeypatch.context() as patch:
            patch.setattr(part, stop)
            done = run(*arguments, tmp_path / "m.fsm")
        assert done.code == 130
        assert "interrupted while the fit was measured; the learned model is in" in done.err
        kept, whole = load(tmp_path / "m.fsm"), load(tmp_path / "whole.fsm")
        assert (kept.status, kept.model.terms) == ("converged", whole.model.terms)
        assert kept.model.weights == whole.model.weights
        assert run("show", tmp_path / "m.fsm").code == 0
        (tmp_path / "m.fsm").unlink()


def test_ctrl_c_before_the_first_move_saves_nothing(
    run: Run, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("fullspan.learn.search.complete.grow", stop)
    done = run("fit", table, "-o", tmp_path / "m.fsm", "--count-column", "n")
    assert (done.code, done.err) == (130, "fullspan: interrupted\n")
    assert os.listdir(tmp_path) == ["table.csv"]


def test_ignored_interrupts_stay_ignored_and_threads_set_no_handler() -> None:
    old = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with remembered() as interrupts:
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, old)
    assert not interrupts.pressed

    def in_a_thread() -> Any:
        with remembered():
            return signal.getsignal(signal.SIGINT)

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(in_a_thread).result() is old


def test_resume_without_a_checkpoint_yet_starts_afresh(run: Run, table: Path, tmp_path: Path) -> None:
    done = run("fit", table, "-o", tmp_path / "m.fsm", "--checkpoint", tmp_path / "c.fsm", "--resume")
    assert done.code == 0
    assert "starting afresh" in done.err


def test_resume_keeps_the_basis_of_the_checkpoint(run: Run, table: Path, tmp_path: Path) -> None:
    model, checkpoint = tmp_path / "m.fsm", tmp_path / "c.fsm"
    assert run("fit", table, "-o", checkpoint, "--count-column", "n", "--basis", "monomial").code == 0
    more = ("--checkpoint", checkpoint, "--resume", "--basis", "walsh")
    assert run("fit", table, "-o", model, "--count-column", "n", *more).code == 0
    assert load(model).model.basis.name == "monomial"


def test_the_help_says_what_depends_on_what(run: Run) -> None:
    text = " ".join(run("fit", "--help").out.split())
    assert "only for --search paper or --l1 above 0" in text
    assert "one at a time, whatever --search says" in text
    assert "in its basis" in text
    assert "posterior standard deviations" in text
    assert "no model is written" in text


def test_resume_needs_a_checkpoint(run: Run, table: Path, tmp_path: Path) -> None:
    done = run("fit", table, "-o", tmp_path / "m.fsm", "--resume")
    assert done.code == 2
    assert "--resume needs --checkpoint" in done.err


def test_resume_refuses_other_data_and_other_variables(run: Run, table: Path, tmp_path: Path) -> None:
    checkpoint = tmp_path / "c.fsm"
    assert run("fit", table, "-o", checkpoint, "--count-column", "n", "-q").code == 0
    resume = ("-o", tmp_path / "m.fsm", "--checkpoint", checkpoint, "--resume")
    table.write_text(SMALL.replace("40", "41"))
    other_data = run("fit", table, "--count-column", "n", *resume)
    other_columns = run("fit", table, *resume)
    assert (other_data.code, other_columns.code) == (2, 2)
    assert "was made from other data" in other_data.err
    assert "has other variables or levels" in other_columns.err
    assert not (tmp_path / "m.fsm").exists()


def test_hidden_variables_of_the_search(run: Run, tmp_path: Path) -> None:
    """A hidden variable of the default model is kept in the file, answers questions, and is no column of samples."""
    model = tmp_path / "m.fsm"
    columns = "party,physician,budget,salvador,nicaragua"
    done = run("fit", VOTES, "-o", model, "--missing", "em", "--columns", columns, "--hidden", "camp", "--seed", "0")
    assert done.code == 0
    assert load(model).n_hidden == 1
    assert run("query", model, "P(camp | party=democrat)").code == 0
    assert run("sample", model, "-n", "1").out.splitlines()[0] == columns


@pytest.mark.parametrize("average", [(), ("--average", 2)])
def test_a_checkpoint_may_be_due_while_weights_are_shrunken(run: Run, table: Path, average: tuple[object, ...]) -> None:
    """A shrunken part alone is no model to keep: the checkpoint waits, and the fit goes on."""
    model, checkpoint = table.with_name("m.fsm"), table.with_name("c.fsm")
    options = ["--count-column", "n", "--shrink", "--seed", 0, "--checkpoint", checkpoint, "--checkpoint-every", 0]
    assert run("fit", table, "-o", model, *options, *average).code == 0
    assert load(model).settings["shrinkage"] == "evidence"


def test_a_line_moves_in_a_terminal_from_the_first_second(table: Path, tmp_path: Path) -> None:
    """A learner that is silent on a pseudo-terminal: the line is there at once, and its seconds count up meanwhile."""
    slow = "import time, sys; import fullspan.learn.search.fit as f; fit = f.fit_search\n"
    slow += "f.fit_search = lambda *a, **k: (time.sleep(1.7), fit(*a, **k))[1]\n"
    slow += "from fullspan.people.cli import main; sys.exit(main(sys.argv[1:]))"
    leader, follower = pty.openpty()
    command = [sys.executable, "-c", slow, "fit", str(table), "-o", str(tmp_path / "m.fsm")]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=follower, close_fds=True)
    os.close(follower)
    written = b""
    with contextlib.suppress(OSError):  # the end of a pseudo-terminal
        while piece := os.read(leader, 1 << 16):
            written += piece
    os.close(leader)
    assert child.wait() == 0
    text = written.decode()
    assert text.index(f"reading {table.name} ... 0 s") < text.index("preparing (code is compiled on first use) ... 0 s")
    assert "on first use) ... 1 s" in text
    last = text.replace("\r\n", "\n").split("\r")[-1]
    assert last.startswith("fitted on the table of ")  # the live line was wiped


def test_it_says_which_engine_it_took_and_why(run: Run, table: Path, tmp_path: Path) -> None:
    """On the table unless asked; by elimination for 19 columns whose table would take 7 GiB."""
    assert "fitted on the table of " in run("fit", table, "-o", tmp_path / "m.fsm").err
    asked = run("fit", table, "-o", tmp_path / "m.fsm", "--engine", "elimination")
    assert "fitted by elimination, as asked\n" in asked.err
    cards = (4, 4, 2, 2, 2, 2, 2, 2, 2, 3, 4, 3, 4, 4, 8, 3, 2, 2, 8)
    names = [f"c{i}" for i in range(len(cards))]
    rows = [names, *([str(r % card) for card in cards] for r in range(148))]
    (tmp_path / "wide.csv").write_text("\n".join(map(",".join, rows)) + "\n")
    done = run("fit", tmp_path / "wide.csv", "-o", tmp_path / "w.fsm", "--max-width", 1)
    assert "fitted by elimination: the table of 9.1·10⁸ states would take about 6.84 GiB, and for 148 rows" in done.err
    assert "unless --engine table or --max-memory is given" in done.err
    assert run("fit", table, "-o", tmp_path / "m.fsm", "-q").err == ""


def test_columns_that_tell_each_other_are_named_after_the_fit(run: Run, tmp_path: Path) -> None:
    table = tmp_path / "copies.csv"
    table.write_text("a,b,c\n" + "x,0,0\ny,1,0\nx,0,1\ny,1,1\ny,1,1\n" * 8, encoding="utf-8")
    done = run("fit", table, "-o", tmp_path / "m.fsm")
    assert "copies: each of a, b determines the others in every row" in done.out
    assert "copies" not in run("fit", table, "-o", tmp_path / "n.fsm", "--columns", "a,c").out
