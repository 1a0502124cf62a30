"""What ships for PingPong: characters and situations are complete and our own, prompts render strictly and
ask for the right reply.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from jinja2 import StrictUndefined, UndefinedError
from jinja2.sandbox import ImmutableSandboxedEnvironment

ROOT = Path(__file__).parent.parent.parent
DATA = ROOT / "data/pingpong"
PROMPTS = ROOT / "prompts/pingpong"
SHARED = ROOT.parent / "shared"

LANGUAGES = ("en", "ru")
CARDS = sorted(DATA.glob("*/characters/*.toml"))
TEMPLATES = sorted(PROMPTS.glob("*/*.jinja"))
SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")

by_name = pytest.mark.parametrize("path", CARDS, ids=lambda p: f"{p.parent.parent.name}/{p.stem}")
by_language = pytest.mark.parametrize("language", LANGUAGES)
by_template = pytest.mark.parametrize("path", TEMPLATES, ids=lambda p: f"{p.parent.name}/{p.stem}")


def read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def situations(language: str) -> list[dict[str, Any]]:
    return read(DATA / language / "situations.toml")["situations"]


def texts(value: Any) -> list[str]:
    """Every string inside a nest of mappings and lists, except tags and ids, which are not prose."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [t for key, v in value.items() if key not in ("tags", "id") for t in texts(v)]
    if isinstance(value, list):
        return [t for v in value for t in texts(v)]
    return []


def runs_of_words(prose: Iterable[str], length: int) -> set[str]:
    """All sequences of `length` words, compared without case, markup or punctuation."""
    runs: set[str] = set()
    for text in prose:
        words = re.findall(r"\w+", text.casefold())
        runs.update(" ".join(words[i : i + length]) for i in range(len(words) - length + 1))
    return runs


# Characters
# ---------------------------------------------------------------------------------------------------------


@by_language
def test_eight_characters_and_eight_situations(language: str) -> None:
    assert len(list((DATA / language / "characters").glob("*.toml"))) == 8
    assert len(situations(language)) == 8


@by_name
def test_card_has_its_fields(path: Path) -> None:
    card = read(path)
    assert set(card) == {
        "char_name",
        "system_prompt",
        "example_prompt",
        "greeting",
        "summary",
        "source",
        "tags",
    }
    for field in ("char_name", "system_prompt", "summary", "source"):
        assert card[field], field
    for text in texts(card):
        assert text == text.strip(), "text begins or ends with white space"
        assert text.count("*") % 2 == 0, "an *action* is not closed"
    assert card["tags"]
    assert all(SLUG.fullmatch(tag) for tag in card["tags"])
    assert SLUG.fullmatch(path.stem)


@by_name
def test_a_description_is_neither_too_short_nor_too_long(path: Path) -> None:
    assert 120 <= len(read(path)["system_prompt"].split()) <= 300


@by_name
def test_summary_does_not_give_the_card_away(path: Path) -> None:
    card = read(path)
    assert len(card["summary"]) <= 140
    assert len(re.findall(r"[.!?…]+(?=\s|$)", card["summary"])) <= 2
    assert not runs_of_words([card["summary"]], 6) & runs_of_words([card["system_prompt"]], 6)


