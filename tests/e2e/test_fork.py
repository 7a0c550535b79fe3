"""A chat that goes on from an earlier message, as a branch."""

from __future__ import annotations

from tests.api import ScriptedAPI, say
from tests.e2e.editor import Editor
from tests.e2e.steps import draft, send, start, wait_idle, wait_section


def test_an_earlier_message_is_sent_again_as_a_branch(claude: Editor, api: ScriptedAPI) -> None:
    """With what was said before it, and without it; the first chat stays as it is."""
    api.add(say("One."), say("Two."), say("Three."))
    start(claude)
    wait_idle(claude)
    send(claude, "Second.")
    claude.wait_line("Two.")
    wait_idle(claude)
    claude.keys(":Winnow effort low<CR>")
    claude.wait_line("effort: low")
    before = claude.text()
    claude.keys("gg/Second<CR>:Winnow fork<CR>")
    claude.wait_line("fork: ")
    claude.wait_screen("↰ branch of: Hi")
    claude.keys("gg/Second<CR>kk<CR>")  # on the heading of its draft, which is not sent
    claude.wait_line("Two.")
    claude.wait_screen("↳ branch: Hi")
    claude.keys("gg/Second<CR>kk<CR>")
    claude.wait_line("fork: ")
    assert "Two." not in claude.text()
    assert "effort: low" in claude.text()
    claude.keys(":%s/Second/Other/<CR>")
    claude.keys("G<CR>")
    claude.wait_line("Three.")
    said = str(api.requests[-1]["messages"])
    assert "One." in said
    assert "Other." in said
    assert "Second." not in said
    claude.keys(":Winnow chats %<CR>")
    claude.wait_line("1 branch")
    claude.keys("gg/1 branch<CR><CR>")
    claude.wait_line("Two.")
    claude.wait_screen("↳ branch: Hi")
    claude.keys("gg/Second<CR>kk<CR>")
    claude.wait_line("Three.")
    claude.wait_screen("↰ branch of: Hi")
    assert "Two." in before


def test_a_message_with_mentions_is_found_again(claude: Editor, api: ScriptedAPI) -> None:
    """To be sent or rewound to, without the line that says what went along."""
    (claude.sandbox.project / "f.txt").write_text("text\n")
    api.add(say("One."), say("Two."))
    claude.keys(":edit f.txt<CR>Anot saved<Esc>")
    start(claude)
    claude.wait_line("One.")
    wait_idle(claude)
    send(claude, "Second @f.txt, @buffer")
    claude.wait_line("Two.")
    wait_idle(claude)
    assert "│ @f.txt → f.txt" in claude.text()
    claude.keys("gg/Second<CR>:Winnow rewind<CR>")
    wait_section(claude, "Rewind: Second")
    claude.keys("<Esc><Esc>")
    claude.wait_gone("━━ Rewind")
    claude.keys("gg/Second<CR>:Winnow fork<CR>")
    claude.wait_line("fork: ")
    assert draft(claude) == "Second @f.txt, @buffer"
