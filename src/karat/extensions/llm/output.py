"""Print what would be sent to a chat model."""

import click

from karat.extensions.llm.client import Prompt
from karat.report.display import printable


def print_prompt(prompt: Prompt) -> None:
    """Print *prompt* as it would be sent."""
    click.echo(f"--- instruction ---\n{prompt.instruction}\n--- text ---")
    for line in prompt.text.split("\n"):
        click.echo(printable(line.expandtabs(4)))
