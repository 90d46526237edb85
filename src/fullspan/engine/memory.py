"""How much memory is free, and the refusal that comes before an allocation that would not fit."""

from __future__ import annotations

import os
from pathlib import Path

from fullspan.errors import TooLargeError

_SHARE = 0.8
"""Part of the free memory that one table may take."""


def available_bytes() -> int:
    """Memory that can be had without swapping: the system's estimate, or the container's limit if that is lower."""
    known = [n for n in (_system_bytes(), _container_bytes()) if n is not None]
    return min(known) if known else os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def budget(max_memory: int | None = None) -> int:
    """Bytes a table may take: the user's limit, or most of what is free."""
    return int(_SHARE * available_bytes()) if max_memory is None else max_memory


def require(n_bytes: int, limit: int, what: str, remedy: str) -> None:
    """Refuse a plan that needs more than ``limit``.

    Raises
    ------
    TooLargeError : with both sizes and the way out.
    """
    if n_bytes > limit:
        raise TooLargeError(f"{what} needs {_gib(n_bytes)}; {_gib(limit)} may be used; {remedy}")


def _gib(n_bytes: int) -> str:
    return f"{n_bytes / 2**30:.3g} GiB" if n_bytes < 2**70 else f"2^{n_bytes.bit_length() - 1} bytes"


def _system_bytes() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), None)


def _container_bytes(folder: Path = Path("/sys/fs/cgroup")) -> int | None:
    try:
        limit = (folder / "memory.max").read_text(encoding="ascii").strip()
        used = int((folder / "memory.current").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
    return None if limit == "max" else max(int(limit) - used, 0)
