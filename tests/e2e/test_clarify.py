"""``:Winnow clarify`` with real keys, the real CLI, and a specification at the end."""

from __future__ import annotations

import time
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from winnow.core.text.text import strip_markers

from tests.api import Message, ScriptedAPI, ToolUse, say
from tests.e2e.desk import GO, type_keys
from tests.e2e.editor import Editor
from tests.e2e.steps import draft, wait_section
from tests.unit.clarifying import SPEC, question, round_of


def gives(api: ScriptedAPI, *objects: dict[str, Any], before: list[Message] | None = None) -> None:
    """The model gives these objects, one for each query."""
    api.add(*(before or []))
    for given in objects:
        api.add(say(ToolUse("StructuredOutput", given, f"toolu_{next(CALLS)}")))


def specs(editor: Editor) -> list[Path]:
    """The specifications of the project."""
    return sorted(editor.sandbox.project.glob("specs/*.md"))


NONE = round_of()
CALLS = count(1)


def test_three_rounds_end_in_a_specification(claude: Editor, api: ScriptedAPI) -> None:
    """Live progress, one section a round, and a file that opens beside it."""
    (claude.sandbox.project / "cart.py").write_text("slow = True\n")
    read = ToolUse("Read", {"file_path": str(claude.sandbox.project / "cart.py")}, "toolu_r")
    gives(
        api,
        round_of(question("Which cart?", "All")),
        round_of(question("How fast?", "1 s", area="success"), question("Who waits?", "Guests")),
        round_of(question("What if it fails?", "Nothing", area="errors")),
        NONE,
        SPEC,
        before=[say("I look.", read)],
    )
    claude.keys(":Winnow clarify Make the cart faster<CR>")
    wait_section(claude, "Question: Scope")
    text = strip_markers(claude.text())
    assert "▸ I look.\n" in text
    assert "▸ Read cart.py" in text
    assert [line for line in text.split("\n") if line.startswith(("The cart", "All", "You"))] == [
        "The cart — recommended: It is used most.",
        "All — about All",
        "You decide — then it is assumed: The cart",
    ]
    type_keys(claude, GO)
    wait_section(claude, "Question 1/2: Success")
    claude.keys("/You decide<CR>")
    claude.wait(lambda: "assumed" in claude.line(), "the cursor on it")
    type_keys(claude, GO)
    claude.wait(lambda: "again keeps only You decide" in claude.messages(), "the offer")
    time.sleep(0.35)  # two presses within that are one
    type_keys(claude, GO)
    second = "return vim.fn.search('^━━ Question 2/2', 'bcnW') > 0"
    claude.wait(lambda: claude.lua(second), "the second question")
    type_keys(claude, f"/Something else<CR>A everybody<Esc>{GO}{GO}")
    wait_section(claude, "Question: Errors")
    type_keys(claude, GO)
    made = wait_spec(claude)
    assert "- Which cart? → The cart\n" in made
    assert "- How fast? → The cart (assumed)\n" in made
    assert "- Who waits? → everybody\n" in made
    assert "**AC-1**" in made


def test_five_recommended_answers_take_six_keys(claude: Editor, api: ScriptedAPI) -> None:
    """The cursor stands on each; the review sends."""
    asked = [question(f"Question {n}?", "B", "C", "D") for n in range(5)]
    gives(api, round_of(*asked), NONE, SPEC)
    claude.keys(":Winnow clarify Make the cart faster<CR>")
    wait_section(claude, "Question 1/5")
    for _ in range(6):
        type_keys(claude, GO)
        time.sleep(0.35)  # two presses within that are one, to whoever sees to it
    assert wait_spec(claude).count("→ The cart\n") == 5


