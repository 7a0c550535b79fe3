"""Two more ways to ask: choices in Claude's text, and the `question` tool."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.api import Message, ScriptedAPI, Text, ToolUse, ask, question, say
from tests.e2e.conftest import Desks, Open, Share
from tests.e2e.desk import ClaudeDesk
from tests.e2e.editor import Editor
from tests.e2e.steps import said, send, start, wait_idle, wait_section
from tests.soaking import first

pytestmark = pytest.mark.fresh("nothing")

Choice = dict[str, Any]
ANSWER = "(The user picked or wrote this as an answer.)"


@pytest.fixture
def texts(share: Share, desks: Desks, api: ScriptedAPI) -> Editor:
    """An editor whose chats ask with choices in the text."""
    editor = share(desks(ClaudeDesk, questions="text"))
    editor.resize(100, 40)
    return editor


def choice(text: str = "Which DB?", *labels: str, **more: object) -> Choice:
    labels = labels or ("Postgres", "SQLite")
    options = [
        {"id": str(n), "label": label, "description": f"about {label}"}
        for n, label in enumerate(labels, 1)
    ]
    return {"type": "user_choice", "question": text, "options": options, **more}


def group(*choices: Choice, **more: object) -> Choice:
    return {"type": "user_choice_group", "question": "Set up", "choices": list(choices), **more}


def fenced(value: Choice) -> str:
    return f"```json\n{json.dumps(value, indent=2, ensure_ascii=False)}\n```"


def prompt(api: ScriptedAPI, number: int) -> str:
    """What the user's last message in this request says, without what says that it is an answer."""
    content = api.request(number)["messages"][-1]["content"]
    if isinstance(content, str):
        return content
    texts = [block["text"] for block in content if block["type"] == "text"]
    return "\n".join(text for text in texts if text != ANSWER)


# --- choices in text --------------------------------------------------------------------------


@pytest.mark.parametrize("form", [fenced, json.dumps], ids=["fenced", "raw"])
def test_a_choice_is_a_section_and_its_json_is_never_seen(
    texts: Editor, api: ScriptedAPI, form: Callable[[Choice], str]
) -> None:
    """The option's id is the next message; the text around it stays."""
    block = form(choice(context="It must survive."))
    api.add(say(f"Let me ask.\n\n{block}\n\nI wait."), say("So be it."))
    start(texts)
    wait_section(texts, "Question")
    text = texts.text()
    for shown in ("Let me ask.", "I wait.", "Which DB?", "It must survive."):
        assert shown in text
    assert not texts.was_shown("user_choice")
    assert not texts.was_shown("```")
    assert texts.lua("return require('winnow').statusline()").startswith("waiting 1")
    texts.keys("G2k/^SQLite<CR>kdd<CR>")
    texts.wait_line("So be it.")
    assert prompt(api, 1).endswith("2")
    assert "✓ Selected: SQLite" in "\n".join(texts.lines())


def test_several_questions_are_one_form(texts: Editor, api: ScriptedAPI) -> None:
    """With title, context, progress and a review; the answer has a line for each."""
    asked = group(choice(), choice("Who may order?", "Anyone", "Members"), context="Two things.")
    api.add(say(fenced(asked)), say("So be it."))
    start(texts)
    wait_section(texts, "Question 1/2")
    assert "Set up\n\nTwo things." in texts.text()
    texts.wait_screen("○○")
    texts.keys("gg/^SQLite<CR>dd")
    texts.wait_screen("●○")
    texts.keys("<CR>")
    texts.keys("gg/^Members<CR>dd")
    texts.wait_screen("●●")
    texts.keys("u")
    texts.wait_screen("●○")
    texts.keys("gg/^Anyone<CR>ddgg/^Which DB<CR>/Something<CR>A my own<Esc>")
    texts.keys("G?^━━<CR><CR>")
    texts.wait_line("So be it.")
    assert prompt(api, 1).endswith(
        "Which DB?: 1. Postgres\n  Note: my own\nWho may order?: 2. Members"
    )


