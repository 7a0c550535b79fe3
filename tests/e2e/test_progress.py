"""What Neovim itself is told of a turn. The API of 0.12 is played here: 0.11 has none of it."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.api import ScriptedAPI, ToolUse, say
from tests.e2e.editor import Editor
from tests.e2e.steps import send, start, wait_idle

PLAYED = """
  local api = vim.api
  local echo, get, set = api.nvim_echo, api.nvim_get_option_value, api.nvim_set_option_value
  _G.told, _G.busy, _G.most = {}, 0, 0
  api.nvim_echo = function(chunks, history, opts)
    if opts.kind ~= 'progress' then
      return echo(chunks, history, opts)
    end
    assert(opts.source == nil, 'invalid key: source')
    table.insert(_G.told, {
      at = vim.uv.now(), text = chunks[1][1], history = history, status = opts.status,
      title = opts.title, id = opts.id or 0,
    })
    return 7
  end
  api.nvim_get_option_value = function(name, opts)
    return name == 'busy' and _G.busy or get(name, opts)
  end
  api.nvim_set_option_value = function(name, value, opts)
    if name ~= 'busy' then
      return set(name, value, opts)
    end
    _G.busy, _G.most = value, math.max(_G.most, value)
  end
"""


@pytest.mark.fresh("session")
def test_a_turn_is_told_as_progress(claude: Editor, api: ScriptedAPI) -> None:
    """One message that changes, at most once a second, in one line and in no history."""
    claude.lua(PLAYED)
    claude.configure(mode="bypassPermissions")
    calls = [ToolUse("Bash", {"command": f"sleep 0.4; echo {n}{'x' * 90}"}, f"t{n}") for n in "123"]
    api.add(*(say(call) for call in calls), say("Done."), say("Well."))
    start(claude)
    claude.wait_line("Done.")
    wait_idle(claude)
    claude.wait(lambda: claude.lua("return _G.told[#_G.told].status") == "success", "its end")
    told = claude.lua("return _G.told")
    assert (claude.lua("return { _G.busy, _G.most }")) == [0, 1]
    assert [one["status"] for one in told[:-1]] == ["running"] * (len(told) - 1)
    assert told[-1]["text"] == "done"
    assert any(one["text"].startswith("Bash sleep 0.4; echo") for one in told)
    assert all(len(one["title"] + one["text"]) <= 61 and not one["history"] for one in told)
    assert [one["id"] for one in told] == [0] + [7] * (len(told) - 1)
    assert all(b["at"] - a["at"] >= 990 for a, b in pairwise(told))
    claude.keys("G")
    send(claude, "And?")
    claude.keys(":")  # nothing comes while a command is typed
    claude.wait_line("Well.")
    count = len(claude.lua("return _G.told"))
    claude.keys("<Esc>")
    claude.wait(lambda: claude.lua("return #_G.told") > count, "what was held back")
