"""Agent text can't break a buffer line or forge a marker."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from winnow.core.text.text import (
    MARKER,
    clean,
    clean_block,
    marker,
    prose,
    quoted,
    renewed,
    sewn,
    split_unfinished,
    strip_markers,
)
from winnow.core.text.visible import show


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb", "a ⏎ b"),
        ("a\r\nb", "a ⏎ b"),
        ("50%\r100%", "50%␍100%"),
        ("\x1b[31mred", "␛[31mred"),
        ("\x00", "␀"),
        ("\x7f\x85", "␡‹U+0085›"),
        ("a\u2028b", "a‹U+2028›b"),
        ("\u202egnp.exe", "‹U+202E›gnp.exe"),
        ("\ud83d", "‹U+D83D›"),
        ("a\tb", "a⇥b"),
        ("⟦Ab=1=2⟧", "‹Ab=1=2›"),
        ("⟦ab=1=12⟧", "‹ab=1=12›"),
        ("use ⟦x⟧ and a --> b", "use ‹x› and a --> b"),
        ("x" * 3000, "x" * 1980 + "… (3,000 characters)"),
        ("a\xa0b\u200dc\xadd", "a‹U+00A0›b‹U+200D›c‹U+00AD›d"),
        (
            "👩🏽\u200d💻 ❤\ufe0f\u200d🔥 ⚙\ufe0f 1\ufe0f\u20e3",
            "👩🏽\u200d💻 ❤\ufe0f\u200d🔥 ⚙\ufe0f 1\ufe0f\u20e3",
        ),
        ("⚙\ufe0f\ufe0f a\ufe0f 💻\u200d", "⚙\ufe0f‹U+FE0F› a‹U+FE0F› 💻‹U+200D›"),
    ],
)
def test_clean_shows_what_a_line_could_hide(text: str, shown: str) -> None:
    """Control characters become visible, markers harmless, the rest stays."""
    assert clean(text) == shown
    assert clean(shown) == shown


def test_clean_block_ends_lines_at_newlines_only() -> None:
    """What splitlines() also cuts at is shown instead, and tabs stay."""
    assert clean_block("a\tb\r\nc\rd\u2028e\x0bf\n") == ["a\tb", "c␍d‹U+2028›e␋f", ""]


# What Unicode calls default-ignorable, and blanks and letters without a shape.
SHAPELESS = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180f\u2800\u3164\uffa0\ufe00\ufe0f\U000e0100"


def test_nothing_is_hidden_where_the_user_decides() -> None:
    """Of all characters, none that can't be seen is left, and none of two labels looks the same."""
    for code in range(0x110000):
        char = chr(code)
        kind = unicodedata.category(char)
        if (kind in ("Cc", "Cf", "Cs", "Zs", "Zl", "Zp") and char != " ") or char in SHAPELESS:
            assert char not in clean(f"a{char}b"), hex(code)
            assert clean(f"a{char}b") != clean("ab")
            assert char == "\t" or char not in show(f"a{char}b"), hex(code)


@pytest.mark.parametrize(
    "text", ["👨\u200d👩 ❤\ufe0f", "می\u200cخواهم", "5\u202f€", "क\u094d\u200dष"]
)
def test_prose_keeps_what_its_language_needs(text: str) -> None:
    """Nothing is decided there."""
    assert prose(text) == text


@pytest.mark.parametrize("text", ["rm\u200b", "a\u202eb", "a\U000e0041", "a\u2066b", "a\x1b[8m"])
def test_prose_hides_no_orders(text: str) -> None:
    """What turns text around or speaks to machines only is shown there, too."""
    assert "‹U+" in prose(text) or "␛" in prose(text)


OURS = [
    "▸ Read x ✓",
    "✻ Thinking",
    "⚠ Lost.",
    "■ Stopped.",
    "↻ Replayed.",
    "✓ Selected: A",
    "✗ Denied",
]
OURS += ["━━ Permission", "✎ Something else:", "## You", "## Claude"]
OURS += ["## Orchestrator", "## Worker", "## Agent"]


