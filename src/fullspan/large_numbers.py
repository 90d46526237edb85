"""Numbers of states, which can have hundreds of digits, in few letters."""

from __future__ import annotations

import math
from decimal import Decimal

WRITTEN_OUT = 10**7
"""Numbers below it are written out: a reader grasps up to seven digits."""
_LONG = 10**12
"""From here on a number is rounded to a power of two."""
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def power_of_ten(n: int) -> str:
    """A number, to two digits where it is large.

    Examples
    --------
    >>> power_of_ten(131_072), power_of_ten(905_969_664)
    ('131,072', '9.1·10⁸')
    """
    if n < WRITTEN_OUT:
        return f"{n:,}"
    digits, power = f"{Decimal(n):.1e}".split("e+")
    return f"{digits.removesuffix('.0')}·10{power.translate(_SUPERSCRIPTS)}"


def power_of_two(n: int) -> str:
    """A number as a power of two: an exact one from seven digits on, any from twelve on.

    Examples
    --------
    >>> power_of_two(131_072), power_of_two(2**40), power_of_two(3**15), power_of_two(3**50)
    ('131,072', '2^40', '14,348,907', 'about 2^79')
    """
    if n >= WRITTEN_OUT and n & (n - 1) == 0:
        return f"2^{n.bit_length() - 1}"
    return f"{n:,}" if n < _LONG else f"about 2^{round(math.log2(n))}"
