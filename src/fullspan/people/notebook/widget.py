"""The end of the widget that lives in the kernel; it needs anywidget."""

from __future__ import annotations

from importlib.resources import files
from inspect import isfunction
from typing import Any

import anywidget
import traitlets

from fullspan.people.web import Explorer


class ExplorerWidget(anywidget.AnyWidget):  # type: ignore[misc]
    """The evidence and the graph of one model.

    Attributes
    ----------
    given : ``{name: level}``, or lists of levels: what is clamped in the widget. Set it to clamp from Python.
    """

    _esm = (files("fullspan.people.notebook") / "static" / "widget.js").read_text(encoding="utf-8")
    given = traitlets.Dict().tag(sync=True)

    def __init__(self, explorer: Explorer, given: dict[str, Any]) -> None:
        super().__init__(given=given)
        self.explorer = explorer
        self.on_msg(self._heard)

    def _heard(self, _: Any, message: dict[str, Any], __: Any) -> None:
        """Answer a question of the view: ``{"id", "method", "arguments"}``, by ``{"id", "wrong", "answer"}``."""
        method: str = message["method"]
        answer: dict[str, Any] = {}
        wrong: str | None = f"there is no question {method!r}"
        try:
            if not method.startswith("_") and isfunction(getattr(Explorer, method, None)):
                wrong, answer = self.explorer.answer(method, message["arguments"])
        except Exception as error:  # a kernel keeps errors of messages in its log, and the view would wait for ever
            wrong, answer = f"{type(error).__name__}: {error}", {}
        self.send({"id": message.get("id"), "wrong": wrong, "answer": answer})
