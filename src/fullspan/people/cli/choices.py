"""Options with a few values to choose from."""

from __future__ import annotations

import enum

WEIGHTS_HELP = "Column that holds the weight of each row; by default the model's own, where the table has it."


class Device(enum.StrEnum):
    """Where the tables live."""

    auto = "auto"
    cpu = "cpu"
    cuda = "cuda"
    sharded = "sharded"
