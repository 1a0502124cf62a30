"""Concord in a notebook or a program: what the package `concord` offers and loads when asked."""
