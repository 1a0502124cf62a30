"""What the pages ask of the store: no statement goes through a table that grows with conversations."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from concord.store import database
from concord.workspace import SHIPPED, Workspace
from pages.parts.navigation import DESK, SECTIONS
from pages.parts.people import Researcher

SMALL = {
    "annotator_labels",
    "audit_log",  # what people decided
    "batches",
    "criteria",
    "desk_reports",
    "exclusions",
    "import_parts",
    "invitations",
    "one_time_links",
    "prompts",
    "crowd_links",
    "crowd_workers",
    "model_configurations",
    "player_counts",
    "rater_counts",
    "raters",
    "rubrics",
    "runs",
    "sessions",
    "settings",
    "studies",
    "study_closings",
    "training_results",
}
"""Tables that a statement may go through."""
PARTS = ("placements_to_settle", "scenarios_discarded")
"""Indexes of what an adjudicator was given, and of what a researcher has discarded."""
PROGRESS = "count(DISTINCT iif(s.state = 'done', s.entry, NULL)) AS done"
"""Of the one statement that may: how far annotators are counts what is placed on all desks."""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory, demo_once: Path) -> Workspace:
    """The recorded demo."""
    return Workspace(shutil.copytree(demo_once, tmp_path_factory.mktemp("statements") / "demo"))


@pytest.fixture(scope="module")
def pages(demo: Workspace) -> Iterator[dict[str, list[str]]]:
    """The statements that each page of the demo sends, by its address."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        yield drawn(demo, monkeypatch)
        # Connections that are kept open are traced for as long as they are.
        database._idle.pop(demo.db_path).close()


def drawn(demo: Workspace, monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """Each page of the demo, drawn once; the statements that it sent."""
    monkeypatch.setenv("CONCORD_WORKSPACE", str(demo.path))
    monkeypatch.setattr("pages.parts.session.who_is_here", lambda _: Researcher("local"))
    st.cache_resource.clear()
    st.cache_data.clear()
    statements: dict[str, list[str]] = {}
    connect = database.connect

    def record(sql: str) -> None:
        statements[address].append(sql)

    def traced(*args, **named):
        db = connect(*args, **named)
        db.conn.set_trace_callback(record)
        return db

    monkeypatch.setattr(database, "connect", traced)
    for page in (page for pages in SECTIONS.values() for page in pages if page != DESK):
        address = page.address
        statements[address] = []
        test = AppTest.from_file(str(SHIPPED / "app.py"), default_timeout=600)
        if address:
            test.switch_page(str(page.path))
        test.run()
        assert not test.exception, address
    return statements


def scanned(db: sqlite3.Connection, sql: str) -> list[str]:
    """The tables, other than SMALL ones, that a statement goes through from one end to the other."""
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    every = db.execute("SELECT sql FROM sqlite_master WHERE type = 'view' AND instr(?, name)", [sql])
    views = [text for (text,) in every]
    # Every word with the next one, which may be its alias: also where it follows another word.
    words = re.findall(r'\b(\w+)\b"?(?: AS)?\s+(?=(\w+))', " ".join([sql, *views]))
    plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {sql}")]
    if "LIMIT" in sql and not any("TEMP B-TREE" in step for step in plan):
        return []  # it ends where there are enough rows
    steps = [step for step in plan if step.startswith("SCAN ") and not step.endswith(PARTS)]
    called = {step.split()[1] for step in steps}
    return sorted(
        {name for name, alias in [*words, *((t, t) for t in tables)] if alias in called} & tables - SMALL
    )


def test_no_statement_of_a_page_scans_a_table_that_grows(pages, demo):
    assert min(map(len, pages.values())) > 2  # each page was drawn, and was traced
    db = sqlite3.connect(demo.db_path)
    db.create_function("casefold", 1, str.casefold, deterministic=True)
    asked = sorted({(sql, page) for page, every in pages.items() for sql in every if "SELECT" in sql.upper()})
    bad = [(page, tables, sql) for sql, page in asked if (tables := scanned(db, sql))]
    assert [one for one in bad if PROGRESS not in one[2]] == []
    # What the rule is to find, it finds.
    assert scanned(db, "SELECT count(*) FROM conversations c") == ["conversations"]
    assert scanned(
        db, "SELECT sum(s.failed) FROM conversations c LEFT JOIN summaries s ON s.conversation_id = c.id"
    )
    assert scanned(db, "SELECT * FROM human_scores WHERE score > 3")
