"""The dual table on a GPU: the fused kernels against the CPU's, whole searches, and clear errors without a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fullspan.bench.device import measure, rows_of_a_network
from fullspan.data import Empirical, Space
from fullspan.data.tables import bootstrap
from fullspan.engine.cuda import CudaTable, device
from fullspan.engine.dual import DualTable
from fullspan.engine.planner import plan
from fullspan.engine.protocol import Engine
from fullspan.errors import FullspanError, TooLargeError
from fullspan.learn.many import fit_groups
from fullspan.learn.search import Options, fit_search, prices
from fullspan.model.algebra import Basis, BasisName
from generic import tolerance

reason = device.why_not()
needs_gpu = pytest.mark.skipif(reason is not None, reason=f"needs a GPU: {reason}")
needs_none = pytest.mark.skipif(reason is None, reason="there is a GPU")


def loaded(make: Any, basis: Basis, dtype: Any, n_rows: int) -> Engine:
    empirical = rows_of_a_network(len(basis.cards), n_rows, 3)
    engine: Engine = make(basis, dtype)
    engine.set_data(empirical.space.index(empirical.states), empirical.counts)
    engine.set_prices(prices(basis.cards, empirical.total, "mdl", None))
    return engine


@needs_gpu
@pytest.mark.parametrize("name", ["walsh", "monomial"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "n_rows"), [(13, 2000), (16, 50_000)])
def test_steps_agree_with_the_cpu(name: BasisName, dtype: Any, n: int, n_rows: int) -> None:
    """Every move, whatever bits it has, leads to the same table and the same best candidate; 16 and 32 bit counts."""
    basis = Basis(name, (2,) * n)
    gpu, cpu = (loaded(make, basis, dtype, n_rows) for make in (CudaTable, DualTable))
    np.testing.assert_allclose(gpu.d, cpu.d, rtol=0, atol=tolerance(dtype))
    rng = np.random.default_rng(0)
    bits = [[0], [1], [0, 1], [2], [n - 1], [0, 4], [1, 5, n - 1], [2, 3, 9, 12], [0, 1, 11], [8, n - 2]]
    for chosen in bits:
        y, delta = sum(1 << b for b in chosen), float(rng.normal() / 5)
        one, other = gpu.move(y, delta), cpu.move(y, delta)
        assert one.indices[0] == other.indices[0]
        assert one.gains[0] == pytest.approx(other.gains[0], rel=1e-3 if dtype is np.float32 else 1e-9)
        assert gpu.log_z == pytest.approx(cpu.log_z, abs=tolerance(dtype))
        np.testing.assert_allclose(gpu.eta, cpu.eta, rtol=0, atol=tolerance(dtype))
    first, second = gpu.scan(), cpu.scan()
    assert first.indices[0] == second.indices[0]
    assert gpu.rebuild() < tolerance(dtype)
    assert gpu.log_partition() == pytest.approx(cpu.log_partition(), abs=1e-9)


@needs_gpu
@pytest.mark.parametrize("search", ["paper", "full"])
def test_a_search_on_the_gpu_finds_the_same_terms(search: str) -> None:
    """Same terms and weights as on the CPU, to rounding."""
    empirical = rows_of_a_network(20, 100_000, 0)
    gpu, cpu = (
        fit_search(empirical, Options(search=search, basis="walsh", dtype="float64", device=where))  # type: ignore[arg-type]
        for where in ("cuda", "cpu")
    )
    assert gpu.settings["device_chosen"] == "cuda"
    assert gpu.model.terms == cpu.model.terms
    np.testing.assert_allclose(gpu.model.theta, cpu.model.theta, rtol=0, atol=1e-6)
    assert gpu.description_length == pytest.approx(cpu.description_length, rel=1e-9)


@needs_gpu
@pytest.mark.parametrize("cards", [(2,) * 8, (2, 4, 2, 8), (3, 2, 5, 2), (2,) * 13])
def test_many_models_on_the_gpu_are_those_of_the_cpu(cards: tuple[int, ...]) -> None:
    """Same terms and steps, and weights and likelihoods to rounding; tables in shared memory and too large for it."""
    rng = np.random.default_rng(5)
    x = np.column_stack([rng.choice(card, 3000, p=rng.dirichlet(np.full(card, 3.0))) for card in cards])
    for i in range(1, len(cards)):
        copies = rng.random(len(x)) < rng.uniform(0, 0.6)
        x[copies, i] = x[copies, rng.integers(i)] % cards[i]
    grouped = bootstrap(Empirical.from_codes(x, space=Space.of_cards(cards)), 40, rng)
    gpu, cpu = (
        fit_groups(grouped, Options(search="paper", basis="walsh", dtype="float64", device=where)).models  # type: ignore[arg-type]
        for where in ("cuda", "cpu")
    )
    assert gpu.settings["device"] == "cuda"
    assert max(cpu.n_terms) > 5
    assert gpu.n_terms.tolist() == cpu.n_terms.tolist()
    assert gpu.n_steps.tolist() == cpu.n_steps.tolist()
    assert gpu.indices.tolist() == cpu.indices.tolist()
    assert gpu.converged.all()
    np.testing.assert_allclose(gpu.theta, cpu.theta, rtol=0, atol=1e-9)
    for name in ("log_z", "log_likelihood", "description_length"):
        np.testing.assert_allclose(getattr(gpu, name), getattr(cpu, name), rtol=1e-10)
    assert gpu.drift.max() < 1e-10


@needs_gpu
def test_many_models_too_large_for_the_gpu_are_refused() -> None:
    grouped = bootstrap(
        Empirical.from_codes(np.array([[0, 1], [1, 0]]), space=Space.of_cards((2, 2))), 4, np.random.default_rng(0)
    )
    options = Options(search="paper", basis="walsh", dtype="float64", device="cuda", max_memory=10)
    with pytest.raises(TooLargeError, match=r"on the GPU, a batch of models of 4 states .* device='cpu'"):
        fit_groups(grouped, options)


@needs_none
def test_many_models_on_a_gpu_that_is_not_there() -> None:
    """Asked for by name it is an error; asked to choose, the CPU is chosen, and the models say so."""
    grouped = bootstrap(Empirical.from_codes(np.array([[0, 1], [1, 0]])), 4, np.random.default_rng(0))
    wanted = {"search": "paper", "basis": "walsh", "dtype": "float64"}
    with pytest.raises(FullspanError, match=r"device is 'cuda', but .*; use device='cpu'"):
        fit_groups(grouped, Options(**wanted, device="cuda"))  # type: ignore[arg-type]
    assert fit_groups(grouped, Options(**wanted)).models.settings["device"] == "cpu"  # type: ignore[arg-type]
    with pytest.raises(FullspanError, match="not shared among devices"):
        fit_groups(grouped, Options(**wanted, device="sharded"))  # type: ignore[arg-type]


@needs_gpu
def test_single_precision_describes_as_well() -> None:
    """Rounding may turn ties another way, but the description is as short to a nat in a thousand."""
    empirical = rows_of_a_network(20, 100_000, 0)
    gpu, cpu = (
        fit_search(empirical, Options(search="paper", basis="walsh", dtype="float32", device=where))  # type: ignore[arg-type]
        for where in ("cuda", "cpu")
    )
    assert gpu.description_length == pytest.approx(cpu.description_length, rel=1e-3)


@needs_gpu
def test_too_large_a_table_for_the_gpu_is_refused() -> None:
    with pytest.raises(TooLargeError, match=r"on the GPU, a dual table of 2\^38 states .* device='cpu'"):
        plan(Basis("walsh", (2,) * 38), 1e5, device="cuda")


@needs_none
def test_a_gpu_that_is_not_there_is_a_clear_error() -> None:
    """Asked for by name, a GPU must be there; asked to choose, the CPU is chosen, and the plan says why."""
    basis = Basis("walsh", (2,) * 23)
    with pytest.raises(FullspanError, match=r"device is 'cuda', but .*; use device='cpu'"):
        plan(basis, 1e5, device="cuda")
    chosen = plan(basis, 1e5, device="auto")
    assert chosen.device == "cpu"
    assert chosen.note == f"the CPU is used: {reason}"
    assert not plan(basis, 1e5, device="cpu").note


def test_the_benchmark_measures_the_cpu() -> None:
    row = measure(13, "cpu", n_rows=2000)
    assert row.candidates == 2**13 - 1
    assert row.chosen > 13
    assert row.share > 0
