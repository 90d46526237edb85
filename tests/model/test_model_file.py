"""Model files: what comes back, what is refused, and what a failure leaves behind."""

from __future__ import annotations

import contextlib
import copy
import inspect
import json
import math
import os
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullspan.data import Space, Variable
from fullspan.errors import FullspanError, ModelFileError
from fullspan.model import AveragedLogLinear, Fitted, LogLinear, Step
from fullspan.model.algebra import BASES, Basis, log_sum_exp, small_exponents
from fullspan.model.effects import Effect, Interaction
from fullspan.model.files import averaged, envelope, log_linear, strict_json
from fullspan.model.goodness import Goodness

SPACE = Space(
    (
        Variable("crime", ("n", "y")),
        Variable("años ∈ 'x'", (1, 2.5, True)),
        Variable("age", ("[-inf, 30)", "[30, inf]", "(missing)"), (-math.inf, 30.000000000000004, math.inf)),
    )
)
TERMS = (((0, 1),), ((0, 1), (2, 2)), ((0, 1), (1, 1), (2, 1)))


FILES = {kind.KIND: kind for kind in (log_linear, averaged)}


def save(one, path):
    FILES[one.kind].write(one, path)


def load(path):
    """Read by the module of the kind that the header names; a kind that is none of these is refused by either."""
    return FILES.get(envelope.kind_of(path), log_linear).read(path)


def fitted(basis="walsh", space=SPACE, terms=TERMS, **changes):
    theta = np.random.default_rng(7).normal(size=len(terms))
    algebra = Basis(basis, space.cards)
    log_z = log_sum_exp(small_exponents(algebra, dict(zip(terms, theta, strict=True))))
    parts = {
        "model": LogLinear(space, algebra, terms, theta, log_z),
        "standard_errors": np.linspace(0.1, 1 / 3, len(terms)),
        "nats_saved": np.array([1.5, np.nan, 1e-17])[: len(terms)],
        "total": 434.5,
        "n_rows": 435,
        "n_dropped": 1,
        "divergence": 0.1,
        "entropy": 2 / 3,
        "description_length": 1234.5,
        "history": (Step("append", 1, 0.5, 0.001), Step("refit", 3, 0.25, 0.01)),
        "status": "converged",
        "drift": 1e-15,
        "settings": {"penalty": "mdl", "l1": 0.0, "max_order": None, "bins": [1, 2]},
        "fingerprint": "ab" * 32,
        "version": "0.1.0",
    }
    return Fitted(**{**parts, **changes})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "votes.fsm"


@pytest.mark.parametrize("basis", BASES)
def test_everything_comes_back_to_the_last_bit(path, basis):
    one = fitted(basis)
    save(one, path)
    two = load(path)
    assert two.model.space == one.model.space
    assert [type(x) for v in two.model.space.variables for x in v.levels] == [str, str, int, float, bool, str, str, str]
    assert two.model.basis == one.model.basis
    assert two.model.terms == one.model.terms
    assert two.model.log_z == one.model.log_z
    np.testing.assert_array_equal(two.model.theta, one.model.theta)
    np.testing.assert_array_equal(two.standard_errors, one.standard_errors)
    np.testing.assert_array_equal(two.nats_saved, one.nats_saved)
    plain = (
        "total",
        "n_rows",
        "n_dropped",
        "divergence",
        "entropy",
        "description_length",
        "history",
        "status",
        "drift",
    )
    for name in (*plain, "settings", "fingerprint", "version"):
        assert getattr(two, name) == getattr(one, name), name


MEASURES = Goodness(-10.25, 3, 26.5, 1 / 3, math.nan, 7.5, -2, 8, math.nan, 0.25, 12)


def test_measures_limits_and_hidden_variables_come_back(path):
    save(fitted(goodness=MEASURES, diverging=(0, 2), n_hidden=1), path)
    two = load(path)
    assert (two.diverging, two.n_hidden) == ((0, 2), 1)
    assert repr(two.goodness) == repr(MEASURES)  # NaN is not equal to itself
    assert np.isinf(two.weights).tolist() == [True, False, True]
    words = [term["words"] for term in json.loads(path.read_text(encoding="utf-8"))["terms"]]
    assert ["no finite maximum" in text for text in words] == [len(TERMS[0]) > 1, False, len(TERMS[2]) > 1]


