"""Concord as a library: docs/library.md is run as it stands; figures are those of the command."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

import concord
from concord.errors import ConcordError, ConfigError, ImportRefused, NotFound, StudyError
from concord.statistics.coefficients import coefficient
from concord.statistics.figures import estimates
from concord.statistics.ratings import read_ratings
from concord.workspace import Workspace
from tests.conftest import FIXED

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", PAGE, re.S)
RUBRIC = {"name": "manners", "criteria": [{"name": "kind", "statement": "It is kind.", "scale": "1..5"}]}
WORDS = ("an annotator compared", "annotators with each other")
"""How comments of the page begin that say what a figure is, not what is printed."""
HOSTILE = "<script>alert(1)</script>"


def dialogue(name, reply="No."):
    return {
        "id": name,
        "messages": [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": reply}],
    }


def frame(judge="j", people=("Ada", "Ben", "Cleo")):
    rows = [
        (f"u{item}", "wit", name, "human" if name in people else "judge", 1 + (3 * item + lean) % 5)
        for item in range(15)
        for lean, name in enumerate((*people, judge))
    ]
    return pd.DataFrame(rows, columns=["unit", "criterion", "rater", "kind", "score"])


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for file in (ROOT / "data" / "examples").iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    return tmp_path


def test_every_block_of_the_page_runs_and_prints_what_it_says(here, mock, run):
    names: dict[str, object] = {}
    compared: list[tuple[str, str]] = []
    for language, block in BLOCKS:
        if language == "sh":
            for line in block.splitlines():
                done = run(Workspace(here / "workspace"), *shlex.split(line)[1:])
                assert done.exit_code == 0, done.output
            continue
        said = re.findall(r"^print\(.*?\)\s+# (.*)$", block, re.M)
        printed = StringIO()
        with redirect_stdout(printed):
            exec(block.replace("http://127.0.0.1:8601/v1", mock), names)
        compared += [
            (told, line)
            for told, line in zip(said, printed.getvalue().splitlines(), strict=True)
            if not told.startswith(WORDS)
        ]
    assert len(compared) == 8
    assert [told for told, _ in compared] == [line for _, line in compared]
    assert {language for language, _ in BLOCKS} == {"python", "sh"}
    names["test_the_judge_can_be_trusted"]()


def test_the_import_loads_nothing_else():
    code = "import sys, concord; print(sorted(m for m in sys.modules if m.startswith(('concord.', 'numpy'))))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_its_names_are_there_whatever_was_imported_before():
    import concord.statistics.ratings

    assert set(concord.__all__) <= set(dir(concord))
    assert all(getattr(concord, name) for name in concord.__all__)
    assert concord.statistics.ratings.FINAL == "final"
    assert concord.agreement(frame()).criteria == ("wit",)
    with pytest.raises(AttributeError, match="no attribute “judges”"):
        concord.judges  # noqa: B018


def test_figures_are_those_of_the_command(fresh, run, tmp_path):
    file = tmp_path / "ratings.csv"
    frame().rename(columns={"unit": "item_id", "kind": "rater_type"}).to_csv(file, index=False)
    assert run(fresh, "import", "ratings", file, "--study", "ratings").exit_code == 0
    told = json.loads(run(fresh, "agreement", "--study", "ratings", "--format", "json").stdout)
    own = told["sections"]["wit"]["judges"]["judges"]["rows"][0]
    found = concord.agreement(frame()).judges["j"]
    assert found["spearman"].value == own["spearman"]["value"]
    assert [found["spearman"].low, found["spearman"].high] == own["spearman"]["ci"]
    assert found["kendall"].value == pytest.approx(own["kendall"]["value"])
    assert concord.Study(fresh.path).agreement().judges["j"] == found
    row = told["sections"]["wit"]["judges"]["held_out"]["rows"][0]
    assert found["held_out"].value == row["person"]["value"]


def with_turns(by_turn: bool) -> pd.DataFrame:
    """Items with texts, groups, languages and repeated runs of two prompts; one is refused."""
    said = [("user", "Why?"), ("assistant", "No."), ("user", "Why not?"), ("assistant", "Never.")]
    rows = []
    for item in range(16):
        text = json.dumps([{"role": role, "content": words * (1 + item % 3)} for role, words in said])
        about = {
            "unit": f"u{item}",
            "text": text,
            "model": f"m{item % 3}",
            "language": ("en", "de")[item % 2],
        }
        about |= {"scenario": f"s{item % 9}", "mood": ("glad", "sad")[item // 8]}
        for place, (rater, runs) in enumerate((("Ada", 1), ("Ben", 1), ("j", 2), ("k", 1))):
            for repeat in range(runs):
                of = {"rater": rater, "kind": "judge" if rater in "jk" else "human", "repeat": repeat}
                of["variant"] = "v1" if rater == "j" else ""
                for turn in (1, 2) if by_turn else (None,):
                    wit = 1 + (3 * item + place + repeat + (turn or 0)) % 5
                    rows.append(about | of | {"criterion": "wit", "score": wit, "turn": turn})
                    refused = float(item == 3 and rater == "j")
                    rows.append(about | of | {"criterion": "refusal", "score": refused, "turn": turn})
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    "exclude",
    [{"topic": "a"}, ["topic=a"], "topic=a", {"topic": ["a"]}],
    ids=["value", "texts", "text", "values"],
)
@pytest.mark.parametrize("form", [dict, pd.DataFrame, pa.table], ids=["columns", "frame", "arrow"])
def test_groups_of_rows_are_excluded_as_by_the_command(form, exclude):
    columns = {
        "id": [*range(24)],
        "topic": ["a", "b"] * 12,
        "human": [1, 2, 3] * 8,
        "judge": [1, 2, 3, 3] * 6,
    }
    found = concord.check(form(columns), exclude=exclude, resamples=0)
    assert found.report.section("judges", "score")["judges"].rows[0]["n"] == 12
    assert found.notes == ("12 rows with “a” in topic are excluded",)


@pytest.mark.parametrize(
    ("exclude", "said"),
    [({"topic": "c"}, "No row holds “c” in topic. It has a, b."), ("topic", "topic names no group")],
)
def test_a_group_that_is_not_there_is_named(exclude, said):
    columns = {
        "id": [*range(24)],
        "topic": ["a", "b"] * 12,
        "human": [1, 2, 3] * 8,
        "judge": [1, 2, 3, 3] * 6,
    }
    with pytest.raises(ConcordError, match=said):
        concord.check(columns, exclude=exclude)


@pytest.mark.parametrize("by_turn", [False, True])
def test_a_frame_has_the_figures_of_a_stored_study(fresh, tmp_path, run, monkeypatch, by_turn):
    table = with_turns(by_turn)
    file = tmp_path / "ratings.csv"
    table.rename(columns={"unit": "item_id", "kind": "rater_type"}).to_csv(file, index=False)
    assert run(fresh, "import", "ratings", file, "--study", "ratings").exit_code == 0
    stored = concord.Study(fresh.path).agreement(resamples=20).report.as_json()
    monkeypatch.setattr(Workspace, "open", lambda *_: pytest.fail("a frame needs no database"))
    assert concord.agreement(table, resamples=20).report.as_json() == stored
    assert [one["units"] for one in stored["left_out"]] == [2 if by_turn else 1]


def test_nothing_of_a_frame_is_markup():
    found = concord.agreement(frame(judge=HOSTILE))
    text = found._repr_markdown_()
    assert "<script" not in text.replace("\\<", "")
    assert r"\<script\>" in text
    assert all("<script" not in table._repr_markdown_().replace("\\<", "") for table in found.tables)
    with pytest.raises(NotFound):
        found["<b>"]
    assert concord.Estimate(None, reason=HOSTILE)._repr_html_().startswith("undefined: &lt;script")


def test_a_row_without_a_score_is_missing_and_counted():
    table = frame()
    table.loc[3, "score"] = None
    found = concord.agreement(table)
    assert found.judges["j"]["spearman"].n == 14
    assert "1 row has no score and is taken as missing." in str(found)


def test_wrong_rows_are_all_named():
    table = frame().astype({"score": object})
    table.loc[0, "score"] = None
    table.loc[[1, 4], "score"] = "five"
    with pytest.raises(ImportRefused, match=r"2 lines are invalid.*\n.*line 2: the score “five”.*\n.*line 5"):
        concord.agreement(table)
    with pytest.raises(ImportRefused, match="only score could hold answers"):
        concord.agreement(frame().drop(columns=["rater", "kind"]))


def test_tables_of_other_forms_have_the_same_figures():
    long = frame().drop(columns="criterion")
    wide = frame().pivot(index="unit", columns="rater", values="score")[["Ada", "Ben", "Cleo", "j"]]
    wanted = concord.agreement(frame()).judges["j"]
    found = concord.agreement(long).judges["j"]
    checked = concord.check(wide.reset_index(), human=["Ada", "Ben", "Cleo"], judge=["j"])
    for name, figure in wanted.items():
        assert (found[name].value, found[name].n) == (figure.value, figure.n)
        assert (checked.judges["j"][name].value, checked.judges["j"][name].n) == (figure.value, figure.n)
    assert "annotators: Ada, Ben, Cleo" in str(checked)
    checked.agrees(at_least=-1)
    with pytest.raises(AssertionError, match=r"the lower end is below 0\.99"):
        checked.agrees(at_least=0.99, judge="j")


class Streamed:
    """A frame of another library: it gives itself as Arrow's stream of record batches."""

    def __init__(self, frame):
        self._table = pa.Table.from_pandas(frame, preserve_index=False)

    def __arrow_c_stream__(self, requested=None):
        return self._table.__arrow_c_stream__(requested)