def test_more_options_than_anybody_else_allows(texts: Editor, api: ScriptedAPI) -> None:
    labels = [f"Option {n}" for n in range(1, 31)]
    api.add(say(fenced(choice("Which?", *labels))), say("So be it."))
    start(texts)
    wait_section(texts, "Question")
    texts.keys("gg/^Option 17<CR><CR><CR>")
    texts.wait_line("So be it.")
    assert prompt(api, 1).endswith("17")


def test_own_words_are_the_message(texts: Editor, api: ScriptedAPI) -> None:
    api.add(say(fenced(choice())), say("So be it."))
    start(texts)
    wait_section(texts, "Question")
    texts.keys("gg/Something else<CR>A  Redis, as typed <Esc><CR>")
    texts.wait_line("So be it.")
    assert prompt(api, 1).endswith("Redis, as typed")


@pytest.mark.parametrize(
    "text",
    [
        f"````\n{fenced(choice())}\n````",
        f"```python\n{json.dumps(choice())}\n```",
        "> " + json.dumps(choice()),
        f"`{json.dumps(choice())}`",
        '```json\n{"type": "something", "question": 1}\n```',
        'fn main() { println!("{}", 1); }',
    ],
    ids=["longer fence", "other language", "quote", "inline code", "other json", "code"],
)
def test_an_example_is_no_question(texts: Editor, api: ScriptedAPI, text: str) -> None:
    """It is shown as it is."""
    api.add(say(f"Like this:\n\n{text}\n\nSee?"))
    start(texts)
    texts.wait_line("See?")
    wait_idle(texts)
    assert said(texts) == f"Like this:\n\n{text}\n\nSee?"


def test_a_choice_in_a_tools_result_is_none(texts: Editor, api: ScriptedAPI) -> None:
    (texts.sandbox.project / "f.json").write_text(fenced(choice()))
    read = ToolUse("Read", {"file_path": str(texts.sandbox.project / "f.json")}, "t1")
    api.add(say(read), say("Read."))
    start(texts, "look at " + json.dumps(choice("Mine?")).replace("<", ""))
    texts.wait_line("Read.")
    wait_idle(texts)
    assert "━━ Question" not in texts.text()


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_nothing_peeks_through_while_it_streams(texts: Editor, api: ScriptedAPI, size: int) -> None:
    """However the deltas are cut, also inside an escape."""
    text = "Before.\n\n" + fenced(choice("é}```?", 'a}b"c', "\u2028🎉")).replace("é", "\\u00e9")
    text += "\n\nAfter."
    chunks = [text[at : at + size] for at in range(0, len(text), size)]
    api.add(Message([Text(chunks=chunks)], pace=0.002), say("So be it."))
    start(texts)
    wait_section(texts, "Question")
    assert not texts.was_shown("{")
    assert 'a}b"c' in texts.text()
    assert "é}```?" in texts.text()
    assert texts.text().index("Before.") < texts.text().index("After.")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('```json\n{"type": "user_choice", "question": "Q?", "options": [{"id"', ""),
        ('```json\n{"type": "user_choice", "question": "Q?", "options": []}\n```', "option"),
    ],
    ids=["cut off", "no options"],
)
def test_a_broken_block_stays_with_a_notice(
    texts: Editor, api: ScriptedAPI, text: str, why: str
) -> None:
    api.add(say(f"See.\n\n{text}"))
    start(texts)
    texts.wait_line("⚠ ")
    wait_idle(texts)
    assert text in texts.text()
    notice = next(line for line in texts.lines() if line.startswith("⚠ "))
    assert why in notice