def test_interactions_shares_and_errors_come_back(path):
    effect = Effect(("crime=y", "age=old"), math.inf, math.nan)
    ratio = Effect(("crime=y", "age=young"), -0.25, 0.125)
    found = (
        Interaction(("crime", "age"), 12.5, False, "cell ratio", (ratio, effect), math.nan, math.nan, 0.5),
        Interaction(("crime", "age"), math.nan, True, "odds ratio", (ratio,), 0.5, 3.0),
    )
    shares = tuple(tuple(1 / card for _ in range(card)) for card in SPACE.cards)
    known = np.array([False, True, False])
    errors = np.array([0.5, math.nan])
    save(fitted(interactions=found, shares=shares, approximate=known, coefficient_errors=errors), path)
    two = load(path)
    assert repr(two.interactions) == repr(found)
    assert (two.shares, two.approximate.tolist()) == (shares, known.tolist())
    np.testing.assert_array_equal(two.coefficient_errors, errors)


@pytest.mark.parametrize(
    ("where", "value", "says"),
    [
        (("interactions", 0, "variables"), ["crime"], "two or more"),
        (("interactions", 0, "kind"), "risk ratio", "odds ratio"),
        (("interactions", 0, "effects", 0, "events"), ["crime=y"], "1 events for 2"),
        (("refitted",), [9], "2"),
        (("shares", 0), [1.0], "one share for each level"),
    ],
)
def test_damaged_interactions_are_refused(path, where, value, says):
    found = (Interaction(("crime", "age"), 12.5, False, "odds ratio", (Effect(("a", "b"), 0.5),)),)
    shares = tuple(tuple(1 / card for _ in range(card)) for card in SPACE.cards)
    save(fitted(interactions=found, shares=shares), path)
    document = json.loads(path.read_text(encoding="utf-8"))
    node = document["fit"]
    for step in where[:-1]:
        node = node[step]
    node[where[-1]] = value
    write(path, document)
    with pytest.raises(ModelFileError, match=says):
        load(path)


def test_files_without_measures_still_open(path, sound):
    """As written before there were any."""
    document = copy.deepcopy(sound)
    for name in ("goodness", "diverging", "n_hidden"):
        del document["fit"][name]
    write(path, document)
    two = load(path)
    assert (two.goodness, two.diverging, two.n_hidden) == (None, (), 0)


def test_what_is_not_known_is_null(path):
    save(fitted(divergence=math.nan, entropy=math.nan), path)
    assert json.loads(path.read_text(encoding="utf-8"))["fit"]["divergence"] is None
    assert math.isnan(load(path).divergence)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-30, 30), min_size=3, max_size=3))
def test_any_weights_come_back_to_the_last_bit(tmp_path_factory, theta):
    one = fitted()
    log_z = log_sum_exp(small_exponents(one.model.basis, dict(zip(TERMS, theta, strict=True))))
    model = LogLinear(SPACE, one.model.basis, TERMS, np.array(theta), log_z)
    path = tmp_path_factory.mktemp("weights") / "model.fsm"
    save(fitted(model=model), path)
    np.testing.assert_array_equal(load(path).model.theta, model.theta)


def test_the_file_is_made_for_people(path):
    one = fitted()
    save(one, path)
    text = path.read_text(encoding="utf-8")
    document = json.loads(text)
    assert document["format"] == "fullspan-model"
    assert document["version"] == 1
    assert document["terms"][1]["term"] == {"crime": 1, "age": 2}
    assert document["terms"][1]["order"] == 2
    assert document["terms"][1]["words"] == one.describe(1)
    assert document["terms"][1]["nats_saved"] is None
    assert "años" in text
    assert len(text.splitlines()) < 50


def test_a_model_without_terms(path):
    save(fitted(terms=(), nats_saved=[], history=()), path)
    assert load(path).model.terms == ()
    assert load(path).history == ()


def test_numpy_values_are_written_as_plain_ones(path):
    space = Space((Variable("a", (np.int64(1), np.float64(2.5))),))
    model = fitted(space=space, terms=(((0, 1),),), settings={"epsilon": np.float64(0.5)}, history=())
    save(model, path)
    assert load(path).model.space.variables[0].levels == (1, 2.5)
    assert load(path).settings == {"epsilon": 0.5}


