"""Images in messages: copied where they lie in the file or beside it, shown, and sent to judges that see."""

import json
from base64 import b64decode, b64encode
from hashlib import sha256

import pytest

from concord.conversation import Message
from concord.exchange import conversations_file, survey_sentences
from concord.exchange.conversations_file import FileOptions
from concord.files.limits import IMAGE_BYTES, IMAGES_OF_ONE
from concord.llm import client
from concord.llm.models import Model
from concord.store import conversations, images
from concord.store.placements import Placement
from concord.store.studies import Study
from pages.desk.sent import dialogue, shown_pair
from tests.conftest import toml
from tests.rubrics.rubric_files_helpers import GOOD

PNG = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
"""One red pixel."""
GIF = b"GIF89a" + PNG[6:]
URL = f"data:image/png;base64,{b64encode(PNG).decode()}"
NAME = f"{sha256(PNG).hexdigest()}.png"


def chat(*parts, **more):
    asked = {"role": "user", "content": [{"type": "text", "text": "What is it?"}, *parts]}
    return {"id": "c", "messages": [asked, {"role": "assistant", "content": "A pixel."}], **more}


def image_url(url):
    return {"type": "image_url", "image_url": {"url": url}}


def lines(path, *entries):
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    return path


def read(path, *parts):
    """The first message of a conversation with these parts, its images, and what the survey says of them."""
    surveyed = conversations_file.survey(lines(path, chat(*parts)), FileOptions("b"))
    ((_, entry),) = surveyed.examples
    told = [line for line in survey_sentences.sentences(surveyed) if "images" in line.split(",")[0]]
    return entry.conversations[0].messages[0], entry.images, told


@pytest.mark.parametrize(
    "part",
    [
        image_url(URL),
        {"type": "input_image", "image_url": URL},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": URL[22:]}},
        {"inlineData": {"mimeType": "image/png", "data": URL[22:]}},
        {"type": "image", "image": "pictures/pixel.png"},
        {"type": "image", "path": "pictures/pixel.png"},
    ],
)
def test_an_image_in_the_file_or_beside_it_is_copied_under_its_hash(tmp_path, part):
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures/pixel.png").write_bytes(PNG)
    message, bodies, told = read(tmp_path / "a.jsonl", part)
    asked, text = message.content.split("\n")
    assert (asked, text[0], text[-1]) == ("What is it?", "[", "]")
    assert dict(message.images) == {text: NAME}
    assert bodies == {NAME: PNG}
    assert told == ["1 images are imported."]


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("https://example.org/cat.png", "Concord fetches nothing"),
        ("file:///etc/hostname", "Concord fetches nothing"),
        ("../cat.png", "outside the folder"),
        ("/etc/hostname", "outside the folder"),
        ("link.png", "outside the folder"),
        ("cat.png", "No such file"),
        ("page.png", "not a PNG, JPEG, WebP or GIF"),
        ("data:image/png;base64,PHN2Zy8+", "not a PNG, JPEG, WebP or GIF"),
        ("data:image/png,x", "not written in Base64"),
        ("data:image/png;base64,%", "not written in Base64"),
        (
            f"data:image/png;base64,{b64encode(PNG + bytes(IMAGE_BYTES)).decode()}",
            "larger than 4,194,304 bytes",
        ),
        ("large.png", "larger than 4,194,304 bytes"),
    ],
)
def test_any_other_is_named_and_not_kept(tmp_path, source, why):
    folder = tmp_path / "in"
    folder.mkdir()
    (tmp_path / "cat.png").write_bytes(PNG)
    (folder / "link.png").symlink_to(tmp_path / "cat.png")
    (folder / "page.png").write_text("<script>alert(1)</script>")
    (folder / "large.png").write_bytes(PNG + bytes(IMAGE_BYTES))
    message, bodies, told = read(folder / "a.jsonl", image_url(source))
    assert message.content.startswith("What is it?\n[image: ")
    assert (dict(message.images), bodies) == ({}, {})
    assert "images" not in message.meta
    assert told[0].startswith("1 images appear only by name in the text, such as “[image: ")
    assert why in told[0]


def test_so_many_images_of_a_conversation_are_kept(tmp_path):
    each = [PNG + bytes([n]) for n in range(IMAGES_OF_ONE + 1)]
    urls = [f"data:image/png;base64,{b64encode(one).decode()}" for one in each]
    message, bodies, _ = read(tmp_path / "a.jsonl", *map(image_url, urls))
    assert len(bodies) == len(message.images) == IMAGES_OF_ONE
    assert message.content.count("[image: ") == IMAGES_OF_ONE + 1


def test_an_export_has_its_images_and_is_read_back(fresh, workspace, run, tmp_path):
    run(fresh, "import", "conversations", lines(tmp_path / "a.jsonl", chat(image_url(URL))))
    out = tmp_path / "out.jsonl"
    run(fresh, "export", "conversations", "--out", out)
    assert URL in out.read_text()
    assert "1 new conversations" in run(workspace, "import", "conversations", out).output
    assert "1 were stored already" in run(workspace, "import", "conversations", out).output
    for each in (fresh, workspace):
        with each.read() as db:
            one = conversations.load(db, "a/c")
            assert list(one.messages[0].images.values()) == [NAME]
            assert list(images.shown(db, one).messages[0].images.values()) == [URL]
            assert db.table("images").count == 1


