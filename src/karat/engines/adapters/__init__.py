"""Adapters to external engines: a class, a command, a process, a service, an MCP tool."""

from karat.engines.adapters.external import External, ExternalReply

__all__ = ["External", "ExternalReply"]
