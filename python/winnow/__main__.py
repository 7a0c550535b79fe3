"""``python -m winnow``: what can be done without Neovim."""

from __future__ import annotations

import argparse
import sys

from winnow.cli import clarify, run


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line says; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m winnow")
    subcommands = parser.add_subparsers(required=True, metavar="command")
    run.add(subcommands)
    clarify.add(subcommands)
    args = parser.parse_args(arguments)
    code: int = args.act(args)
    return code


if __name__ == "__main__":
    sys.exit(main())
