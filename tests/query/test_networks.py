"""Published networks against published answers: the bnlearn repository and the UAI 2014 competition."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fullspan.errors import ModelFileError, TooLargeError
from fullspan.estimators.networks import GraphModel, read_graph
from fullspan.model.files.networks import NumberList

Find = Callable[[str], Path]

NETWORKS = ("alarm", "asia", "cancer", "child", "earthquake", "sachs", "survey")
QUICK = (
    *(f"Promedus_{n}" for n in (11, 15, 21, 24, 27, 29, 31, 33, 35)),
    *(f"Segmentation_{n}" for n in (11, 13, 15)),
    *("Pedigree_11", "Pedigree_13", "Alchemy_11", "Grids_11"),
)
SLOW = (
    *("Promedus_37", "Grids_13", "Grids_15", "Grids_17", "DBN_11", "DBN_13", "DBN_15", "CSP_11", "CSP_13"),
    *(f"ObjectDetection_{n}" for n in (11, 13, 15, 17)),
    "linkage_24",
)


@cache
def reference(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text()))


def read_pr(path: Path) -> tuple[float, float]:
    """Official log10 Z, and half a unit of its last digit."""
    words = NumberList(path.read_bytes(), str(path))
    assert words.take("PR") == b"PR"
    text = words.take("log10 Z").decode()
    words.end()
    return float(text), 0.5 * 10.0 ** -len(text.partition(".")[2])


def read_mar(path: Path) -> list[NDArray[np.float64]]:
    """Official marginals, in the order of the variables."""
    words = NumberList(path.read_bytes(), str(path))
    assert words.take("MAR") == b"MAR"
    values, marginals = words.reals(1), []
    for _ in range(words.whole("the number of variables")):
        card = words.whole("the number of levels")
        start = words.skip(card, "probabilities") - 1
        marginals.append(values[start : start + card])
    words.end()
    return marginals


def apart(found: Sequence[Any], expected: Sequence[Any]) -> float:
    """Largest difference between marginals."""
    return max(float(np.abs(np.asarray(a) - b).max()) for a, b in zip(found, expected, strict=True))


# -- BIF ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NETWORKS)
def test_bayesian_networks(shared_data: Find, name: str) -> None:
    """Prior and posterior marginals and the probability of the evidence, to 1e-10; levels in the file's order."""
    expected = reference(shared_data("bif/reference.json"))[name]
    model = read_graph(shared_data(f"bif/{name}.bif.gz"))
    assert {v.name: list(v.levels) for v in model.space.variables} == expected["states"]
    prior = {"evidence": {}, "prob_evidence": 1.0, "posteriors": expected["prior_marginals"]}
    for case in (prior, *expected["scenarios"]):
        levels = expected["states"]
        log_z, marginals = model.log_z_and_marginals({k: levels[k][x] for k, x in case["evidence"].items()})
        assert math.exp(log_z) == pytest.approx(case["prob_evidence"], abs=1e-10)
        assert apart([marginals[k] for k in case["posteriors"]], list(case["posteriors"].values())) < 1e-10


@pytest.mark.parametrize("name", ["asia", "sachs", "alarm"])
def test_bayesian_networks_keep_their_distribution_as_uai(shared_data: Find, tmp_path: Path, name: str) -> None:
    """BIF -> UAI -> the same marginals, in the same order; it stays a Bayesian network."""
    model = read_graph(shared_data(f"bif/{name}.bif.gz"))
    model.save(tmp_path / "n.uai")
    assert (tmp_path / "n.uai").read_text().startswith("BAYES\n")
    again = read_graph(tmp_path / "n.uai")
    assert apart(list(again.marginals().values()), list(model.marginals().values())) < 1e-13


