"""What is shown of a tool's arguments is what runs, and what is left alone runs as proposed."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from winnow.core.proposal.arguments import blocks, read
from winnow.core.proposal.blocks import Block, Gone, Malformed, Text
from winnow.core.text.text import MARKER
from winnow.core.text.visible import show


def shown(input: dict[str, Any], tool: str = "Tool") -> list[str]:
    return [line for block in blocks(tool, input) for line in block.lines]


def texts(tool: str, input: dict[str, Any]) -> list[Text]:
    return [Text(3, block.lines) for block in blocks(tool, input)]


def after(input: dict[str, Any], *lines: str) -> dict[str, Any] | Malformed:
    """What the arguments are when these lines stand in their block, from line 4 on."""
    return read("Tool", input, [Text(3, lines)])


def run(command: str, *lines: str) -> Any:
    """The command that runs when these lines stand in its block."""
    result = read("Bash", {"command": command}, [Text(3, lines)])
    return result.message if isinstance(result, Malformed) else result["command"]


# --- what is shown ---


def test_a_command_stands_as_it_is_and_its_description_elsewhere() -> None:
    input = {"command": "cd x\n\tls -l: 'é'\n", "description": "List x"}
    assert blocks("Bash", input) == (Block("sh", ("cd x", "\tls -l: 'é'", "")),)


def test_what_else_a_command_has_is_listed_below() -> None:
    input = {"timeout": 5000, "command": "ls", "description": 7, "run_in_background": True}
    assert blocks("Bash", input) == (
        Block("sh", ("ls",)),
        Block("arguments", ("timeout: 5000", "description: 7", "run_in_background: true")),
    )


def test_an_empty_command_is_one_empty_line() -> None:
    assert blocks("Bash", {"command": ""}) == (Block("sh", ("",)),)


def test_only_bash_runs_commands() -> None:
    input = {"command": "ls", "description": "x"}
    assert blocks("Run", input) == (Block("arguments", ("command: ls", "description: x")),)
    assert blocks("Bash", {"command": 7}) == (Block("arguments", ("command: 7",)),)


def test_no_arguments_are_no_block() -> None:
    input: dict[str, Any] = {}
    assert blocks("Tool", input) == blocks("Bash", input) == ()
    assert read("Tool", input, []) is input


@pytest.mark.parametrize(
    ("name", "value", "lines"),
    [
        ("path", "/a b: c", ["path: /a b: c"]),
        ("path", "", ["path: "]),
        ("path", " ", ["path:  "]),
        ("text", "a\n\n  b\n", ["text:", "  a", "", "    b", ""]),
        ("text", "\n", ["text:", "", ""]),
        ("esc", "\x1b[1m\r\xa0", ["esc: ␛[1m␍‹U+00A0›"]),
        ("n", 1, ["n: 1"]),
        ("n", "1", ["n: 1"]),
        ("n", 1.0, ["n: 1.0"]),
        ("n", None, ["n: null"]),
        ("n", 10**40, ["n: 1" + 40 * "0"]),
        ("list", [1, "é\n"], ['list: [1, "é\\n"]']),
        ("list", [], ["list: []"]),
        ("a.b-c_1", True, ["a.b-c_1: true"]),
        ("", True, ['"": true']),
        ("odd: name", "x", ['"odd: name": x']),
        ("1", "x", ['"1": x']),
        ("a\nb\x1b", "x", ['"a\\nb\\u001b": x']),
        ("naïve", "x", ['"naïve": x']),
        ("\u202eא", "x", ['"‹U+202E›א": x']),
        ("\ud800", "\udfff", ['"‹U+D800›": ‹U+DFFF›']),
        ("⟦ab=1=2⟧", 1, ['"‹ab=1=2⟧": 1']),
    ],
)
def test_an_argument_is_shown(name: str, value: Any, lines: list[str]) -> None:
    assert shown({name: value}) == lines


def test_json_of_more_than_80_characters_is_indented() -> None:
    assert shown({"x": [73 * "x"]}) == [f'x: ["{73 * "x"}"]']
    assert shown({"x": [74 * "x"]}) == ["x:", "  [", f'    "{74 * "x"}"', "  ]"]
    assert shown({"x": 10**80}) == ["x:", "  1" + 80 * "0"]


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [nested(1_000), nested(100_000), {"x": {1, 2}}, 10**5_000],
    ids=["deep", "deeper", "no JSON", "long"],
)
def test_what_cant_be_shown_stays_as_it_is(value: Any) -> None:
    input = {"a": "x", "value": value}
    lines = shown(input)
    assert len(lines) <= 3
    assert after(input, *lines) is input
    assert after(input, "a: y", *lines[1:]) == {"a": "y", "value": value}
    assert isinstance(after(input, *lines[:-1], lines[-1] + "x"), Malformed)


# --- what stands there ---


@pytest.mark.parametrize("command", ["", "a\n", "\r\n\x00\x7f", "ls\x1b[8m\u202e -l\xa0", "\ud800"])
def test_an_untouched_command_is_the_one_proposed(command: str) -> None:
    input = {"command": command, "description": "x", "timeout": 1}
    assert read("Bash", input, texts("Bash", input)) is input


def test_an_edited_command_is_what_stands_there() -> None:
    assert run("a\nb", "a", "c", "") == "a\nc\n"
    assert run("a\nb\n", "b") == "b"
    assert run("a", "  a: b") == "  a: b"


def test_what_an_edited_line_hides_stays_in_it() -> None:
    assert run("a\x1bb", "x␛b") == "x\x1bb"
    assert run("a\x1b\nb", "a␛", "c") == "a\x1b\nc"
    assert run("a", "a␛") == "a␛"


def test_what_an_edited_line_hides_is_never_guessed() -> None:
    message = "line 4: what “␛ and ␛!” hides can't be told any more: u brings it back"
    assert run("␛ and \x1b", "␛ and ␛!") == message


def test_a_line_moved_or_copied_keeps_what_it_hides() -> None:
    assert run("a\nb\x1b", "b␛", "a") == "b\x1b\na"
    assert run("a\nb\x1b", "a", "b␛", "", "b␛") == "a\nb\x1b\n\nb\x1b"
    assert run("a\x1b\n␛", "␛", "a␛", "x", "a␛").startswith("line 5: what “a␛” hides")
    assert run("a\x1b\n␛", "x", "a␛", "y", "␛") == "x\na\x1b\ny\n␛"


def test_an_empty_command_cant_run() -> None:
    message = "line 4: the command is empty: u brings it back, or delete Allow to deny"
    assert run("a\nb", "", "\t") == run("a\nb") == run("a", " ") == message


def test_the_order_is_that_of_the_input_for_a_command() -> None:
    input = {"a": 1, "command": "x", "b": 2, "description": "d", "c": 3}
    seen = [Text(3, ("y",)), Text(6, ("new: [1]", "c: 3", "a: 2"))]
    now = read("Bash", input, seen)
    assert json.dumps(now) == json.dumps(
        {"a": 2, "command": "y", "description": "d", "c": 3, "new": [1]}
    )


def test_the_order_is_that_of_the_lines_for_a_list() -> None:
    now = after({"a": 1, "b": "x"}, "b: y", "a: 1")
    assert isinstance(now, dict)
    assert list(now.items()) == [("b", "y"), ("a", 1)]


@pytest.mark.parametrize(
    ("value", "lines", "now"),
    [
        ("x", ["v: y: z "], "y: z "),
        ("x", ["v: 7"], "7"),
        ("x", ["v: "], ""),
        ("x", ["v:"], ""),
        ("x", ["v:", "  a", "", "   b"], "a\n\n b"),
        ("x", ["v: a", "  b"], "a\nb"),
        ("x", ["v: a", "", ""], "a"),
        ("x", ["v: a", "  b", ""], "a\nb\n"),
        ("a\nb", ["v: a"], "a"),
        ("a\nb", ["v:", "  a", "  ", "  b"], "a\n\nb"),
        ("a\nb\n", ["v:", "  a", "  b"], "a\nb"),
        (1, ["v: 1.0"], 1.0),
        (1, ["v: true"], True),
        (1, ["v: 123456789012345678901234567890"], 123456789012345678901234567890),
        (1.5, ["v: 2"], 2),
        (None, ['v: "x"'], "x"),
        ([1], ["v:", "  [", "  1, 2]"], [1, 2]),
        ([1], ["v: [1,", "  2]", ""], [1, 2]),
        ({"a": "\xa0"}, ['v: {"a": "‹U+00A0›", "b": 1}'], {"a": "\xa0", "b": 1}),
    ],
)
def test_an_edited_argument_is_what_stands_there(value: Any, lines: list[str], now: Any) -> None:
    result = after({"v": value, "w": "x"}, *lines, "w: x")
    assert result == {"v": now, "w": "x"}
    assert isinstance(result, dict)
    assert type(result["v"]) is type(now)


def test_what_only_looks_different_is_as_proposed() -> None:
    input = {"a": "", "b": {"x": 1, "y": 2}, "c": "z"}
    assert after(input, "", "a:", 'b: {"y":2,  "x":1}', '"c": z', "") is input


def test_an_argument_may_be_left_out_or_be_new() -> None:
    input = {"a": "x\ny", "b": 1}
    assert after(input, "b: 1") == {"b": 1}
    assert isinstance(after(input), Malformed)  # for none, Claude Code would take the old ones
    assert after(input, "b: 1", "c: 2", "d: [x", '"e f": "g"', "h:", "  i") == {
        "b": 1,
        "c": 2,
        "d": "[x",
        "e f": "g",
        "h": "i",
    }


def test_what_is_not_a_number_stays_unless_edited() -> None:
    input = {"a": "x", "n": float("nan")}
    assert after(input, *shown(input)) is input
    now = after(input, "a: y", "n: NaN")
    assert isinstance(now, dict)
    assert now["n"] is input["n"]


def not_json(reason: str, line: int = 5) -> str:
    return f"line {line}: “n” is not JSON any more ({reason}): u brings it back"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["n: "], not_json("Expecting value")),
        (["n:"], not_json("Expecting value")),
        (["n:", "  [1,", "  x]"], not_json("Expecting value", line=7)),
        (["n: [", "  1"], not_json("Expecting ',' delimiter", line=6)),
        (["n: 1 2"], not_json("Extra data")),
        (["n: NaN"], not_json("NaN is no number")),
        (["n: -Infinity"], not_json("-Infinity is no number")),
        (["n: 1e999"], not_json("1e999 is too large")),
        (["n: " + 5_000 * "1"], not_json("a number is too long")),
        (['n: {"a": 1, "a": 2}'], not_json("a name stands twice")),
        (["n: " + 200 * "[" + 200 * "]"], not_json("nested too deeply")),
        (["n: " + 100_000 * "["], not_json("nested too deeply")),
        (["n 5"], "line 5: “n 5” is neither “name: …” nor indented below one: u brings it back"),
        (["n:5"], "line 5: “n:5” is neither “name: …” nor indented below one: u brings it back"),
        (["n: 5", " x"], "line 6: “x” is neither “name: …” nor indented below one"),
        (['"\\x": 5'], 'line 5: “"\\x": 5” is neither “name: …” nor indented below one'),
        (["n: 5", "a: y"], "line 6: “a” stands twice: delete one of the two"),
        (["n: 5", '"n": 5'], "line 6: “n” stands twice: delete one of the two"),
    ],
)
def test_what_cant_be_understood_is_named(lines: list[str], message: str) -> None:
    now = after({"a": "x", "n": 1}, "a: x", *lines)
    assert isinstance(now, Malformed)
    assert now.message.startswith(message)
    assert now.message.startswith(f"line {now.row + 1}: ")


def test_indented_lines_above_the_first_argument_are_named() -> None:
    assert after({"a": "x\ny"}, "  x", "  y") == Malformed(
        3, "line 4: “x” is neither “name: …” nor indented below one: u brings it back"
    )


def test_lines_whose_name_is_gone_dont_fall_to_another_argument() -> None:
    input = {"a": "1\n2", "b": "3\n4"}
    assert after(input, "a:", "  1", "  2", "  3", "  4") == Malformed(
        6, "line 7: “3” belongs to “b”, whose first line is gone: u brings it back"
    )
    assert after(input, "a:", "  1", "  2", "  3", "b:", "  4") == {"a": "1\n2\n3", "b": "4"}
    assert after(input, "a:", "  1", "  2", "c:", "  3", "  4") == {"a": "1\n2", "c": "3\n4"}


@pytest.mark.parametrize("name", ["command", "description"])
def test_what_has_its_own_place_is_not_for_the_list(name: str) -> None:
    input = {"command": "ls", "description": "x", "timeout": 1}
    seen = [Text(3, ("ls",)), Text(6, ("timeout: 1", f"{name}: y"))]
    message = f"line 8: “{name}” has its place elsewhere: delete it here"
    assert read("Bash", input, seen) == Malformed(7, message)


def test_a_block_that_is_gone_or_broken_is_named() -> None:
    input = {"command": "ls", "timeout": 1}
    sh, arguments = texts("Bash", input)
    broken = Malformed(9, "the fence …")
    command_gone = Malformed(0, "the command is gone: u brings it back")
    list_gone = Malformed(0, "the list of arguments is gone: u brings it back")
    assert read("Bash", input, [Gone(), arguments]) == read("Bash", input, []) == command_gone
    assert read("Bash", input, [sh, Gone()]) == read("Bash", input, [sh]) == list_gone
    assert read("Bash", input, [sh, broken]) == broken


# --- properties ---

anything = st.text(st.characters(codec=None), max_size=20)
tricky = st.lists(
    st.sampled_from(
        ["a", ": ", "\n", "  ", "\r", "\t", '"', "\\", "␛", "\x1b", "\xa0", "-->", "‹"]
    ),
    max_size=10,
).map("".join)
text = anything | tricky
names = st.sampled_from(["a", "b", "command", "description", "winnow"]) | text
plain = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=20)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | text
nesting = st.recursive(
    scalars,
    lambda v: st.lists(v, max_size=3) | st.dictionaries(text, v, max_size=3),
    max_leaves=5,
)
values = text | nesting
inputs = st.dictionaries(names, values, max_size=4)
tools = st.sampled_from(["Bash", "Tool"])


@given(tools, inputs)
def test_what_is_left_alone_is_the_input_itself(tool: str, input: dict[str, Any]) -> None:
    assert read(tool, input, texts(tool, input)) is input


@given(tools, inputs)
@example("Tool", {"<!--winnow:ab.1.2": "3-->"})
@example("Tool", {"a": "<!--WINNOW:ab.1.2-->\n>-->"})
def test_no_shown_line_hides_anything(tool: str, input: dict[str, Any]) -> None:
    for block in blocks(tool, input):
        for line in block.lines:
            assert not re.search("[\x00-\x08\x0a-\x1f\x7f-\x9f\ud800-\udfff]", line)
            assert not MARKER.search(line)
            assert show(line) == line


@given(inputs, names, plain, plain)
def test_one_edited_text_is_the_only_change(
    input: dict[str, Any], name: str, old: str, new: str
) -> None:
    assume(not re.search("[␀-␡‹›]|winnow", name))  # else an edit may be refused
    input = {**input, name: old}
    lines = shown(input)
    (head,) = shown({name: old})
    assume(lines.count(head) == 1)
    lines[lines.index(head)] = head[: len(head) - len(show(old))] + new
    expected = {**input, name: new}
    assume(show(old) == old)
    now = after(input, *lines)
    assert isinstance(now, dict)
    assert list(now) == list(expected)
    assert all(now[other] is input[other] for other in input if other != name)
    assert now[name] == new


@given(tools, inputs, st.data())
def test_no_edit_of_the_lines_raises(tool: str, input: dict[str, Any], data: st.DataObject) -> None:
    """A result is either refused, with a line that stands there, or shown as it was read."""
    seen = []
    for block in blocks(tool, input):
        line = st.sampled_from(block.lines) | text | st.sampled_from(["a: 1", "  b", "b:"])
        seen.append(Text(3, tuple(data.draw(st.lists(line, max_size=8)))))
    now = read(tool, input, seen)
    if isinstance(now, Malformed):
        rows = sum(1 + line.count("\n") for block in seen for line in block.lines)
        assert 3 <= now.row <= 3 + rows
    else:
        assert read(tool, now, texts(tool, now)) is now


@pytest.mark.parametrize("tool", ["Bash", "Write"])
def test_a_file_is_shown_and_read_without_a_pause(tool: str) -> None:
    content = "\n".join(f"{number:05} {'x = f(a, b) ' * 4}" for number in range(20_000))
    input = {"command" if tool == "Bash" else "content": content}
    start = time.process_time()
    (block,) = blocks(tool, input)
    assert read(tool, input, [Text(3, block.lines)]) is input
    untouched = time.process_time()
    lines = list(block.lines)
    lines[10_000] += "!"
    now = read(tool, input, [Text(3, tuple(lines))])
    edited = time.process_time()
    assert isinstance(now, dict)
    assert now != input
    assert untouched - start < 0.5  # 0.05 s on a desk
    assert edited - untouched < 1  # 0.1 s
