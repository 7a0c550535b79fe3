"""What the files of a project make Claude Code do by itself, as entries that the user decides on.

An entry says on one line all that it is, so that its text is also what a decision is about: other
content is another entry. What only speaks to Claude (CLAUDE.md, rules, a plain skill) or only
restricts it (deny and ask rules) is none. What isn't known to be harmless is one.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from winnow.core.text import secrets

# Settings that run nothing and allow nothing. Servers are entries by themselves.
_HARMLESS = {
    "$schema",
    "alwaysThinkingEnabled",
    "attribution",
    "companyAnnouncements",
    "disabledMcpjsonServers",
    "effortLevel",
    "enableAllProjectMcpServers",
    "enabledMcpjsonServers",
    "includeCoAuthoredBy",
    "includeGitInstructions",
    "language",
    "model",
    "outputStyle",
    "respectGitignore",
    "spinnerTipsEnabled",
    "spinnerVerbs",
}
# The same for what stands above the text of an agent, a command, a skill or an output style.
_HARMLESS_KEYS = {
    "argument-hint",
    "color",
    "description",
    "disallowedTools",
    "disable-model-invocation",
    "effort",
    "keep-coding-instructions",
    "license",
    "maxTurns",
    "metadata",
    "model",
    "name",
    "tools",  # an agent's: only these
    "user-invocable",
    "version",
    "when_to_use",
}
# As Claude Code calls servers of ours; what tools of these names may do is decided by their names.
_OURS = ("winnow", "winnow_editor")
_ODD = re.compile(r"[^a-zA-Z0-9_-]")  # becomes `_` in the names of tools
POSES = "poses as Winnow's, so no file of this project is read as it is"
_NEVER = ("auto", "bypassPermissions")  # which Claude Code takes from no project
_SHELL = ("!`", "```!")  # how what runs begins, in the text of a command or a skill
_BREAK = re.compile("[\n\r\x0b\x0c\x85\u2028\u2029]")
_KEY = re.compile(r"([A-Za-z_][\w-]*):(?:[ \t]|$)")


class Source(msgspec.Struct, frozen=True):
    """A file; ``name`` is its path as it is shown. ``text`` None: it can't be read."""

    name: str
    text: str | None


class Project(msgspec.Struct, frozen=True):
    """Where an agent works: ``root`` by its real path, and what Claude Code reads there.

    ``prompts`` only speak to Claude; those are not among them that it reads in any case.
    ``trusted``: by the user, in Claude Code itself. ``whole``: there is nothing that was not
    looked at.
    """

    root: str
    sources: tuple[Source, ...] = ()
    prompts: tuple[Source, ...] = ()
    trusted: bool = False
    whole: bool = True

    @property
    def is_known(self) -> bool:
        """Whether all that Claude Code would read there can be shown."""
        return self.whole and all(source.text is not None for source in self.sources)

    @property
    def name(self) -> str:
        """What to call it."""
        return self.root.rpartition("/")[2] or self.root


class Entry(msgspec.Struct, frozen=True):
    """One thing. ``settings`` and ``servers`` are how Claude Code gets it without its file.

    Both are empty for what it takes from its file only. ``poses``: it must not get the file.
    """

    text: str
    settings: dict[str, Any] = {}
    servers: dict[str, Any] = {}
    poses: bool = False


def entries(sources: Iterable[Source]) -> list[Entry]:
    """All of these files' entries, each once."""
    found: dict[str, Entry] = {}
    for source in sources:
        for entry in _of(source):
            # Half a character can be in JSON, but not on disk.
            text = entry.text.encode(errors="backslashreplace").decode()
            found[text] = msgspec.structs.replace(entry, text=text)
    return list(found.values())


def restrictions(sources: Iterable[Source]) -> dict[str, Any]:
    """The deny and ask rules of these files, as settings."""
    found: dict[str, Any] = {}
    for source in sources:
        if _kind(source) == "settings" and isinstance(settings := _parsed(source), dict):
            permissions = settings.get("permissions")
            for key in ("deny", "ask"):
                if isinstance(permissions, dict) and (rules := permissions.get(key)):
                    found = merged(found, {"permissions": {key: rules}})
    return found


