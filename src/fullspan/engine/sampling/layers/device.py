"""Which device computes on layers: the processor, or a graphics card."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal

import numpy as np

from fullspan.engine.sampling.layers.arrays import Device
from fullspan.engine.sampling.layers.processor import Processor
from fullspan.errors import FullspanError, require_one_of

__all__ = ["DEVICES", "Device", "DeviceName", "device"]

DeviceName = Literal["cpu", "cuda"]
DEVICES = ("cpu", "cuda")


def device(name: str, dtype: str, rng: np.random.Generator) -> Device:
    """The device of a name, with random numbers from a generator (seeded by it on a graphics card).

    Raises
    ------
    FullspanError : the name or type is unknown, or the library of the card or the card itself is not there.
    """
    require_one_of(("float32", "float64"), dtype=dtype)
    require_one_of(DEVICES, device=name)
    return Processor(dtype, rng) if name == "cpu" else card(dtype, rng)


def card(dtype: str, rng: np.random.Generator) -> Device:
    """The first graphics card.

    Raises
    ------
    FullspanError : neither CuPy nor PyTorch with ``array_api_compat`` is installed, or there is no card.
    """
    seed = int(rng.integers(2**31))
    reasons = []
    for make in (_cupy, _torch):
        try:
            return make(dtype, seed)
        except ImportError as error:
            reasons.append(str(error))
        except RuntimeError as error:
            reasons.append(f"{make.__name__[1:]}: {error}")
    raise FullspanError(
        f"device='cuda' needs a CUDA card and CuPy (pip install 'fullspan[gpu]'), or PyTorch with array-api-compat; "
        f"use device='cpu' without them ({'; '.join(reasons)})"
    )


class _CupyDevice(Device):
    """CuPy, by names that its versions before the standard have as well."""

    name = "cupy"

    def cast(self, values: Any, dtype: Any) -> Any:
        return values.astype(dtype)

    def joined(self, parts: list[Any]) -> Any:
        return self.xp.concatenate(parts, axis=1)

    def running_sum(self, values: Any) -> Any:
        return self.xp.cumsum(values, axis=2)

    def synchronise(self) -> None:
        self.xp.cuda.get_current_stream().synchronize()


def _cupy(dtype: str, seed: int) -> Device:
    cupy: Any = import_module("cupy")
    if cupy.cuda.runtime.getDeviceCount() < 1:
        raise RuntimeError("no CUDA device was found")
    generator = cupy.random.default_rng(seed)
    return _CupyDevice(
        cupy, dtype, lambda shape, kind: generator.random(shape, dtype=kind), to_numpy=lambda a: cupy.asnumpy(a)
    )


class _TorchDevice(Device):
    name = "torch"

    def synchronise(self) -> None:
        import_module("torch").cuda.synchronize()


def _torch(dtype: str, seed: int) -> Device:
    torch: Any = import_module("torch")
    xp: Any = import_module("array_api_compat.torch")
    if not torch.cuda.is_available():
        raise RuntimeError("no CUDA device was found")
    generator = torch.Generator(device="cuda").manual_seed(seed)

    def uniform(shape: tuple[int, ...], kind: Any) -> Any:
        return torch.rand(shape, dtype=kind, device="cuda", generator=generator)

    return _TorchDevice(xp, dtype, uniform, place="cuda", to_numpy=lambda a: a.cpu().numpy())
