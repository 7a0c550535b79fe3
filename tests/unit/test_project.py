"""What of a project's files is an entry, and that an entry says all of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from winnow.core import project
from winnow.core.asking import question_tool, run_tool
from winnow.core.editor import tools
from winnow.core.project import Source

SETTINGS, SERVERS = ".claude/settings.json", ".mcp.json"


def texts(name: str, what: Any) -> list[str]:
    """The entries of one file, without its name."""
    text = what if isinstance(what, str) or what is None else json.dumps(what)
    found = [entry.text for entry in project.entries([Source(name, text)])]
    assert all(name in entry for entry in found)
    return [entry.replace(f" ({name})", "") for entry in found]


def hook(*commands: str, **more: Any) -> dict[str, Any]:
    return {"hooks": [{"type": "command", "command": command} for command in commands], **more}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"hooks": {"Stop": [hook("a", "b")]}}, ["hook Stop: a", "hook Stop: b"]),
        ({"hooks": {"PreToolUse": [hook("a", matcher="Bash")]}}, ["hook PreToolUse(Bash): a"]),
        ({"hooks": {"Stop": [hook("a", matcher="")]}}, ["hook Stop: a"]),
        (
            {"hooks": {"Stop": [{"hooks": [{"type": "http", "url": "u", "timeout": 1}]}]}},
            ['hook Stop: u {"type": "http", "timeout": 1}'],
        ),
        (
            {"hooks": {"Stop": [hook("a", once=True)]}},
            ['hook Stop: a {"once": true}'],
        ),
        (
            {"hooks": {"Stop": "a", "X": [1], "Y": [{"hooks": ["c"]}]}},
            ["hook Stop: a", "hook X: 1", "hook Y: c"],
        ),
        ({"hooks": ["a"]}, ['hooks: ["a"]']),
        ({"env": {"A": "1", "B": 2}}, ["env A=1", "env B=2"]),
        ({"env": "A=1"}, ["env: A=1"]),
        (
            {"permissions": {"allow": ["Bash"], "additionalDirectories": ["/usr"]}},
            ["allow Bash", "folder /usr"],
        ),
        ({"permissions": {"allow": "Bash"}}, ["permissions.allow: Bash"]),
        ({"permissions": {"defaultMode": "plan", "new": 1}}, ["mode plan", "permissions.new: 1"]),
        ({"permissions": {"deny": ["Read"], "ask": ["Bash"]}}, []),
        ({"model": "opus", "$schema": "x", "enableAllProjectMcpServers": True}, []),
        (
            {"apiKeyHelper": "sh", "statusLine": {"command": "x"}, "toCome": [1]},
            ["apiKeyHelper: sh", 'statusLine: {"command": "x"}', "toCome: [1]"],
        ),
        ({"disableAllHooks": True}, ["disableAllHooks: true"]),
        ([1], ["unknown: [1]"]),
        ('{"env": ', ['broken: {"env": ']),
        ("[" * 100_000, ["broken: " + "[" * 100_000]),
        ('\ufeff{"env": {"A": "1"}}', ["env A=1"]),
        ('{"env": {"A": "1"}, "env": {"A": "2"}}', ["env A=2"]),
        (None, ["unreadable: .claude/settings.json"]),
    ],
)
def test_settings(settings: Any, expected: list[str]) -> None:
    assert texts(SETTINGS, settings) == expected


@pytest.mark.parametrize(
    ("servers", "expected"),
    [
        ({"db": {"command": "npx", "args": ["-y", "x"]}}, ["server db: npx -y x"]),
        (
            {"db": {"type": "stdio", "command": "npx", "env": {"A": "1"}}},
            ['server db: npx {"env": {"A": "1"}}'],
        ),
        (
            {"db": {"type": "http", "url": "https://x", "headersHelper": "sh"}},
            ['server db: https://x {"type": "http", "headersHelper": "sh"}'],
        ),
        ({"db": "npx"}, ["server db: npx"]),
        ({}, []),
    ],
)
def test_servers(servers: Any, expected: list[str]) -> None:
    assert texts(SERVERS, {"mcpServers": servers}) == expected


SKILL = ".claude/skills/pie/SKILL.md"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\nname: pie\ndescription: Bakes\n---\nBake `it`.", []),
        ("---\nname: pie\ndescription: >\n  hooks: none\n  or so\n---\nBake.", []),
        ("---\ntools:\n- Read\n- Bash\n---\nBake.", []),
        ("Bake.", []),
        ("", []),
        ("---\nallowed-tools: Bash(rm:*)\n---\n", ["allowed-tools: Bash(rm:*)"]),
        ("---\nhooks:\n  Stop:\n  - x\nname: pie\n---\n", ["hooks:;   Stop:;   - x"]),
        ('---\n"hooks": {}\n---\n', ['"hooks": {}']),
        ("---\n? hooks\n: {}\n---\n", ["? hooks; : {}"]),
        ("---\n{hooks: {}}\n---\n", ["{hooks: {}}"]),
        ("---\nhooks : {}\n---\n", ["hooks : {}"]),
        ("---\nname: &a b\n---\n", ["name: &a b"]),
        ("---\n<<: *a\n---\n", ["<<: *a"]),
        ("---\nname: pie\u2028hooks: {}\n---\n", ["hooks: {}"]),
        ("---\rhooks: {}\r---\r", ["hooks: {}; ---"]),
        ("---\r\nname: pie\r\nhooks: {}\r\n---\r\nBake.", ["hooks: {}"]),
        ("\ufeff\n---\nhooks: {}\n---\n", ["hooks: {}"]),
        ("---\nname: pie\n--- x\nhooks: {}\n---\n", ["--- x; hooks: {}"]),
        ("---\nname: pie\n\thooks: {}\n---\n", ["\thooks: {}"]),
        ("---\nhooks: {}", ["hooks: {}"]),
        ("Now: !`rm x` and !`ls`", ["may run Now: !`rm x` and !`ls`"]),
        ("```!\nrm x\nls\n```\n", ["may run ```!\nrm x\nls\n```"]),
        ("Bake. x ```!\nrm x\n```\n", ["may run Bake. x ```!\nrm x\n```"]),
        ("Use wow!`harmless !`rm x` ok.", ["may run Use wow!`harmless !`rm x` ok."]),
    ],
)
def test_a_prompt_is_an_entry_for_what_else_it_does(text: str, expected: list[str]) -> None:
    """Whatever YAML is, a key that grants is never missed."""
    assert texts(SKILL, text) == [f"skill pie: {more}" for more in expected]


@pytest.mark.parametrize(
    ("name", "start"),
    [
        (".claude/agents/cook.md", "agent cook: hooks: x"),
        (".claude/commands/shop/buy.md", "command buy: hooks: x"),
        ("sub/.claude/skills/pie/SKILL.md", "skill pie: hooks: x"),
        (".claude/output-styles/rude.md", "output-style rude: hooks: x"),
        (".claude/workflows/all.js", "code: ---\nhooks: x\n---"),
        (".claude/skills/pie/.claude-plugin/plugin.json", "code: ---"),
    ],
)
def test_each_kind_of_file_is_named(name: str, start: str) -> None:
    assert texts(name, "---\nhooks: x\n---\n")[0].startswith(start)


@pytest.mark.parametrize(
    "name", [question_tool.SERVER, tools.SERVER, run_tool.PREFIX.split("__")[1]]
)
def test_whatever_servers_of_ours_are_called_poses_as_them(name: str) -> None:
    text = json.dumps({"mcpServers": {name: {}}})
    (entry,) = project.entries([Source(".mcp.json", text)])
    assert entry.poses
    assert not entry.servers


def test_tasks() -> None:
    task = {"cron": "* * * * *", "prompt": "Buy."}
    said = texts(".claude/scheduled_tasks.json", {"tasks": [task]})
    assert said == [f"scheduled: {json.dumps(task)}"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=12,
)
KEYS = st.sampled_from(["hooks", "env", "permissions", "allow", "Stop", "mcpServers", "tasks", "x"])
NESTED = st.dictionaries(KEYS, st.dictionaries(KEYS, JSON) | JSON) | JSON


@given(NESTED, st.sampled_from([SETTINGS, SERVERS, ".claude/scheduled_tasks.json", SKILL]))
def test_nothing_is_too_odd(value: Any, name: str) -> None:
    """Whatever stands in a file, its entries can be told, and given to Claude Code."""
    for entry in project.entries([Source(name, json.dumps(value))]):
        assert entry.text
        project.merged({"hooks": {"Stop": []}}, entry.settings)


def test_other_arguments_are_another_entry() -> None:
    """However they would look, joined by blanks."""
    args = ["-c", "true ; touch x"], ["-c", "true", ";", "touch", "x"], ["-c", "true ;", "touch x"]
    servers = [json.dumps({"mcpServers": {"a": {"command": "sh", "args": one}}}) for one in args]
    found = [project.entries([Source(".mcp.json", text)])[0].text for text in servers]
    assert found[0] == "server a: sh -c 'true ; touch x' (.mcp.json)"
    assert len(set(found)) == 3


def test_half_a_character_can_be_kept() -> None:
    """JSON may have it, a database can't."""
    text = '{"env": {"A": "\\ud800x"}}'
    (entry,) = project.entries([Source(".claude/settings.json", text)])
    assert entry.text.encode() == b"env A=\\ud800x (.claude/settings.json)"
