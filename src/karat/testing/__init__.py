"""Conformance suites and fakes for tests and plug-ins; the product never imports them."""
