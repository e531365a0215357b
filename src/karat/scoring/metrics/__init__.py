"""Metrics: pure functions of a judged query, registered by name."""

from karat.scoring.metrics.catalogue import METRICS
from karat.scoring.metrics.definition import Metric, metric
from karat.scoring.metrics.evaluate import average, evaluate
from karat.scoring.metrics.measure import Measure, parse, parse_all

__all__ = ["METRICS", "Measure", "Metric", "average", "evaluate", "metric", "parse", "parse_all"]
