"""What the site adds to the Markdown files: what examples draw and show, notebooks, equations, the API reference.

MkDocs calls the functions named ``on_...``; a warning ends a strict build.
"""

from __future__ import annotations

import inspect
import logging
import re
import sys
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

import fullspan  # noqa: E402
from docs.examples import SHOWN, executed  # noqa: E402
from docs.notebooks import MARK, notebook  # noqa: E402

log = logging.getLogger("mkdocs.hooks.site")
_PICTURE = re.compile(r"!\[[^\]]*\]\(([^)\s]+\.(?:svg|png))\)")
_RESULTS = re.compile(r"((?:\.\./)+)benchmarks/RESULTS\.md")
MEASURED = "measurements.md"
_MODULES = ("datasets", "errors", "geometry", "graphs")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Equations are blocks in the language ``math``; the navigation gets the API, and guides it does not name."""
    fence = {"name": "math", "class": "math", "format": equation}
    config.mdx_configs["pymdownx.superfences"] = {"custom_fences": [fence]}
    named = str(config.nav)
    others = [path.name for path in sorted(Path(config.docs_dir).glob("*.md")) if f"'{path.name}'" not in named]
    for section in config.nav or ():
        if "Guide" in section:
            section["Guide"].extend(others)
        if "Reference" in section:
            section["Reference"].append({"API": ["api/index.md", *({name: f"api/{name}.md"} for name in public())]})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what no file holds: pictures, and a page for every public name."""
    for page in [file for file in files if file.is_documentation_page()]:
        for name, drawn in pictures(page).items():
            files.append(File.generated(config, str(Path(page.src_uri).parent / name), content=drawn))
        if MARK in page.content_string:
            text = notebook(Path(page.abs_src_path or ""))
            files.append(File.generated(config, str(Path(page.src_uri).with_suffix(".ipynb")), content=text))
    for name, text in reference().items():
        files.append(File.generated(config, f"api/{name}.md", content=text))
    if MEASURED in str(config.nav):
        measured = (ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8")
        files.append(File.generated(config, MEASURED, content=measured.replace("](../docs/", "](")))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Links to the measurements, which stand next to their scripts, lead to their page of the site."""
    return _RESULTS.sub(lambda up: up[1].removeprefix("../") + MEASURED, markdown)


def on_page_content(html: str, page: Page, **_: Any) -> str:
    """What examples show, and a link to the page as a notebook, stand where the page has a mark for them."""
    if SHOWN.search(html):
        shown = iter(executed(Path(page.file.abs_src_path or "")).shown)
        html = SHOWN.sub(lambda found: next(shown).html(found["words"] or ""), html)
    name = Path(page.file.src_uri).with_suffix(".ipynb").name
    link = f'<p class="notebook"><a href="{name}" download>Download this page as a Jupyter notebook</a></p>'
    return html.replace(MARK, link)


def equation(source: str, *_: Any, **__: Any) -> str:
    """LaTeX as MathML, which browsers show by themselves."""
    return f'<div class="math">{convert(source.strip(), display="block")}</div>'


def pictures(page: File) -> dict[str, bytes]:
    """The pictures that a page shows and no file holds, as its examples draw them.

    Examples that print something else than the page says, and pictures that are not drawn, are warnings.
    """
    source = Path(page.abs_src_path or "")
    wanted = {name for name in _PICTURE.findall(page.content_string) if not (source.parent / name).exists()}
    if not wanted:
        return {}
    found = executed(source)
    for line in found.differences():
        log.warning("%s: %s", page.src_uri, line)
    for name in wanted - found.pictures.keys():
        log.warning("%s: no example draws %s", page.src_uri, name)
    return {name: found.pictures[name] for name in wanted & found.pictures.keys()}


def public() -> list[str]:
    """The names of the package that are its interface, modules last; errors stand on the page of their module."""
    names = [name for name in fullspan.__all__ if not name.startswith("_") and name not in _MODULES]
    names.remove("FullspanError")
    return [*sorted(names, key=str.lower), *_MODULES]


def reference() -> dict[str, str]:
    """Pages of the API reference, from the docstrings."""
    found = {name: getattr(fullspan, name) for name in public()}
    rows = [f"| [`{name}`]({name}.md) | {_first_sentence(thing)} |" for name, thing in found.items()]
    index = ["# API", "", "`import fullspan as fs` gives these names.", "", "| | |", "|---|---|", *rows, ""]
    pages = {name: f"::: {_home(name, thing)}\n" for name, thing in found.items()}
    pages["errors"] += f"    options:\n      members: {_kinds(fullspan.errors)}\n"
    return {"index": "\n".join(index), **pages}


def _kinds(module: Any) -> list[str]:
    """The errors and warnings of a module, without the functions that raise them."""
    return [name for name, thing in vars(module).items() if inspect.isclass(thing) and issubclass(thing, Exception)]


def _home(name: str, thing: Any) -> str:
    return thing.__name__ if inspect.ismodule(thing) else f"{thing.__module__}.{name}"


def _first_sentence(thing: Any) -> str:
    text = " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())
    return re.sub(r":\w+:`~?([^`]*)`", r"`\1`", text).replace("|", "\\|")
