"""Concord: how far can I trust my LLM judges, and where do they fail?"""
