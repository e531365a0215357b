"""Metrics: pure functions of a judged query, found by name."""

from karat.metrics.catalogue import METRICS
from karat.metrics.evaluate import average, evaluate
from karat.metrics.measure import Measure, Metric, parse, parse_all

__all__ = ["METRICS", "Measure", "Metric", "average", "evaluate", "parse", "parse_all"]
