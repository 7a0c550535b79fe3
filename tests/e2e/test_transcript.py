"""A transcript that needs no buffer reads as a buffer does."""

from __future__ import annotations

import random
from collections.abc import Callable

import msgspec
import pytest
from winnow import protocol as p
from winnow.app.page import Page
from winnow.app.turn import Turn
from winnow.core.agent import (
    AgentEvent,
    Notice,
    Pause,
    Text,
    Thinking,
    ToolFinished,
    ToolStarted,
    TurnEnded,
)
from winnow.core.folder import UNKNOWN, Folder
from winnow.core.question import Option, Question
from winnow.core.section.answer import Decided
from winnow.core.section.form import Form
from winnow.core.section.record import answered
from winnow.core.transcript.entries import (
    Called,
    Ended,
    Entry,
    Held,
    Noted,
    Paused,
    Recorded,
    Returned,
    Said,
    Thought,
    Told,
)
from winnow.core.transcript.transcript import Transcript

from tests.e2e.editor import Editor
from tests.e2e.steps import wait_idle

PIECES = ["a", "b c", " ", "\n", "\n\n", "  \n", "<", "## You", "▸ x", "│ row", "\t", "é"]
TURN: list[AgentEvent] = [
    Thinking("Let me "),
    Thinking("see.\nYes."),
    Text("I look ⟦a"),
    Text("b=1=1⟧\n\n"),
    ToolStarted("t1", "Bash", {"command": "ls"}),
    ToolStarted("t2", "Read", {"file_path": "/a"}),
    ToolFinished("t1", "a\nb\n"),
    ToolFinished("t2", "no such file", failed=True),
    Pause(),
    Text("\n▸ Done"),
    ToolStarted("t3", "Bash", {"command": "sleep 9"}),
    Notice("Mind."),
    TurnEnded(stopped=True),
]
TEXT = """\
✻ Thinking
│ Let me see.
│ Yes.

I look ‹ab=1=1⟧

▸ Bash ls ✓
│ a
│ b
▸ Read /a ✗
│ no such file

 ▸ Done

▸ Bash sleep 9 ✗

⚠ Mind.

■ Stopped."""
OUTPUTS = ["", "out", "two\nlines"]
OTHERS: list[Entry] = [
    Paused(),
    Recorded(["✓ Selected: A", "~~B~~"]),
    Noted("Mind."),
    Told("And now?"),
    Ended(),
    Ended(stopped=True),
]


class Effects:
    """An editor that keeps what it is given."""

    def __init__(self) -> None:
        self.batch: list[p.Effect] = []

    def apply(self, *effects: p.Effect) -> None:
        self.batch += effects


class Chance:
    """Something that may happen, in whatever order, but that calls have one life each."""

    def __init__(self) -> None:
        self._chance = random.Random(7)
        self._count = 0
        self._running: list[Called] = []
        self._held: list[Called] = []

    def some(self) -> list[Entry]:
        """A few entries."""
        return [self._next() for _ in range(self._chance.randrange(1, 12))]

    def _next(self) -> Entry:
        kind = self._chance.randrange(16)
        if kind < 9:
            piece = self._chance.choice(PIECES)
            return Said(piece) if kind < 6 else Thought(piece)
        if kind < 13:
            return self._call() if kind < 11 else self._return()
        return self._hold() if kind < 14 else self._chance.choice(OTHERS)

    def _call(self) -> Entry:
        if self._held and self._chance.random() < 0.5:
            self._running.append(self._held.pop())
        else:
            self._count += 1
            made = Called(f"t{self._count}", "Bash", {"command": f"run {self._count % 3}"})
            self._running.append(made)
        return self._running[-1]

    def _hold(self) -> Entry:
        if not self._running:
            return Held()
        self._held.append(self._running.pop(self._chance.randrange(len(self._running))))
        return Held(self._held[-1].id)

    def _return(self) -> Entry:
        known = [self._running, self._held][self._chance.random() < 0.3]
        call = known.pop(0).id if known else "unknown"
        return Returned(call, self._chance.choice(OUTPUTS), self._chance.random() < 0.5)


def shown(editor: Editor) -> str:
    """What stands in the chat's buffer, above the draft."""
    return editor.text().partition("---\n\n")[2].rpartition("\n\n## You\n\na draft")[0]


def view(editor: Editor, command: str, folder: Folder = UNKNOWN) -> Callable[..., None]:
    """Open a chat; returns what shows entries in it."""
    editor.keys(f":{command}<CR>ia draft<Esc>")
    wait_idle(editor)
    effects = Effects()
    page = Page(editor.lua("return vim.api.nvim_get_current_buf()"), effects, folder=folder)

    def show(*entries: Entry) -> None:
        page.append(*entries)
        batch, effects.batch = msgspec.to_builtins(effects.batch), []
        editor.lua("require('winnow.dispatch').apply(...)", batch)

    return show


@pytest.mark.soak
@pytest.mark.timeout(300)
def test_a_transcript_reads_as_the_buffer(editor: Editor) -> None:
    """Whatever happened: what the page has Neovim write is what the transcript says."""
    show, kept, chance = view(editor, "Winnow"), Transcript(), Chance()
    for _ in range(300):
        entries = chance.some()
        kept.append(*entries)
        show(*entries)
        assert not kept.text or shown(editor) == kept.text, entries


