"""Which engine a fit on all states will use, what that needs, and how long it will take: known before it is allocated.

This is the only place that knows every kind of table. No table imports it.
"""

from fullspan.engine.planner.plan import DEVICES, MAX_SECONDS, PRECISIONS, Device, Plan, Precision, plan, table_seconds

__all__ = ["DEVICES", "MAX_SECONDS", "PRECISIONS", "Device", "Plan", "Precision", "plan", "table_seconds"]
