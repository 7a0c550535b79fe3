"""The commands of ``python -m winnow``, a module each; each wires what it needs."""
