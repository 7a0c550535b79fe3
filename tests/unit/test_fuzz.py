"""Whatever comes from outside: no reader fails, and none finds what is not there."""

from __future__ import annotations

import json
import random
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from winnow.adapters.claude import session_file
from winnow.adapters.store import ledger, messages, sections
from winnow.adapters.store.migrations import MIGRATIONS
from winnow.core import listing, sessions, todo
from winnow.core.ledger.ledger import Decision
from winnow.core.listing import Edits, Row
from winnow.core.proposal.proposal import Changed, Kept
from winnow.core.review import comments
from winnow.core.run.query import TOKEN, parse_human_query
from winnow.core.section.answer import Decided, decide
from winnow.core.section.form import render
from winnow.core.section.reading import parse
from winnow.core.text import grammar, secrets
from winnow.core.text.text import MARKER, marker
from winnow.core.todo import Item
from winnow.core.transcript import history, progress, tools
from winnow.core.transcript.history import Past
from winnow.ports import Message, StoredSection

from tests.unit.forms import BASH
from tests.unit.test_section_edits import Edit, apply, assert_shown, edits

ROOT = Path(__file__).parents[2]
ANY = st.text(st.characters(codec=None), max_size=20)  # half surrogates, too
SCRAPS = st.sampled_from(
    ["---", "\n", "cwd: /x", "mode:", "## You", "⟦", "ab=1=1⟧", "```", " ", "x"]
)
TEXT = st.lists(SCRAPS | ANY, max_size=12).map("".join)
LINES = TEXT.map(lambda text: text.split("\n"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY, inner, max_size=3),
    max_leaves=8,
)


# --- what the user decides ------------------------------------------------------------------------


@given(st.lists(edits(), max_size=6))
def test_nothing_is_granted_but_what_is_left(edited: list[Edit]) -> None:
    """With its line still there, that of Deny touched, and the command as it stands."""
    lines = apply(edited, render(BASH))
    reading = parse(BASH, lines)
    (left,) = reading.questions
    decided = decide(BASH, 1, left, frozenset())
    assert_shown(BASH, lines, reading)
    if isinstance(decided, Decided) and not BASH.refuses(decided.kept):
        assert len(decided.kept) == 1
        match left.change:
            case Kept(input=input):
                assert "rm -rf build" in "\n".join(lines)
                assert input == {"command": "rm -rf build"}
            case Changed(input={"command": str(command)}):
                assert all(part in "\n".join(lines) for part in command.split())
            case other:
                raise AssertionError(other)


ROWS = [Row(f"Thing {n}", f"k{n}", editable=n % 2 == 0) for n in range(4)]
LIST = listing.render(ROWS)
FOREIGN = f"Thing 9{marker('other', 0, grammar.LINE)}"


@given(st.lists(st.sampled_from([*LIST, FOREIGN]) | ANY, max_size=8), st.data())
def test_only_a_line_that_is_gone_is_deleted(now: list[str], data: st.DataObject) -> None:
    """And only one that may be changed is; nothing comes from another list."""
    if data.draw(st.booleans()) and now:
        row = data.draw(st.integers(0, len(now) - 1))
        now[row] = data.draw(ANY) + now[row]
    read = listing.read(ROWS, LIST, now)
    if isinstance(read, Edits):
        there = {found[1].lower() for line in now if (found := MARKER.search(line))}
        assert set(read.gone) == {row.key for row in ROWS} - there
        assert set(read.changed) <= {row.key for row in ROWS if row.editable} & there
        assert set(read.order) == there
        assert FOREIGN not in now


ITEMS = tuple(Item(str(n), f"do {n}", "pending") for n in range(4))


@given(st.data())
def test_a_todo_list_is_what_its_lines_say(data: st.DataObject) -> None:
    before = listing.render(todo.rows(ITEMS))
    new = st.text("ab", min_size=1, max_size=2)
    now = data.draw(st.lists(st.sampled_from(before) | new, max_size=8, unique=True))
    read = listing.read(todo.rows(ITEMS), before, now)
    if isinstance(read, Edits):
        made = todo.edited(ITEMS, read, 1)
        told = [line for line in now if line.strip() and line not in before[len(ITEMS) :]]
        assert sorted(item.text for item in made) == sorted(
            ITEMS[before.index(line)].text if line in before else line.strip() for line in told
        )
        assert bool(todo.changes(ITEMS, made)) == (made != ITEMS)