def test_lenient_json_is_understood(texts: Editor, api: ScriptedAPI) -> None:
    """Models write trailing commas and comments."""
    text = """```json
{"type": "user_choice", // one question
 "question": "Q?", "choices": [{"id": "1", "label": "A"}, {"id": "2", "label": "B",},],}
```"""
    api.add(say(text), say("So be it."))
    start(texts)
    wait_section(texts, "Question")
    texts.keys("gg/^B<CR><CR><CR>")
    texts.wait_line("So be it.")
    assert prompt(api, 1).endswith("2")


def test_the_same_block_twice_is_asked_once(texts: Editor, api: ScriptedAPI) -> None:
    """And different ones each."""
    text = f"{fenced(choice())}\n\n{fenced(choice())}\n\n{fenced(choice('Which cache?', 'X', 'Y'))}"
    api.add(say(text), say("One."), say("Two."))
    start(texts)
    wait_section(texts, "Question")
    texts.wait_screen("1 more waiting")
    texts.keys("gg/^SQLite<CR><CR><CR>")
    texts.wait(lambda: "Which cache?" in texts.text(), "the other question")
    wait_section(texts, "Question")
    texts.keys("gg/^Y<CR><CR><CR>")
    texts.wait_line("Two.")
    sent = [prompt(api, 1), prompt(api, 2)]
    assert [text[-1] for text in sent] == ["2", "2"]


@pytest.mark.fresh("chat")
def test_an_open_form_survives_a_restart(texts: Editor, api: ScriptedAPI) -> None:
    """With every edit, which can be undone, and its answer goes out as if nothing had happened."""
    api.add(say(f"Now.\n\n{fenced(choice('Which DB?', 'Postgres', 'SQLite', 'MySQL'))}"))
    start(texts)
    wait_section(texts, "Question")
    texts.keys("gg/^SQLite<CR>dd")
    texts.wait_screen("keep one of 2")
    path = texts.lua("return vim.api.nvim_buf_get_name(0)")
    texts.restart(path)
    texts.resize(100, 40)
    asked = "local s = require('winnow.registry').current().section; return s and not s.from_file"
    texts.wait(lambda: texts.lua(asked), "the host, which asks it again")
    wait_section(texts, "Question")
    before = texts.lines()
    assert not any(line.startswith("SQLite") for line in before)
    texts.keys("u")
    assert any(line.startswith("SQLite") for line in texts.lines())
    texts.keys("<C-R>")
    assert texts.lines() == before
    api.add(say("So be it."))
    texts.keys("gg/^MySQL<CR><CR><CR>")
    texts.wait_line("So be it.")
    assert prompt(api, -1).endswith("3")


def test_an_old_form_is_asked_again_only_on_demand(
    open_editor: Open, api: ScriptedAPI, tmp_path: Path
) -> None:
    env = api.env(tmp_path / "claude")
    editor = open_editor(agent="claude", questions="text", form_hours=0, env=env)
    api.add(say(fenced(choice())))
    start(editor)
    wait_section(editor, "Question")
    path = editor.lua("return vim.api.nvim_buf_get_name(0)")
    editor.restart(path)
    editor.wait_line("✗ No longer open")
    editor.keys("gg/No longer open<CR><CR>")
    wait_section(editor, "Question")


def test_saying_something_else_closes_the_form(texts: Editor, api: ScriptedAPI) -> None:
    """It can be asked again."""
    api.add(say(fenced(choice())), say("So be it."))
    start(texts)
    wait_section(texts, "Question")
    texts.keys("G")
    send(texts, "never mind")
    texts.wait_line("So be it.")
    assert prompt(api, 1).endswith("never mind")
    assert "✗ Cancelled" in texts.text()


def test_a_form_that_can_not_be_shown_is_a_list(texts: Editor, api: ScriptedAPI) -> None:
    """A bare number answers it."""
    texts.keys(":Winnow<CR>")
    wait_idle(texts)
    texts.lua("require('winnow.section').open = function() error('no') end")
    api.add(say(fenced(choice())), say("So be it."))
    send(texts, "Hi")
    texts.wait_line("2. SQLite")
    texts.lua("vim.cmd('messages clear')")
    statusline = "return require('winnow').statusline()"
    texts.wait(lambda: texts.lua(statusline).startswith("waiting 1"), "the state")
    texts.keys("G")
    send(texts, "2")
    texts.wait_line("So be it.")
    wait_idle(texts)
    assert prompt(api, 1).endswith("2")