def merged(settings: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """Settings as Claude Code adds them up: lists and objects grow, else the later one counts."""
    result = dict(settings)
    for key, value in more.items():
        old = result.get(key)
        if isinstance(old, dict) and isinstance(value, dict):
            result[key] = merged(old, value)
        elif isinstance(old, list) and isinstance(value, list):
            result[key] = [*old, *value]
        else:
            result[key] = value
    return result


def _kind(source: Source) -> str:
    folder, _, file = source.name.rpartition("/")
    if file in ("settings.json", "settings.local.json"):
        return "settings"
    if file == ".mcp.json":
        return "servers"
    if file == "scheduled_tasks.json":
        return "tasks"
    for part in ("agent", "command", "skill", "output-style"):
        if file.endswith(".md") and f".claude/{part}s/" in f"{folder}/":
            return part
    return "code"


def _of(source: Source) -> Iterator[Entry]:
    if source.text is None:
        yield Entry(f"unreadable: {source.name}")
        return
    match _kind(source), _parsed(source) if source.name.endswith(".json") else source.text:
        case "settings" | "servers" | "tasks", None:
            yield Entry(f"broken: {source.text} ({source.name})")
        case "settings", dict(settings):
            for text, fragment in _settings(settings):
                yield Entry(f"{text} ({source.name})", settings=fragment)
        case "servers", {"mcpServers": dict(servers)}:
            for name, server in servers.items():
                yield _server(name, server, source.name)
        case "tasks", {"tasks": list(tasks)}:
            for task in tasks:
                yield Entry(f"scheduled: {_words(task)} ({source.name})")
        case (("settings" | "servers" | "tasks"), other):
            yield Entry(f"unknown: {_words(other)} ({source.name})")
        case "code", _:
            yield Entry(f"code: {source.text} ({source.name})")
        case kind, _:
            yield from _prompt(kind, source)


def _server(name: str, server: Any, file: str) -> Entry:
    what = f"{_command(server)} ({file})"
    if _ODD.sub("_", name) in _OURS:
        return Entry(f"server {name} {POSES}: {what}", poses=True)
    return Entry(f"server {name}: {what}", servers={name: server})


def _parsed(source: Source) -> Any:
    """The value of a JSON file; None where it is none."""
    try:
        return json.loads((source.text or "").removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return None


def _settings(settings: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """What settings do, and the part of them that does it."""
    for key, value in settings.items():
        match key, value:
            case "hooks", dict():
                for event, groups in value.items():
                    yield from _hooks(event, groups)
            case "env", dict():
                for name, text in value.items():
                    yield f"env {name}={secrets.value(name, _words(text))}", {key: {name: text}}
            case "permissions", dict():
                yield from _permissions(value)
            case _ if key not in _HARMLESS:
                yield f"{key}: {_words(value)}", {key: value}


def _hooks(event: str, groups: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    if not isinstance(groups, list):
        groups = [groups]
    for group in groups:
        match group:
            case {"hooks": list(hooks), **more}:
                matcher = more.pop("matcher", "")
                when = f"({_words(matcher)})" if matcher else ""
                for hook in hooks:
                    what = {**more, **hook} if isinstance(hook, dict) else hook
                    text = f"hook {event}{when}: {_command(what)}"
                    yield text, {"hooks": {event: [{**group, "hooks": [hook]}]}}
            case _:
                yield f"hook {event}: {_words(group)}", {"hooks": {event: [group]}}


def _permissions(permissions: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    words = {"allow": "allow", "additionalDirectories": "folder"}
    for key, value in permissions.items():
        if key in words and isinstance(value, list):
            for item in value:
                yield f"{words[key]} {_words(item)}", {"permissions": {key: [item]}}
        elif key == "defaultMode":
            fragment = {} if value in _NEVER else {"permissions": {key: value}}
            yield f"mode {_words(value)}", fragment
        elif key not in ("deny", "ask"):
            yield f"permissions.{key}: {_words(value)}", {"permissions": {key: value}}


def _prompt(kind: str, source: Source) -> Iterator[Entry]:
    """A file that speaks to Claude, if it does more than that."""
    text = source.text or ""
    more = list(_uncommon(_head(text)))
    if any(mark in text for mark in _SHELL):  # which of it runs is for Claude Code to say
        more.append(f"may run {text.strip()}")
    if more:
        what = f"{'; '.join(more)} ({source.name})"
        # An agent may bring servers, whose names YAML may spell by escapes.
        poses = kind == "agent" and ("winnow" in what or "\\" in what)
        how = f" {POSES}" if poses else ""
        yield Entry(f"{kind} {_title(source)}{how}: {what}", poses=poses)


def _head(text: str) -> str:
    """What stands between the two rulers at the top of a file; rather too much than too little."""
    text = text.replace("\r\n", "\n").lstrip("\ufeff \t\n")
    if not text.startswith("---"):
        return ""
    return text[3:].partition("\n---\n")[0]


def _uncommon(head: str) -> Iterator[str]:
    """The lines not known to be harmless. Of YAML's ways to write a key only one is known here."""
    harmless = False  # what is indented belongs to the key above it
    for line in _BREAK.split(head):
        if not line.strip() or line.startswith("#"):
            continue
        if not f"{line} ".startswith((" ", "- ")):
            key = _KEY.match(line)
            harmless = key is not None and key[1] in _HARMLESS_KEYS and not _refers(line)
        if not harmless:
            yield line.rstrip()


def _refers(line: str) -> bool:
    """An anchor or a tag, which may stand for anything."""
    return line.partition(":")[2].strip()[:1] in ("&", "*", "!")


def _title(source: Source) -> str:
    parts = source.name.removesuffix(".md").split("/")
    return parts[-2] if parts[-1].lower() == "skill" and len(parts) > 1 else parts[-1]


def _command(value: Any) -> str:
    """A hook or a server: its command as one would type it, then what else it says."""
    if not isinstance(value, dict):
        return _words(value)
    rest = {key: _kept(what) if key in ("env", "headers") else what for key, what in value.items()}
    words = [
        rest.pop(key) for key in ("command", "url", "prompt") if isinstance(rest.get(key), str)
    ]
    if words and isinstance(args := rest.get("args"), list):
        words = [shlex.quote(word) for word in (*words, *map(_words, args))]
        del rest["args"]
    if rest.get("type") in ("command", "stdio"):
        del rest["type"]
    return " ".join([*words, *([_words(rest)] if rest else [])])


def _kept(values: Any) -> Any:
    """Variables or headers without the secrets."""
    if not isinstance(values, dict):
        return values
    return {name: secrets.value(name, _words(text)) for name, text in values.items()}


def _words(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
