"""Any column from the others, and what makes a row odd, as people ask for it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import fullspan as fs
from fullspan.errors import DataError, FullspanError, QueryError


def frame(rows: int = 300) -> pd.DataFrame:
    """Three columns of words, one of which depends on both others, and a number that is cut into bins."""
    rng = np.random.default_rng(5)
    wind, sky = rng.choice(["no", "some", "much"], rows), rng.choice(["clear", "grey"], rows)
    rain = rng.random(rows) < np.where(sky == "grey", 0.7, 0.2) * np.where(wind == "much", 0.5, 1.0)
    warmth = rng.integers(5, 20, rows) + 5 * (sky == "clear")
    return pd.DataFrame({"wind": wind, "sky": sky, "rain": np.where(rain, "yes", "no"), "warmth": warmth})


@pytest.fixture(scope="module")
def model() -> fs.BoltzmannMachine:
    return fs.BoltzmannMachine(l2=0.01, bins={"warmth": [5, 10, 15, 26]}).fit(frame())


def test_probabilities_are_those_of_questions(model: Any) -> None:
    """What stands in the column is ignored, and so is whether it is there; missing cells are summed out."""
    table = frame(6)
    table.loc[1, "wind"] = None
    found = model.predict_proba(table, "rain")
    for row, p in zip(table.to_dict("records"), found, strict=True):
        given = {k: v for k, v in row.items() if k != "rain" and isinstance(v, str | int | np.integer)}
        expected = [model.probability({"rain": level}, given) for level in model.levels_of("rain")]
        np.testing.assert_allclose(p, expected, rtol=1e-9)
    np.testing.assert_array_equal(found, model.predict_proba(table.assign(rain="perhaps"), "rain"))
    np.testing.assert_array_equal(found, model.predict_proba(table.drop(columns="rain"), "rain"))
    assert model.predict(table, "rain").tolist() == model.levels_of("rain")[found.argmax(axis=1)].tolist()


def test_a_binned_column_is_predicted_as_it_is_imputed(model: Any) -> None:
    """The median of the data in the bin, a whole number where the data are whole."""
    table = frame(20)
    found = model.predict(table, "warmth")
    assert found.dtype.kind == "i"
    assert set(found) <= set(frame()["warmth"])
    filled = model.impute(table.assign(warmth=pd.Series([None] * 20, dtype="Int64")))
    assert found.tolist() == filled["warmth"].tolist()


def test_every_column_from_the_others(model: Any) -> None:
    table = frame(5)
    assert model.predict(table)[:, 2].tolist() == model.predict(table, "rain").tolist()
    every = model.predict_proba(table)
    assert every.shape == (5, 3 + 2 + 2 + 3)
    np.testing.assert_allclose(every[:, 5:7], model.predict_proba(table, "rain"), rtol=1e-12)


def test_arrays_may_be_without_the_column() -> None:
    X = np.random.default_rng(0).integers(0, 2, (60, 3))
    X[:, 2] = np.where(X[:, 1] == 1, X[:, 0], X[:, 2])
    model = fs.BoltzmannMachine(order=3, l2=0.01).fit(X)
    found = model.predict_proba(X, "x1")
    np.testing.assert_array_equal(found, model.predict_proba(X[:, [0, 2]], "x1"))
    np.testing.assert_array_equal(found, model.predict_proba(X.tolist(), "x1"))
    with pytest.raises(DataError, match="1 features"):
        model.predict(X[:, :1], "x1")


def test_what_cannot_be_predicted_is_refused(model: Any) -> None:
    with pytest.raises(QueryError, match="no variable 'Rain'"):
        model.predict(frame(3), "Rain")
    with pytest.raises(DataError, match="'mauve'"):
        model.predict(frame(3).assign(sky="mauve"), "rain")
    with pytest.raises(NotFittedError):
        fs.FullSpan().predict(frame(3), "rain")


def test_the_cell_that_makes_a_row_odd(model: Any) -> None:
    """Gains are differences of log-probabilities of whole rows; the score is that of the row; open cells are last."""
    row: dict[str, Any] = {"wind": "no", "sky": "grey", "rain": "no", "warmth": 24}
    found = model.explain_row(row)
    log_prob = model.score_samples(pd.DataFrame([row]))[0]
    assert found.score == pytest.approx(-log_prob, abs=1e-9)
    assert [c.gain for c in found.cells] == sorted((c.gain for c in found.cells), reverse=True)
    assert found.oddest == found.cells[0]
    for cell in found.cells:
        changed = {**row, cell.column: 7 if cell.likeliest == "[5, 10)" else cell.likeliest}
        gained = model.score_samples(pd.DataFrame([changed]))[0] - log_prob
        assert cell.gain == pytest.approx(gained, abs=1e-9)
        assert cell.surprisal == pytest.approx(-math.log(cell.probability), abs=1e-12)
    part = model.explain_row({"sky": "grey", "warmth": 24})
    assert part.score == pytest.approx(-math.log(model.probability("sky=grey, warmth=24")), abs=1e-9)
    assert [c.column for c in part.cells[2:]] == ["wind", "rain"]
    assert part.cells[3].its_probability == pytest.approx(model.probability("rain=yes | sky=grey, warmth=24"), abs=1e-9)
    assert part.to_dict()["cells"][2]["level"] is None
    assert str(part).splitlines()[0] == part.heading()


def test_the_share_of_rows_as_unlikely_is_that_of_the_model(model: Any) -> None:
    """By draws, within five standard errors of the sum over all states."""
    row = {"wind": "much", "sky": "clear", "rain": "yes", "warmth": 24}
    found = model.explain_row(row, random_state=1)
    log_p = np.log(model.distribution_.joint().ravel())
    exact = np.exp(log_p)[log_p <= -found.score + 1e-9].sum()
    assert 0 < found.share_error < 0.02
    assert found.share == pytest.approx(exact, abs=5 * found.share_error)
    assert found == model.explain_row(row, random_state=1)


def test_explanations_of_no_row_or_several_are_refused(model: Any) -> None:
    with pytest.raises(DataError, match="2 rows were given"):
        model.explain_row(frame(2))
    with pytest.raises(FullspanError, match="n_draws is 0"):
        model.explain_row(frame(1), n_draws=0)
    with pytest.raises(DataError, match="a value in no column of the model: 'wind', 'sky'"):
        model.explain_row({"sky": None, "rain": None})
    with pytest.raises(DataError, match="none of the model's columns: wind, sky, "):
        model.explain_row({"skies": "grey"})
    assert model.explain_row(frame(1)).cells == model.explain_row(frame(1).iloc[0]).cells


def test_in_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str], model: Any) -> None:
    """The same probabilities from a model file, a network and a classifier; what cannot be done is said."""
    from fullspan.people.cli import main

    table = frame(40).drop(columns="warmth")
    table.to_csv(tmp_path / "t.csv", index=False)
    small = fs.BoltzmannMachine(l2=0.01).fit(table)
    small.save(tmp_path / "m.fsm")
    classifier = fs.BoltzmannClassifier(outputs="rain", l2=0.01).fit(table)
    classifier.save(tmp_path / "c.fsm")
    for file, own in (("m.fsm", small.predict_proba(table, "rain")), ("c.fsm", classifier.predict_proba(table))):
        paths = [str(tmp_path / name) for name in (file, "t.csv", "p.csv")]
        assert main(["predict", *paths[:2], "--target", "rain", "-o", paths[2]]) == 0
        found = pd.read_csv(tmp_path / "p.csv")
        np.testing.assert_allclose(found[["rain=no", "rain=yes"]], own, rtol=1e-12)
        assert found["rain"].tolist() == np.array(["no", "yes"])[own.argmax(axis=1)].tolist()
    capsys.readouterr()
    assert main(["predict", str(tmp_path / "c.fsm"), str(tmp_path / "t.csv"), "--target", "sky"]) == 2
    assert "'sky' is not predicted by this model: --target, one of rain" in capsys.readouterr().err
    assert main(["predict", str(tmp_path / "m.fsm"), str(tmp_path / "t.csv")]) == 2
    assert "name the column to predict: --target, one of wind, sky, rain" in capsys.readouterr().err
    assert main(["explain", str(tmp_path / "m.fsm"), str(tmp_path / "t.csv"), "--top", "1"]) == 0
    least = int(small.score_samples(table).argmin())
    assert capsys.readouterr().out.startswith(f"row {least + 1}: score {-small.score_samples(table).min():.4g} nats")
    assert main(["explain", str(tmp_path / "m.fsm"), str(tmp_path / "t.csv"), "--row", "41"]) == 2
    assert "row 41 was asked for, and the table has 40 rows" in capsys.readouterr().err