@pytest.mark.soak
def test_a_specification_is_a_goal_and_can_be_taken_up_again(
    claude: Editor, api: ScriptedAPI
) -> None:
    """Edited and written, by `:Winnow clarify`, `:Winnow new` and `:Winnow run`."""
    claude.resize(100, 70)  # so that all of the patch is seen
    gives(api, NONE, SPEC)
    claude.keys(":Winnow clarify Make the cart faster<CR>")
    wait_spec(claude)
    name = claude.lua("return vim.api.nvim_buf_get_name(0)")
    claude.keys(":Winnow new<CR>")
    assert draft(claude) == f"Build what this specification says: {name}"
    claude.keys(f":edit {name}<CR>")
    claude.keys(":%s/The checkout/The wish list/<CR>:Winnow clarify<CR>")
    assert "write the specification first" in claude.messages()
    gives(api, round_of(question("Which list?", "All")))
    before = len(api.requests)
    claude.keys(":write<CR>:Winnow clarify Lists, too<CR>")
    wait_section(claude, "Question: Scope")
    assert "+- The wish list" in str(api.requests[before]["messages"])
    assert "Lists, too" in str(api.requests[before]["messages"])
    gives(api, NONE, {**SPEC, "scope": ["The list"]})
    type_keys(claude, GO)
    wait_section(claude, "Patch")
    claude.keys(":Winnow allow<CR>")
    claude.wait(lambda: "- The list" in specs(claude)[0].read_text(), "the new version")
    api.add(say("I lead."))
    claude.keys(f":edit! {name}<CR>:Winnow run<CR>")
    claude.wait_line("I lead.")


def test_what_there_is_to_say_first(claude: Editor) -> None:
    """No request; a word that is none; and nothing to pace."""
    claude.keys(":Winnow clarify<CR>")
    assert "say what is wanted" in claude.messages()
    claude.keys(":Winnow clarify ++two<CR>")
    assert "only ++one and ++all" in claude.messages()
    claude.keys(":Winnow run goal.md<CR>")  # nor is there such a file
    assert "there is no file goal.md" in claude.messages()
    claude.keys(":Winnow<CR>:Winnow clarify ++one<CR>")
    claude.wait(lambda: "Nothing is clarified" in claude.messages(), "the sentence")


@pytest.mark.soak
def test_a_draft_and_a_range_are_requests(claude: Editor, api: ScriptedAPI) -> None:
    gives(api, round_of(question("Which cart?", "All")))
    claude.keys(":Winnow<CR>iMake the cart faster<Esc>:Winnow clarify<CR>")
    wait_section(claude, "Question: Scope")
    assert "Make the cart faster" in str(api.requests[0]["messages"])
    gives(api, round_of(question("Which shop?", "All")))
    before = len(api.requests)
    claude.keys(":enew<CR>iThe shop is old<Esc>:%Winnow clarify renew it<CR>")
    claude.wait_line("Which shop?")
    told = str(api.requests[before]["messages"])
    assert "The shop is old" in told
    assert "renew it" in told


@pytest.mark.fresh("session")
def test_it_goes_on_where_neovim_ended(claude: Editor, api: ScriptedAPI) -> None:
    """What was answered is kept, and the round is open again."""
    gives(api, round_of(question("Which cart?", "All")), round_of(question("How fast?", "1 s")))
    claude.keys(":Winnow clarify Make the cart faster<CR>")
    wait_section(claude, "Question: Scope")
    type_keys(claude, GO)
    claude.wait_line("How fast?")
    path = claude.lua("return vim.api.nvim_buf_get_name(0)")
    claude.restart(path)
    claude.wait_line("How fast?")
    claude.keys("G")
    gives(api, NONE, SPEC)
    wait_section(claude, "Question: Scope")
    type_keys(claude, f"/^The cart<CR>{GO}")
    claude.wait(lambda: any("AC-1" in path.read_text() for path in specs(claude)), "the file")
    (made,) = specs(claude)
    assert "- Which cart? → The cart" in made.read_text()
    assert "How fast?" in made.read_text()


def wait_spec(editor: Editor) -> str:
    """The specification, when it is whole and on the screen."""

    def shown() -> bool:
        made = specs(editor)
        name = editor.lua("return vim.api.nvim_buf_get_name(0)")
        return bool(made) and name.endswith(made[0].name)

    editor.wait(shown, "the specification")
    return specs(editor)[0].read_text()
