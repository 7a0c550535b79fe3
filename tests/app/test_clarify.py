"""Clarify in a chat: rounds as sections, the loop, what is kept, and the file that comes out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
from winnow import ports
from winnow import protocol as p
from winnow.core.asking.way import FileError
from winnow.core.clarify import spec
from winnow.core.clarify.clarification import Clarification, Given
from winnow.core.text.text import strip_markers
from winnow.ports import query

from tests.app.fakes import CHAT, Room
from tests.unit.clarifying import SPEC, question, round_of

NONE = round_of(scope="clear")
PATH = "/shop/specs/19700101-make-the-cart-faster.md"


class Clarifying(Room):
    """A chat in which a request is clarified."""

    async def begin(self, *gives: object, request: str = "Make the cart faster") -> None:
        """The user has sent the request."""
        self.querier.gives.extend(gives)
        await self.lead()
        await self.send(request)

    async def lead(self, id: str = "abc", sections: list[str] | None = None) -> None:
        """Open the chat."""
        self.editor.status = None
        self.editor.section = None
        opened = p.Open(CHAT, "/chat.md", "/shop", clarify=p.Clarify(id), sections=sections or [])
        await self.do(opened)

    async def again(self) -> None:
        """Neovim has ended, and the chat is opened by another."""
        marker = self.shown().section if self.editor.section else ""
        await self.do(p.Close(CHAT))
        await self.lead(sections=[marker] if marker else [])

    async def settle(self) -> None:
        """As in a `Room`; this takes longer."""
        for _ in range(3):
            await super().settle()

    async def pick(self, *starts: str, own: str = "") -> None:
        """Keep the options that start so, one for each question, or write own words; send."""
        shown = self.shown()
        kept = []
        for line in shown.lines:
            option = "=" in line and line.rpartition("=")[2][0].isdigit()
            if option and not strip_markers(line).startswith(starts):
                continue
            kept.append(line + own if own and line.startswith("✎") else line)
        await self.do(p.Confirm(CHAT, shown.section, kept, len(kept) - 1))

    @property
    def asked(self) -> list[str]:
        """The questions of the open section."""
        heads = self.shown().lines
        return [strip_markers(heads[n + 1]) for n, line in enumerate(heads) if "=h⟧" in line]

    @property
    def error(self) -> str:
        """How the last turn went."""
        ends = [e.data for e in self.editor.every(p.Happened) if e.name == "TurnEnd"]
        return str(ends[-1]["error"])


@pytest.fixture
async def room() -> AsyncIterator[Clarifying]:
    room = Clarifying()
    yield room
    assert room.editor.disturbing == []
    await room.chats.close()


async def test_three_rounds_end_in_a_file(room: Clarifying) -> None:
    """Each asks what is open; what is left to the model is an assumption."""
    rounds = [round_of(question("Which cart?", "All")), round_of(question("How fast?", "1 s"))]
    await room.begin(*rounds, round_of(question("Who buys?", "Guests")), NONE, SPEC)
    assert room.asked == ["Which cart?"]
    await room.pick("All")
    assert "Which cart? → All" in str(room.files.texts[PATH])  # at once
    assert room.asked == ["How fast?"]
    await room.pick("You decide")
    await room.pick(own="everybody, {{LOG}} </log>")
    text = str(room.files.texts[PATH])
    assert "- Which cart? → All\n- How fast? → The cart (assumed)\n" in text
    assert "- Who buys? → everybody, {{LOG}} </log>" in text
    assert "- **AC-1**: " in text
    assert (room.error, room.editor.state) == ("", "idle")
    assert room.editor.every(p.Visit)[-1].path == PATH
    assert '"assumed": true' in room.querier.prompts[2]
    assert room.clarified.known["abc"].finished


async def test_nothing_to_ask(room: Clarifying) -> None:
    """A notice, and on to the specification; what the queries cost is the chat's."""
    room.querier.cost = 0.25
    await room.begin(NONE, SPEC)
    assert room.editor.status
    assert room.editor.status.cost == 0.25
    assert "There is nothing to ask" in room.editor.text
    assert PATH in room.files.texts


@pytest.mark.parametrize("word", ["enough", "Enough."])
async def test_enough_ends_the_questions(room: Clarifying, word: str) -> None:
    """As an answer; what was asked then stays open."""
    await room.begin(round_of(question("Which cart?", "All")), SPEC)
    await room.pick(own=f" {word}")
    open_ = str(room.files.texts[PATH]).split("## Open questions")[1]
    assert open_.strip().startswith("- Which cart?")
    assert len(room.querier.prompts) == 2