def test_a_network_with_impossible_states_is_no_log_linear_model(shared_data: Find, tmp_path: Path) -> None:
    """asia's 'either' is a logical or; survey has no zero and goes through a model file unchanged."""
    with pytest.raises(ValueError, match="forbids lung=yes, tub=yes, either=no"):
        read_graph(shared_data("bif/asia.bif.gz")).save(tmp_path / "n.fsm")
    survey = read_graph(shared_data("bif/survey.bif.gz"))
    survey.save(tmp_path / "n.fsm")
    again = read_graph(tmp_path / "n.fsm")
    assert again.space == survey.space
    assert apart(list(again.marginals().values()), list(survey.marginals().values())) < 1e-12


# -- UAI ------------------------------------------------------------------------------------------------------


def check_instance(shared_data: Find, name: str, max_memory: int | None = None) -> GraphModel:
    """log10 Z as the official value within its rounding or 1e-4, and as the double one within 1e-9; marginals 1e-6."""
    expected = reference(shared_data("uai/reference.json"))[name]
    path = shared_data(f"uai/models/{name}.uai")
    model = read_graph(path, max_memory)
    (evidence,) = model.evidence(f"{path}.evid")
    assert len(evidence) == expected["n_evidence"]
    log_z, marginals = model.log_z_and_marginals(evidence)
    log10_z = log_z / math.log(10)
    official, rounding = read_pr(Path(f"{path}.PR"))
    assert official == expected["official_log10_PR"]
    assert log10_z == pytest.approx(official, abs=max(1e-4, 1.01 * rounding))
    if expected["log10Z_double"] is not None:
        assert log10_z == pytest.approx(expected["log10Z_double"], rel=1e-9, abs=1e-9)
    assert apart(list(marginals.values()), read_mar(Path(f"{path}.MAR"))) < 1e-6
    if "marginals_double" in expected:
        assert apart(list(marginals.values()), expected["marginals_double"]) < 1e-9
    return model


@pytest.mark.parametrize("name", QUICK)
def test_competition_instances(shared_data: Find, name: str) -> None:
    check_instance(shared_data, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_wide_competition_instances(shared_data: Find, name: str) -> None:
    """The same, where a machine with less memory may refuse: then with the prediction and the clique."""
    refusal = ""
    try:
        check_instance(shared_data, name)
    except TooLargeError as error:
        refusal = str(error)
    assert not refusal or ("GiB may be used" in refusal and "the widest table being over x" in refusal)


def test_all_instances_are_listed(shared_data: Find) -> None:
    assert sorted((*QUICK, *SLOW)) == sorted(reference(shared_data("uai/reference.json")))


@pytest.mark.parametrize("name", ["ObjectDetection_13", "Grids_15", "linkage_24", "CSP_11"])
def test_what_does_not_fit_is_refused_before_it_is_tried(shared_data: Find, name: str) -> None:
    """Within 256 MiB: the prediction says what would be needed, and which variables make the network wide."""
    with pytest.raises(TooLargeError, match=r"width \d+, the widest table being over x\d+, .*GiB; 0.25 GiB may be"):
        check_instance(shared_data, name, 256 << 20)


@pytest.mark.parametrize("name", ["Promedus_24", "CSP_13", "Pedigree_13", "ObjectDetection_11"])
def test_competition_files_come_back(shared_data: Find, tmp_path: Path, name: str) -> None:
    """Read, written and read again: the same scopes, and factors to rounding."""
    model = read_graph(shared_data(f"uai/models/{name}.uai"))
    model.save(tmp_path / "again.uai")
    again = read_graph(tmp_path / "again.uai")
    assert again.graph.scopes == model.graph.scopes
    np.testing.assert_allclose(np.exp(again.graph.values), np.exp(model.graph.values), rtol=1e-13)


def test_half_a_competition_file_is_refused(shared_data: Find, tmp_path: Path) -> None:
    data = shared_data("uai/models/Alchemy_11.uai").read_bytes()
    (tmp_path / "half.uai").write_bytes(data[: len(data) // 2])
    with pytest.raises(ModelFileError, match=r"half.uai, line \d+: "):
        read_graph(tmp_path / "half.uai")