# -- writing --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", ["replace", "fsync"])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(path, monkeypatch, call):
    save(fitted(), path)
    before = path.read_bytes()

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(ModelFileError, match=r"votes\.fsm cannot be written: No space left"):
        save(fitted(status="interrupted"), path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == ["votes.fsm"]


def test_an_interrupted_write_leaves_nothing(path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        save(fitted(), path)
    assert os.listdir(path.parent) == []


def test_a_link_stays_a_link(path, tmp_path):
    link = tmp_path / "link.fsm"
    link.symlink_to(path)
    save(fitted(), link)
    assert link.is_symlink()
    assert load(path).total == 434.5


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"settings": {"a": object()}}, "no form for"),
        ({"settings": {"a": float("nan")}}, "no form for"),
        ({"divergence": math.inf}, "no form for"),
        ({"fingerprint": "\ud800"}, "no form for"),
    ],
)
def test_what_json_cannot_hold_is_refused(path, changes, message):
    with pytest.raises(ModelFileError, match=message):
        save(fitted(**changes), path)
    assert not path.exists()


def test_a_model_too_large_to_read_is_not_written(path):
    """What is saved can be loaded: the limit is the same for both."""
    with pytest.raises(ModelFileError, match="larger than 64 MiB"):
        save(fitted(settings={"note": "x" * strict_json.MAX_BYTES}), path)
    assert not path.exists()


def test_a_missing_folder(tmp_path):
    with pytest.raises(ModelFileError, match="cannot be written: No such file"):
        save(fitted(), tmp_path / "none" / "a.fsm")


@pytest.mark.parametrize("name", ["standard_errors", "nats_saved"])
def test_one_number_per_term(name):
    with pytest.raises(FullspanError, match=name):
        fitted(**{name: np.ones(5)})


# -- reading --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    path = tmp_path_factory.mktemp("sound") / "a.fsm"
    save(fitted(goodness=MEASURES, diverging=(0,)), path)
    return json.loads(path.read_text(encoding="utf-8"))


DELETE = object()


def changed(document, place, value):
    document = copy.deepcopy(document)
    *path, last = place
    inner = document
    for key in path:
        inner = inner[key]
    if value is DELETE:
        del inner[last]
    else:
        inner[last] = value
    return document


def write(path, document):
    """Write a document with the checksum it ought to have."""
    path.write_text(json.dumps({**document, "checksum": envelope.checksum(document)}), encoding="utf-8")


V, T, F = ("space", "variables"), ("terms",), ("fit",)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("format",), "parquet", "at format"),
        (("format",), 1, "text is needed, not 1"),
        (("format",), DELETE, "'format' is missing"),
        (("version",), 3, "newer version of fullspan"),
        (("version",), 0, "not between 1"),
        (("version",), True, "a whole number is needed"),
        (("version",), "1", "a whole number is needed"),
        (("kind",), "cloud", 'holds a model of kind "cloud", where "log-linear"'),
        (("space",), [], "an object is needed, not a list"),
        (V, {}, "a list is needed, not an object"),
        (V, [], "0 variables"),
        (V, [{"name": "a", "levels": [0]}] * 70_000, "70000 variables"),
        ((*V, 0, "name"), 3, r"at space.variables\[0\].name: text is needed"),
        ((*V, 0, "levels"), [], "no level"),
        ((*V, 0, "levels"), ["a", "a"], "a level twice"),
        ((*V, 0, "levels"), ["a", None], r"levels\[1\]: a level is text"),
        ((*V, 0, "levels"), ["a", [1]], "a level is text"),
        ((*V, 1, "name"), "crime", "two variables are named"),
        ((*V, 2, "edges"), [1, 2], "bin edges"),
        ((*V, 2, "edges"), [3, 2, 1], "do not increase"),
        ((*V, 2, "edges"), ["-inf", "x", "inf"], "a number is needed"),
        (("basis",), "fourier", "none of walsh"),
        (("log_z",), 17.5, "does not match the weights"),
        (("log_z",), None, "a number is needed"),
        (("log_z",), 10**400, "too large"),
        (T, 7, "a list is needed, not 7"),
        ((*T, 0, "term"), {}, "at least one variable"),
        ((*T, 0, "term"), {"nobody": 1}, r"at terms\[0\].term.nobody: there is no variable"),
        ((*T, 0, "term"), {"crime": 2}, "2 is not between 1 and 1"),
        ((*T, 0, "term"), {"crime": 0}, "0 is not between 1 and 1"),
        ((*T, 0, "term"), {"crime": 10**40}, "very many digits"),
        ((*T, 0, "term"), {"crime": 1.0}, "a whole number is needed"),
        ((*T, 1, "term"), {"crime": 1}, "is listed twice"),
        ((*T, 0, "weight"), "0.1", "a number is needed"),
        ((*T, 0, "weight"), False, "a number is needed"),
        ((*T, 0, "weight"), DELETE, "'weight' is missing"),
        ((*T, 0, "weight"), 1e308, "does not match the weights"),
        ((*T, 0, "standard_error"), "x" * 99, r"x\.\.\."),
        ((*F, "total"), -1, "-1 is less than 0"),
        ((*F, "n_rows"), -1, "not between 0"),
        ((*F, "n_dropped"), 1.5, "a whole number is needed"),
        ((*F, "settings"), [], "an object is needed"),
        ((*F, "status"), None, "text is needed, not null"),
        ((*F, "n_hidden"), -1, "not between 0 and 2"),
        ((*F, "n_hidden"), 3, "not between 0 and 2"),
        ((*F, "n_hidden"), 1.0, "a whole number is needed"),
        ((*F, "diverging"), 1, "a list is needed"),
        ((*F, "diverging"), [3], "3 is not between 0 and 2"),
        ((*F, "diverging"), [1, 1], "must increase"),
        ((*F, "diverging"), [True], "a whole number is needed"),
        ((*F, "goodness"), [], "an object is needed"),
        ((*F, "goodness"), {}, "is missing"),
        ((*F, "goodness", "df"), 1.5, "a whole number is needed"),
        ((*F, "goodness", "df"), 10**30, "not between"),
        ((*F, "goodness", "aic"), "low", "a number is needed"),
        ((*F, "divergence"), "small", "a number is needed"),
        ((*F, "history", 0), [], "an object is needed"),
        ((*F, "history", 0, "seconds"), -2, "less than 0"),
    ],
)
def test_unsound_files_are_refused_with_their_place(sound, path, place, value, message):
    write(path, changed(sound, place, value))
    with pytest.raises(ModelFileError, match=message) as caught:
        load(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ((*F, "total"), 433.5, "does not match its checksum: it was changed or damaged"),
        ((*T, 0, "standard_error"), 0.5, "does not match its checksum"),
        (("extra",), 1, "does not match its checksum"),
        (("checksum",), "ab" * 32, "does not match its checksum"),
        (("checksum",), 7, "at checksum: text is needed"),
        (("checksum",), DELETE, "'checksum' is missing"),
    ],
)
def test_a_file_that_was_changed_is_refused(sound, path, place, value, message):
    path.write_text(json.dumps(changed(sound, place, value)), encoding="utf-8")
    with pytest.raises(ModelFileError, match=message):
        load(path)


