"""The page that ships is built, whole, and needs no network."""

from __future__ import annotations

import hashlib
import json
import re
from importlib.resources import files
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAMESPACES = {"www.w3.org"}


def test_the_page_loads_only_itself() -> None:
    folder = files("fullspan.people.web") / "static"
    names = {entry.name for entry in folder.iterdir()}
    page = (folder / "index.html").read_text(encoding="utf-8")
    loaded = set(re.findall(r'(?:src|href)="\./([^"]+)"', page))
    assert loaded == {"explorer.js", "explorer.css"}
    assert loaded | {"index.html"} == names
    assert "<script>" not in page
    for name in names:
        text = (folder / name).read_text(encoding="utf-8")
        assert set(re.findall(r"https?://([\w.-]+)", text)) <= NAMESPACES


def test_the_widget_of_notebooks_loads_nothing() -> None:
    """One module with its style in it, which the extra package sends to the notebook as it is."""
    folder = files("fullspan.people.notebook") / "static"
    assert [entry.name for entry in folder.iterdir()] == ["widget.js"]
    text = (folder / "widget.js").read_text(encoding="utf-8")
    assert not re.search(r"^import\b|\bimport\(|\brequire\(", text, re.MULTILINE)
    assert set(re.findall(r"https?://([\w.-]+)", text)) <= NAMESPACES


def test_what_ships_was_built_from_the_sources() -> None:
    """The build ends each script with the hash of its sources (``web/sources.js``)."""
    web = ROOT / "web"
    sources = {path.relative_to(web).as_posix(): path for path in (web / "src").iterdir()}
    sources |= {name: web / name for name in ("index.html", "package-lock.json")}
    found = hashlib.sha256()
    for name in sorted(sources):
        found.update(f"{name}\n".encode() + sources[name].read_bytes())
    for package, script in (("web", "explorer.js"), ("notebook", "widget.js")):
        text = (files(f"fullspan.people.{package}") / "static" / script).read_text(encoding="utf-8")
        is_new = text.endswith(f"// built from {found.hexdigest()}\n")
        assert is_new, f"{script} is older than web/src; cd web && npm ci && npm run build"


def test_the_lock_of_its_packages_names_no_host_and_has_hashes() -> None:
    """Only bindings for other platforms, of which the registry may hold no copy, can be without."""
    text = (ROOT / "web" / "package-lock.json").read_text(encoding="utf-8")
    assert "://" not in text
    packages = json.loads(text)["packages"]
    bare = [name for name, entry in packages.items() if name and "integrity" not in entry]
    assert all(packages[name]["optional"] and "/@rolldown/binding-" in name for name in bare)
    assert "node_modules/@rolldown/binding-linux-x64-gnu" not in bare
