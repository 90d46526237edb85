"""Options with a few values to choose from."""

from __future__ import annotations

import enum

WEIGHTS_HELP = "Column that holds the weight of each row; by default the model's own, where the table has it."


class Model(enum.StrEnum):
    """What is learned."""

    full_span = "full-span"
    boltzmann = "boltzmann"
    decimatable = "decimatable"
    truncated = "truncated"
    mixture = "mixture"
    chow_liu = "chow-liu"
    hidden_tree = "hidden-tree"
    restricted = "restricted"
    deep = "deep"


class Solver(enum.StrEnum):
    """How the weights of a machine are found."""

    auto = "auto"
    newton = "newton"
    lbfgs = "lbfgs"
    gradient = "gradient"
    ipf = "ipf"
    pcd = "pcd"
    cd = "cd"
    pseudo = "pseudo"


class Missing(enum.StrEnum):
    """What a missing cell means."""

    error = "error"
    drop = "drop"
    level = "level"
    em = "em"


class Basis(enum.StrEnum):
    """The functions a model is a sum of."""

    auto = "auto"
    walsh = "walsh"
    indicator = "indicator"
    monomial = "monomial"


class EngineName(enum.StrEnum):
    """What a full-span search runs on."""

    auto = "auto"
    table = "table"
    elimination = "elimination"


class Search(enum.StrEnum):
    """How terms are chosen."""

    full = "full"
    paper = "paper"


class Device(enum.StrEnum):
    """Where the tables live."""

    auto = "auto"
    cpu = "cpu"
    cuda = "cuda"
    sharded = "sharded"


class Precision(enum.StrEnum):
    """Numbers of the tables."""

    auto = "auto"
    float32 = "float32"
    float64 = "float64"
