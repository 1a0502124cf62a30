"""The recipes of CONTRIBUTING.md, taken from the page and followed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from concord.exchange import entries
from concord.exchange.row_reader import Reading
from concord.exchange.shapes import Shape, has
from concord.scenario import Scenario
from concord.store import conversations, ratings, scenarios
from concord.workspace import Workspace
from tests import warm

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCKS = {
    name: body
    for language, body in re.findall(r"```(\w+)\n(.*?)```", PAGE, re.S)
    for name in re.findall(r"^(?:#|\{#) ([\w/.]+)(?: #\})?\n", body)
}
PLAY = [
    "run",
    "pingpong",
    "--players",
    "player",
    "--interrogator",
    "user",
    "--characters",
    "tully",
    "--situations",
    "reality",
]


def put(folder, kind):
    """Write the files of the page that lie below `kind`."""
    for name, body in BLOCKS.items():
        if name.startswith(kind):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(body)


@pytest.fixture
def followed(workspace) -> Workspace:
    """The workspace with the prompts and the model of the page."""
    put(workspace.path, "prompts/")
    models = workspace.models_path.read_text()
    address = re.search(r'"(http://[^"]+)"', models)[1]
    workspace.models_path.write_text(
        models + BLOCKS["models.toml"].replace("http://127.0.0.1:8601/v1", address)
    )
    return workspace


@pytest.fixture
def concord(followed, run):
    def call(*words):
        done = run(followed, *words)
        assert done.exit_code == 0, done.output
        return done.output

    return call


def test_the_page_holds_the_recipes():
    slice_files = {f"core/benchmarks/haiku/{name}.py" for name in ("__init__", "tables", "files", "commands")}
    assert {"models.toml", "prompts/pingpong/stern/judge_system.jinja"} | slice_files <= set(BLOCKS)


def test_a_judge(followed, concord):
    concord(*PLAY)
    assert "✓ second-opinion" in concord("doctor", "second-opinion")
    concord("judge", "pingpong", "--judges", "second-opinion")
    with followed.read() as db:
        assert [r.name for r in ratings.judges(db)] == ["second-opinion"]


def test_a_version_of_a_prompt(followed, concord):
    concord(*PLAY, "--judges", "a", "--version", "stern")
    with followed.read() as db:
        assert [(r.name, r.variant) for r in ratings.judges(db)] == [("a", "stern")]
        [prompt] = [each for each in ratings.prompts(db) if each["version"] == "stern"]
    assert "are hard to please" in prompt["body"]
    assert '"user": "' in prompt["body"], "what the version lacks comes from the benchmark's own"


def test_a_benchmark_is_one_folder_and_one_name(followed, tmp_path):
    """In a copy of the code: the folder of the page, and its name in SLICES."""
    house = tmp_path / "house"
    shutil.copytree(ROOT / "core", house / "core", ignore=shutil.ignore_patterns("__pycache__"))
    (house / "concord").symlink_to("core")
    for shared in ("prompts", "data"):
        (house / shared).symlink_to(ROOT / shared)
    put(house, "core/benchmarks/")
    registry = house / "core/runs/registry.py"
    text, n = re.subn(r"^(SLICES = \(.*)\)$", r'\1, "haiku")', registry.read_text(), flags=re.M)
    assert n == 1
    registry.write_text(text)

    def concord(*words):
        done = subprocess.run(
            [sys.executable, "-m", "concord.cli", "--workspace", followed.path, *words],
            cwd=house,
            env={**os.environ, "PYTHONPATH": str(house)},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    subjects = tmp_path / "subjects.txt"
    subjects.write_text("rain on a tin roof\n\nsnow\n")
    assert "2 new subjects." in concord("haiku", "import", "subjects", subjects)
    for calls in ("6 calls", "0 calls"):
        said = concord("run", "haiku", "--poets", "player", "--judges", "a,b")
        assert f"finished: 6 of 6 stored · {calls}" in said
    with followed.read() as db:
        [found] = conversations.search(db, conversations.Filter("haiku", facets={"subject": ("snow",)}))
        assert found.judges == 2
        assert found.final is not None
    lengths = json.loads(concord("haiku", "lengths", "--format", "json"))["tables"]["haiku-lengths"]
    assert [(row["poet"], row["lines"]["n"]) for row in lengths["rows"]] == [("player", 2)]
    assert "player" in concord("leaderboard", "haiku")


def test_a_form_of_conversations_is_an_entry():
    """The entry of the page reads a row: its key, its facet, both speakers, and the agent's grade."""
    tables = tomllib.loads(BLOCKS["data/shapes.toml"])
    (shape,) = TypeAdapter(tuple[Shape, ...]).validate_python(tables["shapes"])
    row = {
        "ticket_id": 7,
        "queue": "billing",
        "customer": "Why twice?",
        "reply": "I refund it.",
        "model": "m",
    }
    row["review"] = {"grade": "4", "comment": "Kind.", "agent": "ann"}
    assert has(row, shape)
    entry = entries.read(row, Reading(shape, "tickets"), "tickets.jsonl, line 1")
    [conversation] = entry.conversations
    assert (conversation.key, conversation.player) == ("tickets/7", "m")
    assert dict(conversation.facets) == {"queue": "billing"}
    said = [(message.role, message.content) for message in conversation.messages]
    assert said == [("user", "Why twice?"), ("assistant", "I refund it.")]
    [score] = entry.scores
    assert (score.criterion, score.rater.name, score.rater.kind) == ("grade", "ann", "human")
    assert (score.score, score.explanation) == (4.0, "Kind.")
    assert not has({name: row[name] for name in row if name != "review"}, shape)


