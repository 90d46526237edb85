"""``model.explore()``: its answers are the explorer's, in the kernel and in a cell of a notebook in Chromium."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullspan as fs
from fullspan.errors import FullspanError, QueryError
from fullspan.people.web import Explorer

pytest.importorskip("anywidget", reason="anywidget, which the widget needs, is not installed")


def heard(widget: Any, method: str, **arguments: Any) -> dict[str, Any]:
    """What the widget sends back when its view asks."""
    sent: list[Any] = []
    widget.send = sent.append
    widget._heard(widget, {"id": "0", "method": method, "arguments": arguments}, [])
    (reply,) = sent
    assert reply["id"] == "0"
    json.dumps(reply, allow_nan=False)
    return reply  # type: ignore[no-any-return]


@pytest.fixture(scope="module", params=["one", "two", "mixture"])
def pair(request: pytest.FixtureRequest, paths: dict[str, Path], mixed: dict[str, Path]) -> tuple[Any, Explorer]:
    path = {**paths, **mixed}[request.param]
    return fs.load(path).explore(), Explorer(path)


def test_a_widget_answers_as_the_server_does(pair: tuple[Any, Explorer]) -> None:
    widget, explorer = pair
    for method, arguments in {
        "summary": {},
        "graph": {"focus": "b", "radius": 2, "limit": 60},
        "distributions": {"given": {"rain": "yes"}, "variables": ["b"]},
        "what_if": {"target": "rain", "given": {}, "limit": 3},
        "ask": {"text": "P(rain | b=1)", "given": {}},
    }.items():
        wrong, expected = explorer.answer(method, arguments)
        assert wrong is None
        reply = heard(widget, method, **arguments)
        assert reply["wrong"] is None
        assert reply["answer"] | {"version": ""} == expected | {"version": ""}


def test_wrong_questions_are_answered_with_what_is_wrong(pair: tuple[Any, Explorer]) -> None:
    widget, _ = pair
    assert "did you mean 'rain'" in heard(widget, "ask", text="P(Rain)", given={})["wrong"]
    assert "no question '__init__'" in heard(widget, "__init__", source=".")["wrong"]
    assert "unexpected keyword argument" in heard(widget, "graph", nodes=3)["wrong"]


def test_evidence_to_begin_with_is_plain_levels(paths: dict[str, Path]) -> None:
    """As a text or a dictionary, also of NumPy's numbers; levels alone are not in lists."""
    model = fs.load(paths["one"])
    assert model.explore("rain=yes, b != 0").given == {"rain": "yes", "b": [1, 2]}
    assert model.explore({"b": np.array([2]), "rain": {"no"}}).given == {"b": 2, "rain": "no"}
    with pytest.raises(QueryError, match="no level 'often'"):
        model.explore({"rain": "often"})


def test_a_network_is_explored_too(tmp_path: Path) -> None:
    (tmp_path / "two.uai").write_text("MARKOV\n2\n2 2\n1\n2 0 1\n\n4\n 1.0 2.0 3.0 8.0\n")
    widget = fs.read_graph(tmp_path / "two.uai").explore({"x0": 1})
    found = heard(widget, "distributions", given=widget.given, variables=["x1"])["answer"]
    assert found["marginals"]["x1"] == pytest.approx([3 / 11, 8 / 11])


def test_what_cannot_be_explored_says_why(paths: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    layers = fs.RestrictedBoltzmannMachine(n_hidden=1, max_iter=1, random_state=0).fit([[0, 1], [1, 0], [1, 1]])
    with pytest.raises(FullspanError, match="marginals are not summed, and the explorer shows exact ones"):
        layers.explore()
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(FullspanError, match=r"pip install 'fullspan\[notebook\]'"):
        fs.load(paths["one"]).explore()


MOUNT = """async ([esm, given, style]) => {
    document.body.innerHTML = '<h1>before</h1><div id="cell"></div>';
    document.head.innerHTML = `<style>${style}</style>`;
    const state = { given }, heard = {};
    window.tell = (event, message) => (heard[event] ?? []).forEach((f) => f(message));
    window.kernel = {
        get: (name) => state[name],
        set: (name, value) => { state[name] = value; tell(`change:${name}`); },
        save_changes: () => save(state),
        send: async (question) => tell("msg:custom", await answer(question)),
        on: (event, f) => (heard[event] ??= []).push(f),
        off: (event, f) => { heard[event] = heard[event].filter((g) => g !== f); },
    };
    const module = await import(URL.createObjectURL(new Blob([esm], { type: "text/javascript" })));
    window.leave = await module.default.render({ model: kernel, el: document.getElementById("cell") });
}"""


@pytest.fixture(scope="module")
def widget(paths: dict[str, Path]) -> Any:
    return fs.load(paths["one"]).explore({"b": 1})


@pytest.fixture
def cell(browser: Any, widget: Any) -> Iterator[Any]:
    """A page that holds the view, with its model in Python at the other end."""
    page = browser.new_page(viewport={"width": 1000, "height": 900})
    page.expose_function("answer", lambda q: heard(widget, q["method"], **q["arguments"]) | {"id": q["id"]})
    page.expose_function("save", lambda state: widget.set_trait("given", state["given"]))
    page.evaluate(MOUNT, [widget._esm, widget.given, "body { color: #eee; background: #111 } h1 { font-size: 50px }"])
    page.wait_for_selector("#cell .node")
    yield page
    page.close()


def test_levels_pressed_in_a_notebook_are_known_in_python(cell: Any, widget: Any) -> None:
    assert cell.locator("#cell .node.clamped").count() == 1
    cell.locator("#cell .levels[aria-label='levels of rain'] button").nth(1).click()
    cell.wait_for_function("kernel.get('given').rain === 'yes'")
    assert widget.given == {"b": 1, "rain": "yes"}
    level = cell.locator("#cell .levels[aria-label='levels of umbrella & hat'] button").nth(1)
    expected = fs.BoltzmannMachine.conditional(widget.explorer.estimator, "umbrella & hat", widget.given).values[1]
    cell.wait_for_function(f"document.querySelector('#cell > div').shadowRoot.textContent.includes('{expected:.1%}')")
    assert f"{expected:.1%}" in level.inner_text()
    cell.evaluate("kernel.set('given', {})")
    cell.wait_for_selector("#cell .node:not(.clamped)")
    cell.wait_for_function("!document.querySelector('#cell > div').shadowRoot.querySelector('.clamped')")


def test_the_view_keeps_to_its_cell(cell: Any) -> None:
    """Its style and the notebook's do not mix, it is dark where the notebook is, fits narrow cells, and goes."""
    colour = "(e) => getComputedStyle(e).backgroundColor"
    assert cell.locator("#cell .widget").evaluate(colour) == "rgb(20, 24, 29)"
    assert cell.locator("h1").evaluate("(e) => getComputedStyle(e).fontSize") == "50px"
    for width in (390, 1000):
        cell.set_viewport_size({"width": width, "height": 900})
        assert cell.evaluate("document.documentElement.scrollWidth") <= width
    cell.evaluate("leave()")
    assert cell.evaluate("document.getElementById('cell').children.length") == 0
