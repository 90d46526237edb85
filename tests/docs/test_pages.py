"""The pages a newcomer is led to: a page for each model, tutorials, other packages side by side."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import fullspan as fs
from docs.examples import ROOT, blocks

DOCS = ROOT / "docs"
MODELS = sorted(path for path in (DOCS / "models").glob("*.md") if path.name not in ("index.md", "averages.md"))
TUTORIALS = sorted((DOCS / "tutorials").glob("*.md"))
TASKS = sorted(path for path in (DOCS / "cookbook").glob("*.md") if path.name != "index.md")
PEERS = ("pgmpy", "pyagrum", "loglin", "coniii", "bernoulli-rbm")


def headings(page: Path) -> list[str]:
    return re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)


def runs(page: Path) -> bool:
    """Whether a page has an example that is run and shows its output."""
    found = [block for block in blocks(page.read_text(encoding="utf-8").splitlines()) if block.run]
    return any(block.language == "python" for block in found) and any(
        block.language in ("text", "console") and block.lines for block in found
    )


@pytest.mark.parametrize("page", MODELS, ids=lambda p: p.stem)
def test_a_model_has_equation_cost_example_limits_and_reference(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "```math" in text
    assert {"Cost", "Example", "Limits"} <= set(headings(page))
    assert re.search(r"\*\*References?\.\*\* .*\d{4}|\*\*Reference\.\*\* M\. Sugiyama", text)
    assert runs(page)


def test_every_estimator_has_a_page() -> None:
    """A page of its own, or an example on a page of the guide."""
    estimators = {
        name
        for name in fs.__all__
        if inspect.isclass(getattr(fs, name)) and hasattr(getattr(fs, name), "score_samples")
    }
    titles = {headings(page)[0] for page in MODELS}
    guide = "".join(path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md"))
    assert len(estimators & titles) >= 8
    assert {name for name in estimators - titles if f"{name}(" not in guide} - {"GroupedModels"} == set()


@pytest.mark.parametrize("page", [*TUTORIALS, *TASKS], ids=lambda p: p.stem)
def test_a_tutorial_and_a_task_run(page: Path) -> None:
    assert runs(page)


@pytest.mark.parametrize("page", TASKS, ids=lambda p: p.stem)
def test_a_task_ends_with_its_limits_and_stands_in_the_index(page: Path) -> None:
    assert "Limits" in headings(page)
    assert f"({page.name})" in (DOCS / "cookbook" / "index.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PEERS)
def test_other_packages_stand_side_by_side(name: str) -> None:
    """Theirs as text, ours as it runs, and a table from function to function."""
    page = DOCS / "coming-from" / f"{name}.md"
    found = blocks(page.read_text(encoding="utf-8").splitlines())
    assert any(not block.run and block.language in ("python", "r") for block in found)
    assert runs(page)
    assert {"Fullspan", "Function by function"} <= set(headings(page))


def test_pictures_are_drawn_and_not_kept() -> None:
    """But for the one of the README and the home page, the papers' figures, which take hours, and the explorer's."""
    kept = {path for kind in ("*.png", "*.svg") for path in DOCS.rglob(kind)}
    assert {path for path in kept if path.parent.name != "figures"} == {DOCS / "votes.svg"}


@pytest.mark.parametrize(
    "name", ["README.md", "CONTRIBUTING.md", "web/README.md", "benchmarks/README.md", "benchmarks/RESULTS.md"]
)
def test_links_outside_the_site_lead_somewhere(name: str) -> None:
    links = re.findall(r"\]\(([^)#\s]+)", (ROOT / name).read_text(encoding="utf-8"))
    local = [link for link in links if "://" not in link]
    assert [link for link in local if not (ROOT / name).parent.joinpath(link).exists()] == []


def test_the_map_of_the_code_names_what_there_is() -> None:
    """Every module that docs/design.md names by its path is there."""
    named = set(re.findall(r"`([a-z_]+/[a-z_/]+(?:\.py)?)`", (DOCS / "design.md").read_text(encoding="utf-8")))
    assert len(named) > 20
    assert [
        path for path in sorted(named) if not any((ROOT / top / path).exists() for top in ("src/fullspan", ""))
    ] == []
