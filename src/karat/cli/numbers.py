"""Numbers as options; what is none is told in plain words."""

import click

__all__ = ["Number", "WholeNumber"]


class WholeNumber(click.IntRange):
    """A whole number within a range."""

    name = "whole number"


class Number(click.FloatRange):
    """A number within a range."""

    name = "number"
