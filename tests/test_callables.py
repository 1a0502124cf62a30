"""Code that a user names as module:name: where it is found, and what is said when it cannot be imported."""

import sys
from functools import partial

import pytest

from concord.errors import ConcordError, ConfigError, NotFound
from concord.files import callables


@pytest.fixture
def bring(tmp_path, monkeypatch):
    """Imports from a folder, and forgets it afterwards."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)
    yield partial(callables.bring, what="judge", folders=(tmp_path / "workspace", tmp_path))
    for name in set(sys.modules) - before:
        del sys.modules[name]


def write(folder, name, text):
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_a_module_lies_in_the_first_folder_that_has_it(bring, tmp_path):
    write(tmp_path, "found_once.py", "where = 'here'")
    write(tmp_path, "workspace/found_twice.py", "where = 'workspace'")
    write(tmp_path, "found_twice.py", "where = 'here'")
    assert bring("found_once:where") == "here"
    assert bring("found_twice:where") == "workspace"


def test_a_module_may_be_a_package_and_import_what_lies_beside_it(bring, tmp_path):
    write(tmp_path, "kit/__init__.py", "")
    write(tmp_path, "kit/polite.py", "import kit_words\nclass Polite:\n    word = kit_words.PLEASE")
    write(tmp_path, "kit_words.py", "PLEASE = 'please'")
    assert bring("kit.polite:Polite.word") == "please"


def test_a_folder_hides_no_installed_module(bring, tmp_path):
    write(tmp_path, "colorsys.py", "raise SystemExit")
    write(tmp_path, "main_of.py", "import colorsys\nmade = colorsys.rgb_to_hsv")
    assert bring("main_of:made")(0, 0, 0) == (0.0, 0.0, 0)
    with pytest.raises(ConfigError, match=r"Python has a module “colorsys” already .*Rename the file"):
        bring("colorsys:rgb_to_hsv")


@pytest.mark.parametrize(
    ("text", "named", "message"),
    [
        ("", "no_such:it", "neither in .*workspace, .* nor installed"),
        ("", "wrong_1.deeper:it", "needs a module “wrong_1.deeper”"),
        ("import no_such_library", "wrong_2:it", r"No module named 'no_such_library' \(.*wrong_2.py, line 1"),
        (
            "x = 1\ny = x / 0",
            "wrong_3:it",
            r"raises ZeroDivisionError: .* \(.*wrong_3.py, line 2",
        ),
        ("def broken(:", "wrong_4:it", r"raises SyntaxError: .*wrong_4.py, line 1"),
        ("raise SystemExit(0)", "wrong_5:it", r"raises SystemExit: 0 \(.*wrong_5.py, line 1"),
        (
            "polite = 1",
            "wrong_6:polit",
            r"Did you mean “polite”\? The module is .*wrong_6.py",
        ),
        ("", "wrong_7", "not written as module:name"),
        ("", "../wrong_8:it", "not written as module:name"),
        ("", "wrong_9:", "not written as module:name"),
    ],
)
def test_what_cannot_be_imported_is_told_in_a_sentence(bring, tmp_path, text, named, message):
    write(tmp_path, named.partition(":")[0].split(".")[0] + ".py" if "/" not in named else "x.py", text)
    if named.startswith("no_such"):
        (tmp_path / "no_such.py").unlink()
    with pytest.raises(ConcordError, match=message):
        bring(named)


def test_a_missing_name_is_not_found(bring, tmp_path):
    write(tmp_path, "empty_one.py", "")
    with pytest.raises(NotFound, match="no other yet"):
        bring("empty_one:it")
