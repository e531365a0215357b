"""The engines that are slow on purpose."""

from tests.experiments.workers.conftest import engines

__all__ = ["engines"]
