"""What several tests take from `test_judging_by_rubric`: chats, done, given, rated, shop, write."""

import json

import pytest

from concord.conversation import Unit
from concord.rating import Rating
from concord.store import access, conversations, ratings, studies
from tests.annotated import Annotation, import_annotations
from tests.conftest import toml
from tests.rubrics.rubric_files_helpers import GOOD


def chats(n=4):
    for number in range(n):
        said = [{"role": "system", "content": "Returns within 30 days."}]
        for turn in range(1 + number % 2):
            said += [{"role": "user", "content": f"It is broken, {turn}."}]
            said += [{"role": "assistant", "content": f"Send it back. {'Thanks, great. ' * number}"}]
        yield {"id": f"c{number}", "player": f"m{number % 2}", "messages": said}


@pytest.fixture
def shop(workspace, mock, run, tmp_path):
    """A workspace with conversations of a shop, two judges that tell them apart, and the rubric `support`."""
    judges = {"a": 'model = "mock-judge-strict"', "b": 'model = "mock-judge-lenient"'}
    workspace.models_path.write_text(toml(mock, **judges))
    file = tmp_path / "chats.jsonl"
    file.write_text("\n".join(map(json.dumps, chats())))
    assert run(workspace, "import", "conversations", file, "--benchmark", "shop").exit_code == 0
    write(workspace, GOOD)
    return workspace


def write(workspace, text):
    folder = workspace.path / "rubrics"
    folder.mkdir(exist_ok=True)
    (folder / "support.toml").write_text(text)


def done(result):
    assert result.exit_code == 0, result.output
    return result.output


def given(workspace, key):
    with workspace.read() as db:
        return ratings.of_conversation(db, conversations.find_id(db, key))


def rated(shop, run):
    """The study `s` by the rubric, judged by two judges and rated by two people, who answer alike."""
    done(run(shop, "judge", "support", "--judges", "a,b"))
    assert "6 units of 4 conversations" in done(
        run(shop, "study", "draw", "s", "--n", "4", "--rubric", "support")
    )
    done(run(shop, "people", "invite", "Ann", "Bob", "--study", "s"))
    done(run(shop, "study", "deal", "s", "--annotators", "Ann,Bob"))
    with shop.write() as db:
        asked = studies.get(db, "s").criteria
        answers = [
            Annotation(Rating(Unit(unit["key"], unit["turn"]), c.name, c.scale.values[number % 2]), person)
            for person in ("Ann", "Bob")
            for number, unit in enumerate(studies.units(db, "s"))
            for c in asked
        ]
        import_annotations(db, "s", answers)
        assert all(a.done == 6 for a in access.annotators(db, "s"))