@pytest.mark.fresh("chat")
def test_the_contract_reaches_the_model(texts: Editor, api: ScriptedAPI) -> None:
    """In the system prompt and as a skill, without the tools that it replaces."""
    api.add(say("Hello."))
    start(texts)
    texts.wait_line("Hello.")
    body = api.requests[0]
    assert "winnow:choices" in json.dumps(body["system"])
    tools = [tool["name"] for tool in body["tools"]]
    assert "AskUserQuestion" not in tools
    assert "mcp__winnow__question" not in tools
    assert "winnow:choices" in json.dumps(body["messages"])
    api.add(say(ToolUse("Skill", {"skill": "winnow:choices"}, "t1")), say("Read."))
    wait_idle(texts)
    send(texts, "read it")
    texts.wait_line("Read.")
    assert "user_choice_group" in json.dumps(api.requests[-1])


def test_by_default_text_is_text(claude: Editor, api: ScriptedAPI) -> None:
    api.add(say(fenced(choice())))
    start(claude)
    wait_idle(claude)
    claude.wait(lambda: "user_choice" in claude.text(), "the text")
    assert "winnow:choices" not in json.dumps(api.requests[0]["system"])


@pytest.mark.soak
@pytest.mark.fresh("chat")
def test_both_ways_at_once(claude: Editor, api: ScriptedAPI) -> None:
    """As one chat's frontmatter says."""
    editor = claude
    editor.keys(":Winnow<CR>")
    wait_idle(editor)
    path = editor.lua("return vim.api.nvim_buf_get_name(0)")
    editor.keys("gg/^mode:<CR>oquestions: both<Esc>:w<CR>")
    editor.restart(path)
    editor.keys("G")
    tool = question("Which store?", "Postgres", "SQLite", header="Store")
    api.add(say("One.", ask("t1", tool)), say(f"Two.\n\n{fenced(choice())}"), say("So be it."))
    send(editor, "Hi")
    wait_section(editor, "Question: Store")
    editor.keys("gg/^SQLite<CR><CR><CR>")
    editor.wait_line("Which DB?")
    wait_section(editor, "Question")
    editor.keys("gg/^Postgres<CR><CR><CR>")
    editor.wait_line("So be it.")
    assert prompt(api, 2).endswith("1")


# --- the question tool ------------------------------------------------------------------------


def asks(id: str, *questions: dict[str, Any]) -> ToolUse:
    return ToolUse("mcp__winnow__question", {"questions": list(questions)}, id)


DB = {
    "id": "db",
    "label": "DB",
    "prompt": "Which database?",
    "options": [
        {"value": "pg16", "label": "PostgreSQL", "description": "a server"},
        {"value": 3, "label": "SQLite"},
    ],
}
FEATURES = {
    "id": "features",
    "prompt": "Which features?",
    "options": [{"value": v, "label": v.upper()} for v in ("auth", "log", "search")],
    "multiSelect": True,
}


def result(api: ScriptedAPI, id: str = "t1") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(api.tool_result(id))
    return found


def test_one_question_decided_is_done(claude: Editor, api: ScriptedAPI) -> None:
    """With the value as it was given."""
    api.add(say("Now.", asks("t1", DB)), say("So be it."))
    start(claude)
    wait_section(claude, "Question: DB")
    assert "✎ Something else:" in claude.text()
    claude.keys("gg/^SQLite<CR><CR><CR>")
    claude.wait_line("So be it.")
    given = {"id": "db", "value": 3, "label": "SQLite", "wasCustom": False, "index": 2}
    assert result(api) == {"questions": [DB], "answers": [given], "cancelled": False}
    lines = [line for line in claude.lines() if line]
    at = lines.index("▸ question · 1: DB ✓")
    assert lines[at + 1] == "│ ✓ DB: SQLite"


