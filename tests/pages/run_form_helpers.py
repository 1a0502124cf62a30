"""What several tests take from `test_run_form`: PLAN."""

from __future__ import annotations

from concord.runs.plans import JudgePlan

PLAN = JudgePlan("pingpong", ("a",))
