"""The views of a report: plain rows, which every format draws in its own way."""

from karat.report.findings.record import Curve, Findings, Origin, ResolvedMeans

__all__ = ["Curve", "Findings", "Origin", "ResolvedMeans"]