def test_a_turn_reads_the_same_wherever_it_is_shown(editor: Editor) -> None:
    """As it happens, and in another buffer that is opened later."""
    show, kept, turn = view(editor, "Winnow"), Transcript(), Turn()
    for event in TURN:
        entries = list(turn.hear(event))
        kept.append(*entries)
        show(*entries)
    assert shown(editor) == kept.text == TEXT
    later = msgspec.json.decode(msgspec.json.encode(list(kept)), type=list[Entry])
    view(editor, "Winnow new")(*Transcript(later))
    assert shown(editor) == TEXT


@pytest.mark.parametrize("option", ["nofoldenable", "foldmethod=indent"])
def test_the_user_may_want_no_folds(editor: Editor, option: str) -> None:
    """What is written folds nothing then, switches nothing on, and fails on nothing."""
    show = view(editor, "Winnow")
    editor.command(f"setlocal {option}")
    show(Called("t1", "Bash", {"command": "make"}), Returned("t1", "one\ntwo"))
    editor.keys("Go<Esc>")
    folds = "return vim.wo.foldenable and vim.wo.foldmethod == 'manual'"
    assert not editor.lua(folds)
    editor.wait_screen("│ two")


LABELS = ("keep *this* `x`", "snake_case ~~old~~", "**two**", "~one", "```")
QUESTION = Question("Which **one**?", "A *b*", tuple(Option(label) for label in LABELS))
RECORD = answered(Form("ab", (QUESTION,)), (Decided(LABELS[0], "", (1,), (2, 3, 4, 5)),))


@pytest.mark.parametrize("background", ["dark", "light"])
def test_a_record_has_its_signs_hidden_and_no_others(editor: Editor, background: str) -> None:
    """What they stand for is seen; names and labels read as they were written."""
    editor.command(f"set background={background}")
    view(editor, "Winnow")(Said("Use **this** ~~thing~~"), Recorded(RECORD), Said("~~gone~~"))
    struck = ["snake_case ~~old~~", "‹*›*two**", "~one", "‹`›``"]
    rows = ["A *b* Which **one**?", "✓ Selected: keep *this* `x`", " · ".join(struck)]
    screen = editor.screen()
    assert [row for row in screen if row in rows] == rows
    assert "Use **this** ~~thing~~" in screen  # text, not a record
    assert "~~gone~~" in screen
    assert editor.style("A *b* Which")["bold"]
    for label in struck:
        assert editor.style(label)["strikethrough"], label
    assert not editor.style(" · ~one").get("strikethrough")
    assert not editor.style("Which **one**").get("bold")
    editor.command("set eventignore=all | setlocal conceallevel=0")
    assert [row for row in editor.screen() if row in RECORD] == RECORD
    editor.command("set eventignore= | setlocal conceallevel=2")
    editor.command("set background=dark")


FOLDERS = "packages/storefront/components/checkout"
FILE = "CheckoutSummary.test.tsx"


@pytest.mark.parametrize(
    ("cols", "shown"),
    [
        (120, f"▸ Read {FOLDERS}/{FILE} ✓ │ 2 lines"),
        (64, f"▸ Read packages/…/{FILE} ✓ │ 2 lines"),
        (47, f"▸ Read …/{FILE} ✓ │ 2"),
        (30, "▸ Read …Summary.test.tsx ✓ │ 2"),
    ],
)
@pytest.mark.fresh("session")
def test_a_long_path_keeps_its_file_s_name(editor: Editor, cols: int, shown: str) -> None:
    """On one row, where the output is folded; whichever way it is shown, `<CR>` opens it."""
    project, home = editor.sandbox.project, editor.sandbox.root / "home"
    files = [project / FOLDERS / FILE, project / "~" / "a.txt", home / "b.txt"]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("found\n")
    editor.resize(cols, 30)
    show = view(editor, "Winnow", Folder(str(project), str(home)))
    for number, file in enumerate(files):
        call = Called(f"t{number}", "Read", {"file_path": str(file)})
        show(call, Returned(f"t{number}", "one\ntwo"))
    make = "make " + "-j 8 " * 30
    show(Called("t9", "Bash", {"command": make}), Returned("t9", "one\ntwo"))
    wait_idle(editor)
    screen = editor.screen()
    assert shown in screen
    more = shown[shown.index(" │") :]  # how much is folded
    assert "▸ Read ./~/a.txt ✓ │ 2 lines" in screen  # in words, wherever they have room
    assert "▸ Read ~/b.txt ✓ │ 2 lines" in screen
    (command,) = [row for row in screen if row.startswith("▸ Bash make -j")]
    assert command.endswith(f"… ✓{more}")
    long = "▸ Agent do it ✓ general-purpose · opus · 1 call · 20 tokens · 3 s"
    fitted = editor.lua("return require('winnow.chat.tool').fitted(...)", long, 40)
    assert fitted == "▸ Agent do it ✓ general-purpose · opus …"
    editor.keys(":w<CR>:bdelete<CR>:Winnow<CR>")  # nobody knows more than the text
    editor.wait_line(f"▸ Read {FOLDERS}/{FILE} ✓")
    for number, file in enumerate(files, 1):
        editor.keys(f"gg{number}/^▸ Read<CR><CR>")
        assert editor.lua("return vim.api.nvim_buf_get_name(0)") == str(file)
        assert editor.lua("return vim.fn.winnr('$')") == 2
        editor.keys("<C-w>p")
