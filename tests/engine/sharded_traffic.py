"""Bytes that a compiled program sends, counted in its text: loops count as often as they run."""

from __future__ import annotations

import math
import re

_ITEM = {"f64": 8, "s64": 8, "u64": 8, "f32": 4, "s32": 4, "u32": 4, "s8": 1, "pred": 1}
_HEAD = re.compile(r"^(?:ENTRY )?%?([\w.\-]+) \(.*\{$")
_SHAPE = re.compile(r"(\w+)\[([\d,]*)\]")
_CALLED = re.compile(r"(?:body|to_apply|calls|true_computation|false_computation)=%?([\w.\-]+)")
_BRANCHES = re.compile(r"branch_computations=\{([^}]*)\}")
_TRIPS = re.compile(r'"known_trip_count":\{"n":"(\d+)"\}')
_COLLECTIVE = re.compile(r"(collective-permute|all-gather|all-reduce|all-to-all|reduce-scatter)(?:-start)?\(")


def traffic(text: str) -> tuple[int, int]:
    """Bytes in which a device takes part by collective-permute, and by all other collectives."""
    computations: dict[str, list[str]] = {}
    entry = current = ""
    for line in text.splitlines():
        if head := _HEAD.match(line):
            current = head.group(1)
            computations[current] = []
            entry = current if line.startswith("ENTRY") else entry
        elif current:
            computations[current].append(line)
    return _sent(computations, entry)


def _sent(computations: dict[str, list[str]], name: str) -> tuple[int, int]:
    permuted = others = 0
    for line in computations[name]:
        _, _, right = line.partition(" = ")
        if found := _COLLECTIVE.search(right):
            size = sum(
                _ITEM[kind] * math.prod(int(k) for k in dims.split(",") if k)
                for kind, dims in _SHAPE.findall(right[: found.start()])
            )
            if found.group(1) == "collective-permute":
                permuted += size
            else:
                others += size
            continue
        times = 1
        if " while(" in right:
            trips = _TRIPS.search(right)
            assert trips, f"a loop whose number of rounds is not known: {line}"
            times = int(trips.group(1))
        called = _CALLED.findall(right)
        for branches in _BRANCHES.findall(right):
            called += re.findall(r"[\w.\-]+", branches)
        for other in called:
            inner = _sent(computations, other)
            permuted, others = permuted + times * inner[0], others + times * inner[1]
    return permuted, others
