"""What several tests take from `test_rubric_files`: GOOD, rubric."""

import tomllib

from concord.rubrics.reading import rubric_of

GOOD = """
title = "Support"
unit = "each-reply"
show = ["System prompt"]
[judge]
instructions = "You know the shop's rules."
reasons = "after"
[[criteria]]
name = "solved"
statement = "The problem is solved."
scale = "1..7"
anchors = { 1 = "Not at all", "3..5" = "Partly", 7 = "Wholly" }
[[criteria]]
name = "polite"
statement = "It is polite."
type = "yes-no"
[[criteria]]
name = "cause"
statement = "What was it about?"
categories = ["billing", "delivery"]
[[criteria]]
name = "effort"
statement = "How much effort was it?"
type = "number"
anchors = { "0..20" = "hardly any" }
[[criteria]]
name = "better"
statement = "Which one solves more?"
type = "pairwise"
strength = true
"""


def rubric(text, name="support"):
    return rubric_of(name, tomllib.loads(text), f"{name}.toml")
