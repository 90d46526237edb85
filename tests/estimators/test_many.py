"""Many models at once are the models of a loop."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import fullspan as fs
from fullspan.data import Empirical, Grouped, count_groups
from fullspan.errors import ConvergenceWarning, DataError, FullspanError, ModelFileError, QueryError, TooLargeError
from fullspan.learn.many import fit_groups
from fullspan.learn.search import Options, fit_search

SINGLE = {"search": "paper", "basis": "walsh", "dtype": "float64", "device": "cpu"}


def rows_of(cards: tuple[int, ...], n_groups: int, n_rows: int, seed: int) -> pd.DataFrame:
    """Groups of rows that each have their own dependences."""
    rng = np.random.default_rng(seed)
    parts = []
    for g in range(n_groups):
        x = np.column_stack([rng.choice(card, n_rows, p=rng.dirichlet(np.full(card, 3.0))) for card in cards])
        for i in range(1, len(cards)):
            copies = rng.random(n_rows) < rng.uniform(0, 0.6)
            x[copies, i] = x[copies, rng.integers(i)] % cards[i]
        parts.append(pd.DataFrame(x, columns=[f"x{i}" for i in range(len(cards))]).assign(site=f"s{g:02d}"))
    return pd.concat(parts, ignore_index=True).sample(frac=1, random_state=seed)


@pytest.mark.parametrize("cards", [(2,) * 6, (2, 4, 2, 8), (3, 2, 5), (2, 3, 4, 2)])
@pytest.mark.parametrize("penalty", ["mdl", 0.3])
def test_many_models_are_those_of_a_loop(cards: tuple[int, ...], penalty: str | float) -> None:
    """Same terms, and weights, likelihood, description length and errors to rounding, in every kind of table."""
    frame = rows_of(cards, 12, 300, seed=sum(cards))
    models = fs.fit_many(frame, by="site", penalty=penalty)
    levels = {v.name: v.levels for v in models.space_.variables}
    assert max(models.n_terms_) > 3
    for group, rows in frame.groupby("site"):
        single = fs.FullSpan(**SINGLE, penalty=penalty, levels=levels).fit(rows.drop(columns="site"))
        g = models.groups_.index(group)
        one = models[group]
        assert one.model_.terms == single.model_.terms
        assert one.model_.theta == pytest.approx(single.model_.theta, abs=1e-9)
        assert models.log_z_[g] == pytest.approx(single.log_z_, abs=1e-9)
        assert models.log_likelihood_[g] == pytest.approx(single.log_likelihood_, rel=1e-10)
        assert models.description_length_[g] == pytest.approx(single.description_length_, rel=1e-10)
        assert models.n_steps_[g] == len(single.history_)
        assert one.fitted_.standard_errors == pytest.approx(single.fitted_.standard_errors, rel=1e-6)
        assert one.fitted_.nats_saved == pytest.approx(single.fitted_.nats_saved, rel=1e-6, abs=1e-6)
        assert one.fitted_.fingerprint == single.fitted_.fingerprint
        assert one.status_ == "converged"


def alone(empirical: Empirical, options: Options):
    """The model of one group only, and the same by the search of single models."""
    grouped = Grouped.of_weights(empirical, np.array([empirical.counts]), ("a",))
    return fit_groups(grouped, options).models, fit_search(empirical, options)


def test_long_searches_rebuild_as_single_ones_do() -> None:
    """Hundreds of steps: the way is the same beyond the first rebuild."""
    rng = np.random.default_rng(9)
    x = rng.integers(2, size=(400, 8))
    for i in range(1, 8):
        x[:, i] = np.where(rng.random(400) < 0.5, x[:, i - 1], x[:, i])
    models, single = alone(Empirical.from_codes(x), Options(**SINGLE, penalty=0.05, epsilon=1e-9))
    assert models.n_steps[0] == len(single.history) > 256
    assert models.model(0).terms == single.model.terms
    assert models.theta == pytest.approx(single.model.theta, abs=1e-9)
    assert 0 < models.drift[0] < 1e-12


@pytest.mark.parametrize("seed", [11, 52, 76])
def test_terms_are_removed_as_single_searches_do(seed: int) -> None:
    """A term that others have made needless goes, its price is refunded, and the rest is the same."""
    rng = np.random.default_rng(seed)
    p = np.exp(rng.normal(0, 1.5, 32))
    z = rng.choice(32, 20000 if seed % 2 else 2000, p=p / p.sum())
    options = Options(**SINGLE, penalty=3.0 if seed // 2 % 2 else 1.0)
    models, single = alone(Empirical.from_codes((z[:, None] >> np.arange(5)) & 1), options)
    assert "remove" in {step.move for step in single.history}
    assert models.model(0).terms == single.model.terms
    assert models.theta == pytest.approx(single.model.theta, abs=1e-9)


def test_events_that_never_happen_have_finite_weights() -> None:
    """Constant and duplicate columns are learned as the single search does."""
    frame = pd.DataFrame({"a": [0, 1] * 40, "b": [0, 1] * 40, "c": [1] * 80, "g": [0, 0, 1, 1] * 20})
    models = fs.fit_many(frame, by="g", levels={"c": [0, 1]})
    single = fs.FullSpan(**SINGLE, levels={"c": [0, 1]}).fit(frame[frame.g == 1].drop(columns="g"))
    assert models[1].model_.weights == pytest.approx(single.model_.weights)
    assert len(single.model_.terms) > 1


def test_counts_weights_and_max_order() -> None:
    """A column of counts is a repetition of rows; terms have at most max_order variables."""
    frame = rows_of((2, 2, 2, 2), 5, 200, seed=3)
    counted = frame.groupby(list(frame.columns), as_index=False).size()
    plain, tallied = fs.fit_many(frame, "site"), fs.fit_many(counted, "site", count_column="size")
    assert tallied.terms_.to_pylist() == plain.terms_.to_pylist()
    weighted = fs.fit_many(frame, "site", sample_weight=np.full(len(frame), 2.0))
    assert weighted.models_.totals.tolist() == [400.0] * 5
    assert weighted.models_.n_rows.tolist() == [200] * 5
    pairs = fs.fit_many(frame, "site", max_order=1)
    assert set(pairs.terms_["order"].to_pylist()) == {1}


def test_rows_are_scored_under_the_model_of_their_group() -> None:
    """log p of each row is that of the group's own model; (rows, models) where there is no column of groups."""
    frame = rows_of((2, 3, 4), 4, 150, seed=5)
    models = fs.fit_many(frame, "site")
    scores = models.score_samples(frame)
    for group in models:
        own = (frame.site == group).to_numpy()
        assert scores[own] == pytest.approx(models[group].score_samples(frame[own].drop(columns="site")))
        assert scores[own].sum() == pytest.approx(models.log_likelihood_[models.groups_.index(group)])
    with pytest.raises(DataError, match="'site' holds 'nowhere' in row 1"):
        models.score_samples(frame.head(3).assign(site="nowhere"))
    replicates = fs.fit_many(frame.drop(columns="site"), bootstrap=3, random_state=0)
    matrix = replicates.score_samples(frame.drop(columns="site"))
    assert matrix.shape == (600, 3)
    assert matrix[:, 2] == pytest.approx(replicates[2].score_samples(frame.drop(columns="site")))


