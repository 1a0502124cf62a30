"""Rubrics: what judges and people are asked about conversations, as files of a workspace."""
