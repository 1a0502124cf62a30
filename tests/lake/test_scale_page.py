"""docs/scale.md, followed: its log is made, and its commands are run as they stand."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from concord.llm.models import load_models

PAGE = (Path(__file__).parents[2] / "docs" / "scale.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.S | re.M))
BLOCKS = {
    title: {kind: re.findall(rf"^```{kind}\n(.*?)^```", body, re.S | re.M) for kind in ("sh", "python")}
    for title, body in SECTIONS.items()
}
FIGURES = "From files to figures"


def commands(title: str) -> list[list[str]]:
    """The commands of `concord` in a section, as words."""
    lines = "".join(BLOCKS[title]["sh"]).splitlines()
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("concord ")]


@pytest.fixture
def follow(fresh, run, mock, tmp_path, monkeypatch):
    """Runs a command of the page in a new folder, with the mock server at another port."""
    monkeypatch.chdir(tmp_path)

    def followed(words):
        result = run(fresh, *words)
        assert result.exit_code == 0, (words, result.output)
        text = fresh.models_path.read_text()
        fresh.models_path.write_text(text.replace("http://127.0.0.1:8601/v1", mock))
        return result.output

    return followed


def write_ratings(keys: list[str]) -> None:
    """Write ratings.csv in the form that the page shows: ann and bob agree."""
    shown = re.search(r"^cat ratings.csv\n(.*\n)(.*),ann,4\n", SECTIONS[FIGURES], re.M)
    lines = [shown[1]]
    for key in keys:
        row = shown[2].replace("lake/0-17", key)
        score = 1 + int(key.rpartition("-")[2]) % 5
        lines += [f"{row},{name},{score}\n" for name in ("ann", "bob")]
    Path("ratings.csv").write_text("".join(lines))


def test_a_stranger_comes_from_files_to_figures(fresh, follow):
    fresh.models_path.write_text("")
    exec(BLOCKS[FIGURES]["python"][0], {})
    outputs = {}
    *steps, importing = commands(FIGURES)
    for words in steps:
        if words[0] in ("mock", "app"):
            continue  # they serve until they are stopped
        if words[0] == "agreement":
            listed = follow(["export", "conversations", "--study", "people"])
            write_ratings(re.findall(r'"key": "(lake/.+?)"', listed))
            outputs["ratings"] = follow(importing)
        outputs[words[0]] = follow(words)
    assert load_models(fresh.models_path).keys() == {"a", "b"}
    assert "8,000 of 8,000 judgements" in outputs["judge"]
    assert "800 ratings by annotators" in outputs["ratings"]
    assert "corrected by 400 items" in outputs["estimate"]
    assert "Judge a random" in outputs["plan"]
    assert "paid − free" in Path("estimate.html").read_text()
