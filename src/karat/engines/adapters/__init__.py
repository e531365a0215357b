"""Searches that live elsewhere: a class, a command, a process, a service, an MCP tool."""

from karat.engines.adapters.external import External, Reply

__all__ = ["External", "Reply"]