@pytest.mark.parametrize("of", ["path", "arrow", "stream", "records", "columns", "nullable"])
@pytest.mark.parametrize("form", ["own", "wide"])
def test_any_table_is_taken_without_a_database(tmp_path, monkeypatch, of, form):
    monkeypatch.setattr(Workspace, "open", lambda *_: pytest.fail("a table needs no database"))
    table = frame()
    table.loc[3, "score"] = None
    if form == "wide":
        table = table.pivot(index="unit", columns="rater", values="score").reset_index()
    raters = {} if form == "own" else {"human": ["Ada", "Ben", "Cleo"], "judge": ["j"]}
    wanted = concord.agreement(table, **raters)
    file = tmp_path / "ratings.csv"
    table.to_csv(file, index=False)
    given = {
        "path": lambda: str(file),
        "arrow": lambda: pa.Table.from_pandas(table, preserve_index=False),
        "stream": lambda: Streamed(table),
        "records": lambda: table.to_dict("records"),
        "columns": lambda: table.to_dict("list"),
        "nullable": table.convert_dtypes,
    }[of]()
    found = concord.agreement(given, **raters)
    assert found["wit" if form == "own" else "score"] == wanted["wit" if form == "own" else "score"]
    assert found.judges["j"]["spearman"].n == 14


