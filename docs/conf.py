"""The documentation site: `make docs` builds it from the Markdown files of the repository."""

project = "Concord"
extensions = ["myst_parser"]
root_doc = "docs/index"
include_patterns = ["*.md", "data/README.md", "docs/*.md"]
html_theme = "furo"
html_title = "Concord"
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # of csv and jsonl, which have no lexer
