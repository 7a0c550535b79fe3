"""What went wrong with Claude, each as one sentence that says what happened and what to do."""

from __future__ import annotations

import re
from typing import Any

from winnow.adapters.secrets import hidden
from winnow.core.agent import Retry, Trouble

# Of the CLI's terminal reasons: the request was too long, as it or as the API says.
_FULL = ("blocking_limit", "prompt_too_long")

_LOG = "`:Winnow log` has the details"

_API = {
    401: ("refused your credentials", "log in with `claude` in a terminal or set an API key"),
    402: ("wants its bill paid", "look at your plan and your credit"),
    429: ("takes no more requests for now", "wait"),
    400: ("refused this conversation", "start another with `:Winnow new`"),
    404: ("knows no such model", "choose another one with `:Winnow model`"),
    500: ("is overloaded or broken", "wait a moment"),
}

# The CLI's word for why it put an error where the answer would stand. Some failures, such as
# "not logged in", never reach the API and so have no status; "server_error" without one means that
# there was no answer at all.
_STATUS = {
    "authentication_failed": 401,
    "billing_error": 402,
    "rate_limit": 429,
    "invalid_request": 400,
}


def kind(reason: str, kind: str, status: int | None) -> Trouble:
    """Which kind of failure it is; arguments as in `turn`."""
    status = status or _STATUS.get(kind)
    if reason in _FULL:
        return "full"
    if reason == "budget_exhausted":
        return "budget"
    if status in (401, 403):
        return "login"
    if status == 429:
        return "limit"
    if status is not None and status >= 500:
        return "busy"
    return "network" if status is None and reason == "api_error" else "other"


def turn(reason: str, kind: str, status: int | None, detail: str) -> str:
    """Why a turn failed.

    Args:
        reason: the result's terminal reason.
        kind: the error kind of the assistant message before the result, or empty.
        status: the HTTP status of the failed API call.
        detail: the CLI's own words.
    """
    told = f" ({_brief(detail)})" if detail else ""
    if reason == "max_turns":
        return f"The turn was cut at its limit of steps{told}."
    if reason in _FULL:
        return "The context is full."
    if reason == "budget_exhausted":
        return "The budget is spent."
    status = status or _STATUS.get(kind)
    if status is not None and detail:
        said = detail[max(detail.find("API Error"), 0) :].partition(". ")[0]
        told = f" ({_brief(said)})"  # what to do we say ourselves
    if status is None:
        if reason == "api_error":
            return f"Claude could not be reached{told}; check the network."
        return f"Claude Code failed{told}; {_LOG}."
    if status == 403:
        status = 401
    what, remedy = _API.get(status) or _API[500 if status > 500 else 400]
    return f"Claude {what}{told}; {remedy}."


def could_not(what: str, detail: str) -> str:
    """Something beside talking did not work."""
    return f"Claude Code could not {what} ({_brief(detail or 'no answer')})."


def retry(data: dict[str, Any]) -> Retry:
    """The CLI waits and asks the API again; ``data`` is its ``api_retry`` message."""
    known = data.get("error") if data.get("error") != "unknown" else None
    status = data.get("error_status") or known or "no connection"
    attempt, limit = data.get("attempt", "?"), data.get("max_retries", "?")
    delay = data.get("retry_delay_ms")
    seconds = max(1.0, delay / 1000) if isinstance(delay, (int, float)) else 0.0
    return Retry(f"Claude's API failed ({status}); trying again, {attempt} of {limit}…", seconds)


def forgotten(session: str) -> str:
    """The session can't be resumed."""
    return (
        f"Claude Code has no session {session} any more; the text here is kept, "
        "and sending again starts a new session, which does not know it."
    )


def no_folder(cwd: str) -> str:
    """The folder of the chat is gone."""
    return (
        f"Working directory does not exist: {cwd}; create it again, or start with `:Winnow new` "
        "elsewhere."
    )


def missing(cli_path: str) -> str:
    """There is no CLI; ``cli_path`` is what the user named, if they did."""
    where = f"at {cli_path}" if cli_path else "on this machine"
    return (
        f"There is no Claude Code {where}; correct `cli_path` or install it with "
        "`npm install -g @anthropic-ai/claude-code`, then send again."
    )


def start(detail: str) -> str:
    """The CLI could not be run, or did not understand us."""
    return f"Claude Code did not start ({_brief(detail)}); send again to retry, {_LOG}."


def elsewhere(what: str) -> str:
    """Claude Code did not even start in another place; ``what`` says why, and where."""
    return f"{_brief(what)}; put that right or try again, {_LOG}."


def silent(seconds: float) -> str:
    """The CLI is there, but says nothing, in two tries together."""
    return f"Claude Code did not answer within {seconds:g} s; send again to retry, {_LOG}."


def died(exit_code: int | None, last: str) -> str:
    """The CLI is gone.

    Args:
        exit_code: its exit code, if known; negative for a signal.
        last: the last line that it wrote to stderr.
    """
    if "cannot be used with root" in last:
        return (
            "Claude Code does not allow the mode bypassPermissions for root, except in a sandbox "
            "(IS_SANDBOX=1); `:Winnow mode default` goes on."
        )
    if unknown := re.search(r"unknown option '?([^\s']+)", last):
        return (
            f"Claude Code does not know the option {unknown[1]}, so it is too old; run "
            f"`claude update` where it is installed, then send again, {_LOG}."
        )
    code = "" if exit_code is None else f" with exit code {exit_code}"
    told = f" ({_brief(last)})" if last else ""
    return f"Claude Code ended{code}{told}; send again to go on, {_LOG}."


def mode(mode: str, detail: str) -> str:
    """The permission mode can't be changed."""
    told = f" ({_brief(detail)})" if detail else ""
    return f"Claude Code did not change the mode to {mode}{told}; it stays as it was."


def denied(data: dict[str, Any]) -> str:
    """A tool was denied without asking; ``data`` is the CLI's ``permission_denied`` message."""
    # After its first sentence come instructions for the model.
    message = str(data.get("message") or "").partition(" IMPORTANT:")[0]
    what = _brief(message) or f"{data.get('tool_name', 'A tool')} was denied"
    match data.get("decision_reason_type"):
        case "mode":
            return f"{what}; `:Winnow mode default` asks again."
        case "rule":
            return f"{what}; a permission rule says so."
    return f"{what}."


FORGOTTEN = "Claude has forgotten the conversation so far: what stands above is only for you."
SILENT = "The command is done; it had nothing to say."


def server(name: str) -> str:
    """An MCP server does not run."""
    return (
        f"The MCP server “{_brief(name)}” failed: its tools are missing; :Winnow restart retries."
    )


def _brief(text: str) -> str:
    line = hidden(text.strip().partition("\n")[0].rstrip(" ."))
    return line if len(line) <= 200 else line[:199] + "…"
