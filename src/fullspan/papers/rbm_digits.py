"""A restricted machine learns handwritten digits: what its filters, its samples and its likelihood become.

The digits are the 8 x 8 ones of scikit-learn, a pixel on if it has more than half the ink; or those of MNIST, 28 x 28,
from a file ``mnist10k_bin.npz`` in a folder. A tenth of them is held out. Their likelihood is estimated by annealing
with its error, and compared with that of independent pixels, which is exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array
from fullspan.data.space import Space
from fullspan.engine.sampling.layers.device import Device, device
from fullspan.engine.sampling.layers.likelihood import log_partition, log_weights
from fullspan.engine.sampling.layers.network import Network
from fullspan.errors import FullspanError
from fullspan.learn.layered.fit import Data, first_machine
from fullspan.learn.layered.options import LayerOptions
from fullspan.learn.layered.train import Rows, Trainer
from fullspan.model.layered import LayeredMachine
from fullspan.model.units import Units
from fullspan.papers import Say
from fullspan.papers.plots import contrasted, curves, sheets, tiled
from fullspan.papers.text import Panel, columns, text_plot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HIDDEN, SHOWN, ACROSS, SWEEPS = 64, 32, 16, 1000
"""Hidden units, pictures of a sheet and of a row of it, sweeps before a sample."""
RATE, BATCH, CHAINS, STEPS = 0.1, 20, 200, 500
FILE = "mnist10k_bin.npz"


@dataclass(frozen=True)
class Moment:
    """The machine after some epochs; ``error`` is that of the estimate of log Z."""

    epoch: int
    log_likelihood: float
    error: float
    seconds: float
    filters: Array
    samples: Array


@dataclass(frozen=True)
class Digits:
    """What was learned, moment by moment."""

    name: str
    n_rows: int
    n_held_out: int
    side: int
    independent: float
    moments: tuple[Moment, ...]

    def to_json(self) -> dict[str, Any]:
        keys = ("epoch", "log_likelihood", "error", "seconds")
        return {
            "experiment": "rbm-digits",
            "data": self.name,
            "rows": self.n_rows,
            "held_out": self.n_held_out,
            "hidden": HIDDEN,
            "independent": self.independent,
            "moments": [{key: getattr(m, key) for key in keys} for m in self.moments],
        }

    def to_text(self) -> str:
        title = f"{self.name}: {self.n_rows:,} digits, {self.n_held_out} held out, {HIDDEN} hidden units"
        rows = [(str(m.epoch), f"{m.log_likelihood:.2f}", f"{m.error:.2f}", f"{m.seconds:.1f}") for m in self.moments]
        table = columns(("epochs", "log-likelihood", "error", "s"), rows, ())
        alone = f"independent pixels: {self.independent:.2f} (exact)"
        return "\n".join([title, "", *table, "", alone, "", *text_plot(self._panel()), "", _NOTE])

    def figures(self) -> dict[str, Figure]:
        side = self.side
        filters = [
            (f"epoch {m.epoch}", tiled(contrasted(m.filters.reshape(-1, side, side)), ACROSS)) for m in self.moments
        ]
        samples = [(f"epoch {m.epoch}", tiled(m.samples.reshape(-1, side, side), ACROSS)) for m in self.moments]
        return {
            "rbm-digits": curves([self._panel()], 1),
            "rbm-digits-filters": sheets(f"Weights of {SHOWN} hidden units", filters),
            "rbm-digits-samples": sheets(f"Samples after {SWEEPS} sweeps from independent pixels", samples),
        }

    def files(self) -> dict[str, str]:
        lines = ["epoch,log_likelihood,error,seconds"]
        lines += [f"{m.epoch},{m.log_likelihood:.6f},{m.error:.6f},{m.seconds:.3f}" for m in self.moments]
        return {"rbm-digits.csv": "\n".join(lines) + "\n"}

    def _panel(self) -> Panel:
        curve = -np.array([[m.log_likelihood for m in self.moments]])
        return Panel("nats per digit held out, log Z by annealing", curve, across="check", evenly=True)


_NOTE = """\
log-likelihood: mean of the digits held out, in nats. error: standard error of log Z by annealed importance sampling,
which all digits share. Persistent chains, centred gradients, a rate that falls to 0."""


def bits_of(data: Path | None) -> tuple[str, NDArray[np.int8]]:
    """Digits as rows of bits, and their name.

    Raises
    ------
    FullspanError : a folder is given in which there is no such file, or it does not hold what it should.
    """
    if data is None:
        from sklearn.datasets import load_digits

        return "scikit-learn's digits, 8 x 8", (load_digits().data > 8).astype(np.int8)
    found = sorted(data.rglob(FILE)) if data.is_dir() else []
    if not found:
        raise FullspanError(f"there is no {FILE} below {str(data)!r}; leave out --data for the 8 x 8 digits")
    try:
        with np.load(found[0], allow_pickle=False) as arrays:
            return "MNIST, 28 x 28", np.unpackbits(arrays["bits_gt05"], axis=1)[:, :784].astype(np.int8)
    except (KeyError, ValueError, OSError) as error:
        raise FullspanError(f"{found[0]} has no packed bits 'bits_gt05' (rows, 98): {error}") from error


def checkpoints(epochs: int) -> list[int]:
    """0, 1, 2, 5, 10, 20, 50, ... up to ``epochs``."""
    marks = {0, epochs, *(m * 10**k for k in range(7) for m in (1, 2, 5))}
    return sorted(m for m in marks if m <= epochs)


def run(progress: Say | None = None, iterations: int = 50, seed: int = 0, data: Path | None = None) -> Digits:
    """Learn for ``iterations`` epochs, and look at the machine now and then."""
    say = progress or (lambda text: None)
    name, bits = bits_of(data)
    rng = np.random.default_rng(seed)
    bits = bits[rng.permutation(len(bits))]
    n_held = len(bits) // 10
    held, rows = bits[:n_held], bits[n_held:]
    on = device("cpu", "float32", rng)
    learned_from = Data(rows, np.ones(len(rows)))
    start = first_machine(Units(Space.of_cards((2,) * bits.shape[1])), (HIDDEN,), learned_from, rng)
    trainer = Trainer.start(start, LayerOptions(batch_size=BATCH, n_chains=100), on, rng)
    on_device, moments = Rows.of(rows, None, on), []
    for epoch in range(iterations + 1):
        if epoch in checkpoints(iterations):
            machine = trainer.network.machine(start.space, start.base)
            moments.append(_look(machine, held, epoch, trainer.seconds, on, rng))
            say(f"epoch {epoch} of {iterations}: {moments[-1].log_likelihood:.2f} nats")
        if epoch < iterations:
            trainer.epoch(on_device, RATE * (1 - epoch / iterations))
    return Digits(name, len(bits), n_held, math.isqrt(bits.shape[1]), _independent(start, held), tuple(moments))


def _look(
    machine: LayeredMachine, held: NDArray[np.int8], epoch: int, seconds: float, on: Device, rng: np.random.Generator
) -> Moment:
    z = log_partition(machine, "ais", on, CHAINS, STEPS)
    network = Network.of(machine, on)
    states = network.start(SHOWN, on.array(machine.rates))
    for _ in range(SWEEPS):
        network.sweep(states)
    shades = np.asarray(on.to_numpy(network.mean(0, states)), dtype=np.float64)
    score = float(log_weights(machine, held, on).mean()) - z.value
    return Moment(epoch, score, z.standard_error, seconds, machine.weights[0].T[:SHOWN], shades)


def _independent(start: LayeredMachine, held: NDArray[np.int8]) -> float:
    """Mean log-likelihood of independent pixels at the base rates."""
    base = start.rates
    return float((held @ base - np.logaddexp(0.0, base).sum()).mean())