@pytest.mark.soak
@pytest.mark.fresh("session")
def test_who_comes_later_is_asked(claude: Editor, api: ScriptedAPI) -> None:
    """Neovim ran without a screen when the chat was opened; and may do so again."""
    api.add(say("Now.", asks("t1", DB)), say("Done t1."), say(asks("t2", DB)), say("Done t2."))
    api.add(say(asks("t3", DB)), say("Done t3."))
    claude.request("nvim_ui_detach")
    start(claude)
    claude.wait_line("Done t1.")
    assert "Nobody can answer here" in result(api)["error"]
    claude.request("nvim_ui_attach", 80, 24, {"ext_linegrid": True, "rgb": True})
    send(claude, "Again")
    wait_section(claude, "Question: DB")
    claude.keys("gg/^SQLite<CR><CR><CR>")
    claude.wait_line("Done t2.")
    assert result(api, "t2")["answers"][0]["value"] == 3
    claude.keys("G")
    wait_idle(claude)
    claude.request("nvim_ui_detach")
    send(claude, "Again")
    claude.wait_line("Done t3.")
    assert "Nobody can answer here" in result(api, "t3")["error"]


@pytest.mark.fresh("session")
def test_a_question_waits_while_neovim_is_suspended(claude: Editor, api: ScriptedAPI) -> None:
    """CTRL-Z takes the screen away as well, but not for good."""
    api.add(say("Now.", asks("t1", DB)), say("So be it."))
    claude.keys(":Winnow<CR>")
    wait_idle(claude)
    claude.command("doautocmd VimSuspend")
    claude.request("nvim_ui_detach")
    send(claude, "Hi")
    claude.wait_line("━━ Question: DB")
    claude.request("nvim_ui_attach", 80, 24, {"ext_linegrid": True, "rgb": True})
    wait_section(claude, "Question: DB")
    claude.keys("gg/^SQLite<CR><CR><CR>")
    claude.wait_line("So be it.")
    assert result(api)["answers"][0]["value"] == 3


def test_several_questions_are_reviewed(claude: Editor, api: ScriptedAPI) -> None:
    """Own text is marked; several picks are several answers; labels default to Q2."""
    claude.resize(100, 40)
    api.add(say(asks("t1", DB, FEATURES)), say("So be it."))
    start(claude)
    wait_section(claude, "Question 1/2: DB")
    assert "━━ Question 2/2: Q2 · keep any" in claude.text()
    claude.keys("gg/Something else<CR>A Redis<Esc>gg/^LOG<CR>ddG?^━━<CR><CR>")
    claude.wait_line("So be it.")
    answers = result(api)["answers"]
    assert [(a["id"], a["value"], a["wasCustom"], a.get("index")) for a in answers] == [
        ("db", "Redis", True, None),
        ("features", "auth", False, 1),
        ("features", "search", False, 3),
    ]
    assert "│ ✓ DB: ✎ “Redis”" in claude.lines()


def test_blank_text_is_no_answer(claude: Editor, api: ScriptedAPI) -> None:
    """Esc goes back to the options."""
    api.add(say(asks("t1", DB)), say("So be it."))
    start(claude)
    wait_section(claude, "Question: DB")
    claude.keys("gg/Something else<CR>A   <Esc><CR>")
    claude.wait_screen("2 left")
    claude.keys("gg/^SQLite<CR><CR><CR>")
    claude.wait_line("So be it.")
    assert result(api)["answers"][0]["value"] == 3


