"""The permission rules that are in force in a chat, as a list."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import Any

from winnow import ports
from winnow import protocol as p
from winnow.app.parts.asked import Asked, HasAsked
from winnow.app.parts.part import Around
from winnow.core import listing
from winnow.core.controls import Rule
from winnow.core.listing import Edits, Problem, Row
from winnow.core.text.text import clean

NONE = "No rules are in force."
FIXED = "“{}” can't be revoked here: it is from {}."
OURS = "“{}” is part of what you decided about this project: :Winnow trust revoke takes that back."
SESSION = "Revoke all that was allowed for this session only, and start Claude anew?"
FILES = "Revoke {} for good, in {}?"


class RulesList(Asked[list[Rule]]):
    """The list `rules`."""

    called = "rules"

    def ask(self, controls: ports.Controls) -> Coroutine[Any, Any, list[Rule]]:
        """See `Asked.ask`."""
        return controls.rules()

    def rows(self) -> Sequence[Row]:
        """See `List.rows`."""
        if self.problem or not self.told:
            return [Row(self.problem or NONE)]
        return [Row(it.line, _key(it)) for it in self.told]

    def change(self, edits: Edits, event: p.EditList) -> Problem | str | None:
        """See `List.change`."""
        gone = [rule for rule in self.told if _key(rule) in edits.gone]
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
        self.told = [
            rule
            for rule in self.told
            if rule not in kept and not (session and rule.kept == "session")
        ]
        return None

    def _revoke(self, kept: Sequence[Rule], *, session: bool) -> None:
        """A rule that is gone acts no more: Claude is started anew before it goes on."""
        around = self.around
        if kept:
            around.session.control(
                lambda controls: controls.revoke(kept), lambda _: around.renew(), self.complain
            )
        elif session:
            around.renew()

    def pick(self, key: str, *, peek: bool) -> None:  # noqa: ARG002
        """Show all of it."""
        for rule in self.told:
            if _key(rule) == key:
                said = (f"{rule.behavior} {rule.rule}", "", f"From: {rule.where}")
                self._tell(p.Peeked([clean(line) for line in said]))


class Rules(HasAsked):
    """Has the list."""

    def __init__(self, around: Around) -> None:
        super().__init__(around, RulesList(around, []))


def _question(kept: Sequence[Rule], *, session: bool) -> str:
    asked = [SESSION] if session else []
    if kept:
        names = ", ".join(f"“{rule.rule}”" for rule in kept)
        where = " and ".join(dict.fromkeys(rule.where for rule in kept))
        asked.append(FILES.format(names, where))
    return " ".join(asked)


def _key(rule: Rule) -> str:
    return listing.key(f"{rule.behavior}\n{rule.rule}\n{rule.source}")