def test_a_bootstrap_spreads_like_the_standard_error() -> None:
    """Replicates have N rows each; the spread of a weight over them is its standard error."""
    rng = np.random.default_rng(2)
    x = rng.random(800) < 0.3
    frame = pd.DataFrame({"x": x, "y": x ^ (rng.random(800) < 0.2)})
    models = fs.fit_many(frame, bootstrap=400, random_state=1)
    assert models.models_.totals.tolist() == [800.0] * 400
    one = fs.FullSpan(**SINGLE).fit(frame)
    table = models.terms_.to_pandas()
    spread = table[table.term == "x:y"].weight.std()
    error = one.fitted_.standard_errors[one.model_.indices.index(3)]
    assert spread == pytest.approx(error, rel=0.15)
    again = fs.fit_many(frame, bootstrap=400, random_state=1)
    assert np.array_equal(again.models_.theta, models.models_.theta)


def test_folds_leave_every_row_out_once() -> None:
    """Each model misses its own fold; the folds make up the table, and held_out_ is their mean log-probability."""
    frame = rows_of((2, 2, 3), 1, 211, seed=7).drop(columns="site")
    models = fs.fit_many(frame, folds=5, random_state=3)
    whole = Empirical.from_codes(frame.to_numpy())
    assert models.models_.totals.sum() == 4 * 211
    assert sorted(models.models_.totals) == [168.0, 169.0, 169.0, 169.0, 169.0]
    left_out = [np.zeros(12) for _ in range(5)]
    for g in range(5):
        seen = models[g]._empirical
        left_out[g][whole.space.index(whole.states)] += whole.counts
        left_out[g][seen.space.index(seen.states)] -= seen.counts
        codes = np.flatnonzero(left_out[g])
        log_p = models[g].model_.log_prob(np.column_stack([codes % 2, codes // 2 % 2, codes // 4]))
        assert models.held_out_[g] == pytest.approx(left_out[g][codes] @ log_p / left_out[g].sum())
    assert np.min(left_out) == 0
    assert sum(left_out).sum() == 211


def test_files_bring_all_models_back(tmp_path) -> None:
    """Same groups, terms and numbers; errors of weights are not known without counts; other files are refused."""
    frame = rows_of((2, 4, 3), 6, 200, seed=11)
    models = fs.fit_many(frame, "site")
    path = tmp_path / "sites.fsm"
    models.save(path)
    back = fs.GroupedModels.load(path)
    assert back.groups_ == models.groups_
    assert back.terms_.to_pylist() == models.terms_.to_pylist()
    assert back.score_samples(frame).tolist() == models.score_samples(frame).tolist()
    for name in ("log_likelihood_", "description_length_", "n_steps_", "log_z_"):
        assert getattr(back, name).tolist() == getattr(models, name).tolist()
    assert np.isnan(back["s03"].fitted_.standard_errors).all()
    assert back["s03"].divergence_ == pytest.approx(models["s03"].divergence_)
    with pytest.raises(ModelFileError, match=r"GroupedModels\.load"):
        fs.load(path)
    models["s03"].save(tmp_path / "one.fsm")
    assert fs.load(tmp_path / "one.fsm").model_.weights == models["s03"].model_.weights
    with pytest.raises(ModelFileError, match=r"fullspan\.load opens"):
        fs.GroupedModels.load(tmp_path / "one.fsm")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.update(terms=[3, 1, 2]), "must increase"),
        (lambda m: m.update(terms=[1]), "as many weights"),
        (lambda m: m.update(terms=[1, 2, 99]), r"models\[0\]\.terms\[2\]"),
        (lambda m: m.update(group=None), "a group is text"),
        (lambda m: m.update(group="b"), "another group"),
    ],
)
def test_damaged_files_are_refused(tmp_path, change, message) -> None:
    """A file whose checksum is right may still be wrong: the place is named."""
    import json

    from fullspan.model.files import checksum

    frame = pd.DataFrame({"x": [0, 1] * 60, "y": [0, 1] * 55 + [1, 1] * 5, "g": ["a", "a", "b", "b"] * 30})
    path = tmp_path / "many.fsm"
    fs.fit_many(frame, "g", penalty=0.0, epsilon=1e-12).save(path)
    document = json.loads(path.read_text())
    assert len(document["models"][0]["terms"]) == 3
    change(document["models"][0])
    path.write_text(json.dumps({**document, "checksum": checksum(document)}))
    with pytest.raises(ModelFileError, match=message):
        fs.GroupedModels.load(path)


