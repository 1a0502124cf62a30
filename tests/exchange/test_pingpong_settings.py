"""The PingPong authors' settings file becomes a workspace's own characters and situations."""

import json
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.benchmarks.pingpong import files
from concord.benchmarks.pingpong.play import characters, situations
from concord.errors import ImportRefused
from concord.files import as_toml
from concord.store import conversations
from concord.store.conversations import Filter

PUBLISHED = Path(__file__).parents[3] / "shared" / "data" / "pingpong" / "settings_v2.json"
CARD = {
    "char_name": "Ada",
    "system_prompt": 'Says "hi"\n\\and \t more',
    "summary": "A person.",
    "initial_message": "Hello.",
}
SITUATION = {"text": "You are late.", "num_turns": 4, "tags": ["late"]}


def settings(**changes):
    return {"en": {"characters": [CARD], "situations": [SITUATION], "version": 3, **changes}}


def put(tmp_path, value):
    file = tmp_path / "settings.json"
    file.write_text(json.dumps(value))
    return file


def test_what_is_written_is_what_the_benchmark_reads(workspace, run, tmp_path):
    two = [CARD, {**CARD, "inital_message": "Slip.", "initial_message": ""}]
    file = put(tmp_path, settings(characters=two, situations=[SITUATION, SITUATION]))
    done = run(workspace, "pingpong", "import", "settings", file)
    assert done.exit_code == 0, done.output
    assert "en: 2 characters (ada, ada-2), 2 situations" in done.output
    cast = characters([workspace.path / "data"], "en", "settings")
    assert cast["ada"].system_prompt == CARD["system_prompt"]
    assert (cast["ada"].greeting, cast["ada-2"].greeting) == ("Hello.", "Slip.")
    assert {s.id: s.num_turns for s in situations([workspace.path / "data"], "en", "settings").values()} == {
        "late": 4,
        "late-2": 4,
    }


def test_an_imported_set_is_one_option_and_apart_from_what_ships(workspace, run, tmp_path):
    """Its whole is chosen by one name; its conversations have keys and a facet of their own."""
    more = [CARD, {**CARD, "char_name": "Tully"}]
    file = put(tmp_path, settings(characters=more, situations=[SITUATION, {**SITUATION, "num_turns": 2}]))
    assert run(workspace, "pingpong", "import", "settings", file, "--name", "Paper").exit_code == 0
    plan = ("run", "pingpong", "--players", "player", "--interrogator", "user")
    assert "64 results planned" in run(workspace, *plan, "--estimate").output
    done = run(workspace, *plan, "--character-set", "paper")
    assert "4 of 4 stored" in done.output, done.output
    with workspace.read() as db:
        found = [c for _, c in conversations.of_benchmark(db, "pingpong")]
        assert conversations.count(db, Filter("pingpong", facets={"character_set": ("paper",)})) == 4
    assert {c.facets["character"] for c in found} == {"ada", "tully"}
    assert len({c.key for c in found}) == 4
    assert all("/en paper/" in c.key for c in found)
    done = run(workspace, *plan, "--character-set", "papers", "--estimate")
    assert "There is no character set “papers”. Did you mean “paper”" in done.output
    refused = run(workspace, "pingpong", "import", "settings", file, "--name", "own")
    assert "Choose another --name" in refused.output


@pytest.mark.skipif(not PUBLISHED.exists(), reason=f"the published settings are not at {PUBLISHED}")
def test_the_published_file(workspace, run):
    done = run(workspace, "pingpong", "import", "settings", PUBLISHED)
    assert done.exit_code == 0, done.output
    published = json.loads(PUBLISHED.read_text())
    for language, part in published.items():
        cast = characters([workspace.path / "data"], language, "settings-v2")
        assert {c.char_name for c in cast.values()} == {c["char_name"] for c in part["characters"]}
        assert {c.system_prompt for c in cast.values()} == {c["system_prompt"] for c in part["characters"]}
        # A greeting goes by one of three names in the published file; some characters have none.
        greetings = {
            c.get("greeting") or c.get("initial_message") or c.get("inital_message") or ""
            for c in part["characters"]
        }
        assert {c.greeting for c in cast.values()} == greetings
        found = situations([workspace.path / "data"], language, "settings-v2")
        # 7 situations of 4 turns and one of 8: 8 × (7·4 + 8) = 288 judged turns.
        assert len(cast) * sum(s.num_turns for s in found.values()) == 288
        assert {s.text for s in found.values()} == {s["text"] for s in part["situations"]}
    assert (
        run(workspace, "pingpong", "import", "settings", PUBLISHED).exit_code == 0
    )  # the same again changes nothing


def test_nothing_of_ones_own_is_overwritten(workspace, run, tmp_path):
    mine = workspace.path / "data/pingpong/en/sets/settings/characters/ada.toml"
    mine.parent.mkdir(parents=True)
    mine.write_text('char_name = "Ada"\n')
    done = run(workspace, "pingpong", "import", "settings", put(tmp_path, settings()))
    assert done.exit_code == 1
    assert "nothing was written" in done.output
    assert mine.read_text() == 'char_name = "Ada"\n'
    assert not (mine.parents[1] / "situations.toml").exists()


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ([], "an object per language"),
        ({"../x": {}}, "“../x” is not a language code"),
        ({"en": {"characters": []}}, "“en”: situations: Field required"),
        (settings(characters=[{**CARD, "summary": " "}]), "character 1 of “en”: summary: "),
        (
            settings(characters=[CARD, {**CARD, "example_prompt": 3}]),
            "character 2 of “en”: example_prompt: Input should be a valid string",
        ),
        (settings(characters=["Ada"]), "“en”: characters.0: Input should be a valid dictionary"),
        (
            settings(situations=[{**SITUATION, "num_turns": "4"}]),
            "situation 1 of “en”: num_turns: ",
        ),
        (settings(situations=[{**SITUATION, "text": ""}]), "situation 1 of “en”: text: "),
        (settings(situations=[{**SITUATION, "tags": "late"}]), "tags: Input should be a valid tuple"),
    ],
)
def test_a_broken_file_is_refused_with_its_place(tmp_path, value, sentence):
    with pytest.raises(ImportRefused) as refused:
        files.read(put(tmp_path, value))
    assert sentence in str(refused.value)


def test_a_name_cannot_lead_out_of_the_folder():
    assert files.slug("../../Etc/Passwd") == "etc-passwd"
    assert files.slug("…") == "unnamed"
    assert files.slug("Мужик в банке") == "мужик-в-банке"


@given(
    st.dictionaries(
        st.sampled_from(["a", "b"]),
        st.one_of(
            st.text(st.characters(exclude_categories=["Cs"])),
            st.integers(),
            st.lists(st.text(st.characters(exclude_categories=["Cs"]))),
        ),
    )
)
def test_toml_reads_back(table):
    assert tomllib.loads(as_toml(table)) == table
