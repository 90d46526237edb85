"""The em loop of every learner, on a mixture of two coins: it never falls, rests at a maximum, and keeps the best."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.typing import NDArray

from fullspan.learn.base import Alternated, Expected, Interrupted, Stop, alternate, restarted

Array = NDArray[np.float64]
Coins = tuple[float, float, float]
"""Share of the first coin, and how often each shows heads."""
HEADS = np.array([1, 2, 9, 8, 10, 3, 2, 9, 1, 7], dtype=float)
TOSSES = 10.0


@dataclass
class TwoCoins:
    """Rows are bags of tosses of one of two coins; which one is hidden."""

    calls: list[str] = field(default_factory=list)
    stop_at: int | None = None

    def complete(self, model: Coins) -> Expected[Array]:
        self.calls.append("e")
        if self.stop_at is not None and len(self.calls) > self.stop_at:
            raise KeyboardInterrupt
        share, a, b = model
        logs = np.array(
            [np.log(w) + HEADS * np.log(p) + (TOSSES - HEADS) * np.log(1 - p) for w, p in ((share, a), (1 - share, b))]
        )
        log = np.logaddexp(*logs)
        return Expected(-float(log.sum()), np.exp(logs[0] - log))

    def project(self, data: Array, model: Coins) -> Coins:
        self.calls.append("m")
        first, rest = data, 1 - data
        return (
            float(first.mean()),
            float(first @ HEADS / (TOSSES * first.sum())),
            float(rest @ HEADS / (TOSSES * rest.sum())),
        )


STARTS: list[Coins] = [(0.5, 0.3, 0.6), (0.9, 0.5, 0.1), (0.5, 0.45, 0.55)]
PATIENT = Stop(gain=1e-12, patience=1, max_iter=500)


@pytest.mark.parametrize("start", STARTS)
def test_the_observed_likelihood_never_falls_and_em_rests_at_its_maximum(start: Coins) -> None:
    coins = TwoCoins()
    found = alternate(coins, start, PATIENT)
    assert found.status == "converged"
    assert (np.diff(found.trace) <= 1e-12).all()
    again = coins.project(coins.complete(found.model).data, found.model)
    np.testing.assert_allclose(again, found.model, atol=1e-5)
    assert found.value == pytest.approx(min(found.trace), abs=1e-12)


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("limit", [0, 1, 4])
def test_steps_alternate_and_are_counted(start: Coins, limit: int) -> None:
    coins = TwoCoins()
    found = alternate(coins, start, Stop(patience=None, max_iter=limit))
    assert (found.status, found.iterations) == ("iteration limit", limit)
    assert "".join(coins.calls) == "e" + "me" * limit


@pytest.mark.parametrize("patience", [1, 3])
def test_patience_counts_steps_without_a_gain(patience: int) -> None:
    """A gain that no step makes: em ends after as many steps as it is patient, with the best model met."""
    found = alternate(TwoCoins(), STARTS[0], Stop(gain=1e6, patience=patience))
    assert (found.status, found.iterations) == ("converged", patience)
    assert found.value == min(found.trace)


def test_the_violation_ends_it_too() -> None:
    class Agreeing(TwoCoins):
        def complete(self, model: Coins) -> Expected[Array]:
            expected = super().complete(model)
            return Expected(expected.value, expected.data, violation=1.0 / len(self.calls))

    found = alternate(Agreeing(), STARTS[0], Stop(tol=0.2, patience=None))
    assert (found.status, found.iterations) == ("converged", 2)


def test_where_a_step_may_raise_the_objective_the_best_model_is_kept() -> None:
    class Wavering(TwoCoins):
        def project(self, data: Array, model: Coins) -> Coins:
            share, a, b = super().project(data, model)
            return (share, a, b) if len(self.calls) < 6 else (0.5, 0.5, 0.5)

    found = alternate(Wavering(), STARTS[0], Stop(patience=None, max_iter=5))
    assert found.value == min(found.trace) < found.trace[-1]
    assert TwoCoins().complete(found.model).value == found.value


@pytest.mark.parametrize("stop_at", [1, 2, 5])
def test_an_interruption_keeps_the_best_so_far(stop_at: int) -> None:
    found = alternate(TwoCoins(stop_at=stop_at), STARTS[0], PATIENT)
    assert found.status == "interrupted"
    assert found.value == min(found.trace)


def test_an_interruption_before_the_first_step_leaves_the_start() -> None:
    found = alternate(TwoCoins(stop_at=0), STARTS[0], PATIENT)
    assert (found.model, found.expected, found.status, found.trace) == (STARTS[0], None, "interrupted", ())


def test_a_report_sees_every_model_and_may_stop() -> None:
    seen: list[tuple[Coins, float, int]] = []

    def report(model: Coins, expected: Expected[Array], done: int) -> None:
        seen.append((model, expected.value, done))
        if done == 2:
            raise Interrupted

    found = alternate(TwoCoins(), STARTS[0], PATIENT, report)
    assert [done for *_, done in seen] == [0, 1, 2]
    assert seen[0][0] == STARTS[0]
    assert found.trace == tuple(value for _, value, _ in seen)
    assert (found.status, found.model) == ("interrupted", seen[2][0])


def test_restarts_keep_the_best() -> None:
    """One start is between the coins, where both are the same and em can only rest at a saddle."""
    saddle: Coins = (0.5, 0.52, 0.52)
    runs = restarted(lambda start: alternate(TwoCoins(), start, PATIENT), [saddle, STARTS[0], saddle])
    assert len(runs) == 3
    assert [run.value for run in runs] == sorted(run.value for run in runs)
    assert runs[0].value < runs[1].value - 1
    assert {round(p, 1) for p in runs[0].model[1:]} == {0.2, 0.9}


def test_an_interrupted_run_is_the_last() -> None:
    def run(start: Coins) -> Alternated[Coins, Array]:
        return alternate(TwoCoins(stop_at=3 if start == STARTS[1] else None), start, PATIENT)

    runs = restarted(run, STARTS)
    assert sorted(found.status for found in runs) == ["converged", "interrupted"]
