"""Runs: what a plan comes to, the engine that plays and judges it, and how far it has come."""
