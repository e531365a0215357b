"""Metrics: pure functions of a judged query, found by name."""

from karat.metrics.catalogue import METRICS
from karat.metrics.evaluate import evaluate, mean
from karat.metrics.measure import Measure, Metric, parse, parse_all

__all__ = ["METRICS", "Measure", "Metric", "evaluate", "mean", "parse", "parse_all"]
