"""The documentation site: `make docs` builds it from the Markdown files of the repository."""

project = "Concord"
extensions = ["myst_parser"]
root_doc = "docs/index"
include_patterns = ["*.md", "data/README.md", "docs/*.md", "docs/reference/*.md"]
html_extra_path = ["site_root"]  # index.html, which leads to the first page
html_theme = "furo"
html_title = "Concord"
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # of csv and jsonl, which have no lexer
