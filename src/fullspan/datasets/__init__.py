"""Small tables that ship with the package; see ``CREDITS.md`` next to them for their origin and licence.

>>> from fullspan.datasets import house_votes_path
>>> house_votes_path().name
'house-votes-84.csv'
"""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).resolve().parent


def house_votes_path() -> Path:
    """Votes of the 435 members of the U.S. House of Representatives on 16 issues in 1984, as a CSV file.

    Columns: the member's party, then ``y`` (yea), ``n`` (nay) or ``?`` (neither) for each vote. UCI Machine
    Learning Repository, Congressional Voting Records, CC BY 4.0.
    """
    return _FOLDER / "house-votes-84.csv"


def spikes_path() -> Path:
    """Which of ten neurons fired in each of 40,000 time bins, as a CSV file of distinct words.

    Columns: ``n1`` to ``n10``, 1 where the neuron fired; ``times``, in how many bins just these did. Example data of
    maxent_toolbox, MIT licence.
    """
    return _FOLDER / "spikes.csv"
