"""A run whose document names differ from those of the dataset."""

from dataclasses import dataclass

__all__ = ["Mismatch"]


@dataclass(frozen=True, slots=True)
class Mismatch:
    """In most answered queries no hit can match a target, because names differ.

    *queries* of the *answered* ones have no hit on any target. *hit* and *target* are an example of
    each side; *options* are command-line options that make them match, empty if there are none;
    then *advice* may have a suggestion. *sure* is False if the engine could also be so bad that it
    never returns any target: the scores are valid, with a warning.
    """

    queries: int
    answered: int
    hit: str
    target: str
    options: str = ""
    sure: bool = True
    advice: str = ""

    def text(self, name: str) -> str:
        """Return the warning about the run called *name*.

        >>> print(Mismatch(9, 9, "x/a.py", "a.py", "--root x").text("new"))
        no hit of new is a target: the run has 'x/a.py', the gold set 'a.py'; add --root x
        """
        where = f"in {self.queries} of {self.answered} answered queries "
        fix = f"add {self.options}" if self.options else self.advice
        return (
            f"{where if self.queries < self.answered else ''}no hit of {name} is a target"
            f"{'' if self.sure else '; the names may not match'}: "
            f"the run has {self.hit!r}, the gold set {self.target!r}; "
            f"{fix or 'check that both use the same names'}"
        )
