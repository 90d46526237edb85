"""Which device computes on layers: the processor, or a graphics card."""

from __future__ import annotations

from typing import Literal

import numpy as np

from fullspan.engine.sampling.layers.arrays import Device
from fullspan.engine.sampling.layers.card import card
from fullspan.engine.sampling.layers.processor import Processor
from fullspan.errors import FullspanError

__all__ = ["DEVICES", "Device", "DeviceName", "device"]

DeviceName = Literal["cpu", "cuda"]
DEVICES = ("cpu", "cuda")


def device(name: str, dtype: str, rng: np.random.Generator) -> Device:
    """The device of a name, with random numbers from a generator (seeded by it on a graphics card).

    Raises
    ------
    FullspanError : the name or type is unknown, or the library of the card or the card itself is not there.
    """
    if dtype not in ("float32", "float64"):
        raise FullspanError(f"dtype is {dtype!r}; 'float32' and 'float64' are possible")
    if name == "cpu":
        return Processor(dtype, rng)
    if name == "cuda":
        return card(dtype, rng)
    raise FullspanError(f"device is {name!r}; {' and '.join(map(repr, DEVICES))} are possible")
