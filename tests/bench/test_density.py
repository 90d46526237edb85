"""The comparison of densities: sets and folds, scores, results that are gone on with, the table and the picture."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import fullspan as fs
from fullspan.bench.density import Score, compare, markdown
from fullspan.bench.density_fold import Job, Limited
from fullspan.bench.density_methods import RIVALS, Settings, all_methods, how_to_add_rivals
from fullspan.bench.density_picture import picture, rows_of
from fullspan.bench.density_sets import find_sets, read_set
from fullspan.errors import DataError

QUICK = Settings(seconds=0.0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A binary set in parts, and coded rows with gaps."""
    rng = np.random.default_rng(0)
    bits = (rng.random((300, 5)) < 0.3).astype(np.uint8)
    bits[:, 1] = bits[:, 0] ^ (rng.random(300) < 0.1)
    packed = np.packbits(bits, axis=1)
    np.savez(tmp_path / "parts.npz", train=packed[:200], valid=packed[200:250], test=packed[250:], nvars=5)
    codes = rng.integers(0, 3, (60, 4)).astype(np.uint8)
    codes[:, 3] = codes[:, 0]
    codes[::7, 1] = 255
    np.savez(tmp_path / "coded.npz", codes=codes)
    return tmp_path


def test_folds_score_every_row_once(folder: Path) -> None:
    """The test parts of all folds are the rows, each once, and no fold learns from what it scores."""
    data = read_set(folder / "coded.npz")
    splits = list(data.splits(4, seed=0))
    assert sum(len(s.test) for s in splits) == 60
    assert all(len(s.train) + len(s.valid) + len(s.test) == 60 for s in splits)
    assert sorted(map(tuple, np.concatenate([s.test for s in splits]))) == sorted(map(tuple, data.parts["rows"]))
    assert (data.parts["rows"] < 0).sum() == 9


def test_the_score_of_independent_columns_is_their_mean_log_probability(folder: Path) -> None:
    """Mean and standard error over the test rows of prod_i (n_i + 1/2) / (N + 1)."""
    (found,) = compare(folder, names=["parts"], methods=["independent"])
    split = next(read_set(folder / "parts.npz").splits(5, 0))
    p = (split.train.sum(axis=0) + 0.5) / (len(split.train) + 1)
    log = np.log(np.where(split.test == 1, p, 1 - p)).sum(axis=1)
    assert found.mean == pytest.approx(log.mean())
    assert found.error == pytest.approx(log.std() / np.sqrt(50))


@pytest.mark.parametrize("method", [name for name in all_methods() if name not in ("hidden-trees", "rbm")])
def test_methods_score_or_say_why_not(folder: Path, method: str) -> None:
    """On rows with a strong pair every method but independence is likelier than independence, or declines."""
    base, found = compare(folder, names=["parts"], methods=["independent", method], settings=QUICK)
    assert found.declined or found.mean is not None
    if found.mean is not None and base.mean is not None and method != "independent":
        assert found.mean > base.mean


def test_gaps_are_scored(folder: Path) -> None:
    """Full-span models, their average and mixtures score rows with missing cells; x3 = x0 is found."""
    methods = ["independent", "fullspan", "mixture", "average"]
    base, one, many, average = compare(folder, None, ["coded"], methods, 2, Settings(seconds=60))
    assert one.mean > base.mean + 0.3
    assert many.mean > base.mean
    assert average.mean > base.mean + 0.3
    assert set(average.notes["shares"]) >= {"fits", "networks", "shrunken"}


def test_results_are_gone_on_with(folder: Path, tmp_path: Path) -> None:
    """A second run takes what is there, adds what is not, and refuses a file that is something else."""
    results, said = tmp_path / "r.jsonl", []
    compare(folder, results, ["parts"], ["independent"], say=said.append)
    again = compare(folder, results, ["parts"], ["independent", "chow-liu"], say=said.append)
    assert len(said) == 2
    assert [json.loads(line)["method"] for line in results.read_text().splitlines()] == ["independent", "chow-liu"]
    assert [s.method for s in again] == ["independent", "chow-liu"]
    assert all(0 < s.processor < 60 and s.memory > 20 for s in again)  # MiB that NumPy alone takes
    results.write_text("{}\n")
    with pytest.raises(DataError, match="line 1"):
        compare(folder, results, ["parts"], ["independent"])


