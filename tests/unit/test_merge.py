"""What of a worktree's change is left in the buffer, as the files that are wanted."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from winnow.core.agent import Allow, Deny
from winnow.core.asking import merging, ways
from winnow.core.asking.way import Answered
from winnow.core.proposal.diff import diff
from winnow.core.proposal.merge import FileChange, diffstat, narrowed
from winnow.core.proposal.proposal import Change, Changed, Emptied, Kept
from winnow.core.section import answer
from winnow.core.section.form import Form, render
from winnow.core.section.reading import parse

OLD = "".join(f"{number}\n" for number in range(40))
NEW = OLD.replace("3\n", "three\n", 1).replace("\n30\n", "\nthirty\n")
FILES = (
    FileChange("a.txt", OLD, NEW),
    FileChange("new.txt", None, "one\ntwo\n"),
    FileChange("gone.txt", "x\n", None),
    FileChange("logo.png", what="binary, 3 bytes"),
)
MERGE = merging.ToMerge("r", "t1", "Cart", "c0", FILES, ("conflicts: a.txt",), ("2 <<<<<<< ",))
REQUEST = merging.asked(MERGE)


def form_of(request: Any = REQUEST) -> Form:
    form = ways.of(request.tool, request.input).read("ab", request, lambda _: None)
    assert isinstance(form, Form)
    return form


FORM = form_of()
LINES = render(FORM)


def change(lines: list[str]) -> Change:
    found = parse(FORM, lines).questions[0].change
    assert found is not None
    return found


def wanted(lines: list[str]) -> dict[str, str | None]:
    found = change(lines)
    assert isinstance(found, Changed), found
    result: dict[str, str | None] = found.input["wanted"]
    return result


def test_it_says_who_wants_what_and_how_much_it_is() -> None:
    assert LINES[0].startswith("━━ Patch: Cart · t1⟦")
    asked = FORM.questions[0].question
    assert "wants to merge 4 files +4 −3" in asked
    assert "conflicts: a.txt" in asked
    assert asked.endswith("\n2 <<<<<<< ")
    assert "gone.txt: deleted" in LINES
    assert "logo.png: binary, 3 bytes" in LINES


def test_conflicts_that_are_left_in_it_are_told() -> None:
    """Whoever mended them has missed some; those that the file had before are nobody's fault."""
    marks = "<<<<<<< 3f2a\nx\n=======\ny\n>>>>>>> 91bc\n"
    left, old = FileChange("a.txt", "x\n", marks), FileChange("b.txt", marks, marks + "z\n")
    form = form_of(merging.asked(msgspec.structs.replace(MERGE, files=(left, old))))
    asked = form.questions[0].question
    assert "Conflicts are still marked in it: a.txt." in asked


def test_all_of_it_is_wanted_as_it_was_made() -> None:
    kept = change(LINES)
    assert isinstance(kept, Kept)
    assert kept.input == {"wanted": dict.fromkeys(file.path for file in FILES)}


def test_what_is_deleted_stays_out() -> None:
    """A hunk with its head, a file with its line, a file with all of its block."""
    first = next(at for at, line in enumerate(LINES) if line.startswith("@@"))
    second = next(at for at, line in enumerate(LINES) if line.startswith("@@") and at > first)
    hunk = [*LINES[:first], *LINES[second:]]
    assert wanted(hunk)["a.txt"] == OLD.replace("\n30\n", "\nthirty\n")
    assert change(hunk) == Changed({"wanted": wanted(hunk)}, "4 of 5 hunks")
    assert "logo.png" not in wanted([line for line in LINES if "logo.png" not in line])
    start = next(at for at, line in enumerate(LINES) if "=2=b" in line)
    end = next(at for at, line in enumerate(LINES) if "=2=c" in line)
    assert "new.txt" not in wanted([*LINES[:start], *LINES[end + 1 :]])


def test_an_added_line_may_be_edited() -> None:
    edited = wanted(["+ONE" if line == "+one" else line for line in LINES])
    assert edited["new.txt"] == "ONE\ntwo\n"
    assert edited["a.txt"] is None


def test_with_nothing_left_nothing_is_merged() -> None:
    out = [line for line in LINES if not line.startswith(("@@", "gone", "logo", "+", "-"))]
    assert isinstance(change(out), Emptied)


