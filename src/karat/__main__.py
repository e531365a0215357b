"""``python -m karat`` is the command line."""

from karat.cli import main

main()
