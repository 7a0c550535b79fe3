"""What Claude emphasises is seen without its signs; everything else as it was written."""

from __future__ import annotations

from tests.e2e.editor import Editor
from tests.e2e.steps import wait_idle
from tests.e2e.test_resume import write_chat

TEXT = """
keep **mine**

## Claude

A **bold** word, (*italic*) and **over
two lines**.
**Colour** (optional)
✗ Left out
~~Red~~ · ~~Blue~~
2*3*4 and src/*.py,lib/*.js and `**code**` and __init__.py and ~~gone~~.
**Item:** `a`

▸ Bash ls ✗ exit 2
│ **out** put
```python
x = 2 ** 3 ** 4
```

## You

raw **draft**"""


def test_signs_of_emphasis_are_hidden_where_claude_speaks(editor: Editor) -> None:
    """And nowhere else; the text keeps them."""
    folder = editor.sandbox.data / "winnow" / "chats"
    path = write_chat(folder, f"cwd: {editor.sandbox.project}", text=TEXT)
    editor.resize(80, 30)
    editor.keys(f":edit {path}<CR>gg")
    wait_idle(editor)
    rows = [row.rstrip() for row in editor.screen()]
    shown = [
        "keep **mine**",
        "A bold word, (italic) and over",
        "two lines.",
        "Colour (optional)",
        "✗ Left out",
        "Red · Blue",
        "2*3*4 and src/*.py,lib/*.js and `**code**` and __init__.py and ~~gone~~.",
        "Item: `a`",
        "│ **out** put",
        "x = 2 ** 3 ** 4",
        "raw **draft**",
    ]
    assert [row for row in rows if row in shown] == shown
    assert editor.style("bold word")["bold"]
    assert "A **bold** word, (*italic*) and **over" in editor.lines()
