"""The command line. Each command is a module that is imported only when it runs."""

from karat.cli.main import main

__all__ = ["main"]
