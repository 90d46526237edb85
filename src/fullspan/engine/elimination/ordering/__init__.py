"""The order in which variables are eliminated: found once, it fixes the time and memory of every answer."""

from fullspan.engine.elimination.ordering.order import Order, elimination_order, given_order

__all__ = ["Order", "elimination_order", "given_order"]
