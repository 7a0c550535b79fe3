"""What the tests of this folder do again and again in a chat."""

from __future__ import annotations

from typing import Any

from tests.api import Message, ScriptedAPI, ToolUse, say
from tests.e2e.editor import Editor
from tests.e2e.neovim import Neovim

SEEN = """
  local chat = require('winnow.registry').current()
  return not (chat and chat.section) or chat.section.sight.at
"""


def send(editor: Editor, text: str) -> None:
    """Write a message into the draft that the cursor stands in, and send it."""
    editor.keys(f"A{text}<Esc><CR>")


def start(editor: Editor, text: str = "Hi") -> None:
    """Open this directory's chat and send a message."""
    editor.keys(":Winnow<CR>")
    send(editor, text)


def press_until(editor: Editor, text: str) -> None:
    """Press `<CR>` until this is there: right after another Neovim was connected none counts."""

    def pressed() -> bool:
        editor.keys("<CR>")
        return text in editor.text()

    editor.wait(pressed, repr(text))


def wait_section(neovim: Neovim, title: str) -> None:
    """Wait until a section is there, and was looked at."""
    neovim.wait_line(f"━━ {title}")
    neovim.wait(lambda: neovim.lua(SEEN), "a section that was on the screen")


def wait_idle(neovim: Neovim) -> None:
    """Wait until the turn is over and the current chat shows no state."""
    neovim.wait(
        lambda: neovim.lua("""
          local chat = require('winnow.registry').current()
          return chat and chat.state == 'idle'
        """),
        "an idle chat",
    )


def said(neovim: Neovim) -> str:
    """What Claude said last, as the buffer has it."""
    return neovim.text().rpartition("\n\n## You")[0].rpartition("## Claude\n\n")[2]


def draft(neovim: Neovim) -> str:
    """The draft, without blank edges."""
    return neovim.text().rpartition("## You")[2].strip()


def task(description: str, id: str) -> ToolUse:
    """The call that starts a subagent."""
    kind = "general-purpose"
    return ToolUse("Agent", {"description": description, "prompt": "go", "subagent_type": kind}, id)


def subagents(api: ScriptedAPI, *replies: Message, last: str = "Done.") -> None:
    """The main agent starts a subagent for each reply."""
    calls = [task(f"task {number}", f"a{number}") for number, _ in enumerate(replies)]
    api.add(say(*calls), *replies)
    api.add(*[say(last) for _ in range(len(replies) * 3 + 2)])


def pending(claude: Editor) -> list[dict[str, Any]]:
    """What waits for the user in the first chat."""
    found: list[dict[str, Any]] = claude.lua("""
      local chat = require('winnow.registry').all()[1]
      return chat and chat.pending or {}
    """)
    return found


def waits(claude: Editor, count: int) -> None:
    """Wait until so many things wait; subagents take their time to start."""
    claude.wait(lambda: len(pending(claude)) == count, f"{count} things waiting", timeout=40)
