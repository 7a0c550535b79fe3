"""What a line hides is shown, and an edited line is taken back to what it stands for."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from winnow.core.text.visible import restore, show


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("ls -la\t# é ü 漢字", "ls -la\t# é ü 漢字"),
        ("printf '\x1b[8m'", "printf '␛[8m'"),
        ("rm -rf x\r", "rm -rf x␍"),
        ("echo \u202egnp.exe", "echo ‹U+202E›gnp.exe"),
        ("rm\u200b -rf", "rm‹U+200B› -rf"),
        ("rm\xa0-rf", "rm‹U+00A0›-rf"),
        ("a\u200db \ufe0fc", "a‹U+200D›b ‹U+FE0F›c"),
        ("👨\u200d👩 ❤\ufe0f", "👨‹U+200D›👩 ❤‹U+FE0F›"),
        ("hi\U000e0041\U000e0042", "hi‹U+E0041›‹U+E0042›"),
        ("x\u3164y\u2800z", "x‹U+3164›y‹U+2800›z"),
        ("⟦ab=1=2⟧", "‹ab=1=2⟧"),
        (f"ls{' ' * 6000}; rm x", "ls‹6000 blanks›; rm x"),
        (f"ls{chr(9) * 700}\x1b", "ls‹700 tabs›␛"),
        (f"{' ' * 49}deep", f"{' ' * 49}deep"),
        (f"{' ' * 50}{chr(9) * 10}deep", "‹50 blanks›‹10 tabs›deep"),
    ],
)
def test_nothing_hides(line: str, shown: str) -> None:
    assert show(line) == shown


@pytest.mark.parametrize(
    ("line", "now", "text"),
    [
        ("a\x1bb", "a␛bc", "a\x1bbc"),
        ("a\x1bb", "ab", "ab"),
        ("ab", "a␛b", "a␛b"),
        ("\x1b[1m\r", "␛[2m␍", "\x1b[2m\r"),
        ("a ␛ and \x1b", "a ␛ and ␛!", None),
        ("a ␛ and \x1b", "a ␛ and ␛", "a ␛ and \x1b"),
        ("⟦ab=1=2⟧", "‹ab=1=2⟧!", None),
        (f"a{' ' * 60}b", "a‹60 blanks›bc", f"a{' ' * 60}bc"),
        (f"a{' ' * 60}b", "ab", "ab"),
        (f"a{' ' * 60}b", "a‹61 blanks›b", "a‹61 blanks›b"),
        (f"‹60 blanks›a{' ' * 60}b", "‹60 blanks›a‹60 blanks›bc", None),
    ],
)
def test_an_edited_line_is_taken_back(line: str, now: str, text: str | None) -> None:
    assert restore(now, line) == text


@given(st.text(st.characters(codec=None)))
def test_every_line_is_seen_and_comes_back(line: str) -> None:
    """No control, format, joiner, selector or odd blank is left."""
    shown = show(line)
    assert restore(shown, line) == line
    kinds = {unicodedata.category(char) for char in shown if char not in "\t "}
    assert not kinds & {"Cc", "Cf", "Cs", "Zs", "Zl", "Zp"}, shown
