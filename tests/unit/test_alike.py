"""Patches of files that repeat themselves: what is written is what the user left, or nothing."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from winnow.core.proposal.blocks import Malformed, Text
from winnow.core.proposal.diff import NO_NEWLINE, Line
from winnow.core.proposal.origins import Refused, restored
from winnow.core.proposal.patch import Patch, patch_of
from winnow.core.proposal.proposal import Emptied
from winnow.core.proposal.settings import left as settings_left
from winnow.core.proposal.settings import lines_of

# Lines of code that files have again and again, and some that look like others.
CODE = ["", "", "", "}", "}", "int a;", "foo(x);", "foo(y);", "\tfoo(x);", "    return foo", "else"]
ODD = ["foo \x1b[1m", "foo ␛[1m", "foo\u200b", "foo‹U+200B›", "foo  ", "foo", "\xa0foo", " " * 60]
BARE = "\0"  # behind a line that ends without a newline
WORDS = st.sampled_from([CODE, CODE + ODD])
CHANCE = st.integers(0, 2**64).map(random.Random)

# Each is a whole file: fewer of them where somebody waits.
EXAMPLES = settings().max_examples
bounded = settings(max_examples=EXAMPLES if EXAMPLES > 500 else 300)


def file(chance: random.Random, words: list[str]) -> str:
    """A few blocks, several times, in any order."""
    blocks = [
        chance.choices(words, k=chance.randrange(1, 8)) for _ in range(chance.randrange(1, 4))
    ]
    lines = [
        line
        for _ in range(chance.randrange(2, 9))
        for line in chance.choice(blocks) + [""] * chance.choice([0, 0, 1, 6])
    ]
    ends = chance.choice([["\n"], ["\n"], ["\r\n"], ["\n", "\r\n"]])
    text = "".join(line + chance.choice(ends) for line in lines)
    return text.rstrip("\r\n") if chance.random() < 0.2 else text


def rewritten(chance: random.Random, text: str, words: list[str]) -> str:
    """Some lines less, others instead, and new ones."""
    pieces = []
    for line in text.splitlines(keepends=True):
        end = line[len(line.rstrip("\r\n")) :] or "\n"
        new = chance.choice(words) + end
        pieces += chance.choice([[line]] * 9 + [[], [new], [new, line]])
    new = "".join(pieces)
    return new.rstrip("\r\n") if chance.random() < 0.1 else new


def propose(chance: random.Random, words: list[str]) -> Patch:
    """What Claude wants to do to such a file."""
    while True:
        old = file(chance, words)
        seen = old.replace("\r\n", "\n")
        this = chance.choice(["foo", "foo(x);", "}", "int a", "\n\n"])
        input: dict[str, Any]
        match chance.choice(["replace_all", "replace_all", "Edit", "Write", "edits", "new"]):
            case "replace_all":
                tool, input = "Edit", {"old_string": this, "new_string": "bar", "replace_all": True}
            case "Edit":
                tool = "Edit"
                input = {"old_string": seen, "new_string": rewritten(chance, seen, words)}
            case "Write":
                tool, input = "Write", {"content": rewritten(chance, old, words)}
            case "edits":  # several of one file
                new = old.replace("foo", "bar").replace("}", "} // end", 2)
                tool, input = "Write", {"content": new}
            case _:
                tool, input, old = "Write", {"content": old}, ""
        if tool == "Edit" and 0 < old.count("\r\n") < old.count("\n"):
            continue  # it would change other lines, too, and can do no less
        if patch := patch_of(tool, input, "f", old):
            return patch


@dataclass(eq=False)
class Entry:
    """A line of the diff, kept in mind when it is ``gone``, or one of the user's own."""

    seen: str
    line: Line | None = None
    gone: bool = False
    body: str = ""  # what an added line says now

    @property
    def sign(self) -> str:
        return self.line.sign if self.line else "+"


