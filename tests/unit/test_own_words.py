"""What the user writes into a section, as it was typed or pasted."""

from __future__ import annotations

import pytest
from winnow.core.section.form import Form, render
from winnow.core.section.reading import parse

from tests.unit.forms import ONE, SEVERAL


def test_own_text_keeps_its_indentation() -> None:
    """After a blank line, too; only what it begins with is trimmed."""
    lines = render(ONE)
    at = next(row for row, line in enumerate(lines) if line.startswith("✎"))
    for first, rest in ((lines[at] + "  Do:", []), (lines[at], ["  Do:"])):
        typed = [*lines[:at], first, *rest, "", "    if x:", "      y()", "", *lines[at + 1 :]]
        assert parse(ONE, typed).questions[0].own == ("Do:", "    if x:\n      y()")


@pytest.mark.parametrize("form", [ONE, SEVERAL])
def test_a_note_of_several_lines_is_one(form: Form) -> None:
    """Pasted behind an option; a blank line ends it."""
    lines = render(form)
    at = next(row for row, line in enumerate(lines) if line.endswith("=2⟧"))
    pasted = [*lines[:at], lines[at] + " one:", "  two", "three", "", "own", *lines[at + 1 :]]
    left = parse(form, pasted).questions[0]
    assert [pick.note for pick in left.picks] == ["", "one:\n  two\nthree", ""]
    assert left.own == ("own",)
