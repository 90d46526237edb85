"""Events in words: a level, or a range of an ordered variable's levels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fullspan.data.space import Variable, edge_texts

Event = tuple[int, ...]
"""Codes of one variable, increasing."""
_LISTED = 3
"""Levels that are texts which a range spells out."""


def is_ordered(variable: Variable) -> bool:
    """Whether ranges of levels mean something: more than two levels that follow each other."""
    return variable.ordered and variable.n_bins > 2


def candidates(variable: Variable) -> Iterator[Event]:
    """The events that an effect may be about: single levels, and both sides of each cut of an ordered variable.

    Of two levels only the last: the other does the opposite.
    """
    if variable.card == 2:
        yield (1,)
        return
    yield from ((code,) for code in range(variable.card))
    if is_ordered(variable):
        for cut in range(2, variable.n_bins):
            yield tuple(range(cut))
        for cut in range(1, variable.n_bins - 1):
            yield tuple(range(cut, variable.n_bins))


def event_words(variable: Variable, codes: Sequence[int]) -> str:
    """``crime=y``, ``age ≥ 44``, ``colour in {red, blue}``; neighbouring levels of an ordered variable are ranges."""
    values = [x for x in codes if x != variable.missing_code]
    if len(codes) == 1 or not is_ordered(variable):
        return _listed(variable, codes)
    runs = [_range(variable, first, last) for first, last in _runs(values)]
    if len(values) < len(codes):
        runs.append(_listed(variable, [variable.card - 1]))
    return " or ".join(runs)


def _listed(variable: Variable, codes: Sequence[int]) -> str:
    levels = [str(variable.levels[x]) for x in codes]
    return f"{variable.name}={levels[0]}" if len(levels) == 1 else f"{variable.name} in {{{', '.join(levels)}}}"


def _runs(codes: Sequence[int]) -> list[tuple[int, int]]:
    """First and last code of each run of neighbours."""
    runs: list[tuple[int, int]] = []
    for code in codes:
        if runs and code == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], code)
        else:
            runs.append((code, code))
    return runs


def _range(variable: Variable, first: int, last: int) -> str:
    """Neighbouring levels: by the edges of bins, by numbers, or by the first and last of them."""
    name, levels, edges = variable.name, variable.levels, variable.edges
    if first == last:
        return _listed(variable, [first])
    starts, stops = first == 0, last == variable.n_bins - 1
    if edges is not None:
        texts = edge_texts(edges)
        below, above = texts[first], texts[last + 1]
        return f"{name} < {above}" if starts else f"{name} ≥ {below}" if stops else f"{below} ≤ {name} < {above}"
    if all(isinstance(level, int | float) for level in levels[: variable.n_bins]):
        below, above = f"{levels[first]}", f"{levels[last]}"
        return f"{name} ≤ {above}" if starts else f"{name} ≥ {below}" if stops else f"{below} ≤ {name} ≤ {above}"
    if last - first < _LISTED:
        return _listed(variable, range(first, last + 1))
    return f"{name} from {levels[first]} to {levels[last]}"
