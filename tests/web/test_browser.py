"""The page in a real Chromium: clamping, asking, comparing, keyboard, narrow screens, two tabs, restarts, new files.

Needs Playwright, which ``make setup`` installs, and Debian's ``chromium``.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from web.conftest import rows_of

pytestmark = pytest.mark.usefixtures("chromium")


class Server:
    """``fullspan serve`` as a process of its own, on one port."""

    def __init__(self, *models: Path, data: Path) -> None:
        self.models, self.data, self.port, self.process = models, data, 0, None
        self.start()

    def start(self) -> None:
        command = [
            sys.executable,
            "-m",
            "fullspan",
            "serve",
            *map(str, self.models),
            "--port",
            str(self.port),
            "--data",
            str(self.data),
        ]
        self.process: Any = subprocess.Popen([*command, "--workers", "1"], stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if found := re.search(r"http://127\.0\.0\.1:(\d+)/", line):
                self.port = int(found[1])
                return
        raise AssertionError("the server did not start")

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def stop(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait(20)
        self.process.stderr.close()


def _wide(folder: Path) -> Path:
    """A tree of 70 columns in seven chains."""
    import fullspan as fs

    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (400, 70))
    for i in range(1, 70):
        kept = rng.random(400) < (0.6 if i % 10 == 0 else 0.75 + 0.02 * (i % 10))
        rows[:, i] = np.where(kept, rows[:, i - 1], rows[:, i])
    fs.ChowLiuTree().fit(rows).save(folder / "wide.fsm")
    return folder / "wide.fsm"


def _votes(folder: Path) -> Path:
    """A model with pairs of both directions and larger groups, of 17 variables."""
    import fullspan as fs

    fs.FullSpan(missing="em").fit(fs.datasets.house_votes_path()).save(folder / "votes.fsm")
    return folder / "votes.fsm"


@pytest.fixture(scope="module")
def server(paths: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    import fullspan as fs

    folder = tmp_path_factory.mktemp("browser")
    copies = [folder / "one.fsm", folder / "two.fsm"]
    for source, copy in zip(paths.values(), copies, strict=True):
        shutil.copy(source, copy)
    server = Server(*copies, _votes(folder), _wide(folder), data=fs.datasets.house_votes_path())
    yield server
    server.stop()


@pytest.fixture(scope="module")
def votes(server: Server) -> Path:
    """The model of the votes as it is served."""
    return server.models[2]


@pytest.fixture
def page(browser: Any, server: Server) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1300, "height": 900}, bypass_csp=False)
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on(
        "request",
        lambda request: request.url.startswith((server.address, "data:", "blob:")) or problems.append(request.url),
    )
    page.goto(f"{server.address}#tab=Graph")
    page.wait_for_selector(".node")
    yield page
    assert problems == []
    with contextlib.suppress(Exception):
        context.close()


def share(page: Any, name: str, level: str) -> float:
    """What the bar of a level says, in percent."""
    item = page.locator(".variables li").filter(has=page.locator(f'.name span:text-is("{name}")'))
    text = item.locator(".level").filter(has=page.locator(f'.text:text-is("{level}")')).locator(".number").inner_text()
    return float(text.rstrip("%"))


def settled(page: Any, name: str, level: str, away_from: float) -> float:
    for _ in range(50):
        if share(page, name, level) != away_from:
            break
        page.wait_for_timeout(100)
    return share(page, name, level)


def reaches(page: Any, name: str, level: str, value: float) -> None:
    for _ in range(50):
        if share(page, name, level) == value:
            return
        page.wait_for_timeout(100)
    assert share(page, name, level) == value


def test_clamping_moves_every_marginal(page: Any, paths: dict[str, Path]) -> None:
    import fullspan as fs

    before = share(page, "b", "1")
    page.click('.level:has-text("yes")')
    after = settled(page, "b", "1", before)
    assert after == pytest.approx(100 * fs.load(paths["one"]).probability("b=1 | rain=yes"), abs=0.06)
    page.click(".chip")
    assert settled(page, "b", "1", after) == before


def test_asking_with_completion_by_keyboard_alone(page: Any) -> None:
    """Type, complete a name and a level with the arrows, and read the answer."""
    page.focus(".combo input")
    page.keyboard.type("P(ra")
    page.wait_for_selector(".combo li")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.keyboard.type(" | b=")
    page.wait_for_selector(".combo li")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.keyboard.type(")")
    page.keyboard.press("Enter")
    page.wait_for_selector(".asked table")
    assert page.inner_text(".asked code") == "P(rain | b=0)"
    assert page.locator(".asked tbody tr").count() == 2
    page.fill(".combo input", "P(nobody)")
    page.keyboard.press("Enter")
    page.wait_for_selector(".asked .wrong")
    assert "no variable" in page.inner_text(".asked .wrong")


def test_an_entropy_is_answered_in_nats(page: Any, paths: dict[str, Path]) -> None:
    import fullspan as fs

    page.fill(".combo input", "H(rain)")
    page.keyboard.press("Enter")
    page.wait_for_selector(".asked strong")
    p = fs.load(paths["one"]).marginal("rain").values
    equals, number, unit = page.inner_text(".asked strong").split()
    assert (equals, unit) == ("=", "nats")
    assert float(number) == pytest.approx(-(p @ np.log(p)), rel=1e-5)


def test_the_caret_follows_the_typing_on_a_slow_screen(page: Any) -> None:
    """What is typed right after a completion stands after it, however late the next frame is drawn."""
    page.add_init_script("window.requestAnimationFrame = (draw) => setTimeout(() => draw(performance.now()), 250)")
    page.reload()
    page.focus(".combo input")
    page.keyboard.type("P(ra")
    page.wait_for_selector(".combo li")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.keyboard.type(" | b", delay=100)
    assert page.input_value(".combo input") == "P(rain | b"


def test_completions_of_an_older_text_are_not_applied(page: Any) -> None:
    """Names offered for ``P(ra`` are gone once more is typed, although the server has not answered for that yet."""
    held: list[Any] = []
    page.focus(".combo input")
    page.keyboard.type("P(ra")
    page.wait_for_selector(".combo li")
    page.route("**/variables?*", lambda route: held.append(route))
    page.keyboard.type("nk")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.input_value(".combo input") == "P(rank"
    page.wait_for_selector(".asked .wrong")  # Enter has sent the text as it stood
    assert not page.is_visible(".combo li")


def test_nodes_and_levels_are_reached_by_tab(page: Any) -> None:
    page.focus(".search input")
    for _ in range(12):
        page.keyboard.press("Tab")
        if "yes" in page.evaluate("document.activeElement.textContent"):
            break
    page.keyboard.press("Enter")
    page.wait_for_selector(".chip")
    page.focus(".node >> nth=1")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelectorAll('.chip').length === 2")


def test_every_view_shows_something(page: Any) -> None:
    for view in ("Interactions", "What if", "Row", "Samples", "Compare", "Weights", "API"):
        page.click(f'nav button:text-is("{view}")')
        if view == "What if":
            page.click('button:text-is("one more column were known")')
        if view == "Row":
            page.click('button:text-is("Draw one from the model")')
        section = f'.view[aria-label="{view}"]'
        if view == "Samples":
            page.click('button:has-text("Draw")')
        page.wait_for_selector(f"{section} details" if view == "API" else f"{section} tbody tr")


def test_two_tabs_do_not_disturb_each_other(page: Any, server: Server) -> None:
    before = share(page, "b", "1")
    other = page.context.new_page()
    other.goto(f"{server.address}#tab=Graph")
    other.wait_for_selector(".node")
    other.click('.level:has-text("yes")')
    assert settled(other, "b", "1", before) != before
    assert share(page, "b", "1") == before


def test_a_narrow_screen_needs_no_sideways_scrolling(page: Any) -> None:
    """In every view; the list can be sorted, and the variables below it are one press away."""
    page.set_viewport_size({"width": 360, "height": 740})
    for view in ("Graph", "What if", "Row", "Samples", "Compare", "Fit", "Weights", "API", "Interactions"):
        page.click(f'nav button:text-is("{view}")')
        page.wait_for_selector(f'.view[aria-label="{view}"]')
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), view
    page.click('th button:text-is("order")')
    page.wait_for_selector('th[aria-sort="descending"]:has-text("order")')
    assert page.locator("aside").bounding_box()["y"] > 740
    page.click("nav a.down")
    page.wait_for_function("() => document.querySelector('aside').getBoundingClientRect().top < 500")


def test_an_address_of_a_model_that_is_not_served_says_so(page: Any, server: Server) -> None:
    """Also after the questions about the model that is shown instead were answered."""
    page.goto(f"{server.address}#model=three")
    page.reload()
    page.wait_for_selector(".variables li")
    page.wait_for_selector("button.words")
    assert "names a model three, which is not served; shown is one" in page.inner_text(".banner")


def test_an_answer_that_breaks_off_is_not_shown(page: Any) -> None:
    """As when a search is abandoned for the next one: the page keeps what it has, and says so if nothing follows."""
    page.evaluate("() => { Response.prototype.json = () => Promise.reject(new DOMException('', 'AbortError')); }")
    page.fill(".search input", "ra")
    page.wait_for_selector(".banner")
    assert page.locator(".variables li").count() == 3


BOXES = """(selector) => [...document.querySelectorAll(selector)].map((e) => {
  const box = e.getBoundingClientRect();
  return [box.left, box.top, box.right, box.bottom];
})"""
LINES = """(selector) => [...document.querySelectorAll(selector)].map((e) => {
  const style = getComputedStyle(e);
  return [style.stroke, style.strokeDasharray].join(" ");
})"""


SHADES = "(selector) => [...document.querySelectorAll(selector)].map((e) => getComputedStyle(e).fill)"


def test_a_line_is_drawn_as_its_words_say(page: Any) -> None:
    """Blue and full where the words say with, orange and dashed where against, grey where neither; also in the list."""
    styles: dict[str, set[tuple[str, str]]] = {}
    for model in ("votes", "one"):
        page.select_option("header select", model)
        page.wait_for_selector(f".node:has-text('{'party' if model == 'votes' else 'rain'}')")
        for line in page.evaluate(SAID):
            way = re.search(r" goes (with|against) ", line["words"])
            styles.setdefault(way[1] if way else "neither", set()).add((line["stroke"], line["dashes"]))
            assert line["words"].endswith(f": nats saved {line['words'].rsplit(' ', 1)[1]}")
        page.click('nav button:text-is("Interactions")')
        for text, name in page.evaluate(LISTED):
            way = re.search(r" goes (with|against) ", text)
            assert name == (way[1] if way else "neither")
        page.click('nav button:text-is("Graph")')
    assert styles == {
        "with": {("rgb(0, 114, 178)", "none")},
        "against": {("rgb(179, 71, 0)", "7px, 5px")},
        "neither": {("rgb(138, 147, 157)", "none")},
    }


SAID = """() => [...document.querySelectorAll(".graph line")].map((e) => ({
  words: e.querySelector("title").textContent,
  stroke: getComputedStyle(e).stroke, dashes: getComputedStyle(e).strokeDasharray,
}))"""
LISTED = """() => [...document.querySelectorAll(".interactions tbody tr")].map((e) =>
  [e.cells[0].textContent, e.querySelector("line").getAttribute("class")])"""


def test_interactions_lead_and_weights_follow(page: Any, votes: Path) -> None:
    """The first table and the count in the header are interactions; the weights are a tab of their own."""
    import fullspan as fs

    page.select_option("header select", "votes")
    page.wait_for_selector(".node:has-text('party')")
    expected = fs.load(votes).interactions_
    assert f"{len(expected)} interactions" in page.inner_text("header .about")
    assert page.locator("nav button").all_inner_texts()[:2] == ["Interactions", "Graph"]
    page.click('nav button:text-is("Interactions")')
    page.wait_for_selector(".interactions tbody tr")
    assert [x.lower() for x in page.locator(".interactions thead th").all_inner_texts()] == [
        *("interaction", "order", "95 % interval", "nats saved")
    ]
    first = [text.strip() for text in page.locator(".interactions tbody tr >> nth=0").locator("td").all_inner_texts()]
    assert first[:2] == [expected[0].remarked, "2"]
    assert first[3] == f"{expected[0].nats_saved:.1f}"
    assert page.locator(".interactions tbody tr").count() == len(expected)
    page.click('nav button:text-is("Weights")')
    page.wait_for_selector('.view[aria-label="Weights"] tbody tr')
    assert "favoured" not in page.inner_text('.view[aria-label="Weights"]')
    aligned = "(s) => [...document.querySelectorAll(s)].map((e) => getComputedStyle(e).textAlign)"
    assert set(page.evaluate(aligned, '.view[aria-label="Weights"] th:not(:first-child)')) == {"right"}


def test_an_interaction_opens_as_a_chart_next_to_the_rows(page: Any) -> None:
    """Sorted, searched and filtered; the effect with its rows, intervals and neighbours; the address says it all."""
    page.select_option("header select", "votes")
    page.click('nav button:text-is("Interactions")')
    page.click("button.words >> nth=0")
    page.wait_for_selector(".shares")
    assert page.inner_text(".effect h3 >> nth=0") == "Share of physician=y, by party"
    assert "435 rows of house-votes-84.csv, from which the model was learned" in page.inner_text(".effect")
    assert page.locator(".shares .dot").count() == page.locator(".shares .range").count() == 2
    page.click(".others button >> nth=0")
    page.wait_for_function("() => !/by party$|^$/.test(document.querySelector('.effect h3')?.textContent ?? '')")
    assert page.locator(".effect").count() == 1
    page.fill('.filters label:has-text("Variable") input', "party")
    page.keyboard.press("Enter")
    page.click('th button:text-is("interaction")')
    page.wait_for_selector('th[aria-sort="ascending"]')
    page.wait_for_function(IN_ORDER)
    words = page.locator("button.words").all_inner_texts()
    page.reload()
    page.wait_for_selector(".effect")
    assert page.locator("button.words").all_inner_texts() == words
    with page.expect_download() as saved:
        page.click('button:text-is("Save as CSV")')
    lines = saved.value.path().read_text().splitlines()
    assert (lines[0].split(",")[:3], len(lines)) == (["variables", "words", "order"], len(words) + 1)


IN_ORDER = """() => {
  const words = [...document.querySelectorAll("button.words")].map((e) => e.textContent.toLowerCase());
  return words.length > 1 && words.every((w, k) => w.includes("party") && (k === 0 || words[k - 1] <= w));
}"""


def test_levels_are_excluded_and_what_changed_most_comes_first(page: Any, paths: dict[str, Path]) -> None:
    import fullspan as fs

    page.click('[aria-label="exclude b = 0"]')
    page.wait_for_selector(".chip")
    assert page.inner_text(".chip") == "b from 1 to 2 ×"
    page.select_option(".find select", "changed")
    page.wait_for_function("() => document.querySelector('.variables .name').textContent.startsWith('b')")
    expected = fs.load(paths["one"]).conditional("rain", {"b": [1, 2]})["yes"]
    reaches(page, "rain", "yes", round(100 * expected, 1))
    page.click('[aria-label="exclude b = 1"]')
    page.wait_for_selector('.chip:text-is("b = 2 ×")')
    page.click('button:text-is("Undo")')
    page.wait_for_selector('.chip:text-is("b from 1 to 2 ×")')


def test_answers_fold_go_and_lead_to_what_was_meant(page: Any) -> None:
    assert re.fullmatch(r"P\(.+ \| .+=.+\)", page.get_attribute(".combo input", "placeholder"))
    for question in ("P(rain)", "P(rani)"):
        page.fill(".combo input", question)
        page.keyboard.press("Enter")
        page.wait_for_selector(f'.asked code:text-is("{question}")')
    assert page.locator(".asked details[open]").count() == 1
    page.click('.asked button:has-text("Ask P(rain)")')
    page.wait_for_function("() => document.querySelectorAll('.asked').length === 3")
    page.click(".asked .dismiss >> nth=0")
    page.wait_for_function("() => document.querySelectorAll('.asked').length === 2")
    page.click('button:text-is("Dismiss all answers")')
    page.wait_for_selector(".asked", state="detached")


def test_the_fill_of_a_node_is_the_level_below_its_name(page: Any) -> None:
    page.select_option("header select", "votes")
    page.wait_for_selector(".node:has-text('party')")
    page.wait_for_timeout(600)  # the fill moves for 0.3 s
    for share, text in page.evaluate(FILLS):
        assert 100 * share == pytest.approx(float(re.search(r"([\d.]+)\+?%$", text)[1]), abs=0.11)  # type: ignore[index]


FILLS = """() => [...document.querySelectorAll(".node")].map((e) => [
  e.querySelector(".level").width.baseVal.value / e.querySelector(".body").width.baseVal.value,
  e.querySelector(".told").textContent])"""


def test_names_stay_legible_on_every_screen(page: Any) -> None:
    """Letters of 12 pixels or more, nothing over another name, nothing outside of the picture."""
    page.select_option("header select", "votes")
    page.wait_for_function("() => document.querySelectorAll('.node').length === 17")
    for width in (390, 1000, 1600):
        page.set_viewport_size({"width": width, "height": 850})
        page.wait_for_timeout(300)
        _check_legible(page)


def _check_legible(page: Any) -> None:
    name = ".node text:first-of-type"
    sizes = page.evaluate(
        "(s) => [...document.querySelectorAll(s)].map((e) => parseFloat(getComputedStyle(e).fontSize))", name
    )
    frame = page.evaluate(BOXES, ".graph")[0]
    view_box = [float(x) for x in page.get_attribute(".graph", "viewBox").split()]
    assert min(sizes) * (frame[2] - frame[0]) / view_box[2] > 11.5
    boxes = page.evaluate(BOXES, ".node .body")
    for k, (left, top, right, bottom) in enumerate(boxes):
        assert frame[0] <= left < right <= frame[2]
        assert frame[1] <= top < bottom <= frame[3]
        for other in boxes[:k]:
            assert right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top


def test_every_line_and_colour_is_in_the_legend(page: Any) -> None:
    """What the picture draws is what the legend names: no style is left out, and none is named in vain."""
    for model, kinds, nodes in (("votes", 2, 17), ("one", 2, 3), ("votes", 2, 17), ("two", 2, 3)):
        page.select_option("header select", model)
        page.wait_for_function(f"() => document.querySelectorAll('.node').length === {nodes}")
        _check_legend(page, model, kinds)


def _check_legend(page: Any, model: str, kinds: int) -> None:
    drawn, keys = set(page.evaluate(LINES, ".graph line")), page.evaluate(LINES, ".legend line:not(.width)")
    assert len(drawn) == kinds
    assert drawn == set(keys)
    words = page.inner_text(".legend")
    assert "width and opacity grow with nats saved" in words
    assert ("(approximate)" in words) == (model == "two")
    shades = page.evaluate(SHADES, ".graph .shade polygon")
    assert len(set(shades)) == len(shades) == page.locator(".legend i.group").count()
    assert ("three or more variables" in words) == (len(shades) > 0) == (model == "votes")
    assert ("no single direction" in words) == (model != "votes")
    assert "clamped" not in words
    page.focus(".node >> nth=0")
    page.keyboard.press("Enter")
    page.wait_for_selector(".legend .clamped")


def test_a_wide_graph_is_folded_thinned_and_looked_into(page: Any, server: Server) -> None:
    """70 columns: folded communities open; names never collide; weak pairs go; a picture is saved, letters and all."""
    page.select_option("header select", "wide")
    page.wait_for_selector(".node.folded")
    _check_legible(page)
    n_folded = page.locator(".node.folded").count()
    page.focus(".node.folded >> nth=0")
    page.keyboard.press("Enter")
    page.wait_for_function(f"() => document.querySelectorAll('.node.folded').length === {n_folded - 1}")
    page.click('button:text-is("Open all")')
    page.wait_for_function("() => document.querySelectorAll('.node').length === 70")
    labels = page.evaluate(BOXES, ".node .label, .node .body")
    for k, (left, top, right, bottom) in enumerate(labels):
        for other in labels[:k]:
            assert right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top
    assert "zoom in" in page.inner_text(".legend")
    assert page.locator(".legend i.dot").count() == 1
    page.fill(".strength input", "700")
    page.wait_for_function("() => document.querySelectorAll('.node').length < 60")
    assert "at least" in page.inner_text(".strength")
    with page.expect_download() as saved:
        page.click('button:text-is("Save as SVG")')
    picture = saved.value.path().read_text()
    assert picture.startswith("<svg")
    assert "stroke:rgb(0, 114, 178)" in picture
    with page.expect_download() as saved:
        page.click('button:text-is("Save as PNG")')
    assert saved.value.path().read_bytes()[:4] == b"\x89PNG"


def test_other_shares_of_a_column_move_the_others(page: Any, votes: Path) -> None:
    """Typed and dragged; the other columns as with_margins has them, the farthest first; the address says it."""
    import fullspan as fs

    page.select_option("header select", "votes")
    page.click('nav button:text-is("What if")')
    page.fill('label:has-text("Column") input', "party")
    page.click('button:text-is("Change its shares")')
    page.fill('[aria-label="share of party = republican, in percent"]', "70")
    page.keyboard.press("Enter")
    page.wait_for_selector(".moved tbody tr")
    changed = fs.load(votes).with_margins({"party": {"democrat": 0.3, "republican": 0.7}})
    cells = page.locator(".moved tbody tr >> nth=0").locator("th, td").all_inner_texts()
    assert cells[0] == "physician"
    assert float(cells[3].rstrip("%")) == pytest.approx(100 * changed.marginal("physician").values[0], abs=0.06)
    assert "fullspan adjust votes.fsm --margins 'party: democrat=0.3, republican=0.7'" in page.inner_text(".view")
    page.fill('[aria-label="share of party = democrat"]', "612")
    page.wait_for_function("() => /0\\.612/.test(document.querySelector('.view').textContent)")
    page.go_back()
    page.wait_for_function("() => /0\\.7,|0\\.7'/.test(document.querySelector('.view code')?.textContent ?? '')")


def test_a_row_is_looked_into(page: Any, votes: Path) -> None:
    """Pasted, or picked by its number; the oddest cell; empty cells imputed."""
    import fullspan as fs

    page.select_option("header select", "votes")
    page.click('nav button:text-is("Row")')
    page.fill("textarea", "party=republican, physician=n")
    page.click('button:text-is("Look at this row")')
    page.wait_for_selector(".cells")
    expected = fs.load(votes).explain_row({"party": "republican", "physician": "n"})
    assert f"log-probability −{expected.score:.3f} nats" in page.inner_text(".view")
    assert "Oddest cell: party = republican" in page.inner_text(".view")
    assert page.locator(".cells >> nth=1").locator("tbody tr").count() == 15
    page.fill('label:has-text("of house-votes-84.csv") input', "2")
    page.keyboard.press("Enter")
    page.wait_for_function("() => /^party=republican, .*crime=/.test(document.querySelector('textarea').value)")
    page.fill('label:has-text("of house-votes-84.csv") input', "9999")
    page.keyboard.press("Enter")
    page.wait_for_selector(".view .wrong")
    assert "rows 1 to 435" in page.inner_text(".view .wrong")


def test_models_of_common_columns_are_compared_in_two_colours(page: Any) -> None:
    page.click('nav button:text-is("Compare")')
    page.wait_for_selector(".bar.second")
    assert page.locator(".view select option").all_inner_texts() == ["two (3 common columns)"]
    colour = "(s) => getComputedStyle(document.querySelector(s)).backgroundColor"
    blue, orange = (page.evaluate(colour, f"td .bar{kind} .fill") for kind in (":not(.second)", ".second"))
    assert {blue, orange} == {page.evaluate(colour, f".legend i.{name}") for name in ("first", "second")}
    assert blue != orange


def test_samples_are_saved(page: Any) -> None:
    import io

    import pyarrow.parquet as pq

    page.click('.level:has-text("yes")')
    page.wait_for_selector(".chip")
    page.click('nav button:text-is("Samples")')
    page.fill('label:has-text("Rows") input', "2000")
    with page.expect_download() as saved:
        page.click('button:text-is("Save as Parquet")')
    table = pq.read_table(io.BytesIO(saved.value.path().read_bytes()))
    assert (table.num_rows, set(table["rain"].to_pylist())) == (2000, {"yes"})
    with page.expect_download() as saved:
        page.click('button:text-is("Save as CSV")')
    assert len(saved.value.path().read_text().splitlines()) == 2001


def test_a_table_is_fitted_and_explored(page: Any, tmp_path: Path) -> None:
    """The file goes to the server; the fit is followed; its model is explored next to its rows, and saved."""
    import fullspan as fs

    rows_of(120).to_csv(tmp_path / "my rain.csv", index=False)
    page.click('nav button:text-is("Fit")')
    page.set_input_files('input[type="file"]', tmp_path / "my rain.csv")
    page.click('button:text-is("Fit") >> nth=-1')
    page.wait_for_selector('.fit button:text-is("Explore")', timeout=60_000)
    with page.expect_download() as saved:
        page.click('button:text-is("Save the model")')
    assert fs.load(saved.value.path()).n_features_in_ == 3
    page.click('.fit button:text-is("Explore")')
    page.wait_for_selector("button.words")
    assert page.input_value("header select") == "my rain"
    page.click("button.words >> nth=0")
    page.wait_for_selector(".shares .dot")
    assert "120 rows of my rain.csv, from which the model was learned" in page.inner_text(".effect")
    (tmp_path / "empty.csv").write_text(" ")
    page.click('nav button:text-is("Fit")')
    page.set_input_files('input[type="file"]', tmp_path / "empty.csv")
    page.click('button:text-is("Fit") >> nth=-1')
    page.wait_for_selector(".view .wrong")
    assert "not a table of text" in page.inner_text(".view .wrong")


def test_a_restart_and_a_swapped_file_are_survived(page: Any, server: Server, paths: dict[str, Path]) -> None:
    """What is clamped stays; a banner tells that the server is gone or the file is broken, and goes."""
    start = share(page, "b", "1")
    page.click('.level:has-text("yes")')
    before = settled(page, "b", "1", start)
    server.stop()
    page.click('.level:has-text("no")')
    page.wait_for_selector(".banner")
    server.start()
    page.wait_for_selector(".banner", state="detached", timeout=20_000)
    assert page.inner_text(".chip").startswith("rain = no")
    page.click(".chip")
    page.wait_for_function("() => document.querySelectorAll('.chip').length === 0")
    reaches(page, "b", "1", start)
    shutil.copy(paths["two"], server.models[0])
    page.click('.level:has-text("yes")')
    assert settled(page, "b", "1", start) != before
    server.models[0].write_text("garbage")
    page.click(".chip")
    page.wait_for_selector(".banner")
    assert "cannot be read" in page.inner_text(".banner")
    shutil.copy(paths["one"], server.models[0])
    os.utime(server.models[0], (time.time(), time.time() + 1))


def test_axe_finds_nothing(browser: Any, server: Server) -> None:
    axe = files("axe_playwright_python") / "axe.min.js"
    for scheme, width in (("light", 1300), ("dark", 390)):
        context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True)
        page = context.new_page()
        page.goto(f"{server.address}#tab=Graph")
        page.wait_for_selector(".node")
        page.click('.level:has-text("yes")')
        page.wait_for_selector(".chip")
        page.wait_for_timeout(500)
        page.add_script_tag(content=axe.read_text(encoding="utf-8"))
        for view in ("Graph", "Interactions", "What if", "Row", "Samples", "Compare", "Fit", "Weights"):
            page.click(f'nav button:text-is("{view}")')
            page.wait_for_timeout(300)
            found = page.evaluate("axe.run().then((r) => r.violations.map((v) => v.id))")
            assert (view, found) == (view, [])
        context.close()


def test_a_link_reproduces_the_page(page: Any) -> None:
    """Model, tab, evidence and settings are in the address; Undo, Redo and Back walk through them; Reset frees all."""
    page.select_option("header select", "votes")
    page.wait_for_selector(".node:has-text('party')")
    page.click('.level:has-text("republican")')
    page.wait_for_selector(".chip")
    link = page.evaluate("location.href")
    other = page.context.new_page()
    other.goto(link)
    other.wait_for_selector(".chip")
    assert other.inner_text(".chip").startswith("party = republican")
    assert other.input_value("header select") == "votes"
    other.wait_for_selector(".node.clamped:has-text('party')")
    page.click('button:text-is("Undo")')
    page.wait_for_selector(".chip", state="detached")
    page.click('button:text-is("Redo")')
    page.wait_for_selector(".chip")
    page.go_back()
    page.wait_for_selector(".chip", state="detached")
    page.go_forward()
    page.click('button:text-is("Reset")')
    page.wait_for_selector(".chip", state="detached")
    assert "given" not in page.evaluate("location.href")