def test_categories_in_words_are_taken_in_long_form():
    words = frame().assign(score=lambda table: table["score"].map(dict(enumerate(" ABCDE"))))
    codes = read_ratings(frame())
    by_code = [coefficient(codes, "wit", ["j"], name, "nominal") for name in ("kappa", "alpha")]
    figures = concord.agreement(words).judges["j"]
    assert [*figures] == ["kappa", "alpha"]
    wanted = [one.value for one in estimates(by_code, codes, resamples=0)]
    assert [figure.value for figure in figures.values()] == pytest.approx(wanted)


def test_what_is_misspelt_suggests():
    found = concord.agreement(frame())
    with pytest.raises(NotFound, match="Did you mean “j”"):
        found.judges["jj"]
    with pytest.raises(NotFound, match="Did you mean “spearman”"):
        found.judges["j"]["spearmann"]
    with pytest.raises(NotFound, match="Did you mean “resamples”"):
        concord.agreement(frame(), resample=10)
    with pytest.raises(AttributeError, match="Did you mean “agreement”"):
        concord.agreemnt  # noqa: B018


def test_what_a_prompt_shows_fits_a_screen():
    found = concord.agreement(frame())
    for value in (found, found["wit"].judges, found["wit"].people, found.judges["j"]["spearman"]):
        lines = repr(value).splitlines()
        assert len(lines) <= 24
        assert max(map(len, lines)) <= 240


def test_coefficients_of_people_are_there():
    people = concord.agreement(frame())["wit"].people
    assert {"ac2", "mean_of_people", "alpha_ordinal", "icc_mean"} <= people.keys()
    assert people["icc_single"].defined


def test_answers_as_categories_have_kappa_alone():
    found = concord.agreement(
        frame().assign(score=lambda table: table["score"].map(dict(enumerate(" ABCDE"))))
    )
    assert list(found.judges["j"]) == ["kappa", "alpha"]
    assert found.frame.query("of == 'people'")["figure"].tolist() == ["alpha_nominal"]


