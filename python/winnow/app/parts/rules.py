"""The permission rules that are in force in a chat, as a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from winnow import ports
from winnow import protocol as p
from winnow.app.lists import List, Shown
from winnow.app.parts.part import Around, Part
from winnow.core import listing
from winnow.core.controls import Rule
from winnow.core.listing import Edits, Problem, Row

NAME = "rules"
NONE = "No rules are in force."
FIXED = "“{}” can't be revoked here: it is from {}."
OURS = "“{}” is part of what you decided about this project: :Winnow trust revoke takes that back."
SESSION = "Revoke all that was allowed for this session only, and start Claude anew?"
FILES = "Revoke {} for good, in {}?"


class Rules(Part):
    """Has the list."""

    def __init__(self, around: Around) -> None:
        super().__init__(around)
        self._list = RulesList(around)

    def connected(self, agent: ports.Agent) -> None:  # noqa: ARG002
        """See `Part.connected`."""
        self._list.look()

    def lists(self) -> Mapping[str, Shown]:
        """See `Part.lists`."""
        return {NAME: self._list}

    def close(self) -> None:
        """See `Part.close`."""
        self._list.close()


class RulesList(List):
    """The list `rules`."""

    def __init__(self, around: Around) -> None:
        super().__init__(NAME, around.world.editor, around.page.chat)
        self._around = around
        self._rules: list[Rule] = []
        self._problem = ""

    def opened(self) -> None:
        """See `List.opened`."""
        self.look()

    def look(self) -> None:
        """Ask the agent anew, if somebody looks."""
        if self._watched:
            session = self._around.session
            session.control(lambda controls: controls.rules(), self._take, self._failed)

    def _take(self, rules: list[Rule]) -> None:
        self._rules, self._problem = rules, ""
        self.moved()

    def _failed(self, error: ports.AgentError) -> None:
        self._problem = error.sentence
        self.moved()

    def rows(self) -> Sequence[Row]:
        """See `List.rows`."""
        if self._problem or not self._rules:
            return [Row(self._problem or NONE)]
        return [Row(f"{it.behavior} {it.rule} · {it.where}", _key(it)) for it in self._rules]

    def change(self, edits: Edits, event: p.EditList) -> Problem | str | None:
        """See `List.change`."""
        gone = [rule for rule in self._rules if _key(rule) in edits.gone]
        for rule in gone:
            if rule.kept not in ("persistent", "session"):
                text = OURS if rule.source == "flagSettings" else FIXED
                row = listing.rows_of(event.before)[_key(rule)]
                return Problem(row, text.format(rule.rule, rule.where))
        kept = [rule for rule in gone if rule.kept == "persistent"]
        session = len(gone) > len(kept)
        if not event.force and gone:
            return _question(kept, session=session)
        self._revoke(kept, session=session)
        self._rules = [
            rule
            for rule in self._rules
            if rule not in kept and not (session and rule.kept == "session")
        ]
        return None

    def _revoke(self, kept: Sequence[Rule], *, session: bool) -> None:
        """A rule that is gone acts no more: Claude is started anew before it goes on."""

        def failed(error: ports.AgentError) -> None:
            self._tell(p.Notify(error.sentence, "warn"))
            self.look()

        if kept:
            self._around.session.control(
                lambda controls: controls.revoke(kept), lambda _: self._around.renew(), failed
            )
        elif session:
            self._around.renew()

    def pick(self, key: str, *, peek: bool) -> None:  # noqa: ARG002
        """Show all of it."""
        for rule in self._rules:
            if _key(rule) == key:
                self._tell(p.Peeked([f"{rule.behavior} {rule.rule}", "", f"From: {rule.where}"]))


def _question(kept: Sequence[Rule], *, session: bool) -> str:
    asked = [SESSION] if session else []
    if kept:
        names = ", ".join(f"“{rule.rule}”" for rule in kept)
        where = " and ".join(dict.fromkeys(rule.where for rule in kept))
        asked.append(FILES.format(names, where))
    return " ".join(asked)


def _key(rule: Rule) -> str:
    return listing.key(f"{rule.behavior}\n{rule.rule}\n{rule.source}")
