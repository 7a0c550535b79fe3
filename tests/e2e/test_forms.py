"""A form of an MCP server, filled in where it stands in the chat."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from winnow.core.text.text import strip_markers

from tests.api import ScriptedAPI, ToolUse, say
from tests.e2e.editor import Editor
from tests.e2e.steps import send, wait_section

SERVER = str(Path(__file__).parents[1] / "forms_server.py")
SCHEMA = {
    "type": "object",
    "required": ["name", "size", "gift"],
    "properties": {
        "name": {"type": "string", "title": "Name", "minLength": 2},
        "size": {"type": "string", "enum": ["small", "large"], "title": "Size"},
        "count": {"type": "integer", "title": "How many", "default": 1, "maximum": 9},
        "gift": {"type": "boolean", "title": "Gift"},
    },
}


def test_a_form_is_filled_in(open_editor: Any, api: ScriptedAPI, tmp_path: Path) -> None:
    """By deleting lines and by writing; what is wrong is said, and the server gets the rest."""
    config = {"mcpServers": {"forms": {"command": sys.executable, "args": [SERVER]}}}
    (tmp_path / "claude").mkdir()
    (tmp_path / "claude" / ".claude.json").write_text(json.dumps(config))
    env = {**api.env(tmp_path / "claude"), "IS_SANDBOX": "1"}
    editor: Editor = open_editor(agent="claude", mode="bypassPermissions", env=env)
    call = ToolUse("mcp__forms__form", {"schema": SCHEMA, "message": "Whose cup is it?"}, "t1")
    api.add(say(call), say("Thank you."))
    editor.keys(":Winnow<CR>:Winnow mcp<CR>")
    editor.wait(lambda: "forms · connected" in editor.text(), "the server")
    editor.keys(":Winnow<CR>G")
    send(editor, "Go on")
    wait_section(editor, "Form 1/4: Name · forms")
    editor.keys("gg/^✎<CR>A A<Esc><CR>")
    editor.wait(lambda: "characters, not 1" in editor.messages(), "what is wrong")
    editor.keys("Ada Lovelace<Esc><CR>")
    editor.wait(lambda: editor.line().startswith("small"), "the next field")
    editor.keys("dd<CR>")
    editor.wait(lambda: editor.line().startswith("Yes"), "the one that has no default")
    editor.keys("dd<CR>")
    editor.wait(lambda: editor.line().startswith("━━"), "the review")
    editor.keys("<CR>")
    editor.wait_line("Thank you.")
    content = {"name": "Ada Lovelace", "size": "large", "count": 1, "gift": False}
    told = json.loads(api.tool_result("t1"))
    assert told == {"action": "accept", "content": content}
    record = strip_markers(editor.text()).partition("## Claude")[2]
    assert "✓ Own answer: “Ada Lovelace”" in record
    assert "✓ Selected: large" in record