def test_a_function_judges_and_its_errors_are_counted():
    def judge(given):
        return {"kind": 2 // (given["conversation"]["key"] != "conversations/d2")}

    async def later(given):
        await asyncio.sleep(0)
        return {"kind": 4}

    judged = concord.judge([dialogue("d1"), dialogue("d2")], RUBRIC, {"one": judge, "two": later})
    assert judged.ratings[["unit", "rater", "score"]].values.tolist() == [
        ["d1", "one", 2.0],
        ["d1", "two", 4.0],
        ["d2", "two", 4.0],
    ]
    assert judged.failed[["unit", "rater"]].values.tolist() == [["d2", "one"]]
    assert "ZeroDivisionError" in judged.failed["failure"][0]


def test_it_works_in_a_running_loop():
    async def cell():
        return concord.judge([dialogue("d")], RUBRIC, {"one": lambda given: {"kind": 3}})

    assert asyncio.run(cell()).ratings["score"].tolist() == [3.0]


def test_a_workspace_keeps_what_was_judged(workspace):
    settings = json.loads(json.dumps({"base_url": _address(workspace), "model": "mock-fixed"}))
    first = concord.judge([dialogue("d")], RUBRIC, ["a"], workspace=workspace.path)
    again = concord.judge([dialogue("d")], RUBRIC, ["a"], workspace=workspace.path)
    assert (first.run.spent.calls, again.run.spent.calls) == (1, 0)
    assert first.ratings.equals(again.ratings)
    more = concord.judge([dialogue("e")], "manners", {"new": settings}, workspace=workspace.path)
    assert set(more.ratings["unit"]) == {"d", "e"}
    assert set(more.ratings["rater"]) == {"new"}


def _address(workspace):
    assert FIXED in workspace.models_path.read_text()
    return re.search(r'"(http://[^"]+)"', workspace.models_path.read_text())[1]


def test_a_file_of_concord_and_a_rubric_file(here):
    def rate(given):
        return {"helpful": 4, "keeps_rules": True, "tone": "warm", "effort": 10}

    judged = concord.judge("support.jsonl", "support.toml", [rate])
    assert len(judged.ratings) == 4 * len((here / "support.jsonl").read_text().splitlines())
    assert judged.failed.empty


def test_another_text_of_a_function_is_another_judge(fresh):
    def first(given):
        return {"kind": 1}

    def second(given):
        return {"kind": 5}

    concord.judge([dialogue("d")], RUBRIC, {"f": first}, workspace=fresh.path)
    with pytest.raises(ConfigError, match="“f”"):
        concord.judge([dialogue("d"), dialogue("e")], RUBRIC, {"f": second}, workspace=fresh.path)


def test_wrong_conversations_and_judges_are_told_in_a_sentence(workspace):
    unanswered = {"id": "e", "messages": [{"role": "user", "content": "Why?"}]}
    with pytest.raises(ImportRefused, match=r"the list of conversations, line 2.*has no reply"):
        concord.judge([dialogue("d"), unanswered], RUBRIC, [])
    with pytest.raises(ConfigError, match="“a” needs a name of its own"):
        concord.judge([dialogue("d")], RUBRIC, {"a": len}, workspace=workspace.path)
    with pytest.raises(NotFound, match="no model “small”"):
        concord.judge([dialogue("d")], RUBRIC, ["small"])
    with pytest.raises(ConfigError, match="“modell”"):
        concord.judge([dialogue("d")], RUBRIC, {"small": {"modell": "x"}})


def test_a_study_is_named_where_there_are_several(fresh, run, tmp_path):
    with pytest.raises(StudyError, match="There are none"):
        concord.Study(fresh.path)
    file = tmp_path / "ratings.csv"
    frame().rename(columns={"unit": "item_id", "kind": "rater_type"}).to_csv(file, index=False)
    for name in ("one", "two"):
        assert run(fresh, "import", "ratings", file, "--study", name).exit_code == 0
    with pytest.raises(StudyError, match="There are two, one"):
        concord.Study(fresh.path)
    study = concord.Study(fresh.path, "one")
    assert study.ratings["unit"].nunique() == 15
    assert concord.agreement(study.ratings).judges["j"]["spearman"].n == 15
