"""The file of a large mixture: tables in base64 instead of digits."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contract.kinds import mixed_average
from fullspan.data import Space
from fullspan.errors import ModelFileError
from fullspan.model import FactorGraph, FittedMixture, Mixture
from fullspan.model.files import checksum, mixture

N = 17


@pytest.fixture(scope="module")
def fitted() -> FittedMixture:
    """Two components of 2^17 numbers: the first variable given the 16 others, which are independent."""
    space, rng = Space.of_cards((2,) * N), np.random.default_rng(5)
    graphs = []
    for _ in range(2):
        first = rng.dirichlet([1.0, 1.0], size=2 ** (N - 1)).T.reshape((2,) * N)
        others = [np.log(rng.dirichlet([2.0, 2.0])) for _ in range(N - 1)]
        scopes = (tuple(range(N)), *((i,) for i in range(1, N)))
        graphs.append(FactorGraph(space, scopes, (np.log(first), *others)))
    model = Mixture(space, np.array([0.25, 0.75]), tuple(graphs))
    return FittedMixture(model=model, log_likelihood=-9.5, validation=np.nan, total=10.0, n_rows=10)


def test_large_mixtures_are_packed_and_come_back_to_the_last_bit(fitted: FittedMixture, tmp_path: Path) -> None:
    mixture.write(fitted, tmp_path / "m.fsm")
    assert json.loads((tmp_path / "m.fsm").read_text())["version"] == 2
    back = mixture.read(tmp_path / "m.fsm").model
    assert np.array_equal(back.shares, fitted.model.shares)
    for one, two in zip(back.components, fitted.model.components, strict=True):
        assert one.scopes == two.scopes
        assert np.array_equal(one.values, two.values)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("log", "AAAA", "bytes; "),
        ("log", "not base64", "it is not base64"),
        ("log", base64.b64encode(np.full(2**N + 2 * (N - 1), np.nan).tobytes()).decode(), "not finite"),
        ("orders", [1], "the orders ask for 1"),
        ("variables", [99], "not between 0 and 16"),
    ],
)
def test_packed_tables_that_do_not_belong_together_are_refused(
    fitted: FittedMixture, tmp_path: Path, key: str, value: Any, message: str
) -> None:
    path = tmp_path / "m.fsm"
    mixture.write(fitted, path)
    document = json.loads(path.read_text())
    document["components"][0][key] = value
    path.write_text(json.dumps({**document, "checksum": checksum(document)}))
    with pytest.raises(ModelFileError, match=message):
        mixture.read(path)


DAMAGE: dict[str, tuple[str, Any]] = {
    "bytes": ("tree", lambda own: own | {"states": own["states"] + 1}),
    "one root": ("tree", lambda own: own | {"parents": [1, 2, 3, 0]}),
    "it is not base64": ("tree", lambda own: own | {"tables": "?"}),
    "finite": ("trees", lambda own: own | {"logits": own["logits"][:-16]}),
    "there are no trees": ("trees", lambda own: own | {"shares": ""}),
    "cycle": ("trees", lambda own: own | {"parents": [1, 2, 3, 0]}),
    "3 parents": ("trees", lambda own: own | {"parents": own["parents"][1:]}),
}


@pytest.fixture(scope="module")
def stacked() -> FittedMixture:
    """A tree of hidden nodes, trees of one shape, and latent classes."""
    average = mixed_average()
    shares, parts = zip(*average.others, strict=True)
    model = Mixture(average.space, np.array(shares) / sum(shares), parts)
    return FittedMixture(model=model, log_likelihood=-9.5, validation=np.nan, total=10.0, n_rows=10)


def test_components_of_any_kind_come_back_to_the_last_bit(stacked: FittedMixture, tmp_path: Path) -> None:
    mixture.write(stacked, tmp_path / "m.fsm")
    back, rows = mixture.read(tmp_path / "m.fsm").model, [[0, 1, 2, 1], [1, 2, 3, 0]]
    assert [one.kind for one in back.components] == ["tree", "latent trees", "latent trees"]
    assert back.log_prob(rows).tolist() == stacked.model.log_prob(rows).tolist()


@pytest.mark.parametrize("message", DAMAGE)
def test_components_that_are_not_sound_are_refused(stacked: FittedMixture, tmp_path: Path, message: str) -> None:
    """Whoever signs a file anew is told what is wrong in it."""
    path, (form, change) = tmp_path / "m.fsm", DAMAGE[message]
    mixture.write(stacked, path)
    document = json.loads(path.read_text())
    own = next(part for part in document["components"] if form in part)
    own[form] = change(own[form])
    path.write_text(json.dumps(document | {"checksum": checksum(document)}))
    with pytest.raises(ModelFileError, match=message):
        mixture.read(path)
