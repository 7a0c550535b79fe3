"""Blocks of code that a message leaves open are closed with it."""

from __future__ import annotations

import pytest
from winnow.core.text.fences import Fences
from winnow.core.transcript.entries import Ended, Paused, Said
from winnow.core.transcript.rendering import Renderer, Words


@pytest.mark.parametrize(
    ("text", "fence"),
    [
        ("```json\n{", "```"),
        ("````md\n```\n", "````"),
        ("~~~\n```\n", "~~~"),
        ("- ```py\n  x", "```"),
        ("```py\nx\n```", ""),
        ("- ```py\n  x\n  ```\nand", ""),
        ("> ```\n> x\n\nso", ""),
        ("> ```\n> x", ""),
        ("``` in a line ```", ""),
        ("Use ``` for it", ""),
        ("~~~ a~b\n", "~~~"),
        ("```py\nd = '''\n    ```\n", "```"),
    ],
)
def test_what_is_open_is_known(text: str, fence: str) -> None:
    """However the text is cut into pieces."""
    for size in (1, 3, len(text)):
        fences = Fences()
        for at in range(0, len(text), size):
            fences.feed(text[at : at + size])
        assert fences.end() == fence
        assert fences.end() == ""


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a\n```\nx\n```\nb", "-+++-"),
        ("~~~\n```\n~~~\nb", "+++-"),
        ("- ```\n  x\n  ```\n- b", "+++-"),
        ("1. a\n    ```\n    x\n  ```\nb", "-+++-"),
        ("```x``` is\nb", "--"),
        ("```\n    ```\n\t```\n```py\n``` \nb", "+++++-"),
        ("> ```\n> x\nb", "++-"),
        ("```\nx", "++"),
    ],
)
def test_what_is_code_is_known(text: str, code: str) -> None:
    """By line, as Markdown has it."""
    assert "".join("-+"[line] for line in Fences.code(text.split("\n"))) == code


@pytest.mark.parametrize("last", [Paused(), Ended(stopped=True), Ended()])
@pytest.mark.parametrize("code", ["one", "one\n"])
def test_a_message_that_ends_in_code_closes_it(last: Paused | Ended, code: str) -> None:
    """Else all that follows would be code, the next heading included."""
    renderer = Renderer()
    shown = [
        drawn.text
        for entry in (Said("See:\n\n```py\n"), Said(code), last, Said("And"))
        for drawn in renderer.render(entry)
        if isinstance(drawn, Words)
    ]
    assert "".join(shown[:-1]).startswith("See:\n\n```py\none\n```")
    assert shown[-1] == "And"
