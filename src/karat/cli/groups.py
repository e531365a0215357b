"""Commands that have commands of their own."""

import click

from karat.errors import UnknownFormat

__all__ = ["Group"]

# Which parameter of a command names the format of which kind of file.
FORMAT_OPTIONS = {
    "gold_format": ("dataset",),
    "run_format": ("run",),
    "format_name": ("dataset", "run"),
    "source_format": ("dataset", "run"),
}
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

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; where a format is not clear, name its option that chooses one."""
        try:
            return super().invoke(ctx)
        except UnknownFormat as error:
            if option := self._format_option(ctx, error.kind):
                raise error.with_option(option) from error
            raise

    def _format_option(self, ctx: click.Context, kind: str | None) -> str | None:
        command = self.get_command(ctx, ctx.invoked_subcommand or "")
        named = {param.name: param.opts[0] for param in command.params} if command else {}
        wanted = [name for name, holds in FORMAT_OPTIONS.items() if kind in (None, *holds)]
        return next((named[name] for name in wanted if name in named), None)

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