def test_the_checksum_is_over_values_not_layout(sound, path):
    path.write_text(json.dumps(dict(reversed(sound.items())), indent=7), encoding="utf-8")
    assert load(path).total == 434.5


def test_settings_of_any_json_form_match_their_checksum(path):
    save(fitted(settings={"bins": {1: (2, 3), "a": None}, "levels": {"x": ["\u00e4", True, 1.0]}}), path)
    assert load(path).settings == {"bins": {"1": [2, 3], "a": None}, "levels": {"x": ["\u00e4", True, 1.0]}}


@pytest.mark.parametrize("margin", [10, 20, 30, 40, 60, 80, 120])
def test_nesting_near_the_limit_of_the_interpreter_is_refused(sound, path, margin):
    """Parsing needs a little less of the stack than the checksum: whichever fails, the refusal says so."""
    depth = sys.getrecursionlimit() - len(inspect.stack()) - margin
    deep = "[" * depth + "]" * depth
    text = json.dumps(changed(sound, (*F, "settings"), {"deep": None}))
    path.write_text(text.replace('{"deep": null}', '{"deep": ' + deep + "}"), encoding="utf-8")
    with pytest.raises(ModelFileError, match=r"nested too deeply|checksum"):
        load(path)


def test_weights_whose_sum_overflows_are_refused_in_a_large_space_too(sound, path):
    """There log Z is not recomputed."""
    document = changed(sound, V, [{"name": f"v{i}", "levels": [0, 1]} for i in range(40)])
    row = {**document["terms"][0], "weight": 1.5e308}
    document["terms"] = [{**row, "term": {"v0": 1}}, {**row, "term": {"v1": 1}}]
    write(path, document)
    with pytest.raises(ModelFileError, match="at terms: the weights"):
        load(path)
    document["terms"][1]["weight"] = 1.0
    write(path, document)
    assert load(path).model.space.n_states == 2**40


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "cut short"),
        ("[]", "an object is needed"),
        ('"fullspan-model"', "an object is needed"),
        ("{]", "not a valid model file"),
        ('{"a": 1, "a": 2}', "'a' occurs twice"),
        ('{"a": NaN}', "NaN is not a number"),
        ('{"a": -Infinity}', "-Infinity is not a number"),
        ('{"a": 1e999}', "1e999 is too large"),
        ('{"a": ' + "9" * 5000 + "}", "digits"),
        ("[" * 200_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
    ],
)
def test_text_that_is_no_strict_json(path, text, message):
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ModelFileError, match=message):
        load(path)