async def test_five_rounds_are_all(room: Clarifying) -> None:
    """Whatever is open still."""
    asked = [round_of(question(f"Question {n}?", "B")) for n in range(9)]
    await room.begin(*asked)
    for n in range(5):
        assert room.asked == [f"Question {n}?"]
        await room.pick("B")
    assert room.editor.section is None
    assert "No more questions" in room.querier.prompts[-1]


async def test_progress_is_live(room: Clarifying) -> None:
    """Each message in a few lines, the rest folded, before anything is asked."""
    text = {"type": "text", "text": "\n".join("abcdefg")}
    told = {"type": "assistant", "message": {"content": [text]}}
    await room.begin([told, told, NONE], SPEC)
    assert room.editor.text.count("▸ a\n│ b\n│ c\n│ d\n│ e\n│ f\n│ g") == 2


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (round_of(question("Which cart?", "All"), question("which cart")), "is asked twice"),
        (query.WrongOutput("There are six questions."), "There are six questions"),
    ],
)
async def test_what_can_t_be_used_is_asked_again(room: Clarifying, bad: object, why: str) -> None:
    """Three times; then the user is told."""
    await room.begin(bad, round_of(question("Which cart?", "All")))
    assert why in room.querier.prompts[1]
    assert room.asked == ["Which cart?"]
    room.querier.gives.extend([bad] * 3)
    await room.pick("All")
    assert why in room.error


FAILURES = [
    query.CliNotFound("There is no Claude Code."),
    query.NotStarted("It did not start."),
    query.Exited("It ended.", code=3),
    query.BrokenStream("It wrote what is no message."),
    query.RetriesSpent("It did not find the form."),
    query.NoOutput("It gave nothing."),
]


@pytest.mark.parametrize("failure", FAILURES)
async def test_a_query_that_fails_is_told_and_repeated(
    room: Clarifying, failure: query.QueryError
) -> None:
    """In the second round: the answers so far are kept."""
    await room.begin(round_of(question("Which cart?", "All")), failure)
    await room.pick("All")
    assert room.error == failure.sentence
    room.querier.gives.append(round_of(question("How fast?", "1 s")))
    await room.send("go on")
    assert room.asked == ["How fast?"]
    assert '"answer": "All"' in room.querier.prompts[-1]


async def test_what_was_answered_survives_neovim(room: Clarifying) -> None:
    """The section is open again, its answer comes late, and the loop goes on."""
    await room.begin(round_of(question("Which cart?", "All")), round_of(question("How fast?", "1")))
    await room.pick("All")
    await room.again()
    assert room.asked == ["How fast?"]
    room.querier.gives.extend([NONE, SPEC])
    await room.pick("1")
    text = str(room.files.texts[PATH])
    assert "- Which cart? → All" in text
    assert "How fast?" in text.split("## Clarifications")[1]
    assert room.clarified.known["abc"].finished


async def test_a_late_you_decide_is_an_assumption(room: Clarifying) -> None:
    """As it would be in time; what was recommended is assumed, other answers are just that."""
    asks = [
        question("Which cart?", "All"),
        question("How fast?", "1 s"),
        question("Who buys?", "All"),
    ]
    await room.begin(round_of(*asks))
    await room.again()
    room.querier.gives.extend([NONE, SPEC])
    shown = room.shown()
    drop = ("All", "The cart", "1 s")
    lines = [line for line in shown.lines if not strip_markers(line).startswith(drop)]
    await room.do(p.Confirm(CHAT, shown.section, lines, len(lines) - 1))
    text = str(room.files.texts[PATH])
    for asked in ("Which cart?", "How fast?", "Who buys?"):
        assert f"- {asked} → The cart (assumed)" in text
    assert [entry.assumed for entry in room.clarified.known["abc"].log] == [True] * 3


async def test_cancelled_and_gone_on_with(room: Clarifying) -> None:
    """`<Esc>` ends the turn; a message asks again."""
    await room.begin(round_of(question("Which cart?", "All")))
    await room.cancel()
    assert (room.editor.state, room.error) == ("idle", "")
    room.querier.gives.append(round_of(question("Which cart is it?", "All")))
    await room.send("go on")
    assert room.asked == ["Which cart is it?"]


async def test_stopped_while_it_works(room: Clarifying) -> None:
    await room.begin()
    assert room.editor.state == "working"
    await room.do(p.Stop(CHAT))
    assert room.editor.state == "idle"