def test_an_interrupt_keeps_the_groups_that_are_done(monkeypatch) -> None:
    """Ctrl-C between batches: what is finished stands, and a warning says how much is missing."""
    frame = rows_of((2, 2, 2), 150, 30, seed=13)

    def stop(self, done, n, seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr("fullspan.learn.base.reporter.Reporter.models", stop)
    with pytest.warns(ConvergenceWarning, match=r"\d+ of 150 models are done"):
        part = fs.fit_many(frame, "site", verbose=True)
    monkeypatch.undo()
    whole = fs.fit_many(frame, "site")
    assert 0 < len(part.groups_) < 150
    assert part.groups_ == whole.groups_[: len(part.groups_)]
    assert part.terms_.to_pylist() == whole.terms_.slice(0, part.terms_.num_rows).to_pylist()


def test_progress_is_told(capsys, monkeypatch) -> None:
    """Models done and models in all, on standard error."""
    monkeypatch.setattr("fullspan.learn.base.reporter.LOG_SECONDS", 0.0)
    fs.fit_many(rows_of((2, 2), 3, 30, seed=1), "site", verbose=True)
    assert "3 of 3 models" in capsys.readouterr().err


def test_what_cannot_be_fitted_is_refused() -> None:
    """The message names the group, or the limit and the way out."""
    frame = rows_of((2, 2, 2), 3, 40, seed=1)
    with pytest.raises(DataError, match="group 's01' has no row left"):
        fs.fit_many(frame.assign(x0=frame.x0.where(frame.site != "s01")), "site", missing="drop")
    with pytest.raises(DataError, match="missing='em'"):
        fs.fit_many(frame, "site", missing="em")
    with pytest.raises(TooLargeError, match=r"models of 8 states needs .* keep fewer variables"):
        fs.fit_many(frame, "site", max_memory=100)
    with pytest.raises(FullspanError, match="give one of by=, bootstrap= and folds=; by and folds was given"):
        fs.fit_many(frame, "site", folds=2)
    with pytest.raises(FullspanError, match="none was given"):
        fs.fit_many(frame)
    with pytest.raises(DataError, match="'sight'; did you mean 'site'"):
        fs.fit_many(frame, "sight")
    with pytest.raises(DataError, match="no columns to count"):
        fs.fit_many(frame[["site"]], "site")
    with pytest.raises(DataError, match="cannot name the groups"):
        fs.fit_many(frame.assign(n=1), "n", count_column="n")
    with pytest.raises(QueryError, match="no group 's09'; the 3 groups are 's00'"):
        fs.fit_many(frame, "site")["s09"]
    with pytest.raises(DataError, match="counts or weights sum to inf rows"):
        fs.fit_many(frame.assign(w=1e308), "site", sample_weight="w")
    groups = count_groups(frame, "site")
    huge = replace(groups, counts=np.full_like(groups.counts, 1e308))
    paper = Options(search="paper", basis="walsh", dtype="float64")
    with np.errstate(over="ignore"), pytest.raises(FullspanError, match="group 's00' with counts that sum to inf"):
        fit_groups(huge, paper)
    with pytest.raises(FullspanError, match="search='paper', but 'full'"):
        fit_groups(count_groups(frame, "site"), Options())
    for options, message in (
        ({"bootstrap": 0}, "at least 1"),
        ({"folds": 1}, "2 to 120"),
        ({"folds": 2, "sample_weight": np.full(120, 0.5)}, "whole numbers"),
    ):
        with pytest.raises(DataError, match=message):
            fs.fit_many(frame, **options)


def test_missing_cells_are_dropped_or_levels() -> None:
    """Dropped rows are counted by group; a level "(missing)" is one of all groups."""
    frame = rows_of((2, 2, 2), 3, 60, seed=1).reset_index(drop=True)
    frame["x1"] = frame.x1.astype("Int64").where(frame.index % 5 > 0)
    dropped = fs.fit_many(frame, "site", missing="drop")
    lost = frame.x1.isna().groupby(frame.site).sum()
    assert dropped.models_.n_dropped.tolist() == lost.tolist()
    assert dropped.models_.totals.tolist() == (60 - lost).tolist()
    assert fs.fit_many(frame, "site", missing="level").space_.cards == (2, 3, 2)
    unnamed = frame.assign(site=frame.site.where(frame.index % 7 > 0), x1=0)
    kept = fs.fit_many(unnamed, "site", missing="level")
    assert kept.groups_[-1] == "(missing)"
    assert kept.models_.n_rows.sum() == kept.models_.totals.sum() == 180


def test_groups_may_be_numbers_and_arrays_have_columns_too() -> None:
    """Groups keep their type; the third column of an array is x2."""
    rows = np.array([[0, 0, 5], [1, 1, 5], [0, 1, 7], [1, 0, 7], [0, 0, 7], [1, 1, 7]] * 25)
    models = fs.fit_many(rows, by="x2")
    assert models.groups_ == (5, 7)
    assert np.int64(7) in models
    assert models[np.int64(5)].n_terms_ == 1
    assert models.space_.names == ("x0", "x1")
    assert models[7].n_terms_ == 0


def test_parameters_that_it_does_not_take_are_refused() -> None:
    """Those of ``FullSpan`` that mean nothing here, and misspelt ones: none is accepted and ignored."""
    for name in ("hidden", "search", "handle_unknown", "penalti"):
        with pytest.raises(TypeError, match=f"fit_many\\(\\) has no parameter '{name}'; it takes penalty, epsilon"):
            fs.fit_many([[0, 1]], bootstrap=2, **{name: 1})
