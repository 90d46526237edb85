"""Which variables each elimination leaves behind: the separators of an order, without any numbers.

Eliminating the k-th variable v leaves a message over

    S_k = neighbours of v that come later  ∪  separators of the steps that v is the first of, without v,

and that message enters at the step of the first variable of S_k. Steps and variables are both named by their place in
the order here. A separator is listed last-eliminated first: in a row-major table that variable is slowest and the
variable eliminated next fastest.
"""

from __future__ import annotations

import numpy as np

from fullspan.model.algebra.jit import inlined, serial


@serial
def separators(starts, neighbours, order, log2_cards, limit):  # type: ignore[no-untyped-def]
    """Separators of all steps, flat, and log2 of each step's table.

    Returns
    -------
    bounds, separator : places in the order, of step k at ``bounds[k] : bounds[k + 1]``, decreasing.
    sizes : (m,) log2 entries of the table over the separator and the variable itself.
    blocked : the first step whose table exceeds ``2**limit`` entries, where the work stops, or -1.
    """
    m, n = len(order), len(starts) - 1
    place = np.full(n, -1, dtype=np.int64)
    for k in range(m):
        place[order[k]] = k
    bounds, sizes = np.zeros(m + 1, dtype=np.int64), np.zeros(m)
    separator = np.empty(len(neighbours) + 64, dtype=np.int64)
    first_child, sibling = np.full(m, -1, dtype=np.int64), np.full(m, -1, dtype=np.int64)
    seen = np.full(m, -1, dtype=np.int64)
    end = 0
    for k in range(m):
        v, start = order[k], end
        if end + m - k > len(separator):
            separator = _larger(separator, end, 2 * (end + m - k))
        for e in range(starts[v], starts[v + 1]):
            end = _add(place[neighbours[e]], k, seen, separator, end)
        child = first_child[k]
        while child >= 0:
            for e in range(bounds[child], bounds[child + 1] - 1):  # the last one is this step itself
                end = _add(separator[e], k, seen, separator, end)
            child = sibling[child]
        size = log2_cards[v]
        for e in range(start, end):
            size += log2_cards[order[separator[e]]]
        _sort_down(separator[start:end])
        bounds[k + 1], sizes[k] = end, size
        if size > limit:
            return bounds[: k + 2].copy(), separator[:end].copy(), sizes[: k + 1].copy(), k
        if end > start:
            parent = separator[end - 1]
            sibling[k] = first_child[parent]
            first_child[parent] = k
    return bounds, separator[:end].copy(), sizes, -1


@serial
def _larger(separator, end, room):  # type: ignore[no-untyped-def]
    """The list, of which ``end`` entries are in use, moved to a larger one."""
    larger = np.empty(room, dtype=np.int64)
    larger[:end] = separator[:end]
    return larger


@inlined
def _add(p, k, seen, separator, end):  # type: ignore[no-untyped-def]
    """Append a place if it comes after step k and is not yet in its separator; the new end."""
    if p > k and seen[p] != k:
        seen[p], separator[end] = k, p
        end += 1
    return end


@serial
def _sort_down(part):  # type: ignore[no-untyped-def]
    """Sort in decreasing order, in place."""
    # Insertion is quickest for the few entries that most separators have; its square would tell in large ones.
    if len(part) > 32:
        part[:] = np.sort(part)[::-1]
        return
    for i in range(1, len(part)):
        x, j = part[i], i
        while j > 0 and part[j - 1] < x:
            part[j] = part[j - 1]
            j -= 1
        part[j] = x


@serial
def postorder(bounds, separator, sizes):  # type: ignore[no-untyped-def]
    """Steps renumbered so that each comes right after the steps whose messages it needs.

    Messages are then used soon after they are made, while they are still in the cache. A separator holds only steps
    that its message reaches later, one after the other, and these keep their order: separators stay what they are.

    Returns
    -------
    order, bounds, separator, sizes : old number of each new step, and the rest renumbered.
    """
    m = len(bounds) - 1
    first_child, sibling = np.full(m + 1, -1, dtype=np.int64), np.full(m, -1, dtype=np.int64)
    # Backwards, so that children are listed in the order of their steps: what is nearer in the order stays nearer.
    for k in range(m - 1, -1, -1):
        parent = separator[bounds[k + 1] - 1] if bounds[k + 1] > bounds[k] else m
        sibling[k] = first_child[parent]
        first_child[parent] = k
    order, number, done, k = np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64), 0, first_child[m]
    stack, depth = np.empty(m + 1, dtype=np.int64), 0
    # Without recursion: a chain of a million variables is as deep as it is long.
    while k >= 0 or depth > 0:
        if k >= 0:
            stack[depth] = k
            depth += 1
            k = first_child[k]
        else:
            depth -= 1
            order[done], number[stack[depth]] = stack[depth], done
            k = sibling[stack[depth]]
            done += 1
    new_bounds, new_separator, new_sizes = np.zeros(m + 1, np.int64), np.empty_like(separator), np.empty(m)
    for k in range(m):
        old, start = order[k], new_bounds[k]
        for e in range(bounds[old + 1] - bounds[old]):
            new_separator[start + e] = number[separator[bounds[old] + e]]
        new_bounds[k + 1] = start + bounds[old + 1] - bounds[old]
        new_sizes[k] = sizes[old]
    return order, new_bounds, new_separator, new_sizes