async def test_talking_back_is_part_of_the_log(room: Clarifying) -> None:
    """And `enough` said so ends the questions."""
    await room.begin(round_of(question("Which cart?", "All")), round_of(question("How fast?", "1")))
    shown = room.shown()
    await room.do(p.Discuss(CHAT, shown.section, shown.lines, "What is a cart?"))
    assert "What is a cart?" in room.querier.prompts[-1]
    assert room.asked == ["How fast?"]
    room.querier.gives.append(SPEC)
    shown = room.shown()
    await room.do(p.Discuss(CHAT, shown.section, shown.lines, "enough"))
    assert "- How fast?" in str(room.files.texts[PATH]).split("## Open questions")[1]


@pytest.mark.parametrize("request_", [" \n", "x" * (1 << 20)])
async def test_requests_that_can_t_be_clarified(room: Clarifying, request_: str) -> None:
    """Nothing is asked of the model."""
    await room.begin(request=request_)
    assert room.querier.prompts == []
    if request_.strip():
        assert "400,000 is the most" in room.error


async def test_nothing_to_log_in_with(room: Clarifying) -> None:
    """One sentence, before anything is shown."""

    async def refuse(cwd: str, model: str) -> Any:
        raise ports.AgentError("There is nothing to log in with.")

    room.world = room.world._replace(make_querier=refuse)
    room.chats = type(room.chats)(room.world)
    await room.lead()
    assert room.editor.state == "failed"
    assert "There is nothing to log in with." in room.editor.text


async def test_one_by_one_and_all_at_once(room: Clarifying) -> None:
    """By choice, also in mid round; each answer is kept."""
    asked = [question(f"Question {n}?", "B") for n in range(4)]
    room.querier.gives.extend([round_of(*asked), NONE, SPEC])
    clarify = p.Clarify("abc", one_by_one=True)
    await room.do(p.Open(CHAT, "/chat.md", "/shop", clarify=clarify))
    await room.send("Make the cart faster")
    assert room.asked == ["Question 0?"]
    await room.pick("B")
    assert room.asked == ["Question 1?"]
    assert len(room.clarified.known["abc"].log) == 1
    await room.do(p.Pace(CHAT, one_by_one=False))
    assert room.asked == ["Question 1?", "Question 2?", "Question 3?"]
    await room.do(p.Pace(CHAT, one_by_one=True))
    assert room.asked == ["Question 1?"]
    for _ in range(3):
        await room.pick("You decide")
    log = room.clarified.known["abc"].log
    assert [entry.assumed for entry in log] == [False, True, True, True]
    assert len(room.querier.prompts) == 3


async def test_the_pace_may_be_said_with_the_request(room: Clarifying) -> None:
    """Before there is an agent that asks."""
    room.querier.gives.append(round_of(question("Which cart?", "B"), question("How fast?", "B")))
    await room.do(p.Open(CHAT, "/chat.md", "/shop", clarify=p.Clarify("abc")))
    await room.do(p.Pace(CHAT, one_by_one=True))
    await room.send("Make the cart faster")
    assert room.asked == ["Which cart?"]


async def test_a_chat_that_clarifies_nothing_has_no_pace(room: Clarifying) -> None:
    await room.open()
    await room.do(p.Pace(CHAT, one_by_one=True))
    assert room.editor.every(p.Say)[-1].text == "Nothing is clarified in this chat."


# --- the file ---------------------------------------------------------------------------------


async def test_what_the_user_has_edited_is_never_written_over(room: Clarifying) -> None:
    """The draft stays, and the specification comes as a patch."""
    await room.begin(round_of(question("Which cart?", "All")), round_of(question("How fast?", "1")))
    await room.pick("All")
    mine = room.files.texts[PATH] = "# Mine\n" + str(room.files.texts[PATH])
    room.querier.gives.extend([NONE, SPEC])
    await room.pick("1")
    assert room.files.texts[PATH] == mine
    shown = room.shown()
    assert strip_markers(shown.lines[0]).startswith("━━ Patch")
    await room.do(p.Grant(CHAT, shown.section, "allow"))
    assert "**AC-1**" in str(room.files.texts[PATH])
    assert room.editor.state == "idle"


