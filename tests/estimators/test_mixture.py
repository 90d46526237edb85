"""Mixtures of decomposable models: every answer against enumeration, files, gaps, and what is refused."""

from __future__ import annotations



