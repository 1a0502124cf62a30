"""Refusals are guessed by a reply's opening, in English and Russian. Other replies are left alone."""

import re

import pytest

from concord.benchmarks.simulbench.refusals import OPENING, PATTERNS, looks_like_refusal
from tests.mock.material import load

REFUSING = {
    "en": (
        "I'm sorry, but I can't help with that.",
        "I’m very sorry — I am unable to act as a terminal.",
        "I am afraid that I cannot pretend to be a person.",
        "Unfortunately, I cannot simulate this system.",
        "I'm not able to provide that.",
        "**Note:** As an AI language model, I have no access to files.",
        "I must respectfully decline.",
        "I'm not comfortable playing this part.",
    ),
    "ru": (
        "Извините, но я не могу выполнить этот запрос.",
        "К сожалению, я не смогу с этим помочь.",
        "Я не могу симулировать терминал.",
        "Я не буду участвовать в такой игре.",
        "Как большая языковая модель, я не имею доступа к файлам.",
        "Как ИИ, я не могу этого знать.",
        "Вынужден вам отказать.",
        "Мне не разрешено обсуждать это.",
    ),
}
ANSWERING = (
    "",
    "$ ls\nnotes.txt",
    "ls: cannot access 'x': No such file or directory",
    "I'm sorry to hear that! Your ship takes 3 points of damage.",
    "I can help you with that: 42.",
    "As an AI opponent, my next move is e5.",
    "Error: I cannot parse line 3.",
    "Я не знаю такой команды.",
    "Извините за задержку. Ваш ход: e2-e4.",
    "Как видите, я не закончил ход.",
    "К сожалению, вы проиграли.",
)


@pytest.mark.parametrize(
    "reply", [*REFUSING["en"], *REFUSING["ru"], *load("simulbench", "en", "talk")["refusals"]]
)
def test_openings_that_refuse(reply):
    assert looks_like_refusal(reply)
    assert looks_like_refusal("\n  " + reply.upper())


@pytest.mark.parametrize("reply", ANSWERING)
def test_openings_that_do_not(reply):
    assert not looks_like_refusal(reply)


def test_only_the_opening_counts():
    assert not looks_like_refusal("a line of a log\n" * (OPENING // 15) + "I cannot help with that.")


@pytest.mark.parametrize(
    ("language", "number"), [(n, i) for n, of in PATTERNS.items() for i in range(len(of))]
)
def test_every_pattern_has_an_example(language, number):
    alone = re.compile(r"\b(?:" + PATTERNS[language][number] + ")")
    assert any(
        alone.search(" ".join(reply.lower().replace("’", "'").split())) for reply in REFUSING[language]
    )
