"""Tables in three forms hold the same, and a study as a dataset folder has a card that says what it is."""

import csv
import io
import json
import os
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
from pyarrow import parquet

from concord.exchange import dataset
from concord.store import ratings as stored_ratings
from concord.store import studies
from concord.workspace import Workspace

LINES = ["item_id,criterion,rater_type,rater,score,text,language"] + [
    f"i{item},wit,{kind},{rater},{(item + len(rater)) % 5 + 1},=Reply of item {item},{'ru' if item else 'en'}"
    for item in range(6)
    for kind, rater in (("human", "ann"), ("human", "bobby"), ("judge", "gpt"))
]


@pytest.fixture
def rated(fresh, run, tmp_path):
    file = tmp_path / "mine.csv"
    file.write_text("\n".join(LINES) + "\n", encoding="utf-8")
    done = run(fresh, "import", "ratings", file, "--study", "mine", "--scale", "wit=1:no,2:a,3:b,4:c,5:yes")
    assert done.exit_code == 0, done.output
    return fresh


def read(path, form):
    if form == "parquet":
        return parquet.read_table(path).to_pylist()
    text = path.read_text(encoding="utf-8")
    return (
        list(csv.DictReader(io.StringIO(text))) if form == "csv" else list(map(json.loads, text.splitlines()))
    )


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_the_same_rows_in_every_form(rated, run, tmp_path, form):
    for what, n in (("ratings", 18), ("conversations", 6)):
        out = tmp_path / f"{what}.{form}"
        done = run(rated, "export", what, "--study", "mine", "--format", form, "--out", out)
        assert done.exit_code == 0, done.output
        rows = read(out, form)
        assert len(rows) == n
    told = rows[0]["messages"]
    told = json.loads(told) if isinstance(told, str) and form == "csv" else told
    assert told == [{"role": "assistant", "content": "=Reply of item 0"}]
    ratings = read(tmp_path / f"ratings.{form}", form)
    assert {float(r["score"]) for r in ratings} <= {1.0, 2.0, 3.0, 4.0, 5.0}


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_tables_are_read_back_without_loss(rated, run, tmp_path, form):
    other = Workspace.open(tmp_path / "other")
    for what, study in (("conversations", ()), ("ratings", ("--study", "mine"))):
        out = tmp_path / f"{what}.{form}"
        run(rated, "export", what, "--study", "mine", "--format", form, "--out", out)
        done = run(other, "import", what, out, *study)
        assert done.exit_code == 0, done.output
    same_tables(rated, other, "mine")


def test_the_dataset_folder_is_read_back_without_loss(rated, run, tmp_path):
    other, out = Workspace.open(tmp_path / "other"), tmp_path / "hub"
    run(rated, "export", "dataset", "--study", "mine", "--with-names", "--out", out)
    done = run(other, "import", "dataset", out, "--study", "mine")
    assert done.exit_code == 0, done.output
    same_tables(rated, other, "mine")


def same_tables(one, another, study):
    """The conversations and the ratings of a study are the same in both workspaces."""
    tables = []
    for workspace in (one, another):
        with workspace.read() as db:
            kept = sorted(dataset.conversation_rows(db, study), key=lambda row: row["key"])
            rated = []
            for row in stored_ratings.exported(db, study):
                beside = json.loads(row.pop("meta") or "{}")
                beside.pop("configuration", None)  # CSV says it in words, which are kept as data
                names = [name for name in row if name not in ("study", "configuration_id", "reported")]
                rated.append([*((name, row[name]) for name in names), sorted(beside.items())])
        tables.append((kept, sorted(rated, key=str)))
    assert tables[0] == tables[1]


def test_parquet_does_not_go_to_the_terminal(rated, run):
    done = run(rated, "export", "ratings", "--format", "parquet")
    assert done.exit_code == 1
    assert "name a file with --out" in done.output


def test_the_card_has_questions_and_provenance(rated, run, tmp_path):
    out = tmp_path / "hub"
    done = run(rated, "export", "dataset", "--study", "mine", "--out", out)
    assert done.exit_code == 0, done.output
    card = (out / "README.md").read_text(encoding="utf-8")
    for said in (
        "- config_name: ratings\n  data_files: data/ratings.parquet",
        '- "en"\n- "ru"',
        "6 conversations, 18 ratings.",
        "Answers: 1 no; 2 a; 3 b; 4 c; 5 yes.",
        "## Annotators' instructions\n\nNone were written.",
        "## Provenance\n\n- ",
    ):
        assert said in card
    assert "config_name: comparisons" not in card
    assert run(rated, "export", "dataset", "--study", "mine", "--out", out).exit_code == 1


@pytest.mark.parametrize("names", [False, True])
def test_annotators_are_numbered_unless_told_otherwise(rated, run, tmp_path, names):
    out = tmp_path / "hub"
    run(rated, "export", "dataset", "--study", "mine", "--out", out, *(["--with-names"] if names else []))
    rows = parquet.read_table(out / "data" / "ratings.parquet").to_pylist()
    people = {row["rater"] for row in rows if row["rater_type"] == "human"}
    assert people == ({"ann", "bobby"} if names else {"annotator 1", "annotator 2"})
    assert b"bobby" not in b"".join(f.read_bytes() for f in out.rglob("*.*") if not names)


def test_the_card_counts_people_and_names_nobody(filled):
    with filled.write() as db:
        studies.write_guidelines(db, "first", "Read it.")
    with filled.read() as db:
        files = dataset.folder(db, "first", date_made=date(2026, 3, 1))
    card = files["README.md"].decode().replace("\\", "")
    assert "0 annotators and 3 simulated annotators rated." in card
    assert "Ada" not in card
    assert files["guidelines.md"] == b"Read it."
    assert "## Annotators' instructions\n\nRead it." in card


def test_the_library_loads_the_folder(rated, run, tmp_path):
    python = os.environ.get("CONCORD_TOOLS_PYTHON", sys.executable)
    if subprocess.run([python, "-c", "import datasets"], capture_output=True).returncode:
        pytest.skip(f"datasets is not installed for {Path(python).name} (make tools)")
    out = tmp_path / "hub"
    run(rated, "export", "dataset", "--study", "mine", "--out", out)
    code = (
        "import datasets, sys; "
        "print([datasets.load_dataset(sys.argv[1], name, split='train', cache_dir=sys.argv[2]).num_rows "
        "for name in ('conversations', 'ratings')])"
    )
    told = subprocess.run(
        [python, "-c", code, out, tmp_path / "cache"],
        capture_output=True,
        text=True,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "home")},
    )
    assert told.stdout.splitlines()[-1:] == ["[6, 18]"], told.stderr[-1500:]
