"""``python -m winnow COMMAND``: what can be done without Neovim."""

from __future__ import annotations

import importlib
import sys

COMMANDS = {
    "clarify": "from a rough request to answered questions and a specification",
}  # each is a module of `winnow.cli`, with a function ``main(arguments) -> exit code``


def main(arguments: list[str]) -> int:
    """Run the command that is named first; its exit code."""
    if arguments[:1] in (["-h"], ["--help"]):
        print(_usage())
        return 0
    if not arguments or arguments[0] not in COMMANDS:
        print(_usage(), file=sys.stderr)
        return 2
    code: int = importlib.import_module(f"winnow.cli.{arguments[0]}").main(arguments[1:])
    return code


def _usage() -> str:
    commands = "\n".join(f"  {name}  {what}" for name, what in COMMANDS.items())
    return f"usage: python -m winnow COMMAND …\n\n{commands}\n\nCOMMAND --help tells more."


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
