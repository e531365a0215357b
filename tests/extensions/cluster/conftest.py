"""The engines that misbehave, and the watch over what they leave behind, of the worker tests."""

from tests.experiments.workers.conftest import (
    ctrl_c,
    engines,
    kept,
    nothing_is_left,
    snapshots,
    source,
)

__all__ = ["ctrl_c", "engines", "kept", "nothing_is_left", "snapshots", "source"]