@pytest.mark.parametrize("line", OURS)
@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
def test_prose_never_begins_a_line_as_the_host_does(line: str, size: int) -> None:
    """However it is cut into pieces, such a line is moved by a blank."""
    text = f"{line}\nx {line}\n\n{line}\n{line}"
    shown, unfinished, ended = "", "", True
    for at in range(0, len(text), size):
        piece, unfinished = split_unfinished(unfinished + text[at : at + size])
        if piece:
            shown += prose(piece, starts=ended)
            ended = piece.endswith("\n")
    shown += prose(unfinished, starts=ended)
    assert shown == f" {line}\nx {line}\n\n {line}\n {line}"


def test_headings_of_prose_stay_where_they_are() -> None:
    text = "## Workers\n\n## Worker threads\n\n## Agent 1\n\n### Worker\n\n# Agent"
    assert prose(text) == text


@pytest.mark.parametrize(
    "line", [*OURS, "━━━", "── Review", "  ✓ done", "```sh", "~~~", "● A", "• A", "**Q**"]
)
def test_a_line_of_a_section_never_begins_as_ours_do(line: str) -> None:
    """It is shown whole, with a bracket that says so."""
    shown = quoted(line)
    first = line.strip()[0]
    assert shown == line.replace(first, f"‹{first}›", 1)


@given(st.text(st.characters(codec=None)) | st.text(st.sampled_from("⟦⟧ab=12>\n")))
def test_clean_text_is_one_harmless_line(text: str) -> None:
    """Whatever the agent sends, a buffer takes it, and no marker comes out."""
    line = clean(text)
    assert "\n" not in line
    assert "\r" not in line
    assert not MARKER.search(line)
    line.encode()


@given(st.text(st.sampled_from("⟦⟧ab=12>")))
def test_no_marker_survives_stripping(text: str) -> None:
    """Taking one marker out of another leaves none."""
    nested = f"⟦ab={marker('ab', 1, 2)}1=2⟧{text}"
    assert not MARKER.search(strip_markers(nested))


@pytest.mark.parametrize(
    "damaged",
    [
        *(marker("ab", 1, 2)[:cut] for cut in range(1, 8)),
        *(marker("ab", 1, 2)[cut:] for cut in range(1, 8)),
        "⟦a=1=2⟧",
        "⟦ab1=2⟧",
        "⟦ab==2⟧",
    ],
)
def test_fragments_of_a_marker_are_recognised(damaged: str) -> None:
    """What deleting characters leaves of a marker goes, the text before it stays."""
    assert strip_markers("MySQL" + damaged, fragments=True).startswith("MySQL")
    assert len(strip_markers("MySQL" + damaged, fragments=True)) <= len("MySQLab")


def test_prose_is_no_fragment() -> None:
    """Arrows, comments and addresses that a user writes are left alone."""
    prose = "a --> b, <!-- note -->, localhost:127.0.0.1, a=1, x==2, f(a=1, b=2), x < y"
    assert strip_markers(prose, fragments=True) == prose


def test_an_older_versions_marker_is_renewed() -> None:
    """Wherever it stands; what an edit has left of one is not."""
    line = "A <!--winnow:ab.1.2--> note<!--WinNow:ab.0.r-->"
    assert renewed(line) == f"A {marker('ab', 1, 2)} note{marker('ab', 0, 'r')}"
    assert renewed("A <!--winnow:ab.1-->") == "A <!--winnow:ab.1-->"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Redis — fast.", "Redis — fast.|"),
        ("It is fast, and all of us know it.", "It is fast, and all of us know it|."),
        ("It is fast, and all of us (the team)", "It is fast, and all of us (the team|)"),
        ("Redis — 東京の首都圏で使われている", "Redis — |東京の首都圏で使われている"),
        ("東京の首都圏で使われている", "|東京の首都圏で使われている"),
        ("." * 30, "." * 30 + "|"),
        ("", "|"),
    ],
)
def test_a_marker_gets_no_row_of_its_own(text: str, shown: str) -> None:
    assert sewn(text, "|") == shown