def test_a_long_result_reaches_the_model(claude: Editor, api: ScriptedAPI) -> None:
    """Else Claude Code puts it into a file and shows only how it begins."""
    long = {**DB, "options": [{"value": n, "label": f"{n}{'x' * 800}"} for n in range(200)]}
    api.add(say(asks("t1", long)), say("So be it."))
    start(claude)
    wait_section(claude, "Question: DB")
    claude.keys("gg/77x<CR><CR><CR>")
    claude.wait_line("So be it.")
    assert result(api)["answers"][0]["value"] == 77


def test_cancel_is_a_result(claude: Editor, api: ScriptedAPI) -> None:
    api.add(say(asks("t1", DB)), say("So be it."))
    start(claude)
    wait_section(claude, "Question: DB")
    claude.keys("<Esc><Esc>")
    claude.wait_line("So be it.")
    assert result(api)["cancelled"] is True
    assert result(api)["answers"] == []
    assert "│ ✗ Cancelled" in claude.lines()


@pytest.mark.parametrize(
    "questions",
    [[], [{"id": "a", "prompt": "A?", "options": []}] * 2, [{"prompt": "A?", "options": "b"}]],
    ids=["none", "ids", "options"],
)
def test_what_can_not_be_asked_is_a_result(
    claude: Editor, api: ScriptedAPI, questions: list[dict[str, Any]]
) -> None:
    """From which the model can do better."""
    api.add(say(asks("t1", *questions)), say("So be it."))
    start(claude)
    claude.wait_line("So be it.")
    assert result(api)["error"]
    assert result(api)["cancelled"] is True


@pytest.mark.fresh("chat")
def test_a_subagent_asks(claude: Editor, api: ScriptedAPI) -> None:
    """Its section says who it is, and the answer goes to it."""
    call = {"description": "find tests", "prompt": "go", "subagent_type": "general-purpose"}
    api.add(say(ToolUse("Agent", call, "a1")), *[say(asks("t1", DB))])
    api.add(*[say("Done.") for _ in range(4)])
    start(claude)
    wait_section(claude, "Question: DB")
    claude.keys("gg/^SQLite<CR><CR><CR>")
    assert result(api)["answers"][0]["value"] == 3


@pytest.mark.fresh("chat")
def test_it_asks_in_every_mode(claude: Editor, api: ScriptedAPI) -> None:
    """Where nothing is asked for permission, too."""
    claude.configure(mode="bypassPermissions")
    api.add(say(asks("t1", DB)), say("So be it."))
    start(claude)
    wait_section(claude, "Question: DB")
    claude.keys("gg/^SQLite<CR><CR><CR>")
    claude.wait_line("So be it.")
    assert result(api)["answers"][0]["value"] == 3


@pytest.mark.parametrize(
    ("sent", "label", "value"),
    first(
        2,
        [
            ({"id": "q", "prompt": "Q?", "options": ["x", "y"]}, "y", "y"),
            ({"id": "q", "prompt": "Q?", "options": [{"label": "x"}, {"label": "y"}]}, "y", "y"),
            ({"id": "q", "prompt": "Q?", "options": [{"value": "x"}, {"value": 2}]}, "2", 2),
            (
                {"prompt": "Q?", "options": [{"value": 1, "label": 6}, {"value": 2, "label": 7}]},
                "7",
                2,
            ),
            ({"id": 5, "prompt": "Q?", "options": ["x", "y"], "multiSelect": "false"}, "y", "y"),
            ({"id": None, "label": 4, "options": [1, 2], "multiSelect": None}, "2", 2),
        ],
    ),
    ids=["strings", "no value", "no label", "no id", "number", "no prompt"],
)
def test_what_is_answered_arrives(
    claude: Editor, api: ScriptedAPI, sent: dict[str, Any], label: str, value: object
) -> None:
    """However it was asked: what the user has answered is never refused as wrong."""
    api.add(say(asks("t1", sent)), say("So be it."))
    start(claude)
    wait_section(claude, "Question")
    claude.keys(f"gg/^{label}<CR><CR><CR>")
    claude.wait_line("So be it.")
    (entry,) = result(api)["answers"]
    assert entry["value"] == value
