"""Files written by earlier versions load, and answer as they did.

``files_of_before`` was written once, through the public estimators, by the version before the file formats were
rebuilt in one shape; it is never written again. A new variant of a format adds a file; none is taken away.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullspan as fs

FOLDER = Path(__file__).parent / "files_of_before"
ANSWERS: dict[str, dict[str, Any]] = json.loads((FOLDER / "answers.json").read_text(encoding="utf-8"))


PACKED = ("full_span_columns", "mixture_packed")
"""Forms for many numbers, version 2; these few would be written in version 1 again."""


def loaded(name: str) -> Any:
    many = ANSWERS[name]["kind"] == "many"
    return (fs.GroupedModels.load if many else fs.load)(FOLDER / f"{name}.fsm")


def asked(model: Any, name: str) -> float:
    """The recorded question: one row's log-probability (of the second model, where there are several), or class."""
    found = getattr(model, ANSWERS[name]["question"])(ANSWERS[name]["row"])
    return float(np.ravel(found)[-1 if ANSWERS[name]["question"] == "predict_proba" else min(1, np.size(found) - 1)])


@pytest.mark.parametrize("name", ANSWERS)
def test_a_file_of_before_loads_and_answers_as_it_did(name: str) -> None:
    model = loaded(name)
    assert type(model).__name__ == ANSWERS[name]["estimator"]
    assert asked(model, name) == pytest.approx(ANSWERS[name]["answer"], rel=1e-9)


@pytest.mark.parametrize("name", [name for name in ANSWERS if name not in PACKED])
def test_a_file_of_before_is_written_again_as_it_was(name: str, tmp_path: Path) -> None:
    """Every number: a format changes with a new version only, and nothing is lost. Words are made anew."""
    path = tmp_path / f"{name}.fsm"
    loaded(name).save(path)
    before, after = (json.loads(file.read_text(encoding="utf-8")) for file in (FOLDER / path.name, path))
    for document in (before, after):
        document.pop("checksum")
        for term in document.get("terms", ()):
            term.pop("words", None)
    assert after == before


def test_every_file_of_before_has_an_answer() -> None:
    assert {path.stem for path in FOLDER.glob("*.fsm")} == set(ANSWERS)