def test_table_and_picture_show_every_score(folder: Path) -> None:
    """The best mean of a row is bold, a method that declined has a dash and its reason; the picture is SVG."""
    scores = compare(folder, None, ["coded"], ["independent", "chow-liu", "rbm"], 2)
    text = markdown(scores)
    assert "**−" in text
    assert "* rbm –: its units are binary and always seen (coded)" in text
    (row,) = rows_of(scores)
    assert row.label == "coded, 4"
    assert row.marks["chow-liu"][0] == 1.0
    drawn = ElementTree.fromstring(picture(scores))
    assert {"coded, 4", "chow-liu", row.note} <= {text.strip() for text in drawn.itertext()}


def test_published_values_stand_next_to_sets_that_are_known() -> None:
    """A set is known by its name and its variables, and only as its given parts, not in folds."""
    base = {"method": "fullspan", "rows": 100, "mean": -6.0, "error": 0.05}
    known = Score(set="nltcs", variables=16, folds=1, **base)
    others = [Score(set="nltcs2", variables=16, folds=1, **base), Score(set="msnbc", variables=3, folds=1, **base)]
    folds = Score(set="msnbc", variables=17, folds=5, **base)
    lines = markdown([known, *others]).splitlines()
    assert lines[0].endswith("| fullspan | published |")
    assert lines[2].endswith("| −5.999 hclt |")
    assert lines[3].endswith("| – |")
    assert "published" not in markdown([*others, folds])


def test_the_picture_puts_sets_on_one_scale() -> None:
    """A mark is the share of the best gain over independent columns; far worse ones are arrows at the edge."""
    means = {"independent": -10.0, "chow-liu": -8.0, "fullspan": -7.5, "mixture": -6.0, "rbm": -14.0}
    scores = [Score("one", method, 9, 100, 1, mean, 0.4) for method, mean in means.items()]
    scores += [Score("two", method, 9, 100, 1, mean, 0.4) for method, mean in means.items() if method != "independent"]
    (row,) = rows_of(scores)
    assert (row.label, row.note) == ("one, 9", "mixture, +4.00")
    assert row.marks["fullspan"] == pytest.approx((0.625, 0.1))
    assert row.marks["rbm"][0] == -1.0


def test_a_method_that_takes_too_long_is_stopped_and_said(folder: Path, tmp_path: Path) -> None:
    """It is shown as declined with the limit, the next job runs in a new process, and only more time tries again."""
    results, brief = tmp_path / "r.jsonl", Settings(seconds=60.0, limit=0.01)
    (slow,) = compare(folder, results, ["parts"], ["mixture"], settings=brief)
    assert slow.declined == "more than 0.01 s for a fold"
    assert slow.mean is None
    with Limited() as worker:
        job = Job(folder / "parts.npz", "mixture", 0, 1, Settings(seconds=60.0))
        assert worker.do(job, 0.01).declined
        assert worker.do(replace(job, method="independent"), 60.0).log.shape == (50,)
    said = list[str]()
    compare(folder, results, ["parts"], ["mixture"], settings=brief, say=said.append)
    assert said == []
    more = Settings(seconds=0.0, limit=60.0)
    (again,) = compare(folder, results, ["parts"], ["mixture"], settings=more, say=said.append)
    assert again.mean is not None
    assert len(said) == 1


