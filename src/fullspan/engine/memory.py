"""How much memory is free, and the refusal that comes before an allocation that would not fit."""

from __future__ import annotations

import os
from pathlib import Path

from fullspan.errors import TooLargeError

_FREE_SHARE = 0.8
"""Part of the free memory that one table may take."""
SMALL, PER_ROW = 1 << 30, 100 << 10
"""Bytes that the tables of any fit may take unasked, and for each row: 10,000 rows take about a GiB."""


def available_bytes() -> int:
    """Memory that can be had without swapping: the system's estimate, or the container's limit if that is lower."""
    known = [n for n in (_system_bytes(), _container_bytes()) if n is not None]
    return min(known) if known else os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def budget(max_memory: int | None = None) -> int:
    """Bytes a table may take: the user's limit, or most of what is free."""
    return int(_FREE_SHARE * available_bytes()) if max_memory is None else max_memory


def budget_for(n_rows: float, max_memory: int | None = None) -> int:
    """Bytes that tables of all states may take for ``n_rows`` rows: the user's limit, or 1 GiB, or 100 KiB per
    row if that is more.

    Few rows say little about billions of states: gigabytes are taken for them only where someone asks for it.

    Examples
    --------
    >>> budget_for(148) <= 1 << 30
    True
    >>> budget_for(148, max_memory=8 << 30) >> 30
    8
    """
    return budget(max_memory) if max_memory is not None else min(budget(), max(SMALL, int(PER_ROW * n_rows)))


def completed_bytes(n_states: int) -> int:
    """Bytes of a search on completed data, where cells are missing or variables hidden: five tables of doubles."""
    return 5 * 8 * n_states


def require(n_bytes: int, limit: int, what: str, remedy: str) -> None:
    """Refuse a plan that needs more than ``limit``.

    Raises
    ------
    TooLargeError : with both sizes and the remedy.
    """
    if n_bytes > limit:
        raise TooLargeError(f"{what} needs {gib(n_bytes)}; {gib(limit)} may be used; {remedy}")


def gib(n_bytes: int) -> str:
    """A number of bytes for people, in GiB."""
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
