"""The embed units that are left: those of a group end before its first search unit starts."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from karat.engines.embed_part import EmbedPart

__all__ = ["EmbedProgress", "EmbedStages"]

# The units of a stage for each slot that may run them: a lost one costs less, and slots that are
# slower get fewer. Each unit cuts all snapshots into chunks.
UNITS_EACH = 2


class EmbedProgress(NamedTuple):
    """How many embed units have ended, of how many."""

    done: int
    total: int


@dataclass(slots=True)
class _Stage:
    """The parts of one group that wait for a slot, and those that run."""

    total: int
    waiting: list[EmbedPart]
    running: int = 0
    losses: Counter[EmbedPart] = field(default_factory=Counter)

    @property
    def left(self) -> int:
        return len(self.waiting) + self.running


class EmbedStages:
    """The embed units of *groups*, planned as soon as there are several slots.

    >>> stages = EmbedStages([0], most_losses=3)
    >>> stages.plan([0], slots=2)
    >>> group, part = stages.take(None)
    >>> part, stages.blocks(0), stages.blocks(1), stages.progress
    (EmbedPart(number=0, total=4), True, False, EmbedProgress(done=0, total=4))
    """

    def __init__(self, groups: Iterable[int], *, most_losses: int) -> None:
        """Plan nothing yet; a stage ends when one of its parts was lost *most_losses* times."""
        self._groups = frozenset(groups)
        self._most_losses = most_losses
        self._stages: dict[int, _Stage] = {}
        self._planned = False

    @property
    def progress(self) -> EmbedProgress:
        """Return the progress of all stages together."""
        stages = self._stages.values()
        total = sum(stage.total for stage in stages)
        return EmbedProgress(total - sum(stage.left for stage in stages), total)

    @property
    def planned(self) -> bool:
        """Return whether the stages are planned, or none is needed."""
        return self._planned or not self._groups

    def plan(self, open_groups: Iterable[int], *, slots: int) -> None:
        """Cut the stages of those *open_groups* that need one, for *slots* slots, once."""
        if not self.planned:
            self._planned = True
            count = UNITS_EACH * slots
            self._stages = {
                group: _Stage(count, [EmbedPart(number, count) for number in range(count)])
                for group in dict.fromkeys(open_groups)
                if group in self._groups
            }

    def blocks(self, group: int) -> bool:
        """Return whether the search units of *group* must wait."""
        stage = self._stages.get(group)
        return stage is not None and stage.left > 0

    def take(self, group: int | None) -> tuple[int, EmbedPart] | None:
        """Return the next part to embed, and its group: *group* itself if it has one."""
        waiting = [one for one, stage in self._stages.items() if stage.waiting]
        if not waiting:
            return None
        chosen = group if group in waiting else waiting[0]
        stage = self._stages[chosen]
        stage.running += 1
        return chosen, stage.waiting.pop(0)

    def end(self, group: int) -> None:
        """Note the end of a part of *group*, whether or not all could be embedded."""
        self._stages[group].running -= 1

    def lose(self, group: int, part: EmbedPart, *, counted: bool) -> None:
        """Let another slot embed *part*, unless it was lost too often; the rest waits no longer."""
        stage = self._stages[group]
        stage.running -= 1
        stage.losses[part] += counted
        if stage.losses[part] < self._most_losses:
            stage.waiting.insert(0, part)
        else:
            stage.waiting.clear()
