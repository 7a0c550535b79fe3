"""What Claude Code gets of a project, and what the lines to delete mean."""

from __future__ import annotations

import json
import re
from typing import Any
from unicodedata import category

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from winnow.core import project
from winnow.core.asking import trust
from winnow.core.project import Project, Source
from winnow.core.proposal import blocks, settings
from winnow.core.proposal.proposal import Changed, Emptied, Kept
from winnow.core.section.form import render

UNSEEN = ("Cc", "Cs", "Zl", "Zp")
ENTRIES = ("env A=1 (x)", "env B=2 (x)", "hook Stop: " + "y" * 400 + " (x)")


def left(lines: list[str], entries: tuple[str, ...] = ENTRIES) -> list[str]:
    found = settings.left(entries, blocks.Text(0, tuple(lines)))
    assert isinstance(found, list)
    return found


def shown(entries: tuple[str, ...] = ENTRIES) -> list[str]:
    return [line for entry in entries for line in settings.lines_of(entry)]


def test_every_line_of_an_entry_is_needed() -> None:
    """A long one has several; they say all of it."""
    lines = shown()
    assert len(lines) == 5
    assert "".join(line.removeprefix("    ") for line in lines[2:]) == ENTRIES[2]
    assert left(lines) == list(ENTRIES)
    for gone in (2, 3, 4):
        assert left(lines[:gone] + lines[gone + 1 :]) == list(ENTRIES[:2])


def test_lines_may_be_moved_but_not_changed() -> None:
    lines = shown()
    assert left([*lines[1:], "", lines[0]]) == list(ENTRIES)
    for odd in ("env A=1 (x) ", "env C=3 (x)", "    y"):
        found = settings.left(ENTRIES, blocks.Text(7, (odd, *lines)))
        assert found == blocks.Malformed(7, "line 8 is none of these settings: u brings them back")


def test_entries_that_start_alike_are_told_apart() -> None:
    """Whichever of their lines is gone, none is taken for the other."""
    entries = ("hook A: " + "x" * 160 + "1", "hook A: " + "x" * 160 + "2")
    lines = shown(entries)
    assert lines[0] == lines[2]
    for keep in ([0, 1], [2, 3], [0, 3], [1, 2], [0, 2], [0, 1, 2], [1, 2, 3]):
        kept = left([lines[at] for at in keep], entries)
        assert set(kept) <= {entries[n] for n in (0, 1) if {2 * n + 1} <= set(keep)}


# What the editor hides begins so, anywhere in a line that is not ours.
MARKER = re.compile(r"(?ai)⟦[a-z0-9]+=\d")


@given(st.text(max_size=400))
@example("⟦")
@example("⟦ab=1=2⟧")
@example("⟦⟦AB=1")
@example(f"⟦{'a' * 50}=1=2⟧")
def test_nothing_of_an_entry_is_hidden(text: str) -> None:
    """Control characters, markers and long blanks are shown; a buffer takes the lines."""
    for line in settings.lines_of(f"env A={text} (x)"):
        assert not [char for char in line if char != "\t" and category(char) in UNSEEN]
        assert not MARKER.search(line)
        assert len(line) <= 200


def test_blanks_hide_nothing() -> None:
    (line,) = settings.lines_of("hook Stop: ls;" + " " * 6000 + "; rm x (y)")
    assert line == "hook Stop: ls;‹6000 blanks›; rm x (y)"


def test_the_form_reads_back_what_is_left() -> None:
    form = trust.form("ab", {"project": "shop", "entries": list(ENTRIES)})
    assert form.proposal
    lines = render(form)
    assert lines[0].startswith("━━ Trust: shop⟦")

    def change(lines: list[str]) -> Any:
        assert form.proposal
        return form.proposal.read(blocks.split("ab", form.blocks, lines)[1])

    assert isinstance(change(lines), Kept)
    found = change([line for line in lines if line != ENTRIES[0]])
    assert isinstance(found, Changed)
    assert (found.words, found.input["entries"]) == ("2 of 3 settings", list(ENTRIES[1:]))
    assert isinstance(change([line for line in lines if line not in shown()]), Emptied)


SETTINGS = {
    "env": {"A": "1", "B": "2"},
    "permissions": {"allow": ["Bash(ls)"], "deny": ["Read"], "defaultMode": "acceptEdits"},
}
LOCAL = {"permissions": {"allow": ["Bash(rm)"], "ask": ["Write"]}, "env": {"A": "3"}}
SHOP = Project(
    "/shop",
    (
        Source(".mcp.json", json.dumps({"mcpServers": {"db": {"command": "x"}}})),
        Source(".claude/settings.json", json.dumps(SETTINGS)),
        Source(".claude/settings.local.json", json.dumps(LOCAL)),
    ),
)
ALL = [entry.text for entry in project.entries(SHOP.sources)]


