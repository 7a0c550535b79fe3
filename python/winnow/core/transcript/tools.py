"""Claude Code's tools: what tells one call from the next, and what came of it.

What a result says of itself is the ``tool_use_result`` of Claude Code's messages, which the SDK
passes on as it is: an object of each tool's own, or ``Error: …`` as text. Read from CLI 2.1.332,
most of it by calling each tool against a scripted API, that of Glob, Grep, WebFetch and WebSearch
in the schemas of the program. Nothing of it is promised: what is not there is not shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from winnow.core.editor import told
from winnow.core.editor import tools as editor
from winnow.core.folder import UNKNOWN, Folder
from winnow.core.text.text import clean

Input = Mapping[str, Any]
Result = Mapping[str, Any]

LONGEST = 100  # characters of what is no path: that is whole, for `<CR>` opens it
BETWEEN = " · "  # what is said of one result
BACKGROUND = "in the background"
FILES = frozenset({"Read", "Edit", "Write", "NotebookEdit", "Grep"})  # show what is in files

# What tells a call, by tool; for the others the first text argument does.
_TELLING = {
    "Bash": "command",
    "Read": "file_path",
    "Edit": "file_path",
    "Write": "file_path",
    "NotebookEdit": "notebook_path",
    "Glob": "pattern",
    "Grep": "pattern",
    "LSP": "operation",
    "WebFetch": "url",
    "WebSearch": "query",
    "Agent": "description",
    "Task": "description",
    "Monitor": "description",
    "Skill": "skill",
    "ToolSearch": "query",
    "TaskCreate": "subject",
    "CronCreate": "cron",
    "ScheduleWakeup": "reason",
    "SendMessage": "to",
    "Workflow": "name",
    "ExitPlanMode": "planFilePath",  # not the plan
    "ReadMcpResourceTool": "uri",
}
_PATHS = ("file_path", "notebook_path", "path", "planFilePath")
# What goes with that, by tool.
_WITH = {
    "Grep": " in {path}",
    "Glob": " in {path}",
    "Skill": " {args}",
    "CronCreate": " {prompt}",
    "LSP": " {filePath}:{line}",
}
# What is counted of an input that has no text to tell it.
_COUNTED = {"TodoWrite": ("todos", "item"), "ReportFindings": ("findings", "finding")}
_TASK = ("TaskUpdate", "TaskGet", "TaskStop", "TaskOutput")
_MCP = re.compile(r"mcp__(.+?)__(.+)", re.DOTALL)

_EXIT = re.compile(r"\A(?:Error: )?Exit code (-?\d+)(?:\n|\Z)")
_ERROR = re.compile(r"\A<tool_use_error>(?:Error: )?(.*)</tool_use_error>\Z", re.DOTALL)
_FOUND = (("numMatches", "match"), ("numFiles", "file"))
_LAST_NUMBER = re.compile(r"\n\d+\t\Z")  # what follows the last newline of a file, as Read has it


class Came(msgspec.Struct, frozen=True):
    """What came of a call: in a few words, and its output."""

    outcome: str
    output: str


def title(name: str) -> str:
    """The name of a tool; one of an MCP server after that."""
    if ours := editor.name_of(name):
        return editor.TITLES[ours]
    found = _MCP.fullmatch(name)
    return clean(f"{found[1]}: {found[2]}" if found else name)


def about(name: str, input: Input, folder: Folder = UNKNOWN) -> str:
    """What tells a call from the next one."""
    if ours := editor.name_of(name):
        return clean(editor.about(ours, dict(input), folder))
    texts = {key: value for key, value in input.items() if isinstance(value, str)}
    if name in _COUNTED:
        key, what = _COUNTED[name]
        listed = input.get(key)
        return count(len(listed), what) if isinstance(listed, list) else ""
    if name in _TASK:
        task = next((texts[key] for key in ("taskId", "task_id") if key in texts), "")
        return clean(" ".join(["#" * task.isdecimal() + task, texts.get("status", "")]).strip())
    key = _TELLING.get(name) or next(iter(texts), "")
    if key in _PATHS:
        return clean(folder.name(texts.get(key, "")))
    shown = clean(texts.get(key, "") + _with(name, input, folder))
    return shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + "…"


def _with(name: str, input: Input, folder: Folder) -> str:
    fields = {key: str(value) for key, value in input.items()}
    if folder.cwd and fields.get("path", "").rstrip("/") == folder.cwd.rstrip("/"):
        return ""  # where it would be without a word
    for key in ("path", "filePath"):
        if key in fields:
            fields[key] = folder.name(fields[key])
    try:
        return _WITH.get(name, "").format_map(fields)
    except KeyError:
        return ""


def count(number: int, what: str) -> str:
    """So many of these, as one says it."""
    plural = what + ("es" if what.endswith("ch") else "s")
    return f"{number:,} {what if number == 1 else plural}"


# --- what came of it ------------------------------------------------------------------------------


def came(name: str, output: str, result: object = None, *, failed: bool = False) -> Came:
    """What came of a call.

    Args:
        output: what the model reads.
        result: what the tool says of itself, if it does; see the module.
    """
    if found := _ERROR.match(output):
        output = found[1]
    if output == f"({name} completed with no output)":  # Claude Code's words, for the model
        output = ""
    if failed:
        if found := _EXIT.match(output):
            return Came(f"exit {found[1]}", output[found.end() :])
        return Came("", output)
    if editor.name_of(name):
        head, rest = told.outcome(output)
        return Came(clean(head), rest)
    if isinstance(result, Mapping) and name in _CAME:
        try:
            return _CAME[name](output, result)
        except (KeyError, TypeError, ValueError, AttributeError):
            pass  # another version of Claude Code says it otherwise
    return Came("", output)


def _bash(output: str, result: Result) -> Came:
    if result.get("backgroundTaskId"):
        return Came(BACKGROUND, output)
    if output.startswith("<persisted-output>"):  # of which that shows the first 2 KB
        output = "\n".join(filter(None, (str(result["stdout"]), str(result["stderr"]))))
    said = str(result.get("returnCodeInterpretation") or "")
    return Came("interrupted" if result.get("interrupted") else clean(said), output)


def _read(output: str, result: Result) -> Came:
    file = result["file"]
    match result.get("type"):
        case "text":
            start, lines, total = file["startLine"], file["numLines"], file["totalLines"]
            part = f"lines {start}–{start + lines - 1} of {total}" if 0 < lines < total else ""
            return Came(part, _LAST_NUMBER.sub("", output))
        case "image":
            size = file.get("dimensions") or {}
            pixels = [f"{size['originalWidth']}×{size['originalHeight']}"] if size else []
            return Came(BETWEEN.join([*pixels, _bytes(file["originalSize"])]), "")
        case "notebook":
            return Came(count(len(file["cells"]), "cell"), output)
        case "pdf":
            return Came(_bytes(file["originalSize"]), output)
    return Came("", output)


def _patch(output: str, result: Result) -> Came:
    if result.get("type") == "create":
        return Came(f"new, +{len(str(result['content']).splitlines())}", "")
    lines: list[str] = []
    for hunk in result["structuredPatch"]:
        old, new = (f"{hunk[f'{side}Start']},{hunk[f'{side}Lines']}" for side in ("old", "new"))
        lines += [f"@@ -{old} +{new} @@", *map(str, hunk["lines"])]
    added, removed = (sum(line.startswith(sign) for line in lines) for sign in "+-")
    return Came(f"+{added} −{removed}", "\n".join(lines) or output)


def _notebook(output: str, result: Result) -> Came:
    cell = f"cell {result['cell_id']}" if result.get("cell_id") else "a cell"
    done = {"replace": "replaced", "insert": "inserted", "delete": "deleted"}
    return Came(clean(f"{cell} {done[result['edit_mode']]}"), output)


def _grep(output: str, result: Result) -> Came:
    match result.get("mode"):
        case "count":
            found = (count(int(result[key]), what) for key, what in _FOUND)
            return Came(" in ".join(found), output)
        case "content":
            return Came(count(int(result["numLines"]), "line"), output)
    return _glob(output, result)


def _glob(output: str, result: Result) -> Came:
    more = " and more" if result.get("truncated") else ""
    return Came(count(int(result["numFiles"]), "file") + more, output)


def _fetch(output: str, result: Result) -> Came:
    code = f"{result['code']} {result.get('codeText') or ''}".strip()
    return Came(clean(BETWEEN.join([code, _bytes(result["bytes"])])), output)


def _search(output: str, result: Result) -> Came:
    found = [one for one in result["results"] if isinstance(one, Mapping)]
    return Came(count(sum(len(one.get("content") or ()) for one in found), "result"), output)


def _agent(output: str, result: Result) -> Came:
    if result.get("status") != "completed":
        return Came(BACKGROUND, output)
    used = count(int(result["totalToolUseCount"]), "tool")
    tokens = count(int(result["totalTokens"]), "token")
    said = [part["text"] for part in result["content"] if part.get("type") == "text"]
    return Came(BETWEEN.join([used, tokens]), "\n".join(said))


def _tool_search(_: str, result: Result) -> Came:
    found = [str(name) for name in result["matches"]]
    return Came(count(len(found), "tool"), "\n".join(found))


def _findings(output: str, result: Result) -> Came:
    """Each as `path:line: text`, which `<CR>` opens and ``:Winnow refs`` lists."""
    lines = []
    for found in result["findings"]:
        at = ":".join(str(found[key]) for key in ("file", "line") if found.get(key))
        kind = found.get("severity") or found.get("category")
        text = BETWEEN.join(str(part) for part in (kind, found["summary"]) if part)
        lines.append(f"{at}: {text}" if at else text)
        if why := found.get("failure_scenario"):
            lines.append(f"  {why}")
    return Came("", "\n".join(lines) or output)


def _changed(output: str, result: Result) -> Came:
    change = result.get("statusChange")
    return Came(clean(f"{change['from']} → {change['to']}") if change else "", output)


_CAME: dict[str, Callable[[str, Result], Came]] = {
    "Bash": _bash,
    "Read": _read,
    "Edit": _patch,
    "Write": _patch,
    "NotebookEdit": _notebook,
    "Glob": _glob,
    "Grep": _grep,
    "WebFetch": _fetch,
    "WebSearch": _search,
    "Agent": _agent,
    "Task": _agent,
    "ToolSearch": _tool_search,
    "ReportFindings": _findings,
    "TaskCreate": lambda output, result: Came(clean(f"#{result['task']['id']}"), output),
    "TaskUpdate": _changed,
    "TaskList": lambda output, result: Came(count(len(result["tasks"]), "task"), output),
    "CronCreate": lambda output, result: Came(clean(str(result["humanSchedule"])), output),
    "CronList": lambda output, result: Came(count(len(result["jobs"]), "job"), output),
    "Monitor": lambda output, result: Came(clean(f"task {result['taskId']}"), output),
}


def _bytes(size: float) -> str:
    """A size as one says it."""
    for unit, limit in (("MB", 1e6), ("KB", 1e3)):
        if size >= limit:
            return f"{size / limit:.1f} {unit}"
    return f"{size:.0f} bytes"
