"""Help of a command that computes nothing loads no library for figures or for the store."""

import re
import subprocess
import sys

import pytest

HEAVY = {"numpy", "pandas", "scipy", "pydantic", "sqlite_utils", "rich", "openai", "streamlit"}


def loaded(*words):
    code = (
        "import sys\nfrom concord.cli import main\n"
        "try: main(sys.argv[1:])\nexcept SystemExit: pass\nprint(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    return HEAVY & {*done.stderr.split()}


@pytest.mark.parametrize(
    "words", ["--help", "agreement --help", "check --help", "gate --help", "drift --help"]
)
def test_help_loads_nothing_heavy(words):
    assert loaded(*words.split()) == set()


def test_a_command_that_needs_the_store_loads_it_without_pandas():
    assert "sqlite_utils" in loaded("people", "--help")
    assert "pandas" not in loaded("people", "--help")


def test_pandas_can_be_imported_after_the_store():
    code = (
        "import sys\nfrom concord.cli import main\n"
        "try: main(['people', '--help'])\nexcept SystemExit: pass\n"
        "import pandas, sqlite_utils\n"
        "print(sqlite_utils.Database(memory=True).table_names(), pandas.DataFrame)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    # Its module has another name in older releases.
    assert re.search(r"\[\] <class 'pandas\.(core\.frame\.)?DataFrame'>\n\Z", done.stdout)
