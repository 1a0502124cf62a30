"""File formats that no benchmark owns. A file is checked completely before any of it is stored."""
