"""The runner of the documentation's examples tells right from wrong; ``test_site.py`` runs them."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.examples import agree, rewrite, run


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("fitted in 1.2 s", "fitted in 37.0 s", True),
        ("P = 0.9312", "P = 0.9313", True),
        ("P = 0.9312", "P = 0.9332", False),
        ("12 terms", "13 terms", False),
        ("a  b", "a b", True),
        ("P(a) = 0.5", "P(b) = 0.5", False),
    ],
)
def test_lines_agree_up_to_timings_and_last_digits(a: str, b: str, same: bool) -> None:
    assert agree(a, b) is same


def test_a_wrong_output_is_found_and_mended(tmp_path: Path) -> None:
    document = tmp_path / "page.md"
    document.write_text(
        "```python\nx = 6\nprint(x * 7)\n```\n\n```text\n41\n```\n\n"
        "```python\n>>> x + 1\n8\n>>> for i in range(2):\n...     print(i)\n```\n\n"
        "```console\n$ echo one \\\n  two\n$ head -1 votes.csv | cut -c1-5\nwrong\n```\n\n"
        "<!-- not run -->\n```console\n$ false\nleft alone\n```\n"
    )
    assert run(document).differences()
    assert rewrite(document)
    text = document.read_text()
    for part in ("\n42\n", ">>> x + 1\n7\n", "print(i)\n0\n1\n", "two\none two\n", "c1-5\nparty\n", "left alone"):
        assert part in text
    assert not rewrite(document)


def test_a_kept_picture_is_drawn_again(tmp_path: Path) -> None:
    document, kept = tmp_path / "page.md", tmp_path / "a.svg"
    draw = "from pathlib import Path\nfor name in 'ab':\n    Path(name + '.svg').write_text('new')"
    document.write_text(f"```python\n{draw}\n```\n\n![a](a.svg) ![b](b.svg)\n")
    kept.write_text("old")
    assert rewrite(document)
    assert kept.read_text() == "new"
    assert not (tmp_path / "b.svg").exists()
    assert not rewrite(document)
