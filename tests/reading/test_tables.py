"""Tables in other people's forms: each is read right, or asked about in a sentence with the command to type.

`tables/expected.json` has the figures, by scipy and scikit-learn. All tables are invented.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from concord.cli import main

TABLES = Path(__file__).parent / "tables"
CASES = json.loads((TABLES / "expected.json").read_text(encoding="utf-8"))
FIGURES = ("spearman", "kappa")
ASKED = {
    "s_rater_item_label.json": "--human ann,bob --judge gpt-4",
    "g_minus_one.csv": "--missing -1",
    "g_parse_error.jsonl": "--missing 0",
    "s_worker.csv": "--human w1 --judge w2",
    "m_many_classes.csv": "--human and --judge",
}
"""The tables that more than one reading fits, and what is asked of their reader."""


def check(case: dict[str, object], *options: str):
    file = str(TABLES / str(case["file"]))
    return CliRunner().invoke(main, ["check", file, "--resamples", "20", *case["options"], *options])


def members(whole: dict[str, object], title: str) -> list[str]:
    lines = dict(line.split(": ", 1) for line in whole["taken"])
    return lines.get({"people": "annotators"}.get(title, title), "").split(", ")


@pytest.mark.parametrize("case", CASES, ids=[case["file"] for case in CASES])
def test_a_table_is_read_right_or_asked_about(case):
    shown = check(case)
    assert not shown.exception or isinstance(shown.exception, SystemExit), shown.exception
    said = " ".join(shown.output.split())
    if case["file"] in ASKED:
        assert shown.exit_code == 1
        assert ASKED[case["file"]] in said
        assert all(word in said for word in (*case.get("mentions", ()), *case.get("warns", ())))
        return
    assert shown.exit_code == case.get("exit", 0), shown.output
    whole = json.loads(check(case, "--format", "json").output)
    row = whole["screen"]["glance"]["rows"][0]
    if case["file"] == "b_q1_q2.csv":  # its people's means over both questions are all equal
        row = whole["sections"]["q1"]["judges"]["judges"]["rows"][0]
    for name in FIGURES:
        if name in case:
            assert row[name]["value"] == pytest.approx(case[name], abs=1e-6)
    for criterion, value in case.get("spearman_of", {}).items():
        judged = whole["sections"][criterion]["judges"]["judges"]["rows"][0]
        assert judged["spearman"]["value"] == pytest.approx(value, abs=1e-6)
    for title, key in (("people", "people"), ("judges", "judges"), ("criteria", "criteria")):
        if key in case:
            assert len(members(whole, title)) == case[key], whole["taken"]
    if "n" in case:
        assert whole["screen"]["glance"]["rows"][0]["n"] == case["n"]
    if "bias" in case:
        assert (row.get("bias") or {}).get("value") is None
    assert all(word in said for word in case.get("hints", ()))


def test_a_question_names_both_commands():
    """Whichever command a reader types, the table is read."""
    bob = {"file": "s_rater_item_label.json", "options": ["--human", "ann,bob", "--judge", "gpt-4"]}
    whole = json.loads(check(bob, "--format", "json").output)
    assert whole["screen"]["glance"]["rows"][0]["spearman"]["value"] == pytest.approx(0.843872746)
    for missing, n in (("-1", 9), ("none", 12)):
        asked = {"file": "g_minus_one.csv", "options": ["--missing", missing]}
        whole = json.loads(check(asked, "--format", "json").output)
        assert whole["screen"]["glance"]["rows"][0]["n"] == n