def test_all_kept_is_the_project_as_it_is() -> None:
    """With its rules, which from a file count only where Claude Code trusts it."""
    found = trust.given(SHOP, dict.fromkeys(ALL, "kept"))
    assert found == trust.Given(True, {"permissions": {"allow": ["Bash(ls)", "Bash(rm)"]}})
    assert trust.given(Project("/shop"), {}) == trust.Given()


def test_what_is_kept_adds_up() -> None:
    """As in Claude Code; what restricts comes in any case, what isn't decided does not."""
    kept = [text for text in ALL if "env A" in text or "server" in text or "Bash(rm)" in text]
    verdicts: dict[str, trust.Verdict] = {**dict.fromkeys(kept, "kept"), ALL[-1]: "dropped"}
    verdicts["env A=3 (.claude/settings.local.json)"] = "kept"
    found = trust.given(SHOP, verdicts)
    assert found == trust.Given(
        False,
        {
            "permissions": {"deny": ["Read"], "ask": ["Write"], "allow": ["Bash(rm)"]},
            "env": {"A": "3"},
        },
        {"db": {"command": "x"}},
    )
    assert trust.given(SHOP, {}).settings == {"permissions": {"deny": ["Read"], "ask": ["Write"]}}


@pytest.mark.parametrize(
    ("update", "expected"),
    [
        (
            {
                "type": "addRules",
                "behavior": "allow",
                "rules": [
                    {"toolName": "Bash", "ruleContent": "npm x *"},
                    {"toolName": "Read", "ruleContent": None},
                ],
            },
            {"permissions": {"allow": ["Bash(npm x *)", "Read"]}},
        ),
        (
            {"type": "addDirectories", "directories": ["/usr"]},
            {"permissions": {"additionalDirectories": ["/usr"]}},
        ),
        ({"type": "new"}, {}),
    ],
)
def test_what_the_user_allows_is_held(update: dict[str, Any], expected: dict[str, Any]) -> None:
    """Claude Code has it for the session, and then from us; what is for the session passes."""
    once = {"type": "setMode", "mode": "plan", "destination": "session"}
    passed, kept = trust.held([{**update, "destination": "localSettings"}, once])
    assert passed == [{**update, "destination": "session"}, once]
    verdicts: dict[str, trust.Verdict] = dict.fromkeys(kept, "granted")
    assert trust.given(Project("/shop"), verdicts) == trust.Given(True, expected)
    assert len(trust.told(Project("/shop"), verdicts)) == 1


def test_prompts_come_with_a_part_only() -> None:
    """For the whole Claude Code reads them itself; too long ones are cut."""
    prompts = (Source("../CLAUDE.md", "Apples."), Source("x", None), Source("y", "é" * 100_000))
    shop = Project("/shop", SHOP.sources, prompts)
    assert trust.given(shop, dict.fromkeys(ALL, "kept")).prompts == ""
    found = trust.given(shop, {}).prompts
    assert found.startswith("Contents of ../CLAUDE.md:\n\nApples.\n\nContents of y:\n\néé")
    assert 89_990 < len(found.encode()) <= 90_000


def test_what_was_decided_can_be_read() -> None:
    told = trust.told(SHOP, {ALL[0]: "kept", ALL[1]: "dropped"})
    assert told[0] == "✓ server db: x (.mcp.json)"
    assert told[1].startswith("✗ ")
    assert told[2].startswith("? ")


def test_what_cant_be_shown_is_never_given_whole() -> None:
    """Whatever it holds by now, nobody has seen it."""
    what = Project("/shop", (Source(".claude/settings.json", None),))
    (entry,) = project.entries(what.sources)
    assert not trust.given(what, {entry.text: "kept"}).whole


@pytest.mark.parametrize(
    ("source", "poses"),
    [
        (Source(".mcp.json", json.dumps({"mcpServers": {"winnow": {"command": "x"}}})), True),
        (Source(".mcp.json", json.dumps({"mcpServers": {"winnow.editor": "x"}})), True),
        (Source(".mcp.json", json.dumps({"mcpServers": {"winnow-editor": "x"}})), False),
        (Source(".claude/agents/a.md", "---\nmcpServers:\n- winnow editor:\n---\n"), True),
        (Source(".claude/agents/a.md", '---\nmcpServers: {"\\x77innow": 1}\n---\n'), True),
        (Source(".claude/agents/a.md", "---\nmcpServers: [db]\n---\n"), False),
        (Source(".claude/agents/a.md", "---\nname: winnow\n---\n"), False),
    ],
)
def test_what_poses_as_ours_is_never_given(source: Source, poses: bool) -> None:
    """A tool of its would be taken for one of ours, and run unasked."""
    verdicts: dict[str, trust.Verdict]
    verdicts = {entry.text: "kept" for entry in project.entries([source])}
    found = trust.given(Project("/shop", (source,)), verdicts)
    assert found.whole != poses
    assert (found.servers == {}) or not poses
    assert (project.POSES in "".join(verdicts)) == poses
