"""Agent text can't break a buffer line or forge a marker."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from winnow.core.text import MARKER, clean, clean_block, marker, strip_markers


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
        ("<!--WinNow:ab.1.2-->", "‹!--WinNow:ab.1.2--›"),
        ("<!--winnow:ab.1.12-->", "‹!--winnow:ab.1.12--›"),
        ("git --winnow:ab", "git -‐winnow:ab"),
        ("use <!-- html --> and a --> b", "use <!-- html --> and a --> b"),
        ("x" * 3000, "x" * 1999 + "…"),
    ],
)
def test_clean_shows_what_a_line_could_hide(text: str, shown: str) -> None:
    """Control characters become visible, markers harmless, the rest stays."""
    assert clean(text) == shown
    assert clean(shown) == shown


def test_clean_block_ends_lines_at_newlines_only() -> None:
    """What splitlines() also cuts at is shown instead, and tabs stay."""
    assert clean_block("a\tb\r\nc\rd\u2028e\x0bf\n") == ["a\tb", "c␍d‹U+2028›e␋f", ""]


@given(st.text(st.characters(codec=None)) | st.text(st.sampled_from("<!--winow:ab.12>\n")))
def test_clean_text_is_one_harmless_line(text: str) -> None:
    """Whatever the agent sends, a buffer takes it, and no marker comes out."""
    line = clean(text)
    assert "\n" not in line
    assert "\r" not in line
    assert not MARKER.search(line)
    line.encode()


@given(st.text(st.sampled_from("<!--winow:ab.12>")))
def test_no_marker_survives_stripping(text: str) -> None:
    """Taking one marker out of another leaves none."""
    nested = f"<!--win{marker('ab', 1, 2)}now:ab.1.2-->{text}"
    assert not MARKER.search(strip_markers(nested))


@pytest.mark.parametrize(
    "damaged",
    [
        *(marker("ab", 1, 2)[:cut] for cut in range(1, 20)),
        *(marker("ab", 1, 2)[cut:] for cut in range(1, 14)),
        "!--winnow:ab.1.2-->",
        "inow:ab.1.2--",
        "<!--wnnow:ab.1.2-->",
        "<!--winnow:ab1.2-->",
    ],
)
def test_fragments_of_a_marker_are_recognised(damaged: str) -> None:
    """What deleting characters leaves of a marker goes, the text before it stays."""
    assert strip_markers("MySQL" + damaged, fragments=True).startswith("MySQL")
    assert len(strip_markers("MySQL" + damaged, fragments=True)) <= len("MySQLab")


def test_prose_is_no_fragment() -> None:
    """Arrows, comments and addresses that a user writes are left alone."""
    prose = "a --> b, <!-- note -->, localhost:127.0.0.1, now:10.0.0.1, --no-wait, x < y"
    assert strip_markers(prose, fragments=True) == prose
