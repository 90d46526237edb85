"""Whether there is a GPU, and the kernels compiled for it."""

from __future__ import annotations

import functools
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullspan.errors import FullspanError

_WAY_OUT = "use device='cpu', or install the extra for your CUDA version: pip install 'fullspan[gpu]'"


@functools.cache
def why_not() -> str | None:
    """Why no GPU can be used, or None if one can."""
    try:
        import cupy
    except ImportError:
        return "CuPy is not installed"
    try:
        if cupy.cuda.runtime.getDeviceCount() < 1:
            return "CuPy sees no GPU"
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return f"CuPy cannot reach a GPU ({error})"
    return None


def cupy() -> Any:
    """The module, if a GPU is there.

    Raises
    ------
    FullspanError : there is none; says why, and what to do instead.
    """
    reason = why_not()
    if reason is not None:
        raise FullspanError(f"device is 'cuda', but {reason}; {_WAY_OUT}")
    import cupy as module

    return module


def free_memory() -> int:
    """Bytes free on the current GPU, those that CuPy keeps for itself included."""
    module = cupy()
    free, _ = module.cuda.Device().mem_info
    return int(free + module.get_default_memory_pool().free_bytes())


class Kernels(dict[str, Any]):
    """The kernels of a compiled source by name, each looked up once."""

    def __init__(self, module: Any) -> None:
        super().__init__()
        self._module = module

    def __missing__(self, name: str) -> Any:
        self[name] = self._module.get_function(name)
        return self[name]


@functools.cache
def compiled(sources: tuple[str, ...], *options: str) -> Kernels:
    """The kernels of source files next to this module, one after the other as one program; kept on disk by CuPy."""
    code = "\n".join(resources.files(__package__).joinpath(source).read_text() for source in sources)
    return Kernels(cupy().RawModule(code=code, options=("-std=c++14", *options)))


def struct(*fields: Any) -> NDArray[np.void]:
    """Fields of eight bytes as one value: device arrays by their addresses, integers, floats in double precision."""
    words = np.empty(len(fields), np.uint64)
    for i, value in enumerate(fields):
        if isinstance(value, float):
            words.view(np.float64)[i] = value
        else:
            words[i] = value if isinstance(value, int) else value.data.ptr
    return words.view(f"V{words.nbytes}")  # one value: CuPy passes arrays of size one as they are
