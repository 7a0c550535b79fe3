"""The user's words that the agent has not taken yet."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Literal
from uuid import uuid4

import msgspec

from winnow import ports
from winnow.ports import Heard, Message

WITH_NEXT = "with the next"  # what a message is about that goes out with the user's next one

State = Literal["found", "queued", "sent", "given", "missed", "returned", "held"]
"""``found``: from the store, maybe taken before; ``queued``: the next message; ``sent``: as a
prompt; ``given``: as the result of a call; ``missed``: the call ended without it; ``returned``:
on its way into the draft; ``held``: not the user's, so it is no draft, and waits for their next."""


class Outbox:
    """Answers and messages of one chat on their way: queued, then sent, then taken.

    Each is in the store until it is taken, or stands in the draft again. Whether one was taken by
    an agent that is lost, its session knows.

    Args:
        chat: the chat's path.
        store: where they are kept.
        kept: is told of each message that the editor remembers, too, when the store has it.
    """

    def __init__(
        self, chat: str, store: ports.Store, kept: Callable[[Message], None] | None = None
    ) -> None:
        self._chat = chat
        self._store = store
        self._kept = kept
        self._messages: dict[str, Message] = {}  # in the order in which they came
        self._states: dict[str, State] = {}

    @property
    def waiting(self) -> bool:
        """Something is to be sent, or to be found out about, as soon as there is an agent."""
        return bool(self._in("queued", "found"))

    @property
    def sent(self) -> bool:
        """A prompt is not yet part of a result."""
        return bool(self._in("sent"))

    def message(
        self, text: str, id: str = "", *, call: str = "", denial: str = "", about: str = ""
    ) -> Message:
        """An answer that the user gives now."""
        message = Message(id or str(uuid4()), self._chat, text, call=call, denial=denial)
        return msgspec.structs.replace(message, about=about)

    def has(self, id: str) -> bool:
        """The message of this id has not arrived."""
        return id in self._messages

    def about(self, what: str, *, sent: bool = True) -> list[Message]:
        """What is on its way about this; without ``sent``: what is yet to be sent."""
        found = [message for message in self._messages.values() if message.about == what]
        return [message for message in found if sent or self._states[message.id] != "sent"]

    def drop(self, message: Message) -> None:
        """Nobody needs it any more."""
        self._forget([message])

    # --- on their way ---------------------------------------------------------------------------

    def queue(self, message: Message) -> None:
        """It is the next message after those that wait; the store has it."""
        self._put(message, "queued")

    def hold(self, message: Message) -> None:
        """It goes out with the user's next message; see `release`."""
        self.save(message)
        self._put(message, "held")

    def holds(self, message: Message) -> bool:
        """It waits for the user's next message."""
        return self._states.get(message.id) == "held"

    def release(self) -> bool:
        """What waits for the user's next message goes out now; False: nothing does."""
        held = self._in("held")
        for message in held:
            self._put(message, "queued")
        return bool(held)

    def next(self) -> Message | None:
        """The next one to be sent."""
        return next(iter(self._in("queued")), None)

    def write(self, text: str, id: str = "", *, own: bool = True) -> tuple[Message, list[Message]]:
        """The user's own message, which is sent now, and what goes along with it: held until now.

        That has arrived when the message has, which it names as its call. With a command, which
        the model may never see, nothing goes along.
        """
        message = Message(id or str(uuid4()), self._chat, text, own=own)
        waits = self._in("held") if not text.startswith("/") else []
        held = [msgspec.structs.replace(it, call=message.id) for it in waits]
        for one in (message, *held):
            self.save(one)
            self._put(one, "sent")
        return message, held

    def send(self, message: Message) -> None:
        """One that was queued is sent now."""
        self._put(message, "sent")

    def give(self, message: Message) -> None:
        """It is the result of a call; the store has it."""
        self._put(message, "given")

    def withdraw(self, message: Message) -> None:
        """The call did not wait for it any more."""
        if self._states.get(message.id) == "given":
            self._put(message, "queued")

    # --- what became of them --------------------------------------------------------------------

    def finished(self, heard: Heard) -> None:
        """Calls have ended: with what was given, or without."""
        for message in self._in("given"):
            if message.call in heard and not _taken(message, heard):
                self._put(message, "missed")

    def answered(self, prompts: list[str]) -> list[Message]:
        """A result came for these prompts; for all, if none is named. What is to be given back."""
        self._forget([*self._sent(prompts), *self._in("given")])
        return self._return(self._in("missed"))

    def refused(self, prompts: list[str]) -> list[Message]:
        """As `answered`, but the model got none of them: they are to be given back, too."""
        return [*self._return(self._sent(prompts)), *self.answered(prompts)]

    def withdrawn(self, prompts: list[str]) -> list[Message]:
        """The agent will not take these prompts any more. What is to be given back."""
        return self._return(self._sent(prompts) if prompts else [])

    def doubt(self) -> None:
        """The agent is gone, and the next one must tell."""
        for message in self._in("sent", "given", "missed"):
            self._put(message, "found")

    def lost(self, heard: Heard) -> list[Message]:
        """The agent is gone, and its session has heard this. What is to be given back."""
        self._forget([m for m in self._messages.values() if _taken(m, heard)])
        return self._return(self._in("found", "queued", "sent", "given", "missed"))

    # --- over restarts --------------------------------------------------------------------------

    def find(self, messages: Iterable[Message]) -> None:
        """What the store has; the session must tell about it."""
        for message in messages:
            if message.id not in self._messages:
                self._put(message, "found")

    def find_sent(self, message: Message) -> None:
        """A message that the user sent, and that a host may have had."""
        if message.id not in self._messages:
            self.save(message)
            self.find([message])
        elif self._kept:
            self._kept(message)

    def unanswered(self, heard: Heard) -> bool:
        """Something that the store had was taken, but no answer to it came to its end."""
        return any(_taken(message, heard) for message in self._in("found"))

    def sort(self, heard: Heard) -> list[Message]:
        """The session has heard this: other answers are queued, messages are to be given back."""
        found = self._in("found", "held")
        self._forget([m for m in found if _taken(m, heard)])
        for message in self._in("found", "held"):
            if not message.own:
                self._put(message, "held" if message.about == WITH_NEXT else "queued")
        return self._return(self._in("found"))

    def refilled(self, ids: list[str]) -> None:
        """These stand in the draft, and the draft in its file."""
        self._forget([m for m in self._in("returned") if m.id in ids])

    def save(self, message: Message, kept: Callable[[Message], None] | None = None) -> None:
        """Give it to the store; ``kept``, else that of this outbox, is told when that has it."""
        kept = kept or self._kept

        def saved(future: asyncio.Future[None]) -> None:
            if kept and not future.cancelled() and future.exception() is None:
                kept(message)

        self._store.save(message).add_done_callback(saved)

    def _sent(self, prompts: list[str]) -> list[Message]:
        sent = self._in("sent")
        return [m for m in sent if m.id in prompts or m.call in prompts or not prompts]

    def _in(self, *states: State) -> list[Message]:
        return [m for m in self._messages.values() if self._states[m.id] in states]

    def _put(self, message: Message, state: State) -> None:
        self._messages[message.id] = message
        self._states[message.id] = state

    def _return(self, messages: list[Message]) -> list[Message]:
        for message in messages:
            self._put(message, "held" if message.about else "returned")
        return [message for message in messages if not message.about]

    def _forget(self, messages: list[Message]) -> None:
        ids = [message.id for message in messages]
        for id in ids:
            del self._messages[id], self._states[id]
        if ids:
            self._store.forget(ids)


def _taken(message: Message, heard: Heard) -> bool:
    """Whether a session that has heard this has it: as a prompt, or as the result of its call."""
    said = heard.get(message.call) if message.call else None
    return message.id in heard or said == "" or _is_in(message.denial, said)


def _is_in(denial: str, said: str | None) -> bool:
    return bool(denial and said and denial in said)
