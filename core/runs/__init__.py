"""Runs: the pieces and cost of a plan, the engine that plays and judges it, and its progress."""