def test_what_is_no_text_is_kept_or_deleted() -> None:
    """Anything else names the line."""
    lines = [line.replace("3 bytes", "4 bytes") for line in LINES]
    assert "logo.png can only be kept or deleted" in getattr(change(lines), "message", "")


def test_the_answer_is_what_is_wanted_or_what_the_user_says() -> None:
    way = ways.of(REQUEST.tool, REQUEST.input)

    def reply(kept: tuple[int, ...], notes: str) -> Any:
        given = answer.Decided(kept=kept, dropped=(), answer="", notes=notes)
        return way.reply(Answered(REQUEST, FORM, (given,), "Merge t1", change(LINES)))

    allowed = reply((1,), "nice")
    assert isinstance(allowed, Allow)
    assert (set(allowed.input["wanted"]), allowed.note) == ({f.path for f in FILES}, "nice")
    assert reply((2,), "no use") == Allow({"wanted": {}}, note="no use")
    assert reply((3,), "use a set") == Deny("The user did not merge this: use a set")


def test_what_was_cut_stays_cut_when_it_is_asked_again() -> None:
    """Files that were not wanted are not asked about again, and edited ones are as they were."""
    cut = "1\n"
    files = narrowed(FILES, {"a.txt": cut, "gone.txt": None})
    assert files == (FileChange("a.txt", OLD, cut), FILES[2])
    again = msgspec.structs.replace(MERGE, files=files, cut={"a.txt": cut})
    request = merging.asked(again)
    form = form_of(request)
    left = parse(form, render(form)).questions[0].change
    given = answer.Decided(kept=(1,), dropped=(), answer="", notes="")
    reply = ways.of(request.tool, request.input).reply(
        Answered(request, form, (given,), "Merge t1", left)
    )
    assert isinstance(reply, Allow)
    assert reply.input["wanted"] == {"a.txt": cut, "gone.txt": None}


def test_conflicts_are_shown_where_they_are() -> None:
    """With the lines around them, and not more than can be read."""
    marked = "\n".join([*"abcdef", "<<<<<<< 3f2a", "x", "=======", "y", ">>>>>>> 91bc", *"ghijk"])
    assert merging.conflicts({"a.txt": marked}) == (
        *("a.txt:", "5 e", "6 f", "7 <<<<<<< in the project", "8 x", "9 =======", "10 y"),
        *("11 >>>>>>> in the worktree", "12 g", "13 h"),
    )
    assert merging.failure("\n".join("x" * 99))[60:] == ("… 39 more lines",)


def test_how_much_is_changed() -> None:
    assert diffstat(()) == ""
    assert diffstat(FILES[:1]) == "1 file +2 −2"


TEXTS = st.text("ab\n", max_size=60)


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4), st.data())
def test_any_hunks_that_are_left_are_what_is_written(
    texts: list[tuple[str, str]], data: st.DataObject
) -> None:
    """And nothing else, in no file."""
    files = tuple(
        FileChange(f"f{number}", old, new) for number, (old, new) in enumerate(texts) if old != new
    )
    if not files:
        return
    request = merging.asked(merging.ToMerge("r", "t1", "Cart", "c0", files))
    form, expected, lines = form_of(request), {}, []
    drop = False
    current: list[int] = []
    number = -1
    for line in render(form):
        if line.startswith("--- "):
            number += 1
            current = []
        if line.startswith("@@"):
            drop = data.draw(st.booleans())
            current.append(not drop)
            expected[number] = current
        elif line.startswith("```") or "⟦" in line:
            drop = False
        lines += [] if drop else [line]
    found = parse(form, lines).questions[0].change
    result: dict[str, str | None] = {}
    for at, file in enumerate(files):
        made = diff(file.path, file.old, file.new or "")
        kept = [hunk for hunk, keep in enumerate(expected.get(at, [])) if keep]
        if kept and made.compose(kept) != file.old:
            result[file.path] = made.compose(kept)
    if not result:
        assert isinstance(found, Emptied)
        return
    assert isinstance(found, (Kept, Changed))
    given = found.input["wanted"]
    whole = {file.path: file.new for file in files}
    assert {p: whole[p] if text is None else text for p, text in given.items()} == result
