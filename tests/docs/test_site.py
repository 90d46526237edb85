"""README and documentation run as written; the site builds without a warning, its links, pictures and equations whole.

One file, so that one process runs a page's examples once, for its output and for its pictures.
"""

from __future__ import annotations

import os
import warnings
from html.parser import HTMLParser
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from docs import notebooks
from docs.examples import ROOT, SHOWN, agree, blocks, documents, executed

os.environ["NO_MKDOCS_2_WARNING"] = "1"  # Material speaks of its successor


@pytest.mark.parametrize("document", documents(), ids=lambda p: str(p.relative_to(ROOT)))
def test_the_examples_print_what_the_document_says(document: Path) -> None:
    differences = executed(document).differences()
    assert not differences, "\n".join(["run `make readme` if the new output is right", *differences])


def need_packages() -> None:
    for package in ("mkdocs", "material", "mkdocstrings_handlers.python", "latex2mathml"):
        pytest.importorskip(package, reason="the packages of the documentation site are not installed")


def build(site: Path, **changes: Any) -> Path:
    """Build the site into a folder; a warning is an error."""
    need_packages()
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        config = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(site), strict=True, **changes)
        config.plugins.on_startup(command="build", dirty=False)
        build(config)
    return site


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("site"))


class Page(HTMLParser):
    """What a page refers to, what can be referred to in it, and its pictures."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.anchors: set[str] = set()
        self.n_equations = 0
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        self.n_equations += tag == "math"
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif "src" in found:
            self.fetched.append(found["src"])
        elif tag == "link" and found.get("rel") in ("stylesheet", "icon", "preload"):
            self.fetched.append(found["href"])


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    found = {path: Page(path) for path in site.rglob("*.html") if path.name != "404.html"}
    assert len(found) > 60
    return found


def test_links_and_pictures_lead_somewhere(pages: dict[Path, Page]) -> None:
    broken = []
    for path, page in pages.items():
        for link in [*page.links, *page.fetched]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = Path(os.path.normpath(path.parent / unquote(parts.path))) if parts.path else path
            lost = parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors
            if lost or not target.exists():
                broken.append(f"{path.name}: {link}")
    assert broken == []


def test_nothing_is_fetched_from_elsewhere(pages: dict[Path, Page]) -> None:
    assert {url for page in pages.values() for url in page.fetched if urlsplit(url).netloc} == set()


def test_equations_are_mathml_and_pictures_are_drawn(site: Path, pages: dict[Path, Page]) -> None:
    for path in site.glob("models/*.html"):
        assert path.name == "index.html" or pages[path].n_equations > 0, path
    drawn = [path for path in site.rglob("*") if path.suffix in (".svg", ".png") and path.parent.name != "images"]
    assert len(drawn) >= 9
    assert min(path.stat().st_size for path in drawn) > 1000


def test_the_reference_has_every_public_name(site: Path) -> None:
    import fullspan

    text = "".join(path.read_text(encoding="utf-8") for path in site.glob("api/*.html"))
    public = [name for name in fullspan.__all__ if not name.startswith("_")]
    assert [name for name in public if f".{name}" not in text and f'id="fullspan.{name}"' not in text] == []


def test_docstrings_are_read_as_this_package_writes_them() -> None:
    need_packages()
    spec = spec_from_file_location("docstrings", ROOT / "docs" / "site" / "docstrings.py")
    assert spec is not None
    assert spec.loader is not None
    style = module_from_spec(spec)
    spec.loader.exec_module(style)
    text = "One.\n\n>>> f(1)\n2\n\nParameters\n----------\na, b : two of :class:`x.Y`.\nAnd more.\n\n"
    text += "Examples\n--------\n>>> g()"
    assert style.numpydoc(text).splitlines() == [
        *("One.", "", "```pycon", ">>> f(1)", "2", "```", "", "And more.", "", "Parameters", "----------"),
        *("a, b", "    two of `Y`.", "", "Examples", "--------", ">>> g()"),
    ]


def build_one(text: str, folder: Path) -> None:
    """Build a site of one page."""
    (folder / "docs").mkdir()
    (folder / "docs" / "index.md").write_text(f"# Home\n\n{text}\n", encoding="utf-8")
    nav = [{"Start": ["index.md"]}, {"Reference": ["index.md"]}]
    build(folder / "site", docs_dir=str(folder / "docs"), nav=nav, extra_css=[], plugins=[])


@pytest.mark.parametrize(
    "text",
    [
        "[gone](nowhere.md)",
        "![gone](gone.txt)",
        "[gone](#nowhere)",
        "![not drawn](gone.svg)",
        "```python\nopen('a.svg', 'w').close()\nprint(1)\n```\n\n```text\n2\n```\n\n![drawn](a.svg)",
    ],
    ids=["page", "file", "anchor", "picture", "output"],
)
def test_what_is_broken_ends_the_build(text: str, tmp_path: Path) -> None:
    need_packages()
    from mkdocs.exceptions import Abort

    with pytest.raises(Abort, match="strict mode"):
        build_one(text, tmp_path)


def test_a_sound_page_is_built_with_its_picture(tmp_path: Path) -> None:
    text = "```python\nopen('a.svg', 'w').close()\nprint(1)\n```\n\n```text\n1\n```\n\n![drawn](a.svg) [up](#home)"
    build_one(text, tmp_path)
    assert (tmp_path / "site" / "a.svg").exists()


def test_notebooks_have_the_code_and_the_output_of_their_page(site: Path) -> None:
    """Every page with the mark is there as a notebook that Jupyter accepts, with all its code, output and pictures."""
    import nbformat

    assert len(notebooks.pages()) >= 6
    for page in notebooks.pages():
        found = nbformat.read((site / page.relative_to(ROOT / "docs")).with_suffix(".ipynb"), as_version=4)
        nbformat.validate(found)
        code = [cell for cell in found.cells if cell.cell_type == "code"]
        wanted = [block for block in blocks(page.read_text().splitlines()) if block.language in ("python", "console")]
        assert len(code) == len(wanted)
        assert [cell.source for cell, block in zip(code, wanted, strict=True) if block.language == "python"] == [
            "\n".join(block.lines) for block in wanted if block.language == "python"
        ]
        outputs = [output for cell in code for output in cell.outputs]
        shown = [output for output in outputs if output.output_type == "execute_result"]
        assert len(shown) == len(SHOWN.findall(page.read_text()))
        assert all("".join(output.get("text", "")).strip() for output in outputs if output not in shown)
        html = (site / page.relative_to(ROOT / "docs")).with_suffix(".html").read_text(encoding="utf-8")
        assert html.count('class="shown"') == len(shown)


def test_a_notebook_runs_in_a_kernel(tmp_path: Path) -> None:
    """The cells as they are downloaded; ``explore`` is a widget there."""
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    page = ROOT / "docs" / "tutorials" / "baskets.md"
    found = nbformat.reads(notebooks.notebook(page), as_version=4)
    expected = [cell.outputs for cell in found.cells if cell.cell_type == "code" and cell.outputs]
    found.cells.append(nbformat.v4.new_code_cell("model.explore(given='beer=1')"))
    nbclient.NotebookClient(found, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    code = [cell for cell in found.cells if cell.cell_type == "code"]
    for cell, outputs in zip([cell for cell in code[:-1] if cell.outputs], expected, strict=True):
        for now, before in zip(cell.outputs, outputs, strict=True):
            assert now.output_type == before.output_type
            assert now.output_type != "stream" or agree(now.text, before.text)
    assert "application/vnd.jupyter.widget-view+json" in code[-1].outputs[0].data
