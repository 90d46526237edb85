"""Synthetic tables: types and order of the original, numbers of the data, exact conditions, measures of SDMetrics."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fullspan as fs
from fullspan.data.tables.prototype import prototype
from fullspan.errors import DataError, DataWarning, FullspanError, QueryError
from fullspan.estimators.jobs import column_shapes, pair_trends, quality, synthesizer
from fullspan.query.distributions import GraphDistribution, LogLinearDistribution

N = 600
RNG = np.random.default_rng(5)
AGE = RNG.integers(18, 90, N)
SEX = RNG.choice(["f", "m"], N)
FRAME = pd.DataFrame(
    {
        "id": np.arange(1001, 1001 + N),
        "name": [f"n{i}" for i in RNG.permutation(N)],
        "age": AGE,
        "sex": SEX,
        "income": np.round(np.exp(RNG.normal(10, 0.6, N)), 2),
        "since": [str(datetime.date(2020, 1, 1) + datetime.timedelta(int(i))) for i in RNG.integers(0, 500, N)],
        "pregnant": np.where((SEX == "f") & (AGE < 45) & (RNG.random(N) < 0.4), "y", "n"),
        "member": RNG.random(N) < 0.3,
    }
)
KNOWN = FRAME.drop(columns="name")


def test_a_table_like_the_original() -> None:
    """Types and order stay; integers are integers of the data; keys are numbered anew or left out with a word."""
    with pytest.warns(DataWarning, match="column 'name' is left out: it has 600 different texts in 600 rows"):
        drawn = fs.synthesize(FRAME, 900, random_state=0)
    assert list(drawn) == list(KNOWN)
    assert drawn.dtypes.to_dict() == KNOWN.dtypes.to_dict()
    assert drawn["id"].tolist() == list(range(1001, 1901))
    for name in ("age", "income", "since"):
        assert set(drawn[name]) <= set(KNOWN[name])
        assert drawn[name].nunique() > 64
    for name, share in column_shapes(
        {"age": KNOWN["age"].to_numpy(float)}, {"age": drawn["age"].to_numpy(float)}
    ).items():
        assert share > 0.93, name
    assert abs((drawn["pregnant"] == "y").mean() - (KNOWN["pregnant"] == "y").mean()) < 0.06
    assert fs.synthesize(KNOWN, 5, random_state=1).equals(fs.synthesize(KNOWN, 5, random_state=1))


def test_conditions_are_exact_inside_bins() -> None:
    forbidden = ["sex=m, pregnant=y", "age>30, sex=f"]
    drawn = fs.synthesize(KNOWN, 400, random_state=0, given="age<=33", forbid=forbidden)
    assert drawn["age"].max() <= 33
    assert not ((drawn["sex"] == "m") & (drawn["pregnant"] == "y")).any()
    assert not ((drawn["sex"] == "f") & (drawn["age"] > 30)).any()
    assert (drawn["sex"] == "f").mean() > 0.2
    assert set(fs.synthesize(KNOWN, 50, random_state=0, given={"age": 40, "member": True})["age"]) == {40}
    everyone = fs.synthesize(KNOWN, 50, random_state=0, given="age < 500")
    assert len(everyone) == 50


def test_missing_cells_only_if_asked() -> None:
    frame = KNOWN.copy()
    frame.loc[RNG.random(N) < 0.3, "income"] = np.nan
    frame.loc[RNG.random(N) < 0.2, "sex"] = None
    assert not fs.synthesize(frame, 300, random_state=0).isna().any().any()
    drawn = fs.synthesize(frame, 1500, random_state=0, missing=True)
    assert drawn["income"].isna().mean() == pytest.approx(frame["income"].isna().mean(), abs=0.05)
    assert drawn["sex"].isna().mean() == pytest.approx(frame["sex"].isna().mean(), abs=0.05)
    assert not drawn["age"].isna().any()


def test_texts_of_a_file_are_spelled_alike(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = [f"{i % 7:03d},{1 + i % 40}.50,{'?' if i % 5 == 0 else 'x'}" for i in range(200)]
    path.write_text("code,price,mark\n" + "\n".join(rows) + "\n")
    made = synthesizer(path, missing=True)
    drawn = made.draw(100, 0)
    assert set(drawn["code"].to_pylist()) <= {f"{i:03d}" for i in range(7)}
    assert all(text.endswith(".50") for text in drawn["price"].to_pylist())
    assert set(drawn["mark"].to_pylist()) == {"?", "x"}
    typed = fs.synthesize(path, 20, random_state=0)
    assert {type(x) for x in typed["price"].to_pylist()} == {float}


@pytest.mark.parametrize("kind", ["polars", "array", "columns"])
def test_kinds_of_tables(kind: str) -> None:
    small = KNOWN[["age", "sex"]]
    source: Any = {
        "polars": lambda: pl.from_pandas(small),
        "array": lambda: np.stack([AGE, AGE % 3], axis=1),
        "columns": lambda: {name: small[name].tolist() for name in small},
    }[kind]()
    drawn = fs.synthesize(source, 30, random_state=0)
    assert len(drawn) == 30
    if kind == "array":
        assert drawn.dtype == source.dtype
        assert drawn.shape == (30, 2)
    if kind == "polars":
        assert drawn.schema == source.schema


def test_types_of_frames_are_kept_with_missing_cells() -> None:
    days = pd.to_datetime("2020-01-01") + pd.to_timedelta(RNG.integers(0, 400, N), unit="D")
    grade = pd.Categorical(RNG.choice(["lo", "hi"], N), categories=["lo", "mid", "hi"], ordered=True)
    number = pd.array(np.where(RNG.random(N) < 0.2, None, RNG.integers(0, 60, N)), dtype="Int64")
    frame = pd.DataFrame({1: days, "grade": grade, "number": number})
    drawn = fs.synthesize(frame, 200, random_state=0, missing=True)
    assert drawn.dtypes.to_dict() == frame.dtypes.to_dict()
    assert set(drawn[1]) <= set(days)
    assert drawn["number"].isna().any()
    polars = pl.from_pandas(frame[["grade", "number"]])
    assert fs.synthesize(polars, 20, random_state=0).schema == polars.schema


def test_a_tree_forbids_and_a_machine_without_the_weights_cannot() -> None:
    known = KNOWN[["sex", "pregnant"]]
    tree = fs.ChowLiuTree(pseudo_count=50.0).fit(known)
    drawn = tree.synthesize(300, random_state=0, forbid="sex=m, pregnant=y")
    assert set(zip(drawn["sex"], drawn["pregnant"], strict=True)) == {("f", "n"), ("f", "y"), ("m", "n")}
    truncated = fs.TruncatedBoltzmannMachine(unseen=0.1).fit(known)
    assert len(truncated.synthesize(5, random_state=0, given="sex=f")) == 5
    with pytest.raises(FullspanError, match="cannot exclude events exactly; leave forbid= out"):
        truncated.synthesize(5, forbid="sex=m, pregnant=y")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"given": "age=17"}, "no row has age=17"),
        ({"given": "colour=red"}, "no variable 'colour'"),
        ({"given": "sex=x"}, "no level 'x'"),
        ({"forbid": "sex in {f, m}"}, "every row"),
        ({"forbid": ["sex=f", "sex=m"]}, "every row"),
        ({"forbid": ["sex=f"], "given": "sex=f"}, "probability 0"),
        ({"forbid": [3]}, "forbid lists 3"),
        ({"bins": 1}, "bins is 1"),
        ({"n_rows": -1}, "n_rows is -1"),
        ({"columns": ["agee"]}, "no column 'agee'"),
    ],
)
def test_bad_requests_are_refused(options: dict[str, Any], message: str) -> None:
    small = KNOWN[["age", "sex", "member"]]
    with pytest.raises(FullspanError, match=message):
        fs.synthesize(small, **{"n_rows": 5, "random_state": 0, **options})


def test_a_table_of_keys_only_is_refused() -> None:
    with pytest.raises(DataError, match="no column is left to learn: 'name' has 600"):
        fs.synthesize(FRAME[["name"]])


def test_rare_levels_are_drawn_as_they_are() -> None:
    city = [f"c{int(x)}" for x in RNG.exponential(40, N)]
    frame = pd.DataFrame({"city": city, "sex": SEX})
    drawn = fs.synthesize(frame, 2000, random_state=0)
    assert set(drawn["city"]) <= set(city)
    assert drawn["city"].nunique() > 80


def test_a_model_draws_numbers_and_forbids_exactly() -> None:
    frame = KNOWN[["age", "sex", "pregnant"]]
    model = fs.FullSpan(bins={"age": [18, 30, 45, 90]}, verbose=0).fit(frame)
    drawn = model.synthesize(500, random_state=0, given="age<45", forbid="sex=m, pregnant=y")
    assert pd.api.types.is_numeric_dtype(drawn["age"])
    assert drawn["age"].between(18, 44).all()
    assert not ((drawn["sex"] == "m") & (drawn["pregnant"] == "y")).any()
    like = model.synthesize(500, random_state=0, like=frame)
    assert like.dtypes.to_dict() == frame.dtypes.to_dict()
    assert like["age"].nunique() > 50
    assert model.synthesize(0).shape == (0, 3)
    with pytest.raises(QueryError, match="every row"):
        model.synthesize(5, forbid="age>=18")


def test_forbidding_is_conditioning() -> None:
    """Frequencies are those of the model given that the event does not happen."""
    frame = KNOWN[["sex", "pregnant", "member"]]
    model = fs.FullSpan(verbose=0).fit(frame)
    drawn = model.synthesize(20_000, random_state=0, forbid="sex=f, member=true")
    p = {(s, m): model.probability(f"sex={s}, member={m}") for s in "fm" for m in ("True", "False")}
    p.pop(("f", "True"))
    for (sex, member), share in p.items():
        found = ((drawn["sex"] == sex) & (drawn["member"] == (member == "True"))).mean()
        assert found == pytest.approx(share / sum(p.values()), abs=0.015)


# -- measures of quality ---------------------------------------------------------------------------------------------


def _reference(seed: int, n: int, shift: int) -> dict[str, np.ndarray]:
    i = np.arange(n) * seed % 997
    age = (18 + (i * 7 % 60) + shift * (i % 5)).astype(float)
    pay = np.round(1000 + ((i * i) % 911) * (1 + 0.3 * shift) + age * 20, 2)
    pay[i % 17 == 0] = np.nan
    sex = np.where((i * 3) % 11 < 5 + shift, "f", "m").astype(object)
    return {"age": age, "pay": pay, "sex": sex, "region": np.array([*"nsew"], dtype=object)[((i * 5) % 13) % 4]}


def test_shapes_and_trends_are_those_of_sdmetrics() -> None:
    """Values of sdmetrics 0.32.0: KSComplement, TVComplement, CorrelationSimilarity, ContingencySimilarity."""
    real, synthetic = _reference(5, 400, 0), _reference(7, 300, 1)
    assert column_shapes(real, synthetic) == pytest.approx(
        {"age": 0.905, "pay": 0.8278777959629023, "sex": 0.9075, "region": 0.9958333333333333}, rel=1e-12
    )
    assert pair_trends(real, synthetic) == pytest.approx(
        {
            ("age", "pay"): 0.9590465151197218,
            ("age", "sex"): 0.8708333333333333,
            ("age", "region"): 0.8791666666666667,
            ("pay", "sex"): 0.7941666666666667,
            ("pay", "region"): 0.76,
            ("sex", "region"): 0.9075,
        },
        rel=1e-9,
    )


def test_a_report_knows_copies_from_new_rows() -> None:
    """The real rows themselves are all copies at distance 0; drawn ones are about as near as held-out rows."""
    frame = KNOWN[["age", "sex", "income", "member"]]
    whole, held = prototype(frame).split(0.2, 0)
    made = synthesizer(whole)
    drawn, codes = made.draw_with_codes(480, 0)
    found = quality(made, held, drawn, codes)
    assert found.n_real == found.n_synthetic == 480
    assert found.n_held_out == 120
    assert 0.9 < np.mean(list(found.shapes.values())) <= 1
    assert abs(found.copies_beyond_chance) <= 3 * found.copies_error + 0.01
    assert found.distance == pytest.approx(found.distance_held_out, rel=0.5)
    assert found.held_out_of_synthetic == pytest.approx(found.held_out, abs=0.5)
    copied = quality(made, held, whole.table, made.prototype.codes(made.space))
    assert copied.copies == 1
    assert copied.distance == 0
    assert copied.shapes == pytest.approx(dict.fromkeys(copied.shapes, 1.0))
    assert "beyond chance +100.00%" in copied.lines()[-1]
    assert set(copied.to_json()) >= {"column_shapes", "pair_trends", "copies_beyond_chance", "held_out"}


def test_the_model_is_a_network_unless_the_full_span_is_clearly_better() -> None:
    """Seven signs of one hidden cause all go together, for which the edges of a network are too few; a chain is one."""
    rng = np.random.default_rng(0)
    cause = rng.integers(2, size=400)
    signs = {name: cause ^ (rng.random(400) < 0.25) for name in "abcdefg"}
    chain = {"a": cause, "b": signs["a"], "c": rng.integers(2, size=400)}
    found, network = (synthesizer(pd.DataFrame(table)).distribution for table in (signs, chain))
    assert isinstance(found, LogLinearDistribution)
    assert isinstance(network, GraphDistribution)
    assert network.probability("b=1 | a=1") == pytest.approx(0.75, abs=0.06)


@pytest.mark.parametrize(("given", "forbid", "words"), [("sex=q", (), "no level 'q'"), (None, "size=1", "'size'")])
def test_misspelt_conditions_are_refused_before_anything_is_learned(given, forbid, words: str) -> None:
    class Learner(fs.FullSpan):
        def partial_fit(self, *_, **__):
            raise AssertionError("the model was learned")

    with pytest.raises(fs.errors.QueryError, match=words):
        fs.synthesize(KNOWN, 5, given=given, forbid=forbid, estimator=Learner())


def test_the_command_writes_the_table_and_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from fullspan.people.cli import main

    KNOWN[["age", "sex", "pregnant"]].to_csv(tmp_path / "a.csv", index=False)
    out = tmp_path / "b.csv"
    run: Callable[..., int] = lambda *more: main(["synth", str(tmp_path / "a.csv"), "-o", str(out), *more])  # noqa: E731
    assert run("-n", "50", "--seed", "1", "--report") == 0
    said = capsys.readouterr()
    assert "column shapes 0." in said.out
    assert "beyond chance" in said.out
    assert "50 synthetic rows written" in said.err
    assert pd.read_csv(out)["age"].between(18, 90).all()
    out.unlink()
    assert run("-n", "50", "--forbid", "sex in {f,m}") == 2
    assert run("-n", "50", "--given", "sex=q") == 2
    assert run("-n", "50", "--given", "sex=f", "--report") == 2
    assert not out.exists()
