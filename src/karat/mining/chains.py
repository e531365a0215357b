"""Asks the rules in their order, and of each commit only those that could drop it."""

from collections.abc import Sequence

from karat.mining.drafts import Draft
from karat.mining.roles import Role
from karat.mining.rules import Rule

__all__ = ["Chains"]


class Chains:
    """Rules, sorted by which commits they may drop."""

    def __init__(self, asked: Sequence[Rule]) -> None:
        """Ask the rules *asked*: first those about files, then reasons, then the others."""
        self._reasons = [(rule.reason, rule.name) for rule in asked if rule.reason]
        said = [place for place, rule in enumerate(asked) if rule.reason]
        # Without reasons the first chain is all there is.
        files, text = (asked[: said[0]], asked[said[-1] + 1 :]) if said else (asked, ())
        self._found = [(rule.name, rule.drops) for rule in files if not rule.targetless]
        self._not_found = {
            sole: [(rule.name, rule.drops) for rule in files if rule.role in {None, sole}]
            for sole in (None, *Role)
        }
        self._text = [(rule.name, rule.drops) for rule in text]

    def first(self, draft: Draft) -> str:
        """Return the name of the first rule that drops *draft*, "" if none does."""
        files = draft.files
        for name, drops in self._found if files.targets else self._not_found[files.sole]:
            if drops(draft):
                return name
        said = draft.text.reasons
        if said:
            for reason, name in self._reasons:
                if reason in said:
                    return name
        for name, drops in self._text:
            if drops(draft):
                return name
        return ""
