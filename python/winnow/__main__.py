"""``python -I -m winnow``: what can be done without Neovim."""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    # Without -I, Python looks for modules in the project first. Here is as early as we can be.
    own = [place for place in sys.path if os.path.isabs(place) and place != os.getcwd()]  # noqa: PTH109, PTH117
    sys.path[:] = own

import argparse

from winnow.cli import clarify, run


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line says; the exit code."""
    parser = argparse.ArgumentParser(prog="python -I -m winnow")
    subcommands = parser.add_subparsers(required=True, metavar="command")
    run.add(subcommands)
    clarify.add(subcommands)
    args = parser.parse_args(arguments)
    code: int = args.act(args)
    return code


if __name__ == "__main__":
    sys.exit(main())
