"""A fit from the page: what it may be given, how it is followed and stopped; in this process, without its worker."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import fullspan as fs
from fullspan.errors import FullspanError
from fullspan.people.web.fits import MAX_COLUMNS, MAX_POINTS, Fits, _Follower, _learned, check_table
from fullspan.people.web.worker import Pool
from web.conftest import rows_of


def test_a_table_becomes_a_model_with_its_progress(tmp_path: Path) -> None:
    rows_of(80).to_csv(tmp_path / "rain.csv", index=False)
    assert _learned("FullSpan", tmp_path / "rain.csv", tmp_path / "rain.fsm", tmp_path) is None
    model = fs.load(tmp_path / "rain.fsm")
    progress = json.loads((tmp_path / "progress.json").read_text())
    assert progress["costs"][-1][1] == pytest.approx(model.fitted_.history[-1].cost, rel=1e-6)


def test_a_fit_that_is_asked_to_stop_before_its_first_step_leaves_no_model(tmp_path: Path) -> None:
    rows_of(80).to_csv(tmp_path / "rain.csv", index=False)
    (tmp_path / "stop").touch()
    problem = _learned("FullSpan", tmp_path / "rain.csv", tmp_path / "rain.fsm", tmp_path)
    assert problem == "the fit was stopped before there was a model"
    assert not (tmp_path / "rain.fsm").exists()


def test_after_the_first_step_it_stops_at_a_step_alone(tmp_path: Path) -> None:
    """Between the steps a model that is there is finished; costs are thinned out."""
    from fullspan.model.record import Step

    follower = _Follower(tmp_path)
    for k in range(5 * MAX_POINTS):
        follower(Step("append", k, 1.0 / (k + 1), float(k)))
    assert MAX_POINTS <= len(follower.costs) <= 2 * MAX_POINTS
    (tmp_path / "stop").touch()
    follower(None)
    with pytest.raises(KeyboardInterrupt):
        follower(Step("append", 1, 1.0, 1.0))


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    for content, says in (
        (b"", "not a table of text"),
        (b"PK\x03\x04\0\0", "not a table of text"),
        (",".join(map(str, range(MAX_COLUMNS + 1))).encode(), "at most 500"),
    ):
        with pytest.raises(FullspanError, match=says):
            check_table(content)
    assert _learned("ChowLiuTree", tmp_path / "none.csv", tmp_path / "m.fsm", tmp_path)


def test_names_are_files_inside_the_folder_and_never_those_of_other_models() -> None:
    fits = Fits(Pool({"votes": Path("votes.fsm")}, size=0))
    try:
        fit = fits._new("../../votes.csv", "FullSpan", b"a,b\n1,2\n")
        assert fit.name == "votes-2"
        assert fit.table.parent.parent == Path(fits._folder.name)
        assert fit.table.name == "votes-2.csv"
        with pytest.raises(FullspanError, match="no fit 'other'; there are: none"):
            fits.stop("other")
    finally:
        fits.close()
    assert not fit.table.exists()