@by_name
def test_sample_dialogue_is_in_turns(path: Path) -> None:
    card = read(path)
    speakers = [line.split(": ", 1)[0] for line in card["example_prompt"].splitlines() if line]
    assert speakers == ["User", card["char_name"]] * (len(speakers) // 2)


@by_language
def test_some_cards_go_without_greeting_or_sample_but_most_have_them(language: str) -> None:
    cards = [read(p) for p in CARDS if p.parent.parent.name == language]
    for field in ("greeting", "example_prompt"):
        assert sum(not card[field] for card in cards) <= 2, field
    assert any(not card["greeting"] or not card["example_prompt"] for card in cards)


def test_no_character_serves_twice() -> None:
    assert len({p.stem for p in CARDS}) == len(CARDS) == 16
    assert len({read(p)["char_name"] for p in CARDS}) == 16


# Situations
# ---------------------------------------------------------------------------------------------------------


@by_language
def test_situation_has_its_fields(language: str) -> None:
    for situation in situations(language):
        assert set(situation) == {"id", "text", "num_turns", "tags"}
        assert SLUG.fullmatch(situation["id"])
        assert situation["text"] == situation["text"].strip()
        assert len(situation["text"].split()) >= 30
        assert situation["tags"]
        assert all(SLUG.fullmatch(tag) for tag in situation["tags"])
    ids = [s["id"] for s in situations(language)]
    assert len(set(ids)) == len(ids)


@by_language
def test_288_judged_turns_per_player(language: str) -> None:
    turns = sorted(s["num_turns"] for s in situations(language))
    assert turns == [4, 4, 4, 4, 4, 4, 4, 8]
    characters = [p for p in CARDS if p.parent.parent.name == language]
    assert len(characters) * sum(turns) == 288  # 8 × (7 × 4 + 8)


def test_situations_answer_to_the_same_ids_in_both_languages() -> None:
    assert [s["id"] for s in situations("en")] == [s["id"] for s in situations("ru")]


# Language
# -----------------------------------------------------------------------------------------------------------


def cyrillic_share(text: str) -> float:
    letters = [c for c in text.replace("User:", "") if c.isalpha()]
    return sum("а" <= c.casefold() <= "я" or c.casefold() == "ё" for c in letters) / len(letters)


def prose(language: str) -> list[str]:
    fields = ("char_name", "system_prompt", "example_prompt", "greeting", "summary", "source")
    cards = [read(p) for p in CARDS if p.parent.parent.name == language]
    found = [card[field] for card in cards for field in fields] + [s["text"] for s in situations(language)]
    return [text for text in found if text]


def test_russian_is_russian() -> None:
    for text in prose("ru"):
        assert cyrillic_share(text) > 0.97, text[:80]
        assert '"' not in text, f"straight quotes: {text[:80]}"


def test_english_is_english() -> None:
    for text in prose("en"):
        assert cyrillic_share(text) == 0, text[:80]


# Prompts
# ------------------------------------------------------------------------------------------------------------

environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined)

DIALOGUE = [
    SimpleNamespace(role="user", content="hi\n\nmay I come in?"),
    SimpleNamespace(role="assistant", content="*opens*\nYou may."),
    SimpleNamespace(role="user", content="thanks"),
    SimpleNamespace(role="assistant", content="Mind the cat.\n\nHe bites."),
]


def render(template: str, *, card: Path = CARDS[0], messages: Any = DIALOGUE, symmetric: bool = False) -> str:
    """A template filled with exactly what templates may see."""
    card_fields = read(card)
    character = SimpleNamespace(
        **{
            f: card_fields[f] for f in ("char_name", "system_prompt", "example_prompt", "greeting", "summary")
        },
        initial_message=card_fields["greeting"],
    )
    return environment.from_string((PROMPTS / template).read_text(encoding="utf-8")).render(
        character=character,
        char_summary=character.summary,
        char_description=character.system_prompt,
        situation=situations(card.parent.parent.name)[0]["text"],
        messages=messages,
        symmetric=symmetric,
    )


@by_template
@pytest.mark.parametrize("symmetric", [False, True])
def test_template_renders_with_every_card(path: Path, symmetric: bool) -> None:
    name = str(path.relative_to(PROMPTS))
    for card in CARDS:
        for messages in ([], DIALOGUE):
            prompt = render(name, card=card, messages=messages, symmetric=symmetric)
            assert "{{" not in prompt
            assert "{%" not in prompt
            assert "\n\n\n" not in prompt, "an optional part left a hole"


def test_rendering_here_is_strict() -> None:
    with pytest.raises(UndefinedError):
        environment.from_string("{{ character.nickname }}").render(character=SimpleNamespace())


@pytest.mark.parametrize(
    ("template", "fields"),
    [
        ("v2/interrogator_system.jinja", ["next_utterance"]),
        (
            "v2/judge_system.jinja",
            [
                "scores",
                "turn",
                "is_refusal_explanation",
                "is_refusal",
                "in_character_explanation",
                "in_character_score",
                "entertaining_explanation",
                "entertaining_score",
                "fluency_explanation",
                "fluency_score",
            ],
        ),
        (
            "v1/interrogator_system.jinja",
            [
                "is_refusal_explanation",
                "is_refusal",
                "stay_in_character_explanation",
                "stay_in_character_score",
                "language_fluency_explanation",
                "language_fluency_score",
                "entertainment_explanation",
                "entertainment_score",
                "next_user_utterance",
            ],
        ),
    ],
)
def test_prompt_shows_the_reply_with_explanations_before_scores(template: str, fields: list[str]) -> None:
    assert re.findall(r'"(\w+)":', render(template)) == fields


