"""Serves Concord with each report in a transaction of its own, and without turns: the baseline of
bench/crowd.py.
"""

from __future__ import annotations

import importlib

from bench.crowd import unordered

unordered()
app = importlib.import_module("pages.parts.server").app
