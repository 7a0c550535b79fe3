"""What the tests of this folder do again and again in a chat."""

from __future__ import annotations

import time

from tests.e2e.editor import Editor
from tests.e2e.neovim import Neovim


def send(editor: Editor, text: str) -> None:
    """Write a message into the draft that the cursor stands in, and send it."""
    editor.keys(f"A{text}<Esc><CR>")


def start(editor: Editor, text: str = "Hi") -> None:
    """Open this directory's chat and send a message."""
    editor.keys(":Winnow<CR>")
    send(editor, text)


def wait_section(neovim: Neovim, title: str) -> None:
    """Wait until a section is there and takes a <CR>, which it doesn't for its first 0.3 s."""
    neovim.wait_line(f"━━ {title}")
    taken = time.monotonic() + 0.3
    neovim.wait(lambda: time.monotonic() > taken, "the time in which <CR> does nothing")


def wait_idle(neovim: Neovim) -> None:
    """Wait until the turn is over and the current chat shows no state."""
    neovim.wait(
        lambda: neovim.lua("""
          local chat = require('winnow.chats').current()
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