@pytest.mark.parametrize("half", ["\ud800", "\udc00\ud800"])
@pytest.mark.parametrize(
    ("place", "form"),
    [
        ((*F, "status"), "{}"),
        ((*V, 0, "name"), "a{}"),
        ((*V, 0, "levels", 1), "{}b"),
        ((*F, "settings"), {"columns": ["{}"]}),
        ((*F, "settings"), {"{}": 1}),
    ],
)
def test_half_a_surrogate_pair_is_refused_wherever_it_stands(sound, path, place, form, half):
    value = json.loads(json.dumps(form).replace("{}", json.dumps(half)[1:-1]))
    write(path, changed(sound, place, value))
    with pytest.raises(ModelFileError, match="half of a surrogate pair") as caught:
        load(path)
    str(caught.value).encode("utf-8")


def test_a_whole_surrogate_pair_is_a_letter(sound, path):
    write(path, changed(sound, (*F, "status"), "\U0001f600 \\ud800"))
    assert load(path).status == "\U0001f600 \\ud800"


def test_bytes_that_are_no_text(path):
    path.write_bytes(b"\x80\x04\x95 a pickle")
    with pytest.raises(ModelFileError, match="not a valid model file"):
        load(path)


def test_every_truncation_is_refused(path):
    save(fitted(), path)
    whole = path.read_bytes().rstrip()
    for length in range(0, len(whole), 29):
        path.write_bytes(whole[:length])
        with pytest.raises(ModelFileError):
            load(path)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_change_of_bytes_loads_or_is_refused(tmp_path_factory, data):
    """Damage gives a model or ModelFileError, and nothing else."""
    path = tmp_path_factory.mktemp("damage") / "a.fsm"
    save(fitted(), path)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(content))
    with contextlib.suppress(ModelFileError):
        assert isinstance(load(path), Fitted)


def test_files_that_are_none(tmp_path, path):
    with pytest.raises(ModelFileError, match=r"votes\.fsm cannot be read: No such file"):
        load(path)
    with pytest.raises(ModelFileError, match="is not a file"):
        load(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="is not a file"):
        load(tmp_path / "pipe")
    save(fitted(), path)
    os.truncate(path, strict_json.MAX_BYTES + 1)
    with pytest.raises(ModelFileError, match="more than any model file"):
        load(path)


def test_a_variable_of_very_many_levels_costs_no_square(path, sound):
    """60,000 levels: no matrix of 60,000 x 60,000 is made."""
    document = changed(sound, V, [{"name": "a", "levels": list(range(60_000))}])
    document["terms"] = [{**document["terms"][0], "term": {"a": 59_999}, "weight": 0.5}]
    document["basis"] = "indicator"
    write(path, document)
    model = load(path).model
    assert model.energy([[59_999], [0]]).tolist() == [-0.5, 0.5]


def test_the_version_is_known_or_said_to_be_unknown(monkeypatch):
    from importlib import metadata

    from fullspan.model.record import software_version

    assert software_version()
    software_version.cache_clear()
    monkeypatch.setattr(metadata, "version", lambda name: (_ for _ in ()).throw(metadata.PackageNotFoundError(name)))
    assert software_version() == "unknown"
    software_version.cache_clear()


def test_more_variables_than_are_read_are_not_written(path):
    """What is saved can be loaded: the limit is the same for both."""
    space = Space(tuple(Variable(f"v{i}", (0,)) for i in range(2**16 + 1)))
    model = LogLinear(space, Basis("walsh", space.cards), (), np.zeros(0), 0.0)
    with pytest.raises(ModelFileError, match="65,537 variables cannot be written"):
        save(Fitted.given(model), path)
    assert not path.exists()


def test_a_model_beside_an_average_may_have_any_share(path):
    """Of 10^16 rows the least share that is ever fitted is 10^-16; it comes back."""
    space, basis, terms = Space.of_cards((2,)), Basis("monomial", (2,)), (((0, 1),),)
    one, other = (LogLinear(space, basis, terms, np.array([w]), float(np.log1p(np.exp(w)))) for w in (0.3, -0.8))
    save(Fitted.given(AveragedLogLinear.of([one], [(1e-300, other)])), path)
    assert load(path).model.background[0][0] == 1e-300