@given(LINES, st.sampled_from(["```", "~~~~", ">"]))
def test_nobody_is_asked_what_is_only_shown(lines: list[str], mark: str) -> None:
    """In a fence, or in quotes."""
    shown = [f"{line.replace('`', '').replace('~', '')} [{TOKEN}: Which?]" for line in lines]
    text = [f"> {line}" for line in shown] if mark == ">" else [mark, *shown, mark]
    assert parse_human_query("\n".join(["So:", *text])).questions == ()


# --- what is read from disk -----------------------------------------------------------------------


@given(TEXT, st.dictionaries(st.sampled_from(sorted(grammar.KEYS)), st.text("a:~/ -", max_size=9)))
def test_any_head_of_a_chat_is_read(body: str, values: dict[str, str]) -> None:
    """Of a frontmatter, each value; of anything else, none that we do not know."""
    assert set(sessions.head(body).values) <= set(grammar.KEYS)
    head = "\n".join(["---", *(f"{key}: {value}" for key, value in values.items()), "---", body])
    read = sessions.head(head).values
    assert read == {key: value.strip() for key, value in values.items()}


@given(st.integers(0, 8), JSON.map(json.dumps) | ANY)
def test_a_damaged_row_costs_only_itself(column: int, text: str) -> None:
    """Of the store, whatever stands in its columns."""
    for read in (messages._message, ledger._decision):
        assert read(text) is None or read(text)
    row: list[Any] = ["1", "/chat.md", "ab", "Ask", "{}", "open", "[]", 1.5, "t1"]
    assert sections._section(tuple(row)) is not None
    row[column] = text
    section = sections._section(tuple(row))
    assert section is None or section.marker == row[2]


@pytest.fixture(scope="module")
def database() -> sqlite3.Connection:
    db = sqlite3.connect(":memory:")
    for migration in MIGRATIONS:
        for statement in migration:
            db.execute(statement)
    return db


@given(st.lists(ANY, min_size=7, max_size=7), st.dictionaries(ANY, JSON, max_size=3))
def test_what_is_stored_comes_back(
    database: sqlite3.Connection, words: list[str], input: dict[str, Any]
) -> None:
    """Byte for byte, half surrogates too."""
    input = json.loads(json.dumps(input).replace("NaN", "0").replace("Infinity", "0"))
    id, chat = "1", "/caf\udce9.md"  # as no UTF-8 is read
    section = StoredSection(id, chat, "ab", "Ask", input, "open", words[:2], 1.5, "t1")
    message = Message(id, chat, words[0], denial=words[1])
    decision = Decision(words[2], (words[3],), (words[3],), own=(words[4],), chat=chat)
    database.execute("DELETE FROM sections")
    database.execute("DELETE FROM messages")
    database.execute("DELETE FROM decisions")
    sections.save(database, section)
    messages.save(database, message)
    ledger.save(database, decision)
    (found,) = sections.of_chat(database, chat)
    assert found.input == input
    assert messages.of_chat(database, chat) == [message]
    assert ledger.decisions(database, decision.key) == [decision]


# --- what an agent and its programs say -----------------------------------------------------------


@given(JSON, TEXT)
def test_any_message_is_told(value: Any, text: str) -> None:
    """A session's file, its messages, and what tools have written."""
    line = json.dumps({"type": "user", "uuid": "u", "message": {"content": value}}).encode()
    session_file.told([line, text.encode(errors="replace"), json.dumps(value).encode()])
    for content in (value, text, [{"type": "text", "text": value}, {"type": "tool_use"}]):
        list(history.entries([Past("u", "user", content), Past("v", "assistant", content)]))
        assert not any("\n" in one for one in progress.lines({"message": {"content": content}}))
    for name in ("Bash", "Read", "Edit", "Grep", "Glob", "WebFetch", "Agent", "ReportFindings"):
        tools.came(name, text, value)
        tools.about(name, {"command": value, "file_path": value, "pattern": text})