def test_an_interruption_keeps_whole_scores(folder: Path, tmp_path: Path) -> None:
    """Ctrl-C during the second method: exit code 130, the first score stands; a cut line is forgotten."""
    results = tmp_path / "r.jsonl"
    command = [sys.executable, "-m", "fullspan", "bench", "density", "--data", str(folder), "--set", "parts"]
    command += ["--method", "independent", "--method", "hidden-trees", "--results", str(results)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if "2 of 2" in line:
            process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    assert any("the same command goes on there" in line for line in said)
    process.stderr.close()
    with results.open("a", encoding="utf-8") as file:
        file.write('{"set": "par')
    said.clear()
    (kept,) = compare(folder, results, ["parts"], ["independent"], say=said.append)
    assert said == []
    assert kept.mean is not None
    assert results.read_text().count("\n") == 1


def test_unknown_names_are_refused(folder: Path, tmp_path: Path) -> None:
    """A set, a method or a folder that is not there is named, with those that are."""
    with pytest.raises(DataError, match="no set 'other'"):
        find_sets(folder, ["other"])
    with pytest.raises(DataError, match="no method"):
        compare(folder, methods=["guess"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"no \.npz"):
        find_sets(tmp_path / "empty")
    np.savez(tmp_path / "odd.npz", x=np.zeros(2))
    with pytest.raises(DataError, match="codes are needed"):
        read_set(tmp_path / "odd.npz")


@pytest.mark.parametrize("text", ["my notes", '{"set": 1}\nmy notes', "\xff\xfe", "my notes\n"])
def test_a_file_that_is_something_else_is_left_as_it_is(folder: Path, tmp_path: Path, text: str) -> None:
    """Only half a line of a score is taken out; any other file is refused, to the last byte as it was."""
    other = tmp_path / "notes.txt"
    other.write_bytes(text.encode("latin-1"))
    with pytest.raises(DataError, match="no earlier score"):
        compare(folder, other, ["parts"], ["independent"])
    assert other.read_bytes() == text.encode("latin-1")


def test_a_whole_score_without_its_line_end_is_kept(folder: Path, tmp_path: Path) -> None:
    """As an editor may leave it; the next score stands in a line of its own."""
    results, said = tmp_path / "r.jsonl", list[str]()
    compare(folder, results, ["parts"], ["independent"])
    results.write_text(results.read_text().rstrip("\n"))
    compare(folder, results, ["parts"], ["independent", "chow-liu"], say=said.append)
    assert said == ["2 of 2: chow-liu on parts"]
    assert [json.loads(line)["method"] for line in results.read_text().splitlines()] == ["independent", "chow-liu"]


def test_scores_of_another_seed_are_not_gone_on_with(folder: Path, tmp_path: Path) -> None:
    """Nor are numbers of one seed shown as those of another."""
    results = tmp_path / "scores.jsonl"
    compare(folder, results, ["parts"], ["independent"], 2, Settings(seed=1))
    with pytest.raises(DataError, match="with seed 1, and 0 is asked for"):
        compare(folder, results, ["parts"], ["independent"], 2)
    assert compare(folder, results, ["parts"], ["independent"], 2, Settings(seed=1))[0].seed == 1


def test_scores_of_other_folds_are_not_gone_on_with(folder: Path, tmp_path: Path) -> None:
    """A table never mixes numbers of folds without a word; sets with given parts have none."""
    results = tmp_path / "r.jsonl"
    compare(folder, results, None, ["independent"], 2)
    with pytest.raises(DataError, match="over 2 folds, and 3 are asked for"):
        compare(folder, results, None, ["independent"], 3)
    assert compare(folder, results, ["parts"], ["independent"], 3)[0].folds == 1


def test_results_that_cannot_be_written_are_said_first(folder: Path, tmp_path: Path) -> None:
    """Before anything is learned."""
    said = list[str]()
    with pytest.raises(OSError, match="No such file"):
        compare(folder, tmp_path / "none" / "r.jsonl", ["parts"], ["independent"], say=said.append)
    assert said == []


def test_any_limit_is_taken(folder: Path) -> None:
    """Also one beyond what a clock of the system counts to."""
    for limit in (float("inf"), 1e300):
        (found,) = compare(folder, None, ["parts"], ["independent"], settings=Settings(limit=limit))
        assert found.mean is not None


def test_a_worker_that_was_killed_between_jobs_is_started_again(folder: Path) -> None:
    """The next job does not pay for it."""
    job = Job(folder / "parts.npz", "independent", 0, 1, QUICK)
    with Limited() as worker:
        assert len(worker.do(job, 60.0).log) == 50
        assert worker.worker.pid is not None
        os.kill(worker.worker.pid, signal.SIGKILL)
        deadline = time.monotonic() + 10
        while _runs(worker.worker.pid) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(worker.do(job, 60.0).log) == 50


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_goes_on_when_the_command_is_killed(tmp_path: Path, how: signal.Signals) -> None:
    """The process that learns ends with the one that asked, however that ended, and not only when it is done."""
    bits = np.random.default_rng(0).integers(0, 2, (20_000, 64), dtype=np.uint8)
    np.savez(tmp_path / "long.npz", bits=np.packbits(bits, axis=1), n=64)
    script = (
        "import sys\nfrom pathlib import Path\nfrom fullspan.bench.density_fold import Limited\n"
        "from fullspan.bench.density_fold import Job\nfrom fullspan.bench.density_methods import Settings\n"
        "limited = Limited()\nlimited.worker.ready()\nprint(limited.worker.pid, flush=True)\n"
        f"limited.do(Job(Path({str(tmp_path / 'long.npz')!r}), 'hidden-trees', 0, 2, Settings()), None)\n"
    )
    asking = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert asking.stdout is not None
    learning = int(asking.stdout.readline())
    time.sleep(0.5)  # the job is under way
    asking.send_signal(how)
    asking.wait(30)
    asking.stdout.close()
    deadline = time.monotonic() + 10
    while _runs(learning) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _runs(learning)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"


def test_rows_that_a_method_calls_impossible_are_an_arrow_at_the_edge() -> None:
    """A mean of -inf does not stop the picture of all other scores; a score that is no number is left out."""
    means = {"independent": -10.0, "chow-liu": -8.0, "rbm": -np.inf, "pyagrum": np.nan}
    scores = [Score("one", method, 9, 100, 1, mean, 0.4) for method, mean in means.items()]
    (row,) = rows_of(scores)
    assert row.marks["rbm"][0] == -np.inf
    assert "pyagrum" not in row.marks
    ElementTree.fromstring(picture(scores))


def test_broken_sets_are_named(tmp_path: Path) -> None:
    """A file that is cut short, is something else or lacks a part."""
    path = tmp_path / "x.npz"
    np.savez_compressed(path, codes=np.random.default_rng(0).integers(0, 3, (300, 5), dtype=np.uint8))
    whole = path.read_bytes()
    for data in (b"", b"junk", whole[: len(whole) // 2], whole[:120] + b"12345678" + whole[128:]):
        path.write_bytes(data)
        with pytest.raises(DataError, match="not a valid"):
            read_set(path)
    np.savez(path, train=np.zeros((2, 1), np.uint8), nvars=5)
    with pytest.raises(DataError, match="are needed"):
        read_set(path)


def test_rivals_come_from_the_checkout(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """They are found next to the sources; an installed package has none, and says how to add them."""
    assert "pyagrum" in all_methods()
    assert not how_to_add_rivals()
    assert not any(path.is_relative_to(Path(fs.__file__).parent) for path in RIVALS.glob("*.py"))
    monkeypatch.setattr("fullspan.bench.density_methods.RIVALS", tmp_path)
    all_methods.cache_clear()
    try:
        assert "pyagrum" not in all_methods()
        assert "benchmarks/rivals" in how_to_add_rivals()
        with pytest.raises(DataError, match=r"there is no method 'pyagrum'; choose from .* benchmarks/rivals"):
            compare(tmp_path, methods=["pyagrum"])
    finally:
        all_methods.cache_clear()