def test_an_annotator_is_sent_the_image_and_no_other_meta(fresh, run, tmp_path):
    run(fresh, "import", "conversations", lines(tmp_path / "a.jsonl", chat(image_url(URL))))
    with fresh.read() as db:
        one = images.shown(db, conversations.load(db, "a/c"))
    task = Placement(3, "s", 99, 1, "open", "", "", 3.0, {})
    first, second = dialogue(Study("s", ()), task, one)["said"]
    assert [url for _, url in first["images"]] == [URL]
    assert "images" not in second


def test_an_image_in_a_tools_result_is_kept_and_sent(fresh, run, tmp_path):
    part = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": URL[22:]}}
    call = {"type": "tool_use", "id": "u", "name": "camera", "input": {}}
    entry = chat(result("u", [{"type": "text", "text": "A photo:"}, part]))
    entry["messages"].insert(
        0, {"role": "assistant", "content": [*parts_of("I look.", image_url(URL)), call]}
    )
    run(fresh, "import", "conversations", lines(tmp_path / "a.jsonl", entry))
    with fresh.read() as db:
        one = images.shown(db, conversations.load(db, "a/c"))
    of_role = {m.role: m for m in one.messages}
    assert of_role["tool"].content.startswith("A photo:\n[image: ")
    assert [*of_role["tool"].images.values()] == [URL]
    task = Placement(3, "s", 99, 1, "open", "", "", 3.0, {})
    pictured = [said["speaker"] for said in dialogue(Study("s", ()), task, one)["said"] if "images" in said]
    assert pictured == ["Model", "Tool result"]


def result(of, content):
    return {"type": "tool_result", "tool_use_id": of, "content": content}


def parts_of(text, *parts):
    return [{"type": "text", "text": text}, *parts]


def test_images_beside_a_call_stand_with_the_words_in_the_reply(tmp_path):
    call = {"type": "tool_use", "id": "u", "name": "camera", "input": {}}
    said = [{"role": "user", "content": "Draw."}]
    said += [{"role": "assistant", "content": [*parts_of("Here:", image_url(URL)), call]}]
    said += [{"role": "user", "content": [result("u", "done")]}, {"role": "assistant", "content": "Well?"}]
    ((_, entry),) = conversations_file.survey(lines(tmp_path / "a.jsonl", {"messages": said})).examples
    _, called, _, reply = entry.conversations[0].messages
    assert (called.content, [*called.images]) == ("camera({})", [])
    assert [*reply.images.values()] == [NAME]
    assert reply.content == f"Here:\n{next(iter(reply.images))}\n\nWell?"


def test_the_last_replies_of_a_pair_are_sent_with_their_images(fresh, run, tmp_path):
    pair = {"prompt": "Draw.", "chosen": [{"role": "assistant", "content": [image_url(URL)]}]}
    pair["rejected"] = [{"role": "assistant", "content": "No."}]
    run(fresh, "import", "conversations", lines(tmp_path / "a.jsonl", pair))
    with fresh.read() as db:
        ids = conversations.existing(db, [c.key for c, _ in conversations.several(db, [1, 2])])
        first, second = sorted(ids.values())
        shown = shown_pair(db, (first, second))
    assert [[url for _, url in side.get("images", ())] for side in shown["sides"]] == [[URL], []]


def test_only_a_model_that_sees_is_sent_images():
    message = Message("user", "Rate.", {"images": {"[image: a]": URL}})
    blind, seeing = Model(name="m"), Model(name="m", vision=True)
    assert client.request(blind, [message])["messages"] == [{"role": "user", "content": "Rate."}]
    assert client.request(seeing, [message])["messages"][0]["content"] == [
        {"type": "text", "text": "Rate."},
        {"type": "text", "text": "[image: a]"},
        {"type": "image_url", "image_url": {"url": URL}},
    ]
    assert client.request(seeing, [Message("user", "Hi")])["messages"][0]["content"] == "Hi"
    assert blind.configuration.hash != seeing.configuration.hash


def test_a_judge_that_sees_gets_the_image_and_of_another_the_run_says_so(
    workspace, mock, run, tmp_path, monkeypatch
):
    judge = 'model = "mock-judge-strict"'
    workspace.models_path.write_text(toml(mock, a=f"{judge}\nvision = true", b=judge))
    run(workspace, "import", "conversations", lines(tmp_path / "shop.jsonl", chat(image_url(URL))))
    (workspace.path / "rubrics").mkdir()
    (workspace.path / "rubrics/support.toml").write_text(GOOD)
    sent, parts = [], client._parts
    monkeypatch.setattr(client, "_parts", lambda message: sent.append(parts(message)) or sent[-1])
    done = run(workspace, "judge", "support", "--judges", "a,b")
    assert "2 of 2 stored" in done.output
    assert "“b” did not see the images of 1 conversations" in done.output
    assert "“a” did not see" not in done.output
    assert [part["image_url"]["url"] for part in sent[-1] if part["type"] == "image_url"] == [URL]


def test_an_estimate_takes_an_image_for_so_much_text():
    body = json.dumps([{"type": "image_url", "image_url": {"url": URL}}])
    assert client.billed(body) == len(body) - len(URL) + client.IMAGE_CHARACTERS