@dataclass
class Buffer:
    """A patch as its user sees it. Nothing is read back from it: all that is done is known."""

    patch: Patch
    entries: list[Entry] = field(default_factory=list)

    def __post_init__(self) -> None:
        end = self.patch.diff.end
        self.entries = [
            Entry(line.shown, line, body=line.text.removesuffix(end))
            for line in self.patch.diff.lines
        ]

    @property
    def rows(self) -> tuple[str, ...]:
        return tuple(entry.seen for entry in self.entries if not entry.gone)

    def of(self, hunk: int) -> list[Entry]:
        """The lines of a hunk, and what the user has put among them; its head comes first."""
        found = []
        number = -1
        for entry in self.entries:
            number = entry.line.hunk if entry.line else number
            if number == hunk:
                found.append(entry)
        return found

    def expected(self) -> str | None:
        """The text to be written; None where it is not to be understood."""
        pieces: list[str] = []
        at = 0
        diff = self.patch.diff
        for number, hunk in enumerate(diff.hunks):
            head, *entries = self.of(number)
            left = [entry for entry in entries if not entry.gone]
            if head.gone or not any(entry.seen[:1] in ("+", "-") for entry in left):
                continue
            pieces += diff.old[at : hunk.start]
            for entry in entries:
                pieces += self._written(entry, left)
            at = hunk.end
        pieces += diff.old[at:]
        if any(piece.endswith(BARE) for piece in pieces[:-1]):
            return None
        ended = [piece if piece.endswith("\n") else piece + diff.end for piece in pieces[:-1]]
        return "".join([*ended, *pieces[-1:]]).removesuffix(BARE)

    def _written(self, entry: Entry, left: list[Entry]) -> Iterator[str]:
        if entry.sign == " " or (entry.sign == "-" and (entry.gone or entry.seen[:1] != "-")):
            assert entry.line
            yield entry.line.text
        elif entry.sign == "+" and not entry.gone:
            below = left[left.index(entry) + 1 :]
            if below and below[0].seen == NO_NEWLINE:
                yield entry.body.removesuffix("\n") + BARE
            elif entry.body.endswith("\n"):
                yield entry.body
            else:
                yield entry.body + self.patch.diff.end


@dataclass
class User:
    """Deletes, edits, moves and adds lines, as one would."""

    chance: random.Random
    buffer: Buffer

    def drop(self, ways: list[str]) -> None:
        """A hunk: with its lines, without, or only these."""
        head, *lines = self.buffer.of(self.chance.randrange(len(self.buffer.patch.diff.hunks)))
        match self.chance.choice(ways):
            case "whole":
                gone = [head, *lines]
            case "head":
                gone = [head]
            case "body":
                gone = lines
            case "changes":
                gone = [line for line in lines if line.sign in "+-\\"]
            case _:
                gone = [head, *lines[: self.chance.randrange(len(lines))]]
        for entry in gone:
            entry.gone = True

    def delete(self) -> None:
        if entry := self._one("+-\\"):
            entry.gone = True

    def keep(self) -> None:
        """A blank for the sign."""
        if entry := self._one("-"):
            entry.seen = " " + entry.seen[1:]

    def edit(self) -> None:
        if entry := self._one("+"):
            if self.chance.random() < 0.8:
                entry.seen = "+!" + entry.seen[1:]
                entry.body = "!" + entry.body
            else:
                entry.seen, entry.body = "+another", "another"

    def add(self) -> None:
        """A line of one's own, anywhere in a hunk."""
        if entry := self._one("+- "):
            at = self.buffer.entries.index(entry) + self.chance.randrange(2)
            text = f"own {self.chance.randrange(9)}"
            self.buffer.entries.insert(at, Entry(f"+{text}", body=text))

    def move(self) -> None:
        """An added line up, above another."""
        if entry := self._one("+"):
            entries = self.buffer.entries
            at = entries.index(entry)
            seen = [other.line.shown for other in entries if other.line]
            if entries[at - 1].sign == "+" and entry.line and seen.count(entry.line.shown) == 1:
                entries[at - 1 : at + 1] = [entry, entries[at - 1]]

    def _one(self, signs: str) -> Entry | None:
        found = [
            entry
            for entry in self.buffer.entries
            if not entry.gone and entry.sign in signs and (not entry.line or entry.line.hunk >= 0)
        ]
        return self.chance.choice(found) if found else None


def outcome(buffer: Buffer) -> str | None:
    """The text that is written; None where it is refused."""
    change = buffer.patch.read([Text(0, buffer.rows)])
    if isinstance(change, Malformed):
        assert 0 <= change.row <= len(buffer.rows)
        return None
    if isinstance(change, Emptied):
        return buffer.patch.old or ""
    return buffer.patch.text_of(change)


def own(entry: Entry) -> bool:
    return entry.line is None or entry.seen != entry.line.shown


def adds(entry: Entry) -> bool:
    return entry.sign == "+"


