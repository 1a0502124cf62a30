"""Tokens that an endpoint reads from its prompt cache are counted, and cost what models.toml says."""

from __future__ import annotations

import pytest

from concord.runs import engine, planning, status
from concord.runs.plans import JudgePlan
from concord.store import runs
from tests.runs.runs_helpers import plan, run


def test_a_judge_finds_its_instructions_and_the_character_in_the_cache(faulty):
    """They stand at the beginning of its prompts, together longer than OpenAI's least, 1,024 tokens."""
    workspace = faulty(cache_from=1024)
    run(workspace, plan(judges=(), characters=("tully",), situations=("reality", "heckler")))
    text = workspace.models_path.read_text()
    priced = "price = { input = 1000.0, output = 0.0, cached = 100.0 }\nmax_concurrency = 1\n"
    workspace.models_path.write_text(text.replace("[models.b]\n", f"[models.b]\n{priced}"))
    ended = engine.execute(workspace, planning.job(workspace, JudgePlan("pingpong", ("b",))))
    with workspace.read() as db:
        judged = sorted(db["judgements"].rows, key=lambda row: row["id"])
        again = runs.get(db, ended.id)
    assert [row["cached_tokens"] >= 1024 for row in judged] == [False, True]
    given, cached = (sum(row[name] for row in judged) for name in ("input_tokens", "cached_tokens"))
    assert again.spent.cost == pytest.approx(((given - cached) * 1000 + cached * 100) / 1e6)
    assert f"({cached:,} cached)" in status.sentence(again)