@given(TEXT)
def test_a_text_without_its_secrets_has_none(text: str) -> None:
    """It is the same when it is looked at again; and comments are found in any text."""
    once = secrets.hidden(text + " token=abcdefgh1")
    assert secrets.hidden(once) == once
    assert "abcdefgh1" not in once
    list(comments.anchored(text.split("\n"), {"x"}))


# --- what Neovim reads ----------------------------------------------------------------------------

PATTERNS = [" ", "\t", ".", ":", ":1", "#L1", "@", "@ ", " @", '@"', '"', "`", "a", "a:", "(", "- "]
OURS = ["1▎", "12▎ ", "⟦", "⟧", "⟦ab=1=1⟧", "=1=1⟧", "⟦a="]
LUA = """
vim.opt.runtimepath:prepend(arg[1])
local given = vim.json.decode(io.read('*a'))
local frontmatter, queued = require('winnow.chat.frontmatter'), require('winnow.chat.queued')
local mention, marker = require('winnow.context.mention'), require('winnow.section.marker')
local trim, bar = require('winnow.trim'), require('winnow.grammar').QUEUED
local readers = {
  frontmatter = function(t)
    frontmatter.parse({ '---', 'cwd: ' .. t, 'mode:x' .. t .. 'x', '---' })
  end,
  heal = function(t)
    local line = '1' .. bar .. t .. '2' .. bar .. t
    queued.heal({ row = 1, old = { 'a' }, new = { line } }, { '1' .. bar .. 'a', line }, {})
  end,
  mention = function(t) mention.all({ t, '@' .. t .. 'a' }) end,
  marker = function(t) marker.of(t) marker.told(t) end,
  trim = function(t) trim.both(t) trim.both('x' .. t .. 'x') end,
}
local function seconds(read, text)
  local begun = os.clock()
  read(text)
  return os.clock() - begun
end
local slow, heads, kept = {}, {}, {}
for name, read in pairs(readers) do
  for _, piece in ipairs(given.patterns) do
    local few = seconds(read, piece:rep(math.floor(2000 / #piece)))
    local many = seconds(read, piece:rep(math.floor(16000 / #piece)))
    -- What is quadratic takes 64 times as long, and a tenth of a second at the least.
    if many > 0.05 and many > 30 * few then table.insert(slow, name .. ' ' .. piece) end
  end
end
for i, text in ipairs(given.texts) do
  local lines = vim.split(text, '\\n', { plain = true })
  local values = frontmatter.parse(lines)
  heads[i] = next(values) and values or vim.empty_dict()
  local all, number = queued.add({ '' }, text, {})
  local message = queued.parse(all)[1]
  local same = message and message.number == number and table.concat(message.lines, '\\n') == text
  kept[i] = not text:find('%S') or same or false
  mention.all(lines)
end
print(vim.json.encode({ slow = slow, heads = heads, kept = kept }))
"""


def test_what_neovim_reads(tmp_path: Path) -> None:
    """Time grows with length, a queue gives back its messages, and a head reads as in Python."""
    chance = random.Random(7)
    pieces = [
        "---",
        "\n",
        "\n",
        "cwd: /x",
        "mode:plan ",
        "winnow: 1",
        "## You",
        "1▎",
        "x",
        " ",
        "é",
    ]
    texts = ["".join(chance.choices(pieces, k=chance.randrange(12))) for _ in range(300)]
    texts += [f"---\n{text}\n---\n" for text in texts]
    script = tmp_path / "script.lua"
    script.write_text(LUA)
    nvim = Path(sys.executable).with_name("nvim")
    ran = subprocess.run(
        [nvim if nvim.exists() else "nvim", "--clean", "-l", script, ROOT],
        input=json.dumps({"patterns": [*PATTERNS, *OURS], "texts": texts}),
        capture_output=True,
        text=True,
        check=True,
    )
    told = msgspec.json.decode(ran.stderr or ran.stdout)
    assert told["slow"] == []
    assert all(told["kept"])
    assert told["heads"] == [sessions.head(text).values for text in texts]
