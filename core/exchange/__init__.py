"""File formats that no benchmark owns, one module each, in and out.

A file is checked whole before any of it is stored.
"""