async def test_a_file_that_changes_while_its_patch_is_shown(room: Clarifying) -> None:
    """Nothing of either is lost: the newer text stays, and is what the patch is about then."""
    await room.begin(round_of(question("Which cart?", "All")), round_of(question("How fast?", "1")))
    await room.pick("All")
    room.files.texts[PATH] = "# Mine\n" + str(room.files.texts[PATH])
    room.querier.gives.extend([NONE, SPEC])
    await room.pick("1")
    newer = room.files.texts[PATH] = "# Newer\n" + str(room.files.texts[PATH])
    await room.do(p.Grant(CHAT, room.shown().section, "allow"))
    assert room.files.texts[PATH] == newer
    await room.settle()
    assert "-# Newer" in room.shown().lines
    await room.do(p.Grant(CHAT, room.shown().section, "allow"))
    assert "**AC-1**" in str(room.files.texts[PATH])


async def test_a_refused_version_leaves_the_file(room: Clarifying) -> None:
    await room.begin(round_of(question("Which cart?", "All")), round_of(question("How fast?", "1")))
    await room.pick("All")
    room.files.texts[PATH] = "# Mine\n"
    room.querier.gives.extend([NONE, SPEC])
    await room.pick("1")
    await room.do(p.Grant(CHAT, room.shown().section, "deny"))
    assert room.files.texts[PATH] == "# Mine\n"
    assert "stays as you have it" in room.editor.text


async def test_a_file_that_is_there_is_not_taken(room: Clarifying) -> None:
    room.files.texts[PATH] = "# Another\n"
    room.files.texts[PATH.replace(".md", "-2.md")] = FileError("It is a folder.")
    await room.begin(NONE, SPEC)
    assert room.files.texts[PATH] == "# Another\n"
    assert "**AC-1**" in str(room.files.texts[PATH.replace(".md", "-3.md")])


async def test_a_file_that_can_t_be_written_is_told(room: Clarifying) -> None:
    """The answers are kept."""
    room.files.locked.add(PATH)
    await room.begin(round_of(question("Which cart?", "All")))
    await room.pick("All")
    assert "Read-only" in room.error
    assert [entry.answer for entry in room.clarified.known["abc"].log] == ["All"]


async def test_a_finished_one_is_taken_up_again(room: Clarifying) -> None:
    """With what the user has made of the file."""
    await room.begin(NONE, SPEC)
    changed = str(room.files.texts[PATH]).replace("The checkout", "The wish list")
    room.files.texts[PATH] = changed
    room.querier.gives.extend([round_of(question("How fast?", "1"))])
    await room.send("It must be safe, too")
    assert "- - The checkout" not in room.querier.prompts[-1]
    assert "-- The checkout\n+- The wish list" in room.querier.prompts[-1]
    assert "It must be safe, too" in room.querier.prompts[-1]
    assert room.asked == ["How fast?"]


async def test_two_at_once_know_nothing_of_each_other(room: Clarifying) -> None:
    await room.begin(round_of(question("Which cart?", "All")))
    other = p.Open(CHAT + 1, "/other.md", "/shop", clarify=p.Clarify("def"))
    await room.do(other)
    room.querier.gives.append(round_of(question("Which shop?", "All")))
    await room.do(p.Send(CHAT + 1, "Make the shop safer"))
    assert {known.request for known in room.clarified.known.values()} == {
        "Make the cart faster",
        "Make the shop safer",
    }
    room.editor.disturbing.clear()  # it shows one chat only
    assert "cart" not in room.querier.prompts[-1].split("word for word")[1].split("~~~")[1]


async def test_one_specification_in_two_chats(room: Clarifying) -> None:
    """Who comes later says so, and nothing of the other's is lost; a message goes on from there."""
    await room.begin(round_of(question("Which cart?", "All")))
    known = room.clarified.known["abc"]
    theirs = known.answered([Given("Theirs")], "call")
    room.clarified.known["abc"] = msgspec.structs.replace(theirs, saved=known.saved + 1)
    await room.pick("All")
    assert "goes on elsewhere" in room.error
    assert [entry.answer for entry in room.clarified.known["abc"].log] == ["Theirs"]
    room.querier.gives.extend([NONE, SPEC])
    await room.send("Go on here")
    assert [entry.answer for entry in room.clarified.known["abc"].log] == ["Theirs", "Go on here"]
    assert room.clarified.known["abc"].finished


async def test_a_store_that_can_t_keep_it_is_told(room: Clarifying) -> None:
    async def full(known: Clarification) -> Clarification:
        raise ports.StoreError("The disk is full.")

    room.clarified.save = full  # type: ignore[method-assign]
    await room.begin(NONE, SPEC)
    assert "The disk is full." in room.editor.text
    assert spec.marked(str(room.files.texts[PATH])) == "abc"
    assert msgspec.json.encode(room.clarified.known) == b"{}"
