"""The strongest test log-likelihoods that were found published for sets of the benchmark, in nats per row.

hclt      hidden Chow-Liu trees, logs of the authors (Liu & Van den Broeck 2021)
psdd      probabilistic sentential decision diagrams, model files of UCLA-StarAI
pyjuice   probabilistic circuits, a table of 2026
nade      ensembles of deep autoregressive networks

A set is recognised by its name and its number of variables. All learned from the training rows alone.
"""

from __future__ import annotations

PUBLISHED: dict[tuple[str, int], tuple[float, str]] = {
    ("nltcs", 16): (-5.999, "hclt"),
    ("msnbc", 17): (-6.041, "psdd"),
    ("kdd", 64): (-2.142, "hclt"),
    ("plants", 69): (-12.67, "pyjuice"),
    ("baudio", 100): (-39.62, "pyjuice"),
    ("jester", 100): (-52.358, "hclt"),
    ("bnetflix", 100): (-56.247, "hclt"),
    ("accidents", 111): (-26.55, "pyjuice"),
    ("mushrooms", 112): (-9.68, "nade"),
    ("tretail", 135): (-10.842, "hclt"),
    ("pumsb_star", 163): (-23.332, "hclt"),
    ("dna", 180): (-78.912, "hclt"),
    ("kosarek", 190): (-10.590, "hclt"),
    ("msweb", 294): (-9.73, "pyjuice"),
    ("book", 500): (-33.520, "hclt"),
    ("tmovie", 500): (-50.426, "hclt"),
    ("cwebkb", 839): (-150.757, "hclt"),
    ("cr52", 889): (-84.120, "hclt"),
    ("c20ng", 910): (-151.540, "hclt"),
    ("bbc", 1058): (-248.390, "hclt"),
    ("ad", 1556): (-16.020, "hclt"),
}


def published(name: str, variables: int) -> str:
    """The value of a set and who reached it, such as ``−5.999 hclt``; empty where none is known."""
    found = PUBLISHED.get((name, variables))
    return "" if found is None else f"{found[0]} {found[1]}".replace("-", "−")