def test_judge_prompt_has_card_and_turns_in_the_form_that_is_parsed() -> None:
    prompt = render("v2/judge_user.jinja")
    before, card, after = re.split(r"^=====$", prompt, flags=re.M)
    assert card.strip() == read(CARDS[0])["system_prompt"]
    assert "Turn" not in before
    blocks = re.split(r"^Turn (\d+):$", after, flags=re.M)
    assert blocks[1::2] == ["1", "2"]
    assert blocks[2] == "\nuser: hi\n\nmay I come in?\nassistant: *opens*\nYou may.\n\n"
    last, instruction = blocks[4].split("\n\nEnd of the conversation.\n")
    assert last == "\nuser: thanks\nassistant: Mind the cat.\n\nHe bites."
    assert "2 turns" in instruction


def test_judge_prompt_counts_turns_as_a_conversation_does() -> None:
    from concord.conversation import Conversation, Message

    shapes = ["ua", "uaua", "aua", "uua", "uaa", "ua" * 8]
    for shape in shapes:
        messages = [Message("user" if s == "u" else "assistant", f"line {i}") for i, s in enumerate(shape)]
        conversation = Conversation("pingpong", "key", "player", tuple(messages))
        numbers = re.findall(r"^Turn (\d+):$", render("v2/judge_user.jinja", messages=messages), flags=re.M)
        assert numbers == [str(turn.number) for turn in conversation.turns()], shape


def test_instructions_to_the_judge_cannot_be_taken_for_the_conversation() -> None:
    prompt = render("v2/judge_system.jinja")
    assert not re.search(r"^(=====|Turn \d+:|user:|assistant:)", prompt, flags=re.M)


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_interrogator_reads_the_dialogue_line_by_line(version: str) -> None:
    prompt = render(f"{version}/interrogator_user.jinja")
    assert (
        "\nuser: hi\n\nmay I come in?\nplayer: *opens*\nYou may.\nuser: thanks\nplayer: Mind the cat."
        in prompt
    )
    empty = render(f"{version}/interrogator_user.jinja", messages=[])
    assert not re.search(r"^(user|player):", empty, flags=re.M)


def test_who_knows_what() -> None:
    card = read(CARDS[0])
    situation = situations(CARDS[0].parent.parent.name)[0]["text"]
    for symmetric in (False, True):
        interrogator = render("v2/interrogator_user.jinja", symmetric=symmetric)
        assert card["summary"] in interrogator
        assert situation in interrogator
        assert (card["system_prompt"] in interrogator) is symmetric
        player = render("v2/player_system.jinja", symmetric=symmetric)
        assert card["system_prompt"] in player
        assert (situation in player) is symmetric
        assert card["summary"] not in player


def test_sampling_parameters_are_the_papers() -> None:
    assert read(PROMPTS / "v2/prompts.toml") == {
        "interrogator": {"params": {"temperature": 0.8, "top_p": 0.95, "max_tokens": 1024}},
        "player": {"params": {"temperature": 0.6, "top_p": 0.9, "max_tokens": 1024}},
        "judge": {"params": {"temperature": 0.1, "top_p": 0.95, "max_tokens": 4096}},
    }


@by_template
def test_every_template_has_its_parameters(path: Path) -> None:
    name = path.stem.rsplit("_", 1)[0]
    assert "temperature" in read(path.parent / "prompts.toml")[name]["params"]


# Our own words
# ------------------------------------------------------------------------------------------------------


def test_characters_share_no_words_with_the_published_settings() -> None:
    published = SHARED / "data/pingpong/settings_v2.json"
    if not published.exists():
        pytest.skip(f"the published settings are not at {published}")
    theirs = runs_of_words(texts(json.loads(published.read_text(encoding="utf-8"))), 6)
    ours = runs_of_words([text for language in LANGUAGES for text in prose(language)], 6)
    assert len(theirs) > 1000
    assert len(ours) > 1000
    assert ours & theirs == set()


def test_prompts_share_no_words_with_the_paper() -> None:
    paper = SHARED / "seeds/pingpong.txt"
    if not paper.exists():
        pytest.skip(f"the paper's text is not at {paper}")
    theirs = runs_of_words([paper.read_text(encoding="utf-8")], 8)
    ours = runs_of_words([path.read_text(encoding="utf-8") for path in TEMPLATES], 8)
    assert len(theirs) > 1000
    assert len(ours) > 500
    assert ours & theirs == set()
