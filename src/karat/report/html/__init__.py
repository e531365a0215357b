"""The report as one HTML file that needs nothing else: no network, no script from elsewhere."""

from karat.report.html.page import render

__all__ = ["render"]
