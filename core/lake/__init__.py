"""Judging whole logs: files in, files out, a partition at a time; people rate a sample of them."""
