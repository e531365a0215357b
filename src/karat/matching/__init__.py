"""The only place that compares a hit with a target."""

from karat.matching.judge import judge
from karat.matching.modes import MATCHERS, Matcher
from karat.matching.ties import TIE_POLICIES
from karat.matching.trace import trace

__all__ = ["MATCHERS", "TIE_POLICIES", "Matcher", "judge", "trace"]
