"""Files within limits, cells that no spreadsheet runs, and names of files that stay in their folder."""

import csv
import io
import re
import tempfile
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from concord.errors import ConfigError
from concord.files import (
    file_name,
    file_names,
    limits,
    marked,
    parse_json,
    read_json,
    read_text,
    read_toml,
    unmarked,
    write_csv,
)

FORMATS = Path(__file__).parents[1] / "docs" / "formats.md"
BEGINS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\0", "＝", "＋", "－", "＠")
TEXTS = st.text(st.characters(codec="utf-8")) | st.builds(
    "".join, st.tuples(st.sampled_from(["'", "''", *BEGINS_A_FORMULA, '"', ","]), st.text(max_size=5))
)


def written(*lines):
    out = io.StringIO()
    assert write_csv(out, lines) == len(lines)
    return out.getvalue()


@given(st.lists(st.lists(TEXTS, min_size=2, max_size=2), min_size=1, max_size=4))
@example([["a\rb", "\r"], ["\r\n=1", "\0"]])
def test_cells_are_read_back_letter_for_letter_and_none_begins_a_formula(lines):
    read = list(csv.reader(io.StringIO(written(*lines), newline=""), strict=True))
    assert not [cell for line in read for cell in line if cell.startswith(BEGINS_A_FORMULA)]
    assert [[unmarked(cell) for cell in line] for line in read] == lines


def test_numbers_stay_numbers_and_nothing_stays_empty():
    assert written(["-1", -1, -2.5, None]) == "'-1,-1,-2.5,\n"


@given(TEXTS)
def test_what_is_no_formula_is_not_marked(text):
    assert (marked(text) == text) == (not text.lstrip("'").startswith(BEGINS_A_FORMULA))


NAMES = (
    st.text(max_size=300)
    | st.text(alphabet="./\\ :~\0-a", max_size=12)
    | st.builds(
        "{}{}{}".format,
        st.sampled_from(["", "../", "/", "C:", ".", "\\\\host\\"]),
        st.sampled_from(["con", "NUL", "aux.txt", "Com1", "lpt¹", "x", "ẞ", "é", "é", "ﬁ"]),
        st.sampled_from(["", ".", " ", "/..", "\0", ":stream", "\n", "\ud800"]),
    )
)


@given(NAMES)
@example("../../etc/passwd")
@example("ǆ" * 400)
def test_no_name_leaves_its_folder(name):
    made = file_name(name)
    assert file_name(made) == made
    assert made
    assert len(made) <= limits.FILE_NAME + 1
    assert PurePosixPath("in", made + ".csv").parts == ("in", made + ".csv")
    windows = PureWindowsPath("in", made + ".csv")
    assert windows.parts == ("in", made + ".csv")
    assert not windows.is_reserved()
    assert made.strip(".- ") == made
    with tempfile.TemporaryDirectory() as folder:
        inside = Path(folder, "in")
        inside.mkdir()
        (inside / f"{made}.csv").write_text("x")
        assert [file.name for file in inside.iterdir()] == [f"{made}.csv"]
        assert [file.name for file in Path(folder).iterdir()] == ["in"]


@given(st.lists(NAMES, max_size=8))
@example(["a", "A", "a-2", "a/", "á", "a\u0301", "Ａ"])
def test_no_two_names_become_one_file(names):
    made = file_names(names)
    assert set(made) == set(names)
    assert len({name.casefold() for name in made.values()}) == len(set(names))
    assert all(file_name(name) == name for name in made.values())


def test_a_plain_name_stays_as_it_is():
    for name in ("pingpong", "Größe_2.1", "оценка", "दूसरा"):
        assert file_name(name) == name


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[" * 100_000, "deeper"),
        ("[" * 65 + "]" * 65, "deeper"),
        ('{"a":' * 65 + "1" + "}" * 65, "deeper"),
        ("[NaN]", "nan"),
        ("-Infinity", "inf"),
        ("1e999", "inf"),
        ("9223372036854775808", "64 bits"),
        ("-9223372036854775809", "64 bits"),
        ("9" * 5000, "64 bits"),
        ('["\\uD800"]', "an incomplete character"),
        ('{"\\udfff": 1}', "an incomplete character"),
    ],
)
def test_json_that_nothing_can_keep(text, says):
    with pytest.raises(ValueError, match=says):
        parse_json(text)


def test_json_up_to_the_limits():
    assert parse_json("[" * 64 + "]" * 64)
    assert parse_json('[9223372036854775807, -9223372036854775808, true, 1.5, "\\ud83d\\ude00"]') == [
        2**63 - 1,
        -(2**63),
        True,
        1.5,
        "😀",
    ]


@pytest.mark.parametrize("text", ["a = inf", "a = [nan]", "a = 9223372036854775808", "a = " + "[" * 100_000])
def test_toml_that_nothing_can_keep(tmp_path, text):
    file = tmp_path / "x.toml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=r"x\.toml is not valid TOML: "):
        read_toml(file)


def test_what_is_no_text_is_one_sentence(tmp_path):
    file = tmp_path / "x.json"
    for data, says in ((b"a\0b", "NUL"), (b"\xff", "not UTF-8"), (b"x" * 11, "larger than 10 bytes")):
        file.write_bytes(data)
        with pytest.raises(ConfigError, match=says):
            read_text(file, most=10)
    with pytest.raises(ConfigError, match="cannot be read"):
        read_json(tmp_path / "a\0b")
    file.write_bytes(b"\xef\xbb\xbf[1,\r\n2]")
    assert read_json(file) == [1, 2]


def test_every_limit_is_documented_with_its_value():
    rows = [line.split("|") for line in FORMATS.read_text(encoding="utf-8").splitlines() if line[:3] == "| `"]
    told = {
        name: int(value.replace(",", ""))
        for row in rows
        for name, value in zip(re.findall(r"`([A-Z_]+)`", row[1]), row[2].split(", "), strict=False)
    }
    assert told == {name: value for name, value in vars(limits).items() if name.isupper()}