def says_two_things(buffer: Buffer) -> bool:
    """Another user, who did something else, would see the very same.

    Where a head stands without all of its context, the lines of another hunk may be taken for it;
    and edited lines that are all that is left of a hunk, for lines added to the one above.
    """
    incomplete = False
    for number in range(len(buffer.patch.diff.hunks)):
        head, *lines = buffer.of(number)
        left = [line for line in lines if not line.gone]
        if not head.gone:
            incomplete = any(line.gone and line.sign == " " for line in lines)
        elif left and (incomplete or (any(map(own, left)) and all(map(adds, left)))):
            return True
    return False


def adds_to_what_is_gone(buffer: Buffer) -> bool:
    """Lines of the user's own stand in a hunk whose head is gone."""
    hunks = [buffer.of(number) for number in range(len(buffer.patch.diff.hunks))]
    return any(
        head.gone and not line.line and not line.gone for head, *lines in hunks for line in lines
    )


def edit_at_random(chance: random.Random, buffer: Buffer, times: int) -> None:
    user = User(chance, buffer)
    for _ in range(times):
        match chance.randrange(8):
            case 0 | 1:
                user.drop(["whole", "whole", "head", "body", "changes", "part"])
            case 2 | 3:
                user.delete()
            case 4:
                user.keep()
            case 5:
                user.edit()
            case 6:
                user.add()
            case _:
                user.move()


@bounded
@given(CHANCE, WORDS)
def test_hunks_go_in_any_way(chance: random.Random, words: list[str]) -> None:
    """None is refused: with or without the @@ line or the other lines, and however many."""
    buffer = Buffer(propose(chance, words))
    user = User(chance, buffer)
    for _ in range(chance.randrange(1, 6)):
        user.drop(["whole", "whole", "head", "body", "changes"])
    if not says_two_things(buffer):
        assert outcome(buffer) == buffer.expected()


@bounded
@given(CHANCE, WORDS, st.integers(1, 8))
def test_what_is_left_is_written_or_refused(
    chance: random.Random, words: list[str], times: int
) -> None:
    buffer = Buffer(propose(chance, words))
    edit_at_random(chance, buffer, times)
    if not says_two_things(buffer):
        assert outcome(buffer) in (None, buffer.expected()), "\n".join(buffer.rows)


def test_hardly_anything_is_refused() -> None:
    """But what nobody could understand, and words of the user's own in a hunk that is gone."""
    chance = random.Random(0)
    refused = []
    times = 2_000
    for _ in range(times):
        buffer = Buffer(propose(chance, CODE))
        edit_at_random(chance, buffer, chance.randrange(1, 4))
        if says_two_things(buffer) or adds_to_what_is_gone(buffer) or buffer.expected() is None:
            continue
        if outcome(buffer) is None:
            refused.append("\n".join(buffer.rows))
    assert len(refused) <= times / 100, "\n\n".join(refused)


@pytest.mark.parametrize(
    ("left", "text"),
    [
        (["a", "␛", "b", "␛"], ["a", "␛", "b", "\x1b"]),
        (["a", "b", "␛"], ["a", "b", "\x1b"]),
        (["a", "␛", "b"], ["a", "␛", "b"]),
        (["a", "␛", "x", "b", "␛"], ["a", "␛", "x", "b", "\x1b"]),
        (["␛"], None),
        (["x", "␛", "y", "␛"], None),
    ],
)
def test_a_line_is_not_taken_for_one_that_looks_like_it(
    left: list[str], text: list[str] | None
) -> None:
    """In a command or a plan, where lines carry no markers either."""
    seen = Text(0, tuple(left))
    if text:
        found = restored(["a", "␛", "b", "\x1b"], seen)
        assert [line.text for line in found] == text
    else:
        with pytest.raises(Refused, match="can't be told any more"):
            restored(["a", "␛", "b", "\x1b"], seen)


def test_of_two_settings_that_look_alike_none_stays_alone() -> None:
    entries = ["allow \x1b", "allow ␛", "env A=1"]
    assert lines_of(entries[0]) == lines_of(entries[1])
    assert settings_left(entries, Text(0, ("allow ␛", "allow ␛"))) == entries[:2]
    assert settings_left(entries, Text(0, ("env A=1",))) == entries[2:]
    assert isinstance(settings_left(entries, Text(0, ("allow ␛", "env A=1"))), Malformed)