def test_a_statistic_is_a_function_an_entry_and_its_documentation(tmp_path):
    """In a copy of the code: every medium shows the section, and the recipe's own test passes."""
    house = tmp_path / "house"
    shutil.copytree(ROOT / "core", house / "core", ignore=shutil.ignore_patterns("__pycache__"))
    (house / "concord").symlink_to("core")
    for shared in ("prompts", "data"):
        (house / shared).symlink_to(ROOT / shared)
    put(house, "core/statistics/")
    put(house, "tests/statistics/")
    of_registry = PAGE.partition("the entry of REGISTRY\n")[2].partition("```")[0]
    imported, entry = of_registry.split("\n\n", 1)
    sections = house / "core" / "reports" / "sections.py"
    text = sections.read_text(encoding="utf-8")
    for before in ("from concord.statistics.hidden import", '    Section(\n        name="raters"'):
        assert text.count(before) == 1
    text = text.replace(
        "from concord.statistics.hidden import", f"{imported}\nfrom concord.statistics.hidden import"
    )
    text = text.replace('    Section(\n        name="raters"', f'{entry}    Section(\n        name="raters"')
    sections.write_text(text, encoding="utf-8")
    documented = PAGE.partition("```markdown\n")[2].partition("```")[0]
    (house / "docs").mkdir()
    page = (ROOT / "docs" / "agreement.md").read_text(encoding="utf-8")
    before, raters, after = page.partition("## `raters`")
    (house / "docs" / "agreement.md").write_text(f"{before}{documented}\n{raters}{after}", encoding="utf-8")
    (house / "tests" / "reports").mkdir()
    shutil.copy(ROOT / "tests" / "reports" / "test_sections.py", house / "tests" / "reports")

    def called(*words):
        env = {**os.environ, "PYTHONPATH": str(house)}
        done = subprocess.run(
            [sys.executable, *map(str, words)], cwd=house, env=env, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    file = ROOT / "data" / "examples" / "ratings.csv"
    check = ("-m", "concord.cli", "check", file, "--resamples", 20)
    assert "Items that a judge scores higher" in called(*check, "--section", "higher")
    written = json.loads(called(*check, "--format", "json", "--html", "report.html"))
    rows = written["sections"][written["main"]]["higher"]["higher"]["rows"]
    assert rows
    assert all(0 <= row["higher"]["value"] <= 1 for row in rows)
    assert '<h2 id="higher">' in (house / "report.html").read_text(encoding="utf-8")
    assert "How often does a judge score an item higher" in called(
        "-m", "concord.cli", "agreement", "--sections"
    )
    called(
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "tests/statistics",
        "tests/reports",
        "-k",
        "two_of_three or documentation",
    )


def test_a_benchmark_of_ones_own_lies_in_the_workspace(followed, tmp_path):
    """Listed in models.toml every command knows it."""
    (followed.path / "verse.py").write_text(BLOCKS["core/benchmarks/haiku/__init__.py"])
    with followed.write() as db:
        subject = Scenario("haiku", "subject", "snow", {"text": "snow"}, "accepted", "a test", "import")
        scenarios.save(db, [subject])

    def concord(*words):
        command = [sys.executable, "-m", "concord.cli", "--workspace", followed.path, *words]
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        return warm.run(command, cwd=tmp_path, env=env)

    refused = concord("leaderboard", "haiku")
    assert refused.returncode == 1
    assert "There is no benchmark “haiku”" in refused.stderr
    followed.models_path.write_text('benchmarks = ["verse:HAIKU"]\n' + followed.models_path.read_text())
    done = concord("run", "haiku", "--poets", "player", "--judges", "a")
    assert "finished: 2 of 2 stored" in done.stdout, done.stderr
    told = concord("leaderboard", "haiku")
    assert "player" in told.stdout, told.stderr
    again = concord("run", "haiku", "--poets", "player", "--judges", "a", "--estimate")
    assert "2 stored, 0 to generate" in again.stdout, again.stderr
    followed.models_path.write_text('benchmarks = ["verse:VERSE"]\n')
    refused = concord("leaderboard", "haiku")
    assert refused.stderr.startswith("Error: There is no name “VERSE”.")
