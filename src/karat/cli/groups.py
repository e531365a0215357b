"""Commands that have commands of their own."""

import click

__all__ = ["Group"]

# More than any sentence has.
LONGEST = 500


class Group(click.Group):
    """A group that answers an unknown name with the nearest one, or with all that there are."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what each command does, in a whole sentence."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [
                    (name, command.get_short_help_str(LONGEST))
                    for name in self.list_commands(ctx)
                    if (command := self.get_command(ctx, name))
                ]
            )

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first of *args* names; one that is unknown is wrong usage."""
        known = self.list_commands(ctx)
        if args[0] not in known and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], known, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"Commands: {', '.join(known)}."
            ctx.fail(f"No such command {args[0]!r}. {hint}")
        return super().resolve_command(ctx, args)
