"""Model files with a valid checksum and hostile content, and networks of other tools: refused by name, or read."""

import contextlib
import copy
import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest

import fullspan as fs
from fullspan.errors import FullspanError, ModelFileError
from fullspan.estimators.explain import ending_words, likelihood_line, limit_line
from fullspan.model.files import checksum, read_bif, read_uai
from fullspan.people.report import gather

OPTIONS = {"columns": ["a", "b", "c"], "bins": {"c": [-9, 0, 9]}}
MODELS = {
    "log-linear": lambda f: fs.FullSpan(**OPTIONS).fit(f),
    "average": lambda f: fs.FullSpan(average=2, random_state=0, **OPTIONS).fit(f),
    "decimatable": lambda f: fs.DecimatableBoltzmannMachine([("a", "b")], columns=["a", "b"]).fit(f),
    "tree": lambda f: fs.ChowLiuTree(**OPTIONS).fit(f),
    "hidden tree": lambda f: fs.HiddenChowLiuTree(**OPTIONS).fit(f),
    "mixture": lambda f: fs.FullSpanMixture(runs=[(2, 1)], restarts=1, **OPTIONS).fit(f),
    "truncated": lambda f: fs.TruncatedBoltzmannMachine(**OPTIONS).fit(f),
    "restricted": lambda f: fs.RestrictedBoltzmannMachine(2, max_iter=2, random_state=0, **OPTIONS).fit(f),
    "many": lambda f: fs.fit_many(f, by="g", columns=["a", "b"]),
}
DEEP = json.loads("[" * 200 + "]" * 200)
DELETED, DOUBLED = object(), object()
HOSTILE = [
    None,
    True,
    -1,
    0,
    3,
    0.5,
    1e308,
    -1e308,
    5e-324,
    2**63,
    10**30,
    "",
    "x",
    "\ud800",
    [],
    {},
    [1],
    [None],
    [[0]],
]
HOSTILE += [{"a": 1}, DEEP, DELETED, DOUBLED]
SAMPLE = 150
"""Mutations of each file, at random."""


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 200)
    b = np.where(rng.random(200) < 0.8, a, 1 - a)
    return pd.DataFrame({"a": a, "b": b, "c": rng.normal(size=200) + a, "g": np.where(np.arange(200) % 2, "u", "v")})


def places(value, path=()):
    """Every place of a document, of long lists the first two."""
    items = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


def mutated(document, place, value):
    changed = copy.deepcopy(document)
    holder = changed
    for key in place[:-1]:
        holder = holder[key]
    if value is DELETED:
        del holder[place[-1]]
    elif value is DOUBLED and isinstance(holder, list):
        holder.append(holder[place[-1]])
    else:
        holder[place[-1]] = None if value is DOUBLED else value
    changed["checksum"] = checksum(changed)
    return changed


def refusal(read, path, use=lambda read: None):
    """What the error says; nothing if the file is read and can be used. Other errors than ours are not caught."""
    try:
        found = read(path)
    except FullspanError as error:
        return str(error)
    use(found)
    return ""


def describe(model):
    """What people see first of a model that was read."""
    assert str(model)
    if not isinstance(model, fs.GroupedModels):
        assert str(model.fitted_.status) in ending_words(model.fitted_)
        assert "nats per row" in likelihood_line(model.fitted_)
        assert limit_line(model.fitted_) != ""
        with contextlib.suppress(FullspanError):  # layered machines have no report
            assert gather(model, title="x", refit=False).title
        if hasattr(model, "summary"):
            assert model.interactions_ is not None
            with contextlib.suppress(FullspanError):  # trees and mixtures have no coefficients
                assert str(model.summary())


@pytest.mark.parametrize("kind", MODELS)
def test_any_value_in_any_place_is_read_or_refused(kind, frame, tmp_path):
    path = tmp_path / "model.fsm"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        MODELS[kind](frame).save(path)
    document = json.loads(path.read_text())
    load = fs.GroupedModels.load if kind == "many" else fs.load
    load(path)
    rng = np.random.default_rng(0)
    all_places = [place for place in places(document) if place != ("checksum",)]
    refused = 0
    for _ in range(SAMPLE):
        place, value = all_places[rng.integers(len(all_places))], HOSTILE[rng.integers(len(HOSTILE))]
        path.write_text(json.dumps(mutated(document, place, value)))
        error = refusal(load, path, describe)
        refused += bool(error)
        assert error == "" or str(path) in error, f"{value!r} at {place}"
    assert refused > SAMPLE // 4


def test_a_target_of_a_machine_in_layers_that_is_no_name(frame, tmp_path):
    path = tmp_path / "m.fsm"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        MODELS["restricted"](frame).save(path)
    document = json.loads(path.read_text())
    for target in ([], {"a": 1}):
        path.write_text(json.dumps(mutated(document, ("fit", "settings", "target"), target)))
        with pytest.raises(ModelFileError, match="lacks what a RestrictedBoltzmannMachine needs"):
            fs.load(path)


def test_a_deep_machine_in_the_file_of_another_estimator(frame, tmp_path):
    path = tmp_path / "m.fsm"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fs.DeepBoltzmannMachine((2, 2), max_iter=1, random_state=0, **OPTIONS).fit(frame).save(path)
    document = json.loads(path.read_text())
    path.write_text(json.dumps(mutated(document, ("fit", "settings", "estimator"), "RestrictedBoltzmannMachine")))
    with pytest.raises(ModelFileError, match="lacks what a RestrictedBoltzmannMachine needs"):
        fs.load(path)


UAI = "MARKOV\n3\n2 2 3\n2\n2 0 1\n2 1 2\n4\n1 2 3 4\n6\n1 2 3 4 5 6\n"
BIF = """network n { }
variable a { type discrete [ 2 ] { x, y }; }
variable b { type discrete [ 2 ] { x, y }; }
probability ( a ) { table 0.5, 0.5; }
probability ( b | a ) { (x) 0.1, 0.9; (y) 0.2, 0.8; }
"""
TOKENS = ["", "-1", "0", "9" * 5000, "1e999", "nan", "x", "\0", "{", "}", "(", "|", "1e300", "99999999999"]


@pytest.mark.parametrize(("text", "suffix", "read"), [(UAI, "uai", read_uai), (BIF, "bif", read_bif)])
def test_any_token_in_a_network_is_read_or_refused(text, suffix, read, tmp_path):
    path = tmp_path / f"n.{suffix}"
    path.write_text(text)
    read(path)
    parts = re.findall(r"\s+|[^\s{}();,|]+|[{}();,|]", text)
    assert "".join(parts) == text
    refused = 0
    for i, part in enumerate(parts):
        for token in () if part.isspace() else TOKENS:
            path.write_text("".join([*parts[:i], token, *parts[i + 1 :]]))
            error = refusal(read, path)
            refused += bool(error)
            assert error == "" or str(path) in error, f"{token!r} for {part!r} at {i}"
    assert refused > 100
